// Package queue holds what waits and starts it when it is due: shards owned by nodes, a
// lane a sender, due times slept to, pacing, fairness between lanes and classes, unknown outcomes. It does not know how
// a message is sent; notify gives it the function that does.
//
//	accept ── Wake ──▶ lane ── window ──▶ start (one commit with the last results) ──▶ Deliver ──▶ result
//	                     ▲                                                                │
//	                     └────────────── retry, unknown, held, postponed ◀────────────────┘
package queue

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"carillon"
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
	// Spared of the attempts count for nothing: the sender's breaker was open or opened by them (breaker.go), or they
	// never left for a reason of our own.
	Spared int
	// Probe: the breaker is half open and this message tries whether the fault is over; it does not fail by it.
	Probe bool
	// Valid tells whether this node may still start: asked right before the request leaves.
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
	// Ours: a fault of our own side put the message off; the attempt counts for nothing.
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
	// Sender gives a sender, and whether it may send now: its company may be suspended.
	Sender func(ctx context.Context, uid int64) (s *carillon.Sender, active bool, err error)
	// Publish carries wakes of shards that other nodes own; nil on one node.
	Publish func(ws []Wake)
	// Closed hears the notifications of which a message ended.
	Closed func(notifications []carillon.Seq)
	// Deposed is called when work behind deliveries may have been left undone: this node declared another one dead.
	Deposed func()
	// Moved tells the other nodes that this one gave shards back; they look at once. nil on one node.
	Moved func()
	// Lapsed hears that this node may not start anything any more: it could not tell the others that it is alive.
	Lapsed func()
	// Observe hears how late a message started and how it ended.
	Observe func(j *Job, late time.Duration, d *Done)
	// Settled hears of messages of unknown outcome what their sender's policy made of them.
	Settled func(retried, failed int)
	Log     *slog.Logger
	Name    string // of this node, for people

	LaneCap    int           // sends at once of one sender; default 64
	ProcessCap int           // sends at once in all; default 1024
	Drain      time.Duration // how long Stop waits for sends in flight; default 20 s
}

// breakersLeave bounds how long a stop waits for changes of breakers to be written.
const breakersLeave = 2 * time.Second

// Queue owns lanes. Make it with New, run it with Run.
type Queue struct {
	store  *store.Store
	o      Options
	id     string
	signal chan struct{}

	mu     sync.Mutex
	events []event
	owned  map[int]int64 // shard → epoch, as this node believes
	giving map[int]bool  // shards being given back; false: done, but not looked at since

	gives sync.WaitGroup
	look  chan struct{} // another node gave shards back

	beat  beat
	ready chan struct{} // closed once the first shards are held, or it is known that there are none to take
	once  sync.Once
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
	q := &Queue{
		store: s, o: o, id: carillon.NewID(time.Now()), signal: make(chan struct{}, 1),
		owned: map[int]int64{}, giving: map[int]bool{}, look: make(chan struct{}, 1), ready: make(chan struct{}),
	}
	return q
}

// Ready is closed once the node has taken its place among the nodes.
func (q *Queue) Ready() <-chan struct{} { return q.ready }

// Run owns shards and delivers until ctx ends; then it lets the sends in flight finish, writes their results and gives
// its shards back.
func (q *Queue) Run(ctx context.Context) error {
	if err := q.join(ctx); err != nil {
		return err
	}
	runCtx, stopDispatcher := context.WithCancel(context.WithoutCancel(ctx))
	defer stopDispatcher()
	sessionCtx, endSession := context.WithCancel(context.WithoutCancel(ctx))
	defer endSession()
	var done, owned sync.WaitGroup
	drained := make(chan struct{})
	if !q.alone() {
		done.Go(func() { q.keepSession(sessionCtx) })
	}
	var failure error
	owned.Go(func() {
		if failure = q.own(ctx, drained); failure != nil {
			stopDispatcher()
		}
	})
	done.Go(func() {
		select {
		case <-ctx.Done():
			stopDispatcher()
		case <-sessionCtx.Done():
		}
	})
	d := newDispatcher(q)
	d.run(runCtx)
	close(drained)
	q.gives.Wait()
	d.breakers.writer.wait(breakersLeave)
	owned.Wait()
	q.leave(context.WithoutCancel(ctx))
	endSession()
	done.Wait()
	return failure
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
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, w := range ws {
		if _, owned := q.owned[shardOf(w.SenderUID)]; owned {
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
		select {
		case q.look <- struct{}{}:
		default:
		}
	}
	if ws == nil {
		q.post(rescan{})
	}
	if mine, _ := q.divide(ws); len(mine) > 0 {
		q.post(woken(mine))
	}
}
