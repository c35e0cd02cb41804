package telephone

import (
	"context"
	"time"

	"carillon"
)

// placeEvery is the interval of looking up a caller's place in the queue.
const placeEvery = 2 * time.Second

// enter waits until fewer calls of the agent are transferred than its max_calls. Further callers wait, in the order of
// the database, which is the same on all nodes. free is false if the queue is full, or after its max_wait. leave gives
// up the place.
func (p *placed) enter(x *waiting, conversationID string) (leave func(), free bool) {
	t := p.agent.Transfer
	if t.MaxCalls == 0 {
		return func() {}, true
	}
	company := p.line.CompanyID
	maxWaiting, maxWait := t.Waits()
	if err := p.o.Incoming.Enqueue(x.ctx, company, p.call.AgentID, conversationID, t.MaxCalls+maxWaiting); err != nil {
		p.o.Log.InfoContext(x.ctx, "a transfer has no place in the queue", "company", company, "call", p.call.ID, "error", err)
		return func() {}, false
	}
	leave = func() { p.o.Incoming.Dequeue(company, conversationID) }
	defer x.position.Store(0)
	ctx, cancel := context.WithTimeout(x.ctx, maxWait)
	defer cancel()
	tick := time.NewTicker(placeEvery)
	defer tick.Stop()
	for {
		switch ahead, err := p.o.Incoming.Ahead(ctx, company, conversationID); {
		case ctx.Err() != nil, carillon.IsCode(err, carillon.NotFound):
			return leave, false
		case err != nil:
			p.o.Log.WarnContext(ctx, "look up a place in the queue", "company", company, "call", p.call.ID, "error", err)
		case ahead < t.MaxCalls:
			return leave, true
		default:
			x.position.Store(int64(ahead - t.MaxCalls + 1))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return leave, false
		}
	}
}
