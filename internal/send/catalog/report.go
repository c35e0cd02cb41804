package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/store/settings"
)

// reports are the transitions that the channel's reports cause, by current status. A paused or disabled template was
// approved before, even if that report was lost or is late. The channel may reject a template that it approved, and
// approve it again. Every other report is stale.
var reports = map[carillon.TemplateStatus][]carillon.TemplateStatus{ //nolint:gochecknoglobals // a single read-only table
	carillon.TemplatePending:  {carillon.TemplateApproved, carillon.TemplateRejected, carillon.TemplatePaused, carillon.TemplateDisabled},
	carillon.TemplateApproved: {carillon.TemplatePaused, carillon.TemplateDisabled, carillon.TemplateRejected},
	carillon.TemplatePaused:   {carillon.TemplateApproved, carillon.TemplateDisabled, carillon.TemplateRejected},
	carillon.TemplateDisabled: {carillon.TemplateApproved},
	carillon.TemplateRejected: {carillon.TemplateApproved},
}

// categories are the contract's categories. The channel may move a template to another one.
var categories = []string{"MARKETING", "UTILITY", "AUTHENTICATION"} //nolint:gochecknoglobals // read-only

// move applies a status that the channel reported, and schedules the first poll. It returns false if nothing changed.
// A rejection after an approval, or the reverse, may be a repeated or late report on an earlier review; a poll
// confirms or corrects it.
func move(r *settings.TemplateRecord, to carillon.TemplateStatus, reason string) bool {
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

// Apply applies a channel's reports, which may be out of order and repeated. A report concerns only templates of its
// sender: by the channel's id, or by name and language while that id is unknown. When Apply returns nil, all reports
// are stored and OnApproved was called.
func (c *Catalog) Apply(ctx context.Context, events []provider.TemplateEvent) error {
	for i := range events {
		if err := c.applyOrRequest(ctx, &events[i]); err != nil {
			return fmt.Errorf("apply the channel's report: %w", err)
		}
	}
	return nil
}

// applyOrRequest applies a report. A report on an unknown template, or on parts that changed, makes the sender's
// comparison due.
func (c *Catalog) applyOrRequest(ctx context.Context, e *provider.TemplateEvent) error {
	r, err := c.store.Templates.ReportedTemplate(ctx, e.SenderUID, e.ProviderID, e.Name, e.Language)
	if err != nil {
		return err
	}
	if r == nil || e.Rewritten {
		if err := c.store.Templates.RequestSync(ctx, e.SenderUID, time.Now(), syncRest); err != nil {
			return err
		}
		signal(c.due)
	}
	if r == nil {
		return nil
	}
	_, err = c.apply(ctx, e)
	return err
}

// maxSwaps bounds how often a report is applied again after a concurrent write.
const maxSwaps = 10

var errRaced = errors.New("the template kept changing")

// apply applies one report, and returns whether it changed a template.
func (c *Catalog) apply(ctx context.Context, e *provider.TemplateEvent) (changed bool, err error) {
	read := func() (*settings.TemplateRecord, error) {
		return c.store.Templates.ReportedTemplate(ctx, e.SenderUID, e.ProviderID, e.Name, e.Language)
	}
	r, err := c.revise(ctx, read, func(next *settings.TemplateRecord) bool {
		changed = report(next, e)
		return changed
	})
	// Even if the template was approved before, because the first call may have failed.
	if r != nil && e.Status == carillon.TemplateApproved && r.Status == carillon.TemplateApproved {
		err = c.approved(ctx, &r.Template)
	}
	return changed && err == nil, err
}

// revise reads a template and changes it, and repeats both after a concurrent write. It returns the resulting
// template, or nil if there is none.
func (c *Catalog) revise(
	ctx context.Context, read func() (*settings.TemplateRecord, error), change func(next *settings.TemplateRecord) bool,
) (*settings.TemplateRecord, error) {
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

// decisions returns the channel's changes to a template, for its history.
func decisions(r, next *settings.TemplateRecord) (all []settings.TemplateChange) {
	if next.Status != r.Status {
		all = append(all, settings.TemplateChange{Action: settings.TemplateDecided, By: channelDid()})
	}
	if !sameParts(r.Category, r.Components, next.Components) {
		all = append(all, settings.TemplateChange{Action: settings.TemplateEdited, By: channelDid()})
	}
	if next.Category != r.Category {
		all = append(all, settings.TemplateChange{Action: settings.TemplateCategorized, By: channelDid()})
	}
	return all
}

// report applies the channel's report to a record, and returns whether the record changed.
func report(n *settings.TemplateRecord, e *provider.TemplateEvent) (changed bool) {
	if n.Status == carillon.TemplateDraft {
		return false // the channel does not have it, or has an earlier version
	}
	changed = move(n, e.Status, e.Reason)
	if n.ProviderID == "" && e.ProviderID != "" {
		n.ProviderID, changed = e.ProviderID, true
	}
	was := n.Report
	if n.Category != e.Category && slices.Contains(categories, e.Category) {
		n.Report.PreviousCategory = n.Category
		n.Category, changed = e.Category, true
	}
	if e.ComingCategory != "" && e.ComingCategory != n.Category {
		n.Report.ComingCategory, n.Report.ComingAt = e.ComingCategory, e.ComingAt
	}
	if n.Report.ComingCategory == n.Category {
		n.Report.ComingCategory, n.Report.ComingAt = "", 0
	}
	if e.Quality != "" && e.QualityAt >= n.Report.QualityAt {
		n.Report.Quality, n.Report.QualityAt = e.Quality, e.QualityAt
	}
	return changed || n.Report != was
}

// Pause records that the channel paused an approved template, as its response to a message shows. It changes nothing
// if the template is already paused or deleted.
func (c *Catalog) Pause(ctx context.Context, t *carillon.Template, reason string) error {
	read := func() (*settings.TemplateRecord, error) {
		r, err := c.store.Templates.Template(ctx, t.CompanyID, t.ID)
		if carillon.IsCode(err, carillon.NotFound) {
			return nil, nil
		}
		return r, err
	}
	_, err := c.revise(ctx, read, func(next *settings.TemplateRecord) bool {
		return next.Status == carillon.TemplateApproved && move(next, carillon.TemplatePaused, reason)
	})
	if err != nil {
		return fmt.Errorf("pause template: %w", err)
	}
	return nil
}
