package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"carillon"
	"carillon/internal/provider"
	"carillon/internal/store/templates"
)

// reports are the transitions that the channel's reports cause, by the present status. A template that is paused or disabled
// was approved before, even if that report was lost or is late; any other report of a status is stale.
var reports = map[carillon.TemplateStatus][]carillon.TemplateStatus{ //nolint:gochecknoglobals // one table, read only
	carillon.TemplatePending:  {carillon.TemplateApproved, carillon.TemplateRejected, carillon.TemplatePaused, carillon.TemplateDisabled},
	carillon.TemplateApproved: {carillon.TemplatePaused, carillon.TemplateDisabled},
	carillon.TemplatePaused:   {carillon.TemplateApproved, carillon.TemplateDisabled},
	carillon.TemplateDisabled: {carillon.TemplateApproved},
}

// categories are those of the contract; the channel may move a template from one to another.
var categories = []string{"MARKETING", "UTILITY", "AUTHENTICATION"} //nolint:gochecknoglobals // read only

// move applies a status that the channel reported; false: it changes nothing.
func move(r *templates.Record, to carillon.TemplateStatus, reason string) bool {
	if !slices.Contains(reports[r.Status], to) {
		return false
	}
	r.Status, r.Reason = to, reason
	if to == carillon.TemplateApproved {
		r.Reason = ""
	}
	return true
}

// Apply applies a channel's reports, which may be unordered and repeated. A report concerns the sender's own template only: by
// the channel's id, or by name and language while its id is unknown. It returns when all are stored and OnApproved was called.
func (c *Catalog) Apply(ctx context.Context, events []provider.TemplateEvent) error {
	for i := range events {
		if err := c.apply(ctx, &events[i]); err != nil {
			return fmt.Errorf("apply the channel's report: %w", err)
		}
	}
	return nil
}

// maxSwaps bounds how often a report is applied again because another write came first.
const maxSwaps = 10

var errRaced = errors.New("the template kept changing")

func (c *Catalog) apply(ctx context.Context, e *provider.TemplateEvent) error {
	for range maxSwaps {
		r, err := c.store.ReportedTemplate(ctx, e.SenderUID, e.ProviderID, e.Name, e.Language)
		if err != nil || r == nil {
			return err
		}
		next, changed := report(r, e)
		if changed {
			ok, err := c.store.SwapTemplate(ctx, r, next, time.Now(), templates.Limits{})
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			c.wakeUp()
		}
		// Also when it was approved before: the first call may have failed.
		if e.Status == carillon.TemplateApproved && next.Status == carillon.TemplateApproved {
			return c.o.OnApproved(ctx, &next.Template)
		}
		return nil
	}
	return errRaced
}

// report applies the channel's report to a copy of a record.
func report(r *templates.Record, e *provider.TemplateEvent) (next *templates.Record, changed bool) {
	n := *r
	if r.Status == carillon.TemplateDraft {
		return &n, false // the channel does not have it, or not as it is now
	}
	if move(&n, e.Status, e.Reason) {
		changed = true
		setFirstPoll(&n, time.Now())
	}
	if n.ProviderID == "" && e.ProviderID != "" {
		n.ProviderID, changed = e.ProviderID, true
	}
	if n.Category != e.Category && slices.Contains(categories, e.Category) {
		n.Category, changed = e.Category, true
	}
	return &n, changed
}

// Pause records that the channel paused an approved template, as the response to a message showed. Repeats and deleted
// templates change nothing.
func (c *Catalog) Pause(ctx context.Context, senderUID int64, templateID, reason string) error {
	s, err := c.store.Sender(ctx, senderUID)
	if err != nil {
		return fmt.Errorf("pause template: %w", err)
	}
	for range maxSwaps {
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
		setFirstPoll(&next, time.Now())
		ok, err := c.store.SwapTemplate(ctx, r, &next, time.Now(), templates.Limits{})
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
