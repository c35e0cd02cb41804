// Package sandbox is a pretend channel, reviewer and phone behind the same interfaces as the real ones, for the demo, for
// development and for tests. Nothing leaves the process. It knows no chance: the last four digits of a number and the end
// of a template's name decide what happens, by the tables of docs/guides/sandbox.md, which a test holds against this
// package. It keeps what it owes in bounded memory and forgets it at the end of the process, as a channel does not:
// it is no place for what must survive a restart.
package sandbox

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"carillon"
)

// Options wire a Channel; the zero value works and tells nobody anything.
type Options struct {
	// Receipts takes what becomes of messages and calls: at most 256 at a time, all of one sender, each with its
	// SenderUID and Channel. An error makes the sandbox tell them again.
	Receipts func(ctx context.Context, rs []carillon.Receipt) error
	// Templates takes the reviewer's decisions. An error makes it tell them again.
	Templates func(ctx context.Context, e carillon.TemplateEvent) error
	Delays    Delays
	Pending   int // messages and calls whose receipts are still owed, at most; 0: 262,144, some 40 MB
	Logger    *slog.Logger
}

// Delays say when things happen, counted from the moment the sandbox takes a message, a call or a template. Of each, 0 is
// the default and a negative value means at once.
type Delays struct {
	Delivered  time.Duration // 400 ms
	Read       time.Duration // 1.5 s
	Ringing    time.Duration // 300 ms
	Answered   time.Duration // 1.5 s
	Ended      time.Duration // 4 s: the call is over, or nobody answered
	Late       time.Duration // 5 s: the first receipt of a message whose outcome was unknown
	Slow       time.Duration // 5 s: how long a slow send takes
	RetryAfter time.Duration // 5 s: what a rate limit asks for
	Review     time.Duration // 2 s
}

func (d Delays) filled() Delays {
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

// Bounds.
const (
	receiptBatch   = 256
	reviewBatch    = 16
	standardOwed   = 1 << 18
	maxTemplates   = 10_000
	flushFor       = 2 * time.Second
	firstBackoff   = 100 * time.Millisecond
	longestBackoff = 5 * time.Second
	giveUpAfter    = 10 * time.Minute // since it was due; like a channel whose callbacks nobody takes
)

// Channel is the pretend channel with its reviewer and phone.
type Channel struct {
	o       Options
	plans   map[carillon.Channel]*book
	letters *schedule[letter]
	reviews *schedule[review]

	mu        sync.Mutex
	templates map[templateKey]*submission
	turns     int64
}

// New makes a channel. It sends at once; receipts and reviews come while Run runs.
func New(o Options) *Channel {
	o.Delays = o.Delays.filled()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Pending == 0 {
		o.Pending = standardOwed
	}
	return &Channel{
		o:         o,
		plans:     books(&o.Delays),
		letters:   newSchedule[letter](o.Pending),
		reviews:   newSchedule[review](maxTemplates),
		templates: map[templateKey]*submission{},
	}
}

// Run delivers receipts and decisions when they are due, until ctx ends. Then it delivers what is due already and drops
// the rest, which it counts in the log.
func (c *Channel) Run(ctx context.Context) error {
	var children sync.WaitGroup
	children.Go(func() {
		dropped := c.letters.run(ctx, c.o.Logger, receiptBatch, c.tell)
		c.logDropped(ctx, "receipts", dropped)
	})
	children.Go(func() {
		dropped := c.reviews.run(ctx, c.o.Logger, reviewBatch, c.decideDue)
		c.logDropped(ctx, "reviews", dropped)
	})
	children.Wait()
	return nil
}

func (c *Channel) logDropped(ctx context.Context, what string, n int) {
	if n > 0 {
		c.o.Logger.InfoContext(ctx, "drop what is not due", "what", what, "count", n)
	}
}
