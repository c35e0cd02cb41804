package relay

import (
	"context"
	"sync"

	"github.com/nats-io/nats.go"
)

// subscriptions are those of this node. They change under a lock that is never held while the connection waits; apply
// then makes the changes.
type subscriptions struct {
	relay   *Relay
	mu      sync.Mutex
	changed []*subscription
	all     map[*subscription]struct{}
	slow    int64 // messages that ended subscriptions have dropped
}

type subscription struct {
	subject  string
	received func(payload []byte)
	ended    bool
	nats     *nats.Subscription // used by apply and, with the lock held, by dropped
}

func (x *subscriptions) add(subject string, received func(payload []byte)) (end func()) {
	s := &subscription{subject: subject, received: received}
	x.change(s, func() {})
	return sync.OnceFunc(func() { x.change(s, func() { s.ended = true }) })
}

func (x *subscriptions) change(s *subscription, how func()) {
	x.mu.Lock()
	how()
	x.changed = append(x.changed, s)
	x.mu.Unlock()
	x.relay.wake()
}

// apply makes the changes at the connection.
func (x *subscriptions) apply(ctx context.Context, c *nats.Conn) {
	x.mu.Lock()
	changed := x.changed
	x.changed = nil
	x.mu.Unlock()
	for _, s := range changed {
		x.mu.Lock()
		ended, open := s.ended, s.nats
		x.mu.Unlock()
		switch {
		case ended && open != nil:
			x.close(s)
		case !ended && open == nil:
			if err := x.open(c, s); err != nil && ctx.Err() == nil {
				x.relay.o.Log.WarnContext(ctx, "subscribe at NATS", "error", err)
			}
		}
	}
}

func (x *subscriptions) open(c *nats.Conn, s *subscription) error {
	open, err := c.Subscribe(s.subject, func(m *nats.Msg) { x.relay.receive(s, m) })
	if err != nil {
		return err
	}
	if err := open.SetPendingLimits(maxBehind, maxBehind*maxMessage); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.all == nil {
		x.all = map[*subscription]struct{}{}
	}
	s.nats = open
	x.all[s] = struct{}{}
	return nil
}

func (x *subscriptions) close(s *subscription) {
	dropped, _ := s.nats.Dropped()
	_ = s.nats.Unsubscribe() // fails if the connection is closed
	x.mu.Lock()
	defer x.mu.Unlock()
	x.slow += int64(max(0, dropped))
	delete(x.all, s)
	s.nats = nil
}

// dropped returns the number of messages that were dropped because their subscription was behind.
func (x *subscriptions) dropped() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := x.slow
	for s := range x.all {
		dropped, _ := s.nats.Dropped()
		n += int64(max(0, dropped))
	}
	return n
}

// receive passes on a message that a node sealed.
func (r *Relay) receive(s *subscription, m *nats.Msg) {
	payload, err := r.seal.open(s.subject, m.Data)
	if err != nil {
		r.refused.Add(1)
		return
	}
	r.received.Add(1)
	s.received(payload)
}
