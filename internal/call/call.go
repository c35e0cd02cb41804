// Package call places calls and keeps their record.
//
//	accept (notify) ── lane ──▶ slot ──▶ dial ──▶ rings ──▶ answered ──▶ end ──▶ outcome
//	                    ▲                                                          │
//	                    └──────────── redial by the company's policy ◀─────────────┘
//
// A call holds its slot of the line from dialing to its end; the database counts the slots over all nodes. A call in
// progress stays on its node even when the line's shard moves. The calls of a dead node end as failed, interrupted,
// and are not dialed again.
package call

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/base/share"
	"carillon/internal/call/dial"
	"carillon/internal/queue"
	"carillon/internal/store"
	"carillon/internal/store/calls"
)

const (
	// Drain is the default time that calls may continue after a stop.
	Drain = 5 * time.Minute

	lineCap = 2000 // concurrent calls of a line on this node if the line has no limit
	allCap  = 4000 // concurrent calls on this node, unless Options say otherwise
)

// Dialer places calls on the lines of a provider.
type Dialer interface {
	// Place places one call and returns when it has ended. When ctx ends the call is hung up.
	Place(ctx context.Context, line *carillon.Sender, c *dial.Call, p dial.Progress) dial.Ending
}

// Observer receives the ended attempts, for metrics.
type Observer interface {
	CallEnded(e Ended)
}

// Ended is an attempt that ended.
type Ended struct {
	State  carillon.State
	Reason carillon.Reason
	Late   time.Duration // between its due time and dialing
	Talked time.Duration // between the answer and the end
}

// Options configure a Calls.
type Options struct {
	Incoming *Incoming     // nil: no calls to lines are accepted
	Observer Observer      // nil disables it
	Drain    time.Duration // default: Drain
	Most     int           // concurrent calls placed by this node; more calls wait; default 4,000
	Share    *share.Share  // of all calls, including those to lines; nil means no limit per company
	Log      *slog.Logger
}

// Calls places calls. New builds it, Run does its background work.
type Calls struct {
	store *store.Store
	calls *calls.Store
	queue *queue.Queue
	o     Options
	// dialers, by provider, are set before Run.
	dialers map[string]Dialer

	mu      sync.Mutex
	running map[carillon.MessageKey]context.CancelCauseFunc
	known   map[carillon.MessageKey]bool // from the start until the result is stored
	gone    map[string]time.Time         // dead nodes, with the time at which this node noticed

	lapseGrace time.Duration // normally the constant lapseGrace; shorter in tests of several nodes
}

// New builds a Calls, which places the calls that the queue starts.
func New(s *store.Store, q *queue.Queue, o Options) *Calls {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Drain == 0 {
		o.Drain = Drain
	}
	if o.Most == 0 {
		o.Most = allCap
	}
	o.Share = cmp.Or(o.Share, share.New(share.Resource{}))
	c := &Calls{
		store: s, calls: s.Calls, queue: q, o: o, running: map[carillon.MessageKey]context.CancelCauseFunc{},
		known: map[carillon.MessageKey]bool{}, gone: map[string]time.Time{}, lapseGrace: lapseGrace,
	}
	q.Handle(queue.Kind{
		Name: queue.Calls, Source: c.calls, Worker: c, Lasting: true, LaneCap: lineCap, Cap: o.Most, Drain: o.Drain,
	})
	return c
}

// DialBy sets the dialers by provider. It must be called before Run.
func (c *Calls) DialBy(dialers map[string]Dialer) { c.dialers = dialers }

// Reasons for which the program ends a call.
var (
	errHungUp = fmt.Errorf("hung up through the interface")
	errLapsed = fmt.Errorf("this node's lease has lapsed")
)

