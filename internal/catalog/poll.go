package catalog

import (
	"context"
	"fmt"
	"time"

	"carillon"
	"carillon/internal/store"

	"golang.org/x/sync/errgroup"
)

// How often the channel is asked: about a template in review or paused, and how many at a time.
const (
	pollFirst = time.Minute
	pollLast  = time.Hour
	pollBatch = 32
	pollers   = 4
	pollSleep = time.Minute // the longest; another node may have left a template to us
)

// schedulePoll sets when to ask about a template that just came to its status.
func schedulePoll(r *store.TemplateRecord, now time.Time) {
	r.PollAt = time.Time{}
	if r.Status == carillon.TemplatePending || r.Status == carillon.TemplatePaused {
		r.PollAt = now.Add(pollFirst)
	}
}

// nextPoll backs off: as long again as the status has lasted, from a minute to an hour.
func nextPoll(r *store.TemplateRecord, now time.Time) time.Time {
	return now.Add(min(max(now.Sub(r.UpdatedAt), pollFirst), pollLast))
}

func (c *Catalog) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Run asks the channel about templates in review and paused ones, each when its time has come, until ctx ends: reports
// can get lost. On several nodes each question is asked by one.
func (c *Catalog) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		sleep := pollSleep
		next, err := c.poll(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			c.o.Logger.ErrorContext(ctx, "poll templates", "error", err)
		case !next.IsZero():
			sleep = min(max(time.Until(next), 0), pollSleep)
		}
		timer := time.NewTimer(sleep)
		select {
		case <-ctx.Done():
		case <-c.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
	return nil
}

// poll asks about the templates that are due and gives when the next one is.
func (c *Catalog) poll(ctx context.Context) (next time.Time, err error) {
	due, next, err := c.store.TemplatePolls(ctx, time.Now(), pollBatch)
	if err != nil {
		return time.Time{}, err
	}
	var group errgroup.Group
	group.SetLimit(pollers)
	for _, r := range due {
		group.Go(func() error { return c.ask(ctx, r) })
	}
	if err := group.Wait(); err != nil {
		return time.Time{}, err
	}
	if len(due) > 0 {
		next = time.Now() // what was asked about has a new time, and more may be due
	}
	return next, nil
}

// ask asks the channel about one template. The next time is set first, so that a failure to learn anything backs off; only
// a failure to set it is returned.
func (c *Catalog) ask(ctx context.Context, r *store.TemplateRecord) error {
	now := time.Now()
	mine, err := c.store.PostponePoll(ctx, r, nextPoll(r, now))
	if err != nil || !mine || r.ClaimedUntil.After(now) {
		return err
	}
	if err := c.learn(ctx, r); err != nil && ctx.Err() == nil {
		c.o.Logger.WarnContext(ctx, "ask about a template", "company", r.CompanyID, "template", r.ID, "error", err)
	}
	return nil
}

// learn takes the channel's answer like a report of its own accord.
func (c *Catalog) learn(ctx context.Context, r *store.TemplateRecord) error {
	s, reviewer, err := c.channel(ctx, r)
	if err != nil {
		return err
	}
	talk, stop := context.WithTimeout(ctx, talkFor)
	e, err := reviewer.Status(talk, s, &r.Template)
	stop()
	if carillon.IsCode(err, carillon.NotFound) {
		return c.absent(ctx, r)
	}
	if err != nil {
		return fmt.Errorf("read status: %w", err)
	}
	e.SenderUID, e.Name, e.Language = r.SenderUID, r.Name, r.Language
	return c.Apply(ctx, []carillon.TemplateEvent{e})
}

// absent: what the channel does not know changes nothing (decisions.md, section 4), but for a submission that broke off
// before the channel had it.
func (c *Catalog) absent(ctx context.Context, r *store.TemplateRecord) error {
	if r.ClaimedUntil.IsZero() || r.Status != carillon.TemplatePending {
		return nil
	}
	return c.redraft(ctx, r, "The submission broke off; the channel does not have the template")
}
