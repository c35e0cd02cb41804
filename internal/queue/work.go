package queue

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/queue/lane"
	"carillon/internal/store/work"
)

// The names of the kinds of work.
const (
	Messages = "message"
	Calls    = "call"
)

// Kind is a kind of work: where it waits, what does it, and within what bounds.
type Kind struct {
	Name   string // in wake-ups and logs
	Source Source
	Worker Worker
	// Lasting work goes on where it was started when its shard passes to another node: a call cannot be handed over. The
	// store's own record of what is under way, not the shard's owner, bounds how much of it there is.
	Lasting bool
	LaneCap int           // under way at once of one sender; 0: 64
	Cap     int           // under way at once in all; 0: 1024
	Drain   time.Duration // how long a stop waits for what is under way; 0: 20 s
}

// Source is the table that a kind of work waits in.
type Source interface {
	// Lanes, Window and NextDue read what is queued, as work.Table does.
	Lanes(ctx context.Context, shard int) ([]work.Lane, error)
	Window(ctx context.Context, shard int, l work.Lane, floor, until time.Time, limit int) ([]work.Queued, error)
	NextDue(ctx context.Context, shard int, l work.Lane, floor time.Time) (time.Time, error)
	// Flights reads what this node has under way in a shard, by its database.
	Flights(ctx context.Context, f work.Fence) ([]work.Flight, error)
	// Commit stores results and starts together.
	Commit(ctx context.Context, b *work.Batch) error
}

// Worker does a kind of work.
type Worker interface {
	// Settings returns how a lane is paced and bounded now.
	Settings(ctx context.Context, senderUID int64) (lane.Settings, error)
	// Do does a piece of work whose start is committed. When ctx ends the program stops.
	Do(ctx context.Context, j *Job) Done
	// Written is called by the dispatcher once results are stored. It must not block.
	Written(results []work.Result)
	// Recover marks what earlier owners of shards left under way, before this node starts anything there.
	Recover(ctx context.Context, shards []work.Shard) error
	// Reconcile decides what became of work of a shard whose outcome is unknown, or whose node is gone.
	Reconcile(ctx context.Context, shard int, now time.Time) (Reconciled, error)
}

// Job is one attempt that has been committed as started.
type Job struct {
	work.Queued
	SenderUID int64
	Class     carillon.Class
	Shard     int
	Attempt   int
	// Forgiven of the attempts count for nothing: the sender's breaker was open or opened by them, or they never left for a
	// reason on our side.
	Forgiven int
	// Probe: the breaker is half open and this attempt probes whether the fault is over; the work does not fail by it.
	Probe bool
	// Settled is called once the provider has taken up lasting work, which may go on for long: a call rings. Its line is fine.
	Settled func()
	// Valid reports whether this node may still start: asked right before the request leaves.
	Valid func() bool
}

// Done is how a job ended.
type Done struct {
	Result work.Result
	// Pause: the fault concerns the whole sender; its lane rests, for the time given or by backoff when it is 0.
	Pause    bool
	PauseFor time.Duration
	// Answered: the provider was reached and judged the work itself.
	Answered bool
	// Ours: a fault on our side postponed the work; the attempt counts for nothing.
	Ours bool
	// Fault is what may keep the sender's next work from its end too.
	Fault provider.Fault
}

// Reconciled is what Worker.Reconcile did.
type Reconciled struct {
	Retried []work.Lane // lanes in which work is queued again
	Next    time.Time   // when there is more to decide; zero: nothing is known of
}

// Wake says that a lane has work due at an instant.
type Wake struct {
	Kind      string
	SenderUID int64
	Class     carillon.Class
	Due       time.Time
}
