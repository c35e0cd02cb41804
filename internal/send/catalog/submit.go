package catalog

import (
	"context"
	"errors"
	"time"

	"carillon"
	"carillon/internal/store/settings"
)

// Submit submits a draft for the channel's review. If the channel is down, the template stays a draft. Errors:
// not_found, conflict, limit_exceeded, service_unavailable, and the channel's refusal.
func (c *Catalog) Submit(ctx context.Context, companyID, id string) (*carillon.Template, error) {
	r, err := c.unclaimed(ctx, companyID, id)
	if err != nil {
		return nil, err
	}
	if r.Status != carillon.TemplateDraft {
		return nil, carillon.InConflict("Only a draft can be submitted, and the template is " + string(r.Status))
	}
	s, err := c.store.Senders.Sender(ctx, r.SenderUID)
	if err != nil {
		return nil, err
	}
	claimed := *r
	claim(&claimed, carillon.TemplatePending, time.Now())
	change := settings.TemplateChange{Action: settings.TemplateSubmitted, By: c.by}
	limits := settings.TemplateLimits{Active: settings.MaxActiveTemplates}
	if err := orChanged(c.store.Templates.SwapTemplate(ctx, r, &claimed, time.Now(), limits, change)); err != nil {
		return nil, err
	}
	return c.submitClaimed(ctx, s, &claimed, func(ctx context.Context, now *settings.TemplateRecord, failed error) error {
		return c.redraft(ctx, now, "", explained(failed))
	})
}

// submitClaimed submits a template that is pending under our claim, then stores the result. If the channel did not
// accept it, undo restores the previous state.
func (c *Catalog) submitClaimed(
	ctx context.Context, s *carillon.Sender, claimed *settings.TemplateRecord,
	undo func(ctx context.Context, now *settings.TemplateRecord, failed error) error,
) (*carillon.Template, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), claimDuration)
	defer cancel()
	providerID, status, failed := c.review(ctx, s, &claimed.Template)
	if failed != nil {
		return nil, errors.Join(failed, undo(ctx, claimed, failed))
	}
	var next settings.TemplateRecord
	err := orChanged(c.underClaim(ctx, claimed, func(ctx context.Context, now *settings.TemplateRecord) (bool, error) {
		next = *now
		var decided []settings.TemplateChange
		// The channel may already have reported on this submission. A report on an earlier submission is obsolete.
		if now.Status == carillon.TemplatePending || now.ProviderID != providerID {
			next.Status, next.Reason = carillon.TemplatePending, ""
			if move(&next, status, "") {
				decided = append(decided, settings.TemplateChange{Action: settings.TemplateDecided, By: channelDid()})
			}
		}
		next.ProviderID, next.ClaimedUntil = providerID, time.Time{}
		setFirstPoll(&next, time.Now())
		return c.swap(ctx, now, &next, decided...)
	}))
	if err != nil {
		return nil, err
	}
	c.wakeUp()
	if next.Status == carillon.TemplateApproved {
		if err := c.approved(ctx, &next.Template); err != nil {
			return nil, err
		}
	}
	return &next.Template, nil
}

// review submits a template to its reviewer within the time of the claim.
func (c *Catalog) review(ctx context.Context, s *carillon.Sender, t *carillon.Template) (string, carillon.TemplateStatus, error) {
	reviewer, ok := c.reviewers[s.Provider]
	if !ok {
		return "", "", carillon.InConflict("The provider " + s.Provider + " reviews no templates")
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	providerID, status, err := reviewer.Submit(ctx, s, t)
	if err != nil {
		return "", "", channelError(s.Provider, err)
	}
	return providerID, status, nil
}

// redraft turns a template whose submission did not reach the channel back into a draft, unless it has changed since.
// refusal is the reason for its history.
func (c *Catalog) redraft(ctx context.Context, r *settings.TemplateRecord, reason, refusal string) error {
	next := *r
	next.Status, next.Reason, next.PollAt, next.ClaimedUntil = carillon.TemplateDraft, reason, time.Time{}, time.Time{}
	_, err := c.swap(ctx, r, &next, settings.TemplateChange{Action: settings.TemplateRefused, By: channelDid(), Reason: refusal})
	return err
}

// explained returns an error in words for people.
func explained(err error) string {
	e, ok := errors.AsType[*carillon.Error](err)
	if !ok {
		return "The channel could not be asked"
	}
	if reason, ok := e.Details.Find("reason").(string); ok && reason != "" {
		return e.Message + ": " + reason
	}
	return e.Message
}
