package notify

import (
	"context"
	"time"

	"carillon/internal/queue"
)

const (
	decideAtOnce = 500             // messages per transaction
	decideFor    = 5 * time.Second // per request; its caller repeats it for the rest
)

// DecideRestored sends or fails a company's messages that are held after a restore, for some seconds, and returns how many and
// whether that was all. Messages to send return to their lane at once.
func (n *Notify) DecideRestored(ctx context.Context, companyID string, send bool) (decided int, all bool, err error) {
	for end := time.Now().Add(decideFor); time.Now().Before(end); {
		d, err := n.store.Decide(ctx, companyID, send, time.Now(), decideAtOnce)
		if err != nil {
			return decided, false, err
		}
		decided += d.Messages
		if send {
			for _, l := range d.Lanes {
				n.queue.Wake(queue.Wake{Kind: queue.Messages, SenderUID: l.SenderUID, Class: l.Class, Due: time.UnixMilli(0)})
			}
			for _, l := range d.CallLanes {
				n.queue.Wake(queue.Wake{Kind: queue.Calls, SenderUID: l.SenderUID, Class: l.Class, Due: time.UnixMilli(0)})
			}
		} else {
			n.Closed(d.Notifications)
		}
		if d.Messages < decideAtOnce {
			return decided, true, nil
		}
	}
	return decided, false, nil
}
