package notify

import (
	"context"
	"time"

	"carillon/internal/queue"
)

const (
	decideAtOnce = 500             // messages a transaction
	decideFor    = 5 * time.Second // of one request; its caller asks again for the rest
)

// DecideRestored sends or fails what is held of a company after a restore, for some seconds, and tells how many messages it
// decided and whether that was all. A restored message that is sent goes back to its lane at once.
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
