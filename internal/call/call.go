// Package call places calls and keeps their record.
//
//	accept (notify) ── lane ──▶ slot ──▶ dial ──▶ rings ──▶ answered ──▶ end ──▶ outcome
//	                    ▲                                                          │
//	                    └──────────── redial by the company's policy ◀─────────────┘
//
// A call holds its slot of the line from dialing to its end; the database counts the slots, over all nodes. A call under way
// stays on its node, whoever owns the line's shard meanwhile. What a dead node had under way ends as failed, interrupted, and
// is never dialed again by itself.
package call

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"carillon"
	"carillon/internal/call/dial"
	"carillon/internal/queue"
	"carillon/internal/store"
	"carillon/internal/store/calls"
)

const (
	// Drain is how long a stop lets calls go on, unless the settings say otherwise.
	Drain = 5 * time.Minute

	lineCap = 2000 // calls of a line at once on this node, where the line has no bound of its own
	allCap  = 4000 // calls at once on this node
)

// Dialer places calls on the lines of a provider.
type Dialer interface {
	// Place places one call and returns when it has ended. When ctx ends the call is hung up.
	Place(ctx context.Context, line *carillon.Sender, c *dial.Call, p dial.Progress) dial.Ending
}

// Observer is called about attempts that ended, for metrics.
type Observer interface {
	CallEnded(e Ended)
}

// Ended is an attempt that ended.
type Ended struct {
	State  carillon.State
	Reason carillon.Reason
	Late   time.Duration // from when it was due until it was dialed
	Talked time.Duration // from the answer to the end
}

// Options wire a Calls.
type Options struct {
	Dialers  map[string]Dialer // by provider
	Observer Observer          // nil: nobody
	Drain    time.Duration     // 0: Drain
	Log      *slog.Logger
}

// Calls places calls. Make it with New, run its work in the background with Run.
type Calls struct {
	store *store.Store
	calls *calls.Store
	queue *queue.Queue
	o     Options

	mu      sync.Mutex
	running map[carillon.MessageKey]context.CancelCauseFunc
	gone    map[string]time.Time // nodes that are not among the nodes, since when this node has known
}

// New builds a Calls, which places what the queue starts.
func New(s *store.Store, q *queue.Queue, o Options) *Calls {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Drain == 0 {
		o.Drain = Drain
	}
	c := &Calls{
		store: s, calls: s.Calls(), queue: q, o: o, running: map[carillon.MessageKey]context.CancelCauseFunc{}, gone: map[string]time.Time{},
	}
	q.Handle(queue.Kind{
		Name: queue.Calls, Source: c.calls, Worker: &worker{c}, Lasting: true, LaneCap: lineCap, Cap: allCap, Drain: o.Drain,
	})
	return c
}

// What ends a call besides the two who talk.
var (
	errHungUp = fmt.Errorf("hung up through the interface")
	errLapsed = fmt.Errorf("this node could not show the others that it is alive")
)

const (
	lookEvery = time.Second
	// A node that cannot show the others that it is alive hangs up lapseGrace later; others take its calls for ended goneGrace
	// after they found it dead, which is later still. So a line's bound holds even while the nodes cannot see each other.
	lapseGrace = 15 * time.Second
	goneGrace  = 20 * time.Second
)

// Run hangs up calls that somebody asked to end, and all of them once this node may be dead to the others, until ctx ends.
func (c *Calls) Run(ctx context.Context) error {
	lapsed := time.Time{}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-tick.C:
			switch {
			case c.queue.Holds():
				lapsed = time.Time{}
			case lapsed.IsZero():
				lapsed = now
			case now.Sub(lapsed) > lapseGrace:
				c.hangUpAll(errLapsed)
			}
			c.hangUpAsked(ctx)
		}
	}
}

func (c *Calls) hangUpAsked(ctx context.Context) {
	c.mu.Lock()
	any := len(c.running) > 0
	c.mu.Unlock()
	if !any {
		return
	}
	keys, err := c.calls.ToHangUp(ctx)
	if err != nil {
		if ctx.Err() == nil {
			c.o.Log.WarnContext(ctx, "look for calls to hang up", "error", err)
		}
		return
	}
	for _, key := range keys {
		c.hangUp(key, errHungUp)
	}
}

func (c *Calls) hangUp(key carillon.MessageKey, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.running[key]; cancel != nil {
		cancel(why)
	}
}

func (c *Calls) hangUpAll(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cancel := range c.running {
		cancel(why)
	}
}

// HangUp ends a call of a company that is under way, on whatever node it is. It reports the state that the call was in; empty:
// it is not under way. Errors: not_found.
func (c *Calls) HangUp(ctx context.Context, companyID, notificationID string) (carillon.State, error) {
	n, err := c.store.Notification(ctx, companyID, notificationID)
	if err != nil || n.Channel != carillon.Voice {
		return "", err
	}
	key := n.Seq().Message(0)
	state, node, err := c.calls.HangUp(ctx, companyID, key)
	if err == nil && node == c.queue.ID() {
		c.hangUp(key, errHungUp)
	}
	return state, err
}

// UnderWay counts the calls under way on this node.
func (c *Calls) UnderWay() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.running)
}

// under has a call hung up when somebody asks for it.
func (c *Calls) under(ctx context.Context, key carillon.MessageKey) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	c.mu.Lock()
	c.running[key] = cancel
	c.mu.Unlock()
	return ctx, func() {
		c.mu.Lock()
		delete(c.running, key)
		c.mu.Unlock()
		cancel(nil)
	}
}
