// Package queue starts messages when they are due. The dispatcher reads lanes ahead, decides what starts, commits starts
// together with the results of the last sends, and has a worker deliver each. It does not know how a message is sent.
//
//	accept ── Wake ──▶ lane ── prefetch ──▶ start (one commit with the last results) ──▶ Deliver ──▶ result
//	                     ▲                                                                  │
//	                     └────────────── retry, unknown, held, postponed ◀──────────────────┘
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
)

// Job is one attempt that has been committed as started.
type Job struct {
	store.Queued
	NotificationID string // the public id; Deliver fills it once it has read the notification
	Sender         *carillon.Sender
	Class          carillon.Class
	Shard          int
	Attempt        int
	// Forgiven of the attempts count for nothing: the sender's breaker was open or opened by them, or they never left for a
	// reason on our side.
	Forgiven int
	// Probe: the breaker is half open and this message probes whether the fault is over; it does not fail by it.
	Probe bool
	// Valid reports whether this node may still start: asked right before the request leaves.
	Valid func() bool
}

// Done is how a job ended.
type Done struct {
	Result store.Result
	// Pause: the fault concerns the whole sender; its lane rests, for the time given or by backoff when it is 0.
	Pause    bool
	PauseFor time.Duration
	// Answered: the provider was reached and judged the message itself.
	Answered bool
	// Ours: a fault on our side postponed the message; the attempt counts for nothing.
	Ours bool
	// Fault is what may keep the sender's next message from its end too.
	Fault carillon.Fault
}

// Wake says that a lane has a message due at an instant.
type Wake struct {
	SenderUID int64
	Class     carillon.Class
	Due       time.Time
	Fresh     *Fresh // the message itself, where it was stored right now; nil: it is read
}

// Fresh is a message that has just been stored, alone and due at once, and its sender as it was then.
type Fresh struct {
	store.Queued
	Sender *carillon.Sender
}

// Options wire a queue. Deliver and Sender are required.
type Options struct {
	Deliver func(ctx context.Context, j *Job) Done
	// Sender returns a sender, and whether it may send now: its company may be suspended.
	Sender func(ctx context.Context, uid int64) (s *carillon.Sender, active bool, err error)
	// Publish carries wakes of shards that other nodes own; nil on one node.
	Publish func(ws []Wake)
	// Closed is called with the notifications of which a message ended.
	Closed func(notifications []carillon.Seq)
	// Deposed is called when work behind deliveries may have been left undone: this node declared another one dead.
	Deposed func()
	// Moved is called when this node gave shards back: the others should look at once. nil on one node.
	Moved func()
	// Lapsed is called when this node may not start anything any more: it could not show the others that it is alive.
	Lapsed func()
	// Observe is called with how late a message started and how it ended.
	Observe func(j *Job, late time.Duration, d *Done)
	// Reconciled is called with what their senders' policies made of messages of unknown outcome.
	Reconciled func(retried, failed int)
	Log        *slog.Logger
	Name       string // of this node, for people

	LaneCap    int           // sends at once of one sender; default 64
	ProcessCap int           // sends at once in all; default 1024
	Drain      time.Duration // how long Stop waits for sends in flight; default 20 s
}

// breakersLeave bounds how long a stop waits for changes of breakers to be written.
const breakersLeave = 2 * time.Second

// Queue starts what is due. Make it with New, run it with Run.
type Queue struct {
	store   *store.Store
	o       Options
	members *membership.Membership
	signal  chan struct{}

	mu     sync.Mutex
	events []event
}

// New builds a queue.
func New(s *store.Store, o Options) *Queue {
	if o.LaneCap == 0 {
		o.LaneCap = 64
	}
	if o.ProcessCap == 0 {
		o.ProcessCap = 1024
	}
	o.LaneCap = min(o.LaneCap, max(1, o.ProcessCap/8)) // a provider that hangs stops no one
	if o.Drain == 0 {
		o.Drain = 20 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	q := &Queue{store: s, o: o, signal: make(chan struct{}, 1)}
	q.members = membership.New(s, q, membership.Options{Name: o.Name, Log: o.Log, Deposed: o.Deposed, Moved: o.Moved, Lapsed: o.Lapsed})
	return q
}

// ID is this node's id in the nodes' table.
func (q *Queue) ID() string { return q.members.ID() }

// Ready is closed once the node has taken its place among the nodes.
func (q *Queue) Ready() <-chan struct{} { return q.members.Ready() }

// Holds reports whether this node may start sends now.
func (q *Queue) Holds() bool { return q.members.Valid() }

// Owns reports whether this node holds a shard, as far as it knows: what one node should do and two may.
func (q *Queue) Owns(shard int) bool { return q.members.Owns(shard) }

// shardOf is the shard that a sender belongs to.
func shardOf(senderUID int64) int { return int(senderUID % carillon.Shards) }

// Run owns shards and delivers until ctx ends; then it lets the sends in flight finish, writes their results and gives
// its shards back.
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
	close(drained)
	q.members.WaitGiven()
	d.breakers.writer.wait(breakersLeave)
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
	if len(late) > 0 && q.o.Publish != nil {
		q.o.Publish(late)
	}
}

// Wake records that messages are due. Wake-ups of shards that another node owns are published.
func (q *Queue) Wake(ws ...Wake) {
	mine, foreign := q.divide(ws)
	if len(mine) > 0 {
		q.post(woken(mine))
	}
	if len(foreign) > 0 && q.o.Publish != nil {
		q.o.Publish(foreign)
	}
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

// Heard takes wake-ups that other nodes published; those of shards that this node does not own are for others. nil: some
// may have been missed, and every shard is scanned. None at all: shards are free.
func (q *Queue) Heard(ws []Wake) {
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

// Gained implements membership.Subscriber.
func (q *Queue) Gained(s store.Shard) { q.post(gained(s)) }

// Lost implements membership.Subscriber.
func (q *Queue) Lost(s store.Shard) { q.post(lost(s)) }

// Rebalance implements membership.Subscriber.
func (q *Queue) Rebalance(n int) { q.post(rebalance(n)) }

// Recover implements membership.Subscriber: what earlier owners of shards left in flight is of unknown outcome.
func (q *Queue) Recover(ctx context.Context, shards []store.Shard, recovered func(store.Shard)) error {
	ids := make([]int, len(shards))
	for i, s := range shards {
		ids[i] = s.ID
	}
	inFlight, err := q.store.InFlight(ctx, ids)
	if err != nil {
		return err
	}
	for _, s := range shards {
		if err := q.recoverShard(ctx, s, inFlight[s.ID]); err != nil {
			return err
		}
		recovered(s)
	}
	return nil
}

// recoverShard marks what a shard has in flight, of these senders, as of unknown outcome.
func (q *Queue) recoverShard(ctx context.Context, s store.Shard, senders []int64) error {
	if len(senders) == 0 {
		return nil
	}
	n, err := q.store.Recover(ctx, s.ID, s.Epoch, time.Now(), senders, func(uid int64) time.Duration {
		sender, _, err := q.o.Sender(ctx, uid)
		if err != nil {
			return carillon.DefaultUnknownPolicy().After
		}
		return sender.Unknown.After
	})
	if n > 0 {
		q.o.Log.WarnContext(ctx, "found messages in flight whose outcome is unknown", "shard", s.ID, "messages", n)
	}
	return err
}