const (
	lookEvery = time.Second
	// lapseGrace is the time after which a node whose lease has lapsed hangs up. The other nodes consider its calls
	// ended goneGrace after they declared it dead, which is later. So a line's limit holds even while nodes are
	// disconnected from the database.
	lapseGrace = 15 * time.Second
	goneGrace  = 20 * time.Second
	// The owner of a shard undoes a start whose commit got no response, long before strayAfter. If this node has lost
	// the shard meanwhile, nobody else knows of the start.
	strayEvery = 10 * time.Second
	strayAfter = time.Minute
)

// Run hangs up calls whose end was requested, and all calls once the other nodes may consider this node dead, until
// ctx ends.
func (c *Calls) Run(ctx context.Context) error {
	var loops sync.WaitGroup
	defer loops.Wait()
	loops.Go(func() { c.watchLease(ctx, c.queue.Holds) })
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for strays := time.Now(); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		c.look(ctx, c.hangUpAsked)
		if c.o.Incoming != nil {
			c.look(ctx, c.o.Incoming.hangUpAsked)
		}
		if time.Since(strays) > strayEvery {
			strays = time.Now()
			c.look(ctx, c.endStrays)
			if c.o.Incoming != nil {
				c.look(ctx, c.o.Incoming.lookAfter)
			}
		}
	}
}

// watchLease hangs up all calls once this node has been without its lease for too long. It does not use the database.
func (c *Calls) watchLease(ctx context.Context, holds func() bool) {
	held := time.Now()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if now := time.Now(); holds() {
			held = now
		} else if now.Sub(held) > c.lapseGrace {
			c.hangUpAll(errLapsed)
		}
	}
}

// look runs a database query while calls may be in progress.
func (c *Calls) look(ctx context.Context, what func(ctx context.Context) error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	if err := what(ctx); err != nil && ctx.Err() == nil {
		c.o.Log.WarnContext(ctx, "look after calls under way", "error", err)
	}
}

func (c *Calls) hangUpAsked(ctx context.Context) error {
	if c.UnderWay() == 0 {
		return nil
	}
	keys, err := c.calls.ToHangUp(ctx)
	for _, key := range keys {
		c.hangUp(key, errHungUp)
	}
	return err
}

// endStrays ends calls that are in progress on this node only according to the database. They would hold their slots
// forever.
func (c *Calls) endStrays(ctx context.Context) error {
	now := time.Now()
	strays, err := c.calls.Strays(ctx, now.Add(-strayAfter), func(key carillon.MessageKey) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.known[key]
	})
	if err != nil || len(strays) == 0 {
		return err
	}
	c.o.Log.WarnContext(ctx, "end calls whose start the database did not confirm", "calls", len(strays))
	return c.calls.Interrupt(ctx, strays, now)
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
	for _, cancel := range c.running {
		cancel(why)
	}
	c.mu.Unlock()
	if c.o.Incoming != nil {
		c.o.Incoming.hangUpAll(why)
	}
}

// HangUp ends a company's call, placed or to a line, on any node. It returns the call's previous state, or "" if it is
// not in progress. Errors: not_found.
func (c *Calls) HangUp(ctx context.Context, companyID, id string) (carillon.State, error) {
	notificationID, key, of, ok := provider.ParseCallID(id)
	if !ok {
		return "", carillon.Absent("Call")
	}
	n, err := c.store.Notifications.Find(ctx, companyID, notificationID)
	if carillon.IsCode(err, carillon.NotFound) && c.o.Incoming != nil {
		return c.o.Incoming.HangUp(ctx, companyID, id)
	}
	if err != nil || n.Channel != of {
		return "", err
	}
	state, node, err := c.calls.HangUp(ctx, companyID, key)
	if err == nil && node == c.queue.ID() {
		c.hangUp(key, errHungUp)
	}
	return state, err
}

// UnderWay returns the number of calls in progress on this node.
func (c *Calls) UnderWay() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.running)
}

// trackDial returns a context that is canceled when the call must be hung up.
func (c *Calls) trackDial(ctx context.Context, key carillon.MessageKey) (context.Context, func()) {
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
