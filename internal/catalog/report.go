package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"carillon"
	"carillon/internal/store"
)

// reports are the moves that the channel's word makes, by the present status. A template that is paused or disabled was
// approved before, also when that word was lost or comes late; all else the channel says of a status is stale.
var reports = map[carillon.TemplateStatus][]carillon.TemplateStatus{ //nolint:gochecknoglobals // one table, read only
	carillon.TemplatePending:  {carillon.TemplateApproved, carillon.TemplateRejected, carillon.TemplatePaused, carillon.TemplateDisabled},
	carillon.TemplateApproved: {carillon.TemplatePaused, carillon.TemplateDisabled},
	carillon.TemplatePaused:   {carillon.TemplateApproved, carillon.TemplateDisabled},
	carillon.TemplateDisabled: {carillon.TemplateApproved},
}

// categories are those of the contract; the channel may move a template from one to another.
var categories = []string{"MARKETING", "UTILITY", "AUTHENTICATION"} //nolint:gochecknoglobals // read only

// move applies the channel's word on the status; false: it changes nothing.
func move(r *store.TemplateRecord, to carillon.TemplateStatus, reason string) bool {
	if !slices.Contains(reports[r.Status], to) {
		return false
	}
	r.Status, r.Reason = to, reason
	if to == carillon.TemplateApproved {
		r.Reason = ""
	}
	return true
}

// Apply takes what a channel reports, unordered and repeated. A report is of the sender's own template only: by the
// channel's id, or by name and language while we have no id for it. It returns when all is stored and told.
func (c *Catalog) Apply(ctx context.Context, events []carillon.TemplateEvent) error {
	for i := range events {
		if err := c.apply(ctx, &events[i]); err != nil {
			return fmt.Errorf("apply the channel's report: %w", err)
		}
	}
	return nil
}

// tries bounds how often a report is decided anew because another write came between.
const tries = 10

var errRaced = errors.New("the template kept changing")

func (c *Catalog) apply(ctx context.Context, e *carillon.TemplateEvent) error {
	for range tries {
		r, err := c.store.ReportedTemplate(ctx, e.SenderUID, e.ProviderID, e.Name, e.Language)
		if err != nil || r == nil {
			return err
		}
		next, changed := report(r, e)
		if changed {
			ok, err := c.store.SwapTemplate(ctx, r, next, time.Now(), store.TemplateLimits{})
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			c.wakeUp()
		}
		// Told also when it was approved before: the first telling may have failed.
		if e.Status == carillon.TemplateApproved && next.Status == carillon.TemplateApproved {
			return c.o.OnApproved(ctx, &next.Template)
		}
		return nil
	}
	return errRaced
}

// report is what a template becomes by the channel's word.
func report(r *store.TemplateRecord, e *carillon.TemplateEvent) (next *store.TemplateRecord, changed bool) {
	n := *r
	if r.Status == carillon.TemplateDraft {
		return &n, false // the channel does not have it, or not as it is now
	}
	if move(&n, e.Status, e.Reason) {
		changed = true
		schedulePoll(&n, time.Now())
	}
	if n.ProviderID == "" && e.ProviderID != "" {
		n.ProviderID, changed = e.ProviderID, true
	}
	if n.Category != e.Category && slices.Contains(categories, e.Category) {
		n.Category, changed = e.Category, true
	}
	return &n, changed
}

// Pause notes that the channel holds an approved template back, as a message that met it learned. Repeats and templates
// that are gone change nothing.
func (c *Catalog) Pause(ctx context.Context, senderUID int64, templateID, reason string) error {
	s, err := c.store.Sender(ctx, senderUID)
	if err != nil {
		return fmt.Errorf("pause template: %w", err)
	}
	for range tries {
		r, err := c.store.Template(ctx, s.CompanyID, templateID)
		if carillon.IsCode(err, carillon.NotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("pause template: %w", err)
		}
		next := *r
		if r.SenderUID != senderUID || r.Status != carillon.TemplateApproved || !move(&next, carillon.TemplatePaused, reason) {
			return nil
		}
		schedulePoll(&next, time.Now())
		ok, err := c.store.SwapTemplate(ctx, r, &next, time.Now(), store.TemplateLimits{})
		if err != nil {
			return fmt.Errorf("pause template: %w", err)
		}
		if ok {
			c.wakeUp()
			return nil
		}
	}
	return fmt.Errorf("pause template: %w", errRaced)
}
