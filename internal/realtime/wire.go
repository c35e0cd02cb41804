package realtime

import (
	"time"

	"carillon"
	"carillon/internal/queue"
)

// wakes reads what came over the wire; classes that do not exist are left out.
func wakes(part []wire) []queue.Wake {
	ws := make([]queue.Wake, 0, len(part))
	for _, w := range part {
		if w[1] < 0 || w[1] >= carillon.Classes {
			continue
		}
		ws = append(ws, queue.Wake{SenderUID: w[0], Class: carillon.Class(w[1]), Due: time.UnixMilli(w[2])})
	}
	return ws
}
