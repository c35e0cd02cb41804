// Package work has the common parts of all kinds of work in lanes: the types exchanged between the dispatcher and a
// store, and the SQL of a table of waiting work (Table). Messages and calls each have such a table.
package work

import (
	"context"
	"time"

	"carillon"
)

// Key identifies a piece of work within its table. Adjacent recipients of a notification have adjacent keys.
type Key int64

// Lane is the queue of one class of one sender, as in the due index.
type Lane struct {
	SenderUID int64
	Class     carillon.Class
	Due       time.Time // due time of its earliest work
}

// Queued is a piece of work that waits in a lane.
type Queued struct {
	Key     Key
	Number  string // of the recipient
	Attempt int    // attempts so far
	Due     time.Time
}

// Flight is a piece of work that is in flight in the database.
type Flight struct {
	Key       Key
	SenderUID int64
	Class     carillon.Class
	Attempt   int
}

// Fence proves that a node still owns a shard: a start is committed only with it.
type Fence struct {
	Shard int
	Owner string
	Epoch int64
}

// Start is a piece of work about to be started. Commit sets Attempt; 0 means that the row may no longer start, and
// Full that its lane has reached Limit (calls only). Followed is set too: the company subscribes to events.
type Start struct {
	Key       Key
	SenderUID int64
	Shard     int
	Limit     int // bound of the lane's calls over all nodes; 0 for none
	Followed  bool
	Attempt   int
	Full      bool
}

// Move is the effect of a result on a row's place in the queue.
type Move int

// The moves.
const (
	MoveDone    Move = iota // ended: Outcome says how
	MoveRetry               // queued again for Due
	MoveUnknown             // outcome unknown until Due
	MoveHold                // held back; Outcome has the name
	MoveUnsent              // started, but nothing was done: queued again for Due
)

// Result is the result of one attempt. It is accepted from any node, by key and attempt.
type Result struct {
	Key       Key
	SenderUID int64
	Attempt   int
	Move      Move
	Due       time.Time
	At        time.Time
	Detail    string // for the operator; no secrets or content
	Outcome   any    // data of the kind of work about the end of an attempt; nil for none
	Followed  bool   // set by Commit: the work has ended, and its company subscribes to events
}

// Batch is one commit of a node's work: the results since the last one and the next starts, each sorted by key.
type Batch struct {
	Fences  []Fence // for the shards of the starts, sorted by shard
	Starts  []*Start
	Results []Result
	Later   []Queued // moved to their Due without an attempt, sorted by key
	Now     time.Time
	Lost    []int // set by Commit: shards whose fence no longer held; their starts were dropped
}

// maxFollow bounds the wait for the subscriptions of a batch while the database does not respond.
const maxFollow = 2 * time.Second

// Follow sets Followed of the results, and of the starts if they have events.
func (b *Batch) Follow(ctx context.Context, starts bool, followed func(ctx context.Context, senderUID int64) bool) {
	ctx, cancel := context.WithTimeout(ctx, maxFollow)
	defer cancel()
	for i := range b.Results {
		r := &b.Results[i]
		r.Followed = r.Move == MoveDone && followed(ctx, r.SenderUID)
	}
	for _, st := range b.Starts {
		st.Followed = starts && followed(ctx, st.SenderUID)
	}
}

// Rows returns how many rows the batch writes.
func (b *Batch) Rows() int { return len(b.Starts) + len(b.Results) + len(b.Later) }
