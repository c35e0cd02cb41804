// Package queue starts work of any kind when it is due: messages and calls. The dispatcher prefetches lanes, decides
// which work starts, commits starts together with the results of earlier attempts, and passes each to a worker. It
// does not know how a message is sent or a call is placed (Kind).
//
//	accept ── Wake ──▶ lane ── prefetch ──▶ start (one commit with the last results) ──▶ Worker.Do ──▶ result
//	                     ▲                                                                   │
//	                     └────────────── retry, unknown, held, postponed ◀───────────────────┘
//
// The way of a message, with the functions in the order of their calls; those of other files are side cases:
//
//  1. wake.go: Queue.Wake posts its due time once the accept is committed. woken.apply and kind.wake pass it to the Buffer
//     of its lane, and kind.attend decides what the lane needs: a reader, or sleep (kind.place).
//  2. read.go: kind.read, in a goroutine, reads it up to a second early. reading.apply puts it into the Buffer; then
//     its lane sleeps until it is due.
//  3. start.go: dispatcher.step, the only goroutine that decides, calls kind.step: kind.choose takes due work from the lanes
//     in turn. Lane.Room bounds a sender (LaneCap, pace, circuit breaker), Cap all senders.
//  4. start.go: kind.commit stores its start, with earlier results, under the fence of its shard (Messages.Commit in
//     store/messages/deliver.go). So no other node sends it, and a crash leaves a trace.
//  5. start.go: committed.apply and kind.launch call Worker.Do (send/notify/deliver.go), which sends it once (Client.Send in
//     send/whatsapp/send.go) and returns the result (judge.go).
//  6. finish.go: completion.apply frees its place for the next start. The next commit stores the result; kind.written forgets
//     the message, or wakes its lane for another attempt.
//
// If the node dies between 4 and the commit of the result, the next owner of the shard gives the message an unknown
// outcome (Worker.Recover). After a wait, Worker.Reconcile tries it again or fails it, as its sender's policy says.
//
// queue/membership decides which shards this node owns; queue/lane has the pure logic of a lane.
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

// Bus sends messages to the other nodes.
type Bus interface {
	// PublishWakes sends wake-ups of shards that other nodes own.
	PublishWakes(ws []Wake)
	// PublishShards announces that this node gave shards back, so that the others check immediately.
	PublishShards()
}

// Options configure a Queue. All are optional.
type Options struct {
	Bus Bus // nil on a single node
	// Lapsed is called when this node may no longer start work, because it could not prove to the others that it is
	// alive.
	Lapsed func()
	Log    *slog.Logger
	Name   string // of this node, for people
	Events bool   // sets this node apart for events, while there are others
}

// Queue starts due work. New builds it, Handle registers kinds of work, Run runs it.
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
	m := membership.Options{Name: o.Name, Events: o.Events, Log: o.Log, Deposed: q.deposed, Lapsed: o.Lapsed}
	if o.Bus != nil {
		m.Moved = o.Bus.PublishShards
	}
	q.members = membership.New(s, q, m)
	return q
}

// OnDeposed adds functions that are called when this node has declared another one dead, whose background work may be
// unfinished. It must be called before Run.
func (q *Queue) OnDeposed(heirs ...func()) { q.heirs = append(q.heirs, heirs...) }

// OnDrained sets a function that is called when the work has finished during a stop. The node keeps its registration
// until the function returns. It must be called before Run.
func (q *Queue) OnDrained(stay func()) { q.stay = stay }

// Handle registers a kind of work. It must be called before Run.
func (q *Queue) Handle(k Kind) {
	if k.LaneCap == 0 {
		k.LaneCap = DefaultLaneCap
	}
	if k.Cap == 0 {
		k.Cap = 2048
	}
	if !k.Lasting {
		k.LaneCap = min(k.LaneCap, max(1, k.Cap/8)) // so that a few hanging senders stop no others
	}
	if k.Drain == 0 {
		k.Drain = 20 * time.Second
	}
	q.kinds = append(q.kinds, k)
}

// ID returns this node's ID in the nodes' table.
func (q *Queue) ID() string { return q.members.ID() }

// Ready returns a channel that is closed once the node has joined the others.
func (q *Queue) Ready() <-chan struct{} { return q.members.Ready() }

// Holds reports whether this node may start sends now.
func (q *Queue) Holds() bool { return q.members.Valid() }

// Clock returns by how much this node's clock is ahead of the database's, and whether this node would start work early.
func (q *Queue) Clock() (ahead time.Duration, early bool) { return q.members.Clock() }

// Owns reports whether this node believes that it owns a shard. It is meant for work that two nodes may do but only one
// should.
func (q *Queue) Owns(shard int) bool { return q.members.Owns(shard) }

// OwnsEvents reports whether this node delivers the events of a shard to webhooks.
func (q *Queue) OwnsEvents(shard int) bool { return q.members.OwnsEvents(shard) }

// shardOf returns the shard of a sender.
func shardOf(senderUID int64) int { return int(senderUID % carillon.Shards) }

// Run owns shards and starts their work until ctx ends. Then it lets the work in progress finish, writes the results
// and gives its shards back.
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

// leave gives the shards back. Work accepted since the dispatcher ended is left to the other nodes.
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

// Published handles wake-ups published by other nodes, except those of shards that this node does not own. nil means
// that some may have been missed, so every shard is scanned. An empty list means that shards are free.
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

// deposed reconciles the work that a dead node left in progress.
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
