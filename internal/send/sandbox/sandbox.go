// Package sandbox simulates a channel, a reviewer and phones behind the same interfaces as the real ones, for the
// demo, for development and for tests. Nothing leaves the process. It is deterministic: the last four digits of a
// number and the end of a template's name determine the outcome, by the tables of docs/guides/sandbox.md, which a test
// compares with this package. Pending receipts are kept in bounded memory and are lost when the process ends.
package sandbox

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"carillon"
	"carillon/internal/base/provider"
)

// Options configure a Channel. The zero value works and reports nothing.
type Options struct {
	// Unreachable returns the unreachable phones. It is called every second. If nil, all phones are reachable.
	Unreachable func(ctx context.Context) ([]Recipient, error)
	// Marked is called when the company has read a phone's message. The typing indicator is shown until typingUntil;
	// the zero time does not change it.
	Marked func(ctx context.Context, s *carillon.Sender, number string, typingUntil time.Time) error
	Delays Delays
	Logger *slog.Logger
}

// Reports are the callbacks for later events. Events without a callback are dropped. After an error the callback is
// repeated.
type Reports struct {
	// Receipts receives at most 256 receipts per call, all of one sender, each with its SenderUID.
	Receipts func(ctx context.Context, rs []provider.Receipt) error
	// Replies receives receipts of replies.
	Replies func(ctx context.Context, senderUID int64, rs []provider.ReplyReceipt) error
	// Templates receives the reviewer's decisions.
	Templates func(ctx context.Context, e provider.TemplateEvent) error
}

// Delays are the delays after a message or template was accepted, or a call was dialed. For each delay, 0 means the
// default and a negative value means no delay.
type Delays struct {
	Delivered  time.Duration // 400 ms
	Read       time.Duration // 1.5 s
	Ringing    time.Duration // 300 ms
	Answered   time.Duration // 1.5 s
	Ended      time.Duration // 4 s: the call ends, or nobody answered
	Late       time.Duration // 5 s: the first receipt of a message with an unknown outcome
	Slow       time.Duration // 5 s: duration of a slow send, and extra ringing of a slow callee
	RetryAfter time.Duration // 5 s: the wait that a rate limit demands
	Review     time.Duration // 2 s
}

// Filled returns the delays with the defaults filled in.
func (d Delays) Filled() Delays {
	for _, f := range []struct {
		at       *time.Duration
		standard time.Duration
	}{
		{&d.Delivered, 400 * time.Millisecond},
		{&d.Read, 1500 * time.Millisecond},
		{&d.Ringing, 300 * time.Millisecond},
		{&d.Answered, 1500 * time.Millisecond},
		{&d.Ended, 4 * time.Second},
		{&d.Late, 5 * time.Second},
		{&d.Slow, 5 * time.Second},
		{&d.RetryAfter, 5 * time.Second},
		{&d.Review, 2 * time.Second},
	} {
		switch {
		case *f.at == 0:
			*f.at = f.standard
		case *f.at < 0:
			*f.at = 0
		}
	}
	return d
}

// Bounds of the sandbox.
const (
	receiptBatch = 256
	maxPending   = 1 << 18 // messages with pending receipts, some 40 MB
	maxTemplates = 10_000
	maxReviews   = 1_000 // pending
	retryAfter   = time.Second
	retryFor     = 10 * time.Minute // after the due time; real channels also stop repeating a callback
)

// Channel is the simulated channel with its reviewer.
type Channel struct {
	o       Options
	to      Reports
	plans   *planTable
	pending schedule
	reviews chan review // in the order of their due times

	away atomic.Pointer[map[Recipient]bool] // unreachable phones; nil if there are none

	mu        sync.Mutex
	templates map[templateKey]*submission
}

// New returns a channel. Send works immediately. Receipts and decisions are reported while Run runs.
func New(o Options) *Channel {
	o.Delays = o.Delays.Filled()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Channel{
		o:         o,
		plans:     newPlanTable(&o.Delays),
		pending:   schedule{max: maxPending, wake: make(chan struct{}, 1)},
		reviews:   make(chan review, maxReviews),
		templates: map[templateKey]*submission{},
	}
}

// ReportTo sets the callbacks for later events. Call it before Run.
func (c *Channel) ReportTo(to Reports) { c.to = to }

// Run reports receipts and decisions when they are due, until ctx ends. The remaining ones are dropped.
func (c *Channel) Run(ctx context.Context) error {
	var loops sync.WaitGroup
	loops.Go(func() { c.reportReceipts(ctx) })
	loops.Go(func() { c.decideReviews(ctx) })
	if c.o.Unreachable != nil {
		loops.Go(func() { c.followUnreachable(ctx) })
	}
	loops.Wait()
	return nil
}
