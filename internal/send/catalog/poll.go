package catalog

import (
	"context"
	"fmt"
	"time"

	"carillon"
	"carillon/internal/store/templates"

	"golang.org/x/sync/errgroup"
)

// How often templates in review and paused ones are polled, and how many at a time.
const (
	pollFirst = time.Minute
	pollLast  = time.Hour
	pollBatch = 32
	pollers   = 4
	maxSleep  = time.Minute // at most; another node may have left a template to this one
)

// setFirstPoll schedules the first poll of a template that just came to its status.
func setFirstPoll(r *templates.Record, now time.Time) {
	r.PollAt = time.Time{}
	if waits(r.Status) {
		r.PollAt = now.Add(pollFirst)
	}
}

// waits reports whether a status is polled until it changes.
func waits(s carillon.TemplateStatus) bool {
	return s == carillon.TemplatePending || s == carillon.TemplatePaused
}

// nextPoll backs off: as long again as the status has lasted, from a minute to an hour.
func nextPoll(r *templates.Record, now time.Time) time.Time {
	return now.Add(min(max(now.Sub(r.UpdatedAt), pollFirst), pollLast))
}

func (c *Catalog) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Run polls the status of templates in review, of paused ones and of those whose report is to be confirmed until ctx ends, since
// callbacks can get lost and come late. Of several nodes one polls each template.
func (c *Catalog) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		sleep := maxSleep
		next, err := poller{c}.poll(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			c.o.Logger.ErrorContext(ctx, "cannot poll templates", "error", err)
		case !next.IsZero():
			sleep = min(max(time.Until(next), 0), maxSleep)
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

// poller asks for single templates.
type poller struct{ *Catalog }

// poll polls the templates that are due and returns when the next one is.
func (c poller) poll(ctx context.Context) (next time.Time, err error) {
	due, next, err := c.store.Templates.TemplatePolls(ctx, time.Now(), pollBatch)
	if err != nil {
		return time.Time{}, err
	}
	var group errgroup.Group
	group.SetLimit(pollers)
	for _, r := range due {
		group.Go(func() error { return c.pollOne(ctx, r) })
	}
	if err := group.Wait(); err != nil {
		return time.Time{}, err
	}
	if len(due) > 0 {
		next = time.Now() // more may be due
	}
	return next, nil
}

// pollOne polls one template. The next poll is scheduled first, so that a failure backs off; only a failure to schedule it is
// returned.
func (c poller) pollOne(ctx context.Context, r *templates.Record) error {
	now := time.Now()
	next := nextPoll(r, now)
	mine, err := c.store.Templates.PostponePoll(ctx, r, next)
	if err != nil || !mine || r.ClaimedUntil.After(now) {
		return err
	}
	same, err := c.refresh(ctx, r)
	switch {
	case err != nil && ctx.Err() == nil:
		c.o.Logger.WarnContext(ctx, "cannot read a template's status", "company", r.CompanyID, "template", r.ID, "error", err)
	case err == nil && same && !waits(r.Status): // the channel has confirmed it
		r.PollAt = next
		_, err := c.store.Templates.PostponePoll(ctx, r, time.Time{})
		return err
	}
	return nil
}

// refresh reads the status from the channel and applies it like a callback; same: the channel does not say another one.
func (c poller) refresh(ctx context.Context, r *templates.Record) (same bool, err error) {
	s, reviewer, err := c.channel(ctx, r)
	if err != nil {
		return false, err
	}
	call, cancelCall := context.WithTimeout(ctx, callTimeout)
	e, err := reviewer.Status(call, s, &r.Template)
	cancelCall()
	if carillon.IsCode(err, carillon.NotFound) {
		return true, c.notAtChannel(ctx, r)
	}
	if err != nil {
		return false, fmt.Errorf("read status: %w", err)
	}
	e.SenderUID, e.Name, e.Language = r.SenderUID, r.Name, r.Language
	_, err = c.apply(ctx, &e)
	return e.Status == r.Status, err
}

// notAtChannel handles a template that the channel does not know: nothing changes, unless its submission was interrupted.
func (c poller) notAtChannel(ctx context.Context, r *templates.Record) error {
	if r.ClaimedUntil.IsZero() || r.Status != carillon.TemplatePending {
		return nil
	}
	const reason = "The submission broke off; the channel does not have the template"
	return c.redraft(ctx, r, reason, reason)
}
