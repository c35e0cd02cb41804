// Package queue starts work when it is due, whatever the work is: messages and calls. The dispatcher reads lanes ahead,
// decides what starts, commits starts together with the results of the last attempts, and has a worker do each. It does not
// know how a message is sent or a call is placed (Kind).
//
//	accept ── Wake ──▶ lane ── prefetch ──▶ start (one commit with the last results) ──▶ Worker.Do ──▶ result
//	                     ▲                                                                   │
//	                     └────────────── retry, unknown, held, postponed ◀───────────────────┘
//
// Which shards this node owns is decided by queue/membership; the pure parts of a lane are in queue/lane.
package queue

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"carillon"
	"carillon/internal/queue/membership"
	"carillon/internal/store"
	"carillon/internal/store/work"
)

// Bus carries word to the other nodes.
type Bus interface {
	// PublishWakes carries wake-ups of shards that other nodes own.
	PublishWakes(ws []Wake)
	// PublishShards announces that this node gave shards back, so that the others look at once.
	PublishShards()
}

// Options wire a queue; all may be left out.
type Options struct {
	Bus Bus // nil on one node
	// Lapsed is called when this node may not start anything any more: it could not prove to the others that it is alive.
	Lapsed func()
	Log    *slog.Logger
	Name   string // of this node, for people
}

// Queue starts due work. Make it with New, register kinds of work with Handle, run it with Run.
type Queue struct {
	store   *store.Store
	o       Options
	kinds   []Kind
	members *membership.Membership
	signal  chan struct{}
	heirs   []func()
	stay    func()

	mu     sync.Mutex
	events []event
}

// New builds a queue.
func New(s *store.Store, o Options) *Queue {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	q := &Queue{store: s, o: o, signal: make(chan struct{}, 1)}
	m := membership.Options{Name: o.Name, Log: o.Log, Deposed: q.deposed, Lapsed: o.Lapsed}
	if o.Bus != nil {
		m.Moved = o.Bus.PublishShards
	}
	q.members = membership.New(s, q, m)
	return q
}

// OnDeposed adds functions to call when this node has declared another one dead: its background work may be unfinished. Call it
// before Run.
func (q *Queue) OnDeposed(heirs ...func()) { q.heirs = append(q.heirs, heirs...) }

// OnDrained sets the function to call when a stop has let the work finish. The node gives up its registration when it returns.
// Call it before Run.
func (q *Queue) OnDrained(stay func()) { q.stay = stay }

// Handle adds a kind of work, before Run.
func (q *Queue) Handle(k Kind) {
	if k.LaneCap == 0 {
		k.LaneCap = 64
	}
	if k.Cap == 0 {
		k.Cap = 1024
	}
	if !k.Lasting {
		k.LaneCap = min(k.LaneCap, max(1, k.Cap/8)) // a provider that hangs stops no one
	}
	if k.Drain == 0 {
		k.Drain = 20 * time.Second
	}
	q.kinds = append(q.kinds, k)
}

// ID is this node's id in the nodes' table.
func (q *Queue) ID() string { return q.members.ID() }

// Ready is closed once the node has taken its place among the nodes.
func (q *Queue) Ready() <-chan struct{} { return q.members.Ready() }

// Holds reports whether this node may start sends now.
func (q *Queue) Holds() bool { return q.members.Valid() }

// Owns reports whether this node owns a shard by its own knowledge, for work that two nodes may do but one should.
func (q *Queue) Owns(shard int) bool { return q.members.Owns(shard) }

// shardOf is the shard that a sender belongs to.
func shardOf(senderUID int64) int { return int(senderUID % carillon.Shards) }

// Run owns shards and has work done until ctx ends; then it lets what is under way finish, writes the results and gives its
// shards back.
func (q *Queue) Run(ctx context.Context) error {
	if err := q.members.Join(ctx); err != nil {
		return err
	}
	runCtx, stopDispatcher := context.WithCancel(context.WithoutCancel(ctx))
	defer stopDispatcher()
	defer context.AfterFunc(ctx, stopDispatcher)()
	sessionCtx, endSession := context.WithCancel(context.WithoutCancel(ctx))
	defer endSession()
	var session, keeping sync.WaitGroup
	drained := make(chan struct{})
	if !q.members.Alone() {
		session.Go(func() { q.members.KeepSession(sessionCtx) })
	}
	var failure error
	keeping.Go(func() {
		if failure = q.members.Keep(ctx, drained); failure != nil {
			stopDispatcher()
		}
	})
	d := newDispatcher(q)
	d.run(runCtx)
	if q.stay != nil {
		q.stay()
	}
	close(drained)
	q.members.WaitGiven()
	keeping.Wait()
	q.leave(context.WithoutCancel(ctx))
	endSession()
	session.Wait()
	return failure
}

// leave gives the shards back. What was accepted since the dispatcher ended is for the others.
func (q *Queue) leave(ctx context.Context) {
	q.members.Stop()
	var late []Wake
	for _, e := range q.takeEvents() {
		if ws, ok := e.(woken); ok {
			late = append(late, ws...)
		}
	}
	if err := q.members.Leave(ctx); err != nil {
		q.o.Log.WarnContext(ctx, "leave", "error", err)
		return
	}
	q.publish(late)
}

func (q *Queue) publish(ws []Wake) {
	if len(ws) > 0 && q.o.Bus != nil {
		q.o.Bus.PublishWakes(ws)
	}
}

// Wake records that work is due. Wake-ups of shards that another node owns are published.
func (q *Queue) Wake(ws ...Wake) {
	mine, foreign := q.divide(ws)
	if len(mine) > 0 {
		q.post(woken(mine))
	}
	q.publish(foreign)
}

// divide separates wake-ups by whether this node owns their shards.
func (q *Queue) divide(ws []Wake) (mine, foreign []Wake) {
	for _, w := range ws {
		if q.members.Owns(shardOf(w.SenderUID)) {
			mine = append(mine, w)
		} else {
			foreign = append(foreign, w)
		}
	}
	return mine, foreign
}

// Published takes wake-ups that other nodes published; those of shards that this node does not own are for others. nil: some
// may have been missed, and every shard is scanned. None at all: shards are free.
func (q *Queue) Published(ws []Wake) {
	if len(ws) == 0 {
		q.members.LookForShards()
	}
	if ws == nil {
		q.post(rescan{})
	}
	if mine, _ := q.divide(ws); len(mine) > 0 {
		q.post(woken(mine))
	}
}

// deposed has what a dead node left under way reconciled.
func (q *Queue) deposed() {
	q.post(reconcileAll{})
	for _, takeUp := range q.heirs {
		takeUp()
	}
}

// Gained implements membership.Subscriber.
func (q *Queue) Gained(s work.Shard) { q.post(gained(s)) }

// Lost implements membership.Subscriber.
func (q *Queue) Lost(s work.Shard) { q.post(lost(s)) }

// Rebalance implements membership.Subscriber.
func (q *Queue) Rebalance(n int) { q.post(rebalance(n)) }

// Recover implements membership.Subscriber.
func (q *Queue) Recover(ctx context.Context, shards []work.Shard, recovered func(work.Shard)) error {
	for _, k := range q.kinds {
		if err := k.Worker.Recover(ctx, shards); err != nil {
			return err
		}
	}
	for _, s := range shards {
		recovered(s)
	}
	return nil
}
