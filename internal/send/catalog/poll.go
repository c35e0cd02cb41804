package catalog

import (
	"context"
	"fmt"
	"time"

	"carillon"
	"carillon/internal/store/settings"

	"golang.org/x/sync/errgroup"
)

// Poll intervals of templates in review and paused ones, and the number of templates per poll.
const (
	pollFirst = time.Minute
	pollLast  = time.Hour
	pollBatch = 32
	pollers   = 4
	maxSleep  = time.Minute // upper bound, because another node may have left a template to this one
)

// setFirstPoll schedules the first poll of a template whose status just changed.
func setFirstPoll(r *settings.TemplateRecord, now time.Time) {
	r.PollAt = time.Time{}
	if waits(r.Status) {
		r.PollAt = now.Add(pollFirst)
	}
}

// waits reports whether a template with this status is polled until the status changes.
func waits(s carillon.TemplateStatus) bool {
	return s == carillon.TemplatePending || s == carillon.TemplatePaused
}

// nextPoll backs off: the interval is the age of the status, from a minute to an hour.
func nextPoll(r *settings.TemplateRecord, now time.Time) time.Time {
	return now.Add(min(max(now.Sub(r.UpdatedAt), pollFirst), pollLast))
}

func (c *Catalog) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Run polls templates in review, paused templates and those whose report must be confirmed, until ctx ends. Callbacks
// alone are not enough, because they may be lost or late. Each template is polled by one node.
func (c *Catalog) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		sleep := maxSleep
		next, err := poll(ctx, c)
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

// poll polls the due templates and returns when the next one is due.
func poll(ctx context.Context, c *Catalog) (next time.Time, err error) {
	due, next, err := c.store.Templates.TemplatePolls(ctx, time.Now(), pollBatch)
	if err != nil {
		return time.Time{}, err
	}
	var group errgroup.Group
	group.SetLimit(pollers)
	for _, r := range due {
		group.Go(func() error { return pollOne(ctx, c, r) })
	}
	if err := group.Wait(); err != nil {
		return time.Time{}, err
	}
	if len(due) > 0 {
		next = time.Now() // more may be due
	}
	return next, nil
}

// pollOne polls one template. It schedules the next poll first, so that a failure backs off. It returns only errors of
// scheduling.
func pollOne(ctx context.Context, c *Catalog, r *settings.TemplateRecord) error {
	now := time.Now()
	next := nextPoll(r, now)
	mine, err := c.store.Templates.PostponePoll(ctx, r, next)
	if err != nil || !mine || r.ClaimedUntil.After(now) {
		return err
	}
	same, err := refresh(ctx, c, r)
	switch {
	case err != nil && ctx.Err() == nil:
		c.o.Logger.WarnContext(ctx, "cannot read a template's status", "company", r.CompanyID, "template", r.ID, "error", err)
	case err == nil && same && !waits(r.Status): // the channel has confirmed the status
		r.PollAt = next
		_, err := c.store.Templates.PostponePoll(ctx, r, time.Time{})
		return err
	}
	return nil
}

// refresh reads the status from the channel and applies it like a callback. same reports whether the channel's status
// is the same.
func refresh(ctx context.Context, c *Catalog, r *settings.TemplateRecord) (same bool, err error) {
	s, reviewer, err := c.channel(ctx, r)
	if err != nil {
		return false, err
	}
	call, cancelCall := context.WithTimeout(ctx, callTimeout)
	e, err := reviewer.Status(call, s, &r.Template)
	cancelCall()
	if carillon.IsCode(err, carillon.NotFound) {
		return true, notAtChannel(ctx, c, r)
	}
	if err != nil {
		return false, fmt.Errorf("read status: %w", err)
	}
	e.SenderUID, e.Name, e.Language = r.SenderUID, r.Name, r.Language
	_, err = c.apply(ctx, &e)
	return e.Status == r.Status, err
}

// notAtChannel handles a template that the channel does not know. It changes only a template whose submission was
// interrupted.
func notAtChannel(ctx context.Context, c *Catalog, r *settings.TemplateRecord) error {
	if r.ClaimedUntil.IsZero() || r.Status != carillon.TemplatePending {
		return nil
	}
	const reason = "The submission broke off; the channel does not have the template"
	return c.redraft(ctx, r, reason, reason)
}
