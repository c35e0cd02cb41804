package catalog

import (
	"context"
	"fmt"
	"time"

	"carillon"
	"carillon/internal/base/provider"
)

// Counter is a Reviewer of a channel that has its own statistics of templates.
type Counter interface {
	// Statistics reads the statistics of a template that the channel has, since a day.
	Statistics(ctx context.Context, s *carillon.Sender, t *carillon.Template, since time.Time) (provider.TemplateStatistics, error)
	// CountByTemplate turns the statistics on for the sender's account, for good.
	CountByTemplate(ctx context.Context, s *carillon.Sender) error
}

// Statistics returns the channel's statistics of a template of the last days. ok is false if the channel has none, or does not
// have the template. Errors: not_found, upstream_unavailable.
func (c *Catalog) Statistics(ctx context.Context, companyID, id string, since time.Time) (
	all provider.TemplateStatistics, ok bool, err error,
) {
	s, t, counter, err := c.counter(ctx, companyID, id)
	if err != nil || counter == nil || t.ProviderID == "" {
		return all, false, err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if all, err = counter.Statistics(ctx, s, t, since); err != nil {
		return all, false, channelError(s.Provider, err)
	}
	return all, true, nil
}

// CountByTemplate turns on the statistics for the account of a template's sender. Errors: not_found, also if the
// channel has none; upstream_unavailable.
func (c *Catalog) CountByTemplate(ctx context.Context, companyID, id string) error {
	s, _, counter, err := c.counter(ctx, companyID, id)
	if err != nil {
		return err
	}
	if counter == nil {
		return carillon.Absent("Statistics")
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := counter.CountByTemplate(ctx, s); err != nil {
		return channelError(s.Provider, err)
	}
	c.o.Logger.InfoContext(ctx, "statistics of templates turned on", "company", companyID, "sender", s.ID)
	return nil
}

// counter returns a template, its sender and its channel's statistics; nil if the channel has none.
func (c *Catalog) counter(ctx context.Context, companyID, id string) (*carillon.Sender, *carillon.Template, Counter, error) {
	r, err := c.store.Templates.Template(ctx, companyID, id)
	if err != nil {
		return nil, nil, nil, err
	}
	s, err := c.store.Senders.Sender(ctx, r.SenderUID)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("find the template's sender: %w", err)
	}
	counter, _ := c.reviewers[s.Provider].(Counter)
	return s, &r.Template, counter, nil
}
