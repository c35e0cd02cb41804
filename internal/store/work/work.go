// Package work is what the kinds of work that wait in lanes have in common: the types that a dispatcher and a store exchange,
// and the SQL of a table that work waits in (Table). Messages and calls each have such a table.
package work

import (
	"context"
	"time"

	"carillon"
)

// Key identifies a piece of work within its table. Neighbours among the recipients of a notification have neighbouring keys.
type Key int64

// Lane is the queue of one class of one sender, as the due index knows it.
type Lane struct {
	SenderUID int64
	Class     carillon.Class
	Due       time.Time // of its earliest work
}

// Queued is a piece of work that waits in a lane.
type Queued struct {
	Key     Key
	Number  string // of the recipient
	Attempt int    // attempts so far
	Due     time.Time
}

// Flight is a piece of work that the database says is under way.
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

// Start is a piece of work that is about to be done. Commit fills Attempt; 0: the row may not start any more. Full: nor may
// any other of its lane, which has as many under way as it may. Followed: its company subscribes to events.
type Start struct {
	Key       Key
	SenderUID int64
	Shard     int
	Limit     int // how many of the lane may be under way at once, over all nodes; 0: any number
	Followed  bool
	Attempt   int
	Full      bool
}

// Move is what a result does to a row's place in the queue.
type Move int

// The moves.
const (
	MoveDone    Move = iota // ended: Outcome says how
	MoveRetry               // queued again for Due
	MoveUnknown             // outcome unknown until Due
	MoveHold                // held back; Outcome says under which name
	MoveUnsent              // its start was committed, but nothing was done: queued again for Due
)

// Result is what became of one attempt. It is accepted from any node, by key and attempt.
type Result struct {
	Key       Key
	SenderUID int64
	Attempt   int
	Move      Move
	Due       time.Time
	At        time.Time
	Detail    string // for the operator: no secrets, no content
	Outcome   any    // what else the kind of work writes about the end of an attempt; nil: nothing
	Followed  bool   // filled by Commit: it ends the work, and its company subscribes to events
}

// Batch is one commit of a node's work: the results since the last one and the next starts, each sorted by key.
type Batch struct {
	Fences  []Fence // of the shards of the starts, sorted by shard
	Starts  []*Start
	Results []Result
	Later   []Queued // moved to their Due without an attempt, sorted by key
	Now     time.Time
	Lost    []int // filled: shards whose fence no longer held; their starts were dropped
}

// followMost bounds how long a batch waits until it is known who subscribes, while the database does not respond.
const followMost = 2 * time.Second

// Follow fills Followed of the results, and of the starts where those leave events.
func (b *Batch) Follow(ctx context.Context, starts bool, followed func(ctx context.Context, senderUID int64) bool) {
	ctx, cancel := context.WithTimeout(ctx, followMost)
	defer cancel()
	for i := range b.Results {
		r := &b.Results[i]
		r.Followed = r.Move == MoveDone && followed(ctx, r.SenderUID)
	}
	for _, st := range b.Starts {
		st.Followed = starts && followed(ctx, st.SenderUID)
	}
}

// Rows is how many rows the batch writes.
func (b *Batch) Rows() int { return len(b.Starts) + len(b.Results) + len(b.Later) }
