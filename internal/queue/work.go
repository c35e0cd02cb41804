package queue

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/queue/lane"
	"carillon/internal/store/work"
)

// Names of the kinds of work.
const (
	Messages = "message"
	Calls    = "call"
)

// DefaultLaneCap is twice what a channel gets of a sender at a time: while a commit stores the results and starts of one
// half, the other one is sent.
const DefaultLaneCap = 128

// Kind is a kind of work: its table, its worker, and its limits.
type Kind struct {
	Name   string // in wake-ups and logs
	Source Source
	Worker Worker
	// Lasting work continues on the node that started it when its shard moves to another node, since a call cannot be
	// handed over. Its limit counts the work in progress on all nodes, as recorded in the store.
	Lasting bool
	LaneCap int           // work of a sender in progress, including starts being committed; default DefaultLaneCap
	Cap     int           // work in progress in total; default 2048
	Drain   time.Duration // how long a stop waits for work in progress; default 20 s
}

// Source is the table of a kind of work.
type Source interface {
	// Lanes, Window and NextDue read queued work, like work.Table.
	Lanes(ctx context.Context, shard int) ([]work.Lane, error)
	Window(ctx context.Context, shard int, l work.Lane, floor, until time.Time, limit int) ([]work.Queued, error)
	NextDue(ctx context.Context, shard int, l work.Lane, floor time.Time) (time.Time, error)
	// Flights returns the work in progress of this node in a shard, according to its database.
	Flights(ctx context.Context, f work.Fence) ([]work.Flight, error)
	// Commit stores results and starts together.
	Commit(ctx context.Context, b *work.Batch) error
}

// Worker does a kind of work.
type Worker interface {
	// Settings returns the present pace and limits of a lane.
	Settings(ctx context.Context, senderUID int64) (lane.Settings, error)
	// Do does a piece of work whose start is committed. ctx ends when a stop has waited for Drain.
	Do(ctx context.Context, j *Job) Done
	// Written is called by the dispatcher after results are stored. It must not block.
	Written(results []work.Result)
	// Recover marks the work that earlier owners of shards left in progress, before this node starts any there.
	Recover(ctx context.Context, shards []work.Shard) error
	// Reconcile decides the outcome of work in a shard whose outcome is unknown, or whose node is dead.
	Reconcile(ctx context.Context, shard int, now time.Time) (Reconciled, error)
}

// Job is one attempt that has been committed as started.
type Job struct {
	work.Queued
	SenderUID int64
	Class     carillon.Class
	Shard     int
	Attempt   int
	// Forgiven is the number of attempts that do not count: the sender's breaker was open or opened by them, or they
	// were not sent for a reason on our side.
	Forgiven int
	// Probe means that the breaker is half open and this attempt tests whether the fault is over. The test does not
	// fail the work.
	Probe bool
	// Settled is called once the provider has accepted lasting work, which may continue for long, such as a ringing
	// call. Its line works.
	Settled func()
	// Valid reports whether this node may still start. It is called right before the request is sent.
	Valid func() bool
}

// Done is the result of a job.
type Done struct {
	Result work.Result
	// Pause means that the fault concerns the whole sender. Its lane pauses for PauseFor, or by backoff if that is 0.
	Pause    bool
	PauseFor time.Duration
	// Answered means that the provider was reached and judged the work itself.
	Answered bool
	// Ours means that a fault on our side postponed the work; the attempt does not count.
	Ours bool
	// Fault is a fault that may affect the sender's next work too.
	Fault provider.Fault
}

// Reconciled is the result of Worker.Reconcile.
type Reconciled struct {
	Retried []work.Lane // lanes with requeued work
	Next    time.Time   // time of the next decision; zero if none is known
}

// Wake reports that a lane has work due at a time.
type Wake struct {
	Kind      string
	SenderUID int64
	Class     carillon.Class
	Due       time.Time
}
