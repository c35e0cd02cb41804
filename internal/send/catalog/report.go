package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/store/templates"
)

// reports are the transitions that the channel's reports cause, by the present status. A template that is paused or disabled
// was approved before, even if that report was lost or is late. The channel may reject what it approved, and approve it again.
// Any other report of a status is stale.
var reports = map[carillon.TemplateStatus][]carillon.TemplateStatus{ //nolint:gochecknoglobals // one table, read only
	carillon.TemplatePending:  {carillon.TemplateApproved, carillon.TemplateRejected, carillon.TemplatePaused, carillon.TemplateDisabled},
	carillon.TemplateApproved: {carillon.TemplatePaused, carillon.TemplateDisabled, carillon.TemplateRejected},
	carillon.TemplatePaused:   {carillon.TemplateApproved, carillon.TemplateDisabled, carillon.TemplateRejected},
	carillon.TemplateDisabled: {carillon.TemplateApproved},
	carillon.TemplateRejected: {carillon.TemplateApproved},
}

// categories are those of the contract; the channel may move a template from one to another.
var categories = []string{"MARKETING", "UTILITY", "AUTHENTICATION"} //nolint:gochecknoglobals // read only

// move applies a status that the channel reported, and schedules the first poll; false: it changes nothing. A rejection of what was
// approved, or the reverse, may be a repeated or late report of an earlier review: a poll confirms or corrects it.
func move(r *templates.Record, to carillon.TemplateStatus, reason string) bool {
	from := r.Status
	if !slices.Contains(reports[from], to) {
		return false
	}
	r.Status, r.Reason = to, reason
	if to == carillon.TemplateApproved {
		r.Reason = ""
	}
	now := time.Now()
	setFirstPoll(r, now)
	if from == carillon.TemplateRejected || from == carillon.TemplateApproved && to == carillon.TemplateRejected {
		r.PollAt = now.Add(pollFirst)
	}
	return true
}

// Apply applies a channel's reports, which may be unordered and repeated. A report concerns the sender's own template only: by
// the channel's id, or by name and language while its id is unknown. It returns when all are stored and OnApproved was called.
func (c *Catalog) Apply(ctx context.Context, events []provider.TemplateEvent) error {
	for i := range events {
		if _, err := c.apply(ctx, &events[i]); err != nil {
			return fmt.Errorf("apply the channel's report: %w", err)
		}
	}
	return nil
}

// maxSwaps bounds how often a report is applied again because another write came first.
const maxSwaps = 10

var errRaced = errors.New("the template kept changing")

// apply applies one report, and reports whether it changed a template.
func (c *Catalog) apply(ctx context.Context, e *provider.TemplateEvent) (changed bool, err error) {
	read := func() (*templates.Record, error) {
		return c.store.Templates.ReportedTemplate(ctx, e.SenderUID, e.ProviderID, e.Name, e.Language)
	}
	r, err := c.revise(ctx, read, func(next *templates.Record) bool {
		changed = report(next, e)
		return changed
	})
	// Also when it was approved before: the first call may have failed.
	if r != nil && e.Status == carillon.TemplateApproved && r.Status == carillon.TemplateApproved {
		err = c.approved(ctx, &r.Template)
	}
	return changed && err == nil, err
}

// revise changes a template as it is when it is read, again where another write came first. It returns the template as it is
// then, nil where there is none.
func (c *Catalog) revise(ctx context.Context, read func() (*templates.Record, error), change func(next *templates.Record) bool) (*templates.Record, error) {
	for range maxSwaps {
		r, err := read()
		if err != nil || r == nil {
			return nil, err
		}
		next := *r
		if !change(&next) {
			return &next, nil
		}
		ok, err := c.swap(ctx, r, &next, decisions(r, &next)...)
		if err != nil {
			return nil, err
		}
		if ok {
			c.wakeUp()
			return &next, nil
		}
	}
	return nil, errRaced
}

// decisions are what the channel did to a template, for its history.
func decisions(r, next *templates.Record) (all []templates.Change) {
	if next.Status != r.Status {
		all = append(all, templates.Change{Action: templates.Decided, By: channelDid()})
	}
	if next.Category != r.Category {
		all = append(all, templates.Change{Action: templates.Categorized, By: channelDid()})
	}
	return all
}

// report applies the channel's report to a record, and reports whether it changed.
func report(n *templates.Record, e *provider.TemplateEvent) (changed bool) {
	if n.Status == carillon.TemplateDraft {
		return false // the channel does not have it, or not as it is now
	}
	changed = move(n, e.Status, e.Reason)
	if n.ProviderID == "" && e.ProviderID != "" {
		n.ProviderID, changed = e.ProviderID, true
	}
	if n.Category != e.Category && slices.Contains(categories, e.Category) {
		n.Category, changed = e.Category, true
	}
	return changed
}

// Pause records that the channel paused an approved template, as the response to a message showed. Repeats and deleted
// templates change nothing.
func (c *Catalog) Pause(ctx context.Context, t *carillon.Template, reason string) error {
	read := func() (*templates.Record, error) {
		r, err := c.store.Templates.Template(ctx, t.CompanyID, t.ID)
		if carillon.IsCode(err, carillon.NotFound) {
			return nil, nil
		}
		return r, err
	}
	_, err := c.revise(ctx, read, func(next *templates.Record) bool {
		return next.Status == carillon.TemplateApproved && move(next, carillon.TemplatePaused, reason)
	})
	if err != nil {
		return fmt.Errorf("pause template: %w", err)
	}
	return nil
}
