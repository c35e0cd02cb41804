// Package notice informs people about conversations that they do not have open: teammates about visitors who wait, by web push
// immediately and by e-mail after a while, and visitors who left about the replies to them, by e-mail.
//
// A wait (chats.Conversation.WaitingAt) has at most two notices, which one node claims before it sends: a node that dies in
// between sends none, so nobody gets one twice. A reply is claimed for a while. A node that dies in between leaves it to another,
// which sends the same e-mail with the same Message-ID, so none is lost and mail servers drop the second.
package notice

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"carillon/internal/account/limit"
	"carillon/internal/account/mail"
	"carillon/internal/account/push"
	"carillon/internal/base/schedule"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/events"
)

const (
	sweepEvery = 2 * time.Second
	maxSweep   = 100
	maxJobs    = 256 // waiting web push jobs of this node
	workers    = 8
)

// Mailer sends e-mails.
type Mailer interface {
	Send(ctx context.Context, x mail.Message) error
	Post(job mail.Job) bool
}

// Pusher sends web push messages.
type Pusher interface {
	Send(ctx context.Context, x *accounts.Subscription, m push.Message, life time.Duration) error
}

// Publisher sends events that are not stored to the screens that follow a topic.
type Publisher interface {
	Publish(events ...*events.Event)
}

// Options configure Notices. All fields are required except Mailer and Now.
type Options struct {
	Store     *store.Store
	Mailer    Mailer // nil: no e-mails
	Push      Pusher
	Limits    *limit.Limits
	Publisher Publisher
	BaseURL   func() string
	// Origins returns the origins of the pages that may use a widget; none if any page may.
	Origins   func(ctx context.Context, companyID, widgetID string) ([]string, error)
	Suspended func(ctx context.Context, companyID string) (bool, error)
	Log       *slog.Logger
	Now       func() time.Time // default time.Now
}

// Notices sends notices. Run does the work.
type Notices struct {
	o    Options
	jobs chan waiting
}

// New returns notices.
func New(o Options) *Notices {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Notices{o: o, jobs: make(chan waiting, maxJobs)}
}

// now returns the current time at the precision of the database.
func (n *Notices) now() time.Time { return n.o.Now().Truncate(time.Millisecond).UTC() }

// Run sends what is due until ctx ends.
func (n *Notices) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for range workers {
		all.Go(func() { n.work(ctx) })
	}
	defer all.Wait()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(sweepEvery):
		}
		if err := n.Sweep(ctx); err != nil && ctx.Err() == nil {
			n.o.Log.WarnContext(ctx, "send notices about conversations", "error", err)
		}
	}
}

// work sends the web push messages of jobs.
func (n *Notices) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case job := <-n.jobs:
			if err := n.push(ctx, job); err != nil && ctx.Err() == nil {
				n.o.Log.WarnContext(ctx, "send push messages about a waiting visitor", "conversation", job.c.ID, "error", err)
			}
		}
	}
}

// Sweep claims the notices about waits that are due, and sends the e-mails that are due.
func (n *Notices) Sweep(ctx context.Context) error {
	return errors.Join(n.team(ctx), n.visitors(ctx))
}

// quiet reports whether it is in a member's quiet hours.
func quiet(c *accounts.NoticeChoice, now time.Time) bool {
	if c.QuietFrom == c.QuietTo {
		return false
	}
	local := now.UTC()
	if c.Zone != "" {
		if zone, err := schedule.Zone(c.Zone); err == nil {
			local = now.In(zone)
		}
	}
	minute := local.Hour()*60 + local.Minute()
	if c.QuietFrom < c.QuietTo {
		return minute >= c.QuietFrom && minute < c.QuietTo
	}
	return minute >= c.QuietFrom || minute < c.QuietTo
}
