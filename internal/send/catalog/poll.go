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

func (c *Catalog) wakeUp() { signal(c.wake) }

func signal(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// Run polls templates in review, paused templates and those whose report must be confirmed, and imports each sender's
// templates once a day and when that is due, until ctx ends. Callbacks alone are not enough, because they may be lost or
// late. Each template is polled, and each sender's list is read, by one node.
func (c *Catalog) Run(ctx context.Context) error {
	var group errgroup.Group
	group.Go(func() error { return c.repeat(ctx, c.wake, "cannot poll templates", poll) })
	group.Go(func() error { return c.repeat(ctx, c.due, "cannot import templates", importDue) })
	return group.Wait()
}

// repeat calls work when its next time comes and at each wake, until ctx ends.
func (c *Catalog) repeat(
	ctx context.Context, wake chan struct{}, failed string, work func(context.Context, *Catalog) (time.Time, error),
) error {
	for ctx.Err() == nil {
		sleep := maxSleep
		next, err := work(ctx, c)
		switch {
		case err != nil && ctx.Err() == nil:
			c.o.Logger.ErrorContext(ctx, failed, "error", err)
		case !next.IsZero():
			sleep = min(max(time.Until(next), 0), maxSleep)
		}
		timer := time.NewTimer(sleep)
		select {
		case <-ctx.Done():
		case <-wake:
		case <-timer.C:
		}
		timer.Stop()
	}
	return nil
}

// importDue imports the templates of the senders that are due, and returns when the next one is due.
func importDue(ctx context.Context, c *Catalog) (next time.Time, err error) {
	due, next, err := c.store.Templates.DueSyncs(ctx, time.Now(), pollBatch)
	if err != nil {
		return time.Time{}, err
	}
	var group errgroup.Group
	group.SetLimit(syncers)
	for _, x := range due {
		group.Go(func() error { return importOne(ctx, c, x) })
	}
	if err := group.Wait(); err != nil {
		return time.Time{}, err
	}
	if len(due) > 0 {
		next = time.Now() // more may be due
	}
	return next, nil
}

// importOne imports one sender's templates. It schedules the next import first, so that a crash backs off.
func importOne(ctx context.Context, c *Catalog, x settings.TemplateSync) error {
	mine, err := c.store.Templates.PostponeSync(ctx, x, time.Now().Add(syncAfterFault))
	if err != nil || !mine {
		return err
	}
	s, err := c.store.Senders.Sender(ctx, x.SenderUID)
	if err != nil {
		return err
	}
	if c.reviewers[s.Provider] == nil {
		x.DueAt = time.Time{}
		return c.store.Templates.PutSync(ctx, x)
	}
	_, err = c.syncSender(ctx, s)
	return err
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
	same, _, err := refresh(ctx, c, r)
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
// is the same, and known whether the channel has the template.
func refresh(ctx context.Context, c *Catalog, r *settings.TemplateRecord) (same, known bool, err error) {
	s, reviewer, err := c.channel(ctx, r)
	if err != nil {
		return false, false, err
	}
	call, cancelCall := context.WithTimeout(ctx, callTimeout)
	e, err := reviewer.Status(call, s, &r.Template)
	cancelCall()
	if carillon.IsCode(err, carillon.NotFound) {
		return true, false, notAtChannel(ctx, c, r)
	}
	if err != nil {
		return false, false, fmt.Errorf("read status: %w", err)
	}
	e.SenderUID, e.Name, e.Language = r.SenderUID, r.Name, r.Language
	_, err = c.apply(ctx, &e)
	return e.Status == r.Status, true, err
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
