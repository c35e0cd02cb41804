package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/store/settings"
)

// ErrCreatedToday means that a company has reached its limit of created templates per UTC day. The caller gets a 429.
var ErrCreatedToday = settings.ErrTemplatesToday

// Create stores a draft for the sender's company. With submit it submits the draft immediately; then the template is
// created as pending, or not at all. Errors: validation_failed, conflict, limit_exceeded, ErrCreatedToday; with submit
// also the channel's errors.
func (c *Catalog) Create(
	ctx context.Context, company *carillon.Company, s *carillon.Sender, t carillon.Template, submit bool,
) (*carillon.Template, error) {
	if err := content.Compile(&t); err != nil {
		return nil, err
	}
	if err := c.checkLinks(s, &t); err != nil {
		return nil, err
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	t.ID, t.ProviderID, t.CompanyID, t.SenderUID = carillon.NewTemplateID(now), "", company.ID, s.UID
	t.Status, t.Reason = carillon.TemplateDraft, ""
	t.CreatedAt, t.UpdatedAt = now, now
	r := &settings.TemplateRecord{Template: t}
	changes := []settings.TemplateChange{{Action: settings.TemplateCreated, By: c.by}}
	if submit {
		claim(r, carillon.TemplatePending, now)
		changes = append(changes, settings.TemplateChange{Action: settings.TemplateSubmitted, By: c.by})
	}
	limits := settings.TemplateLimits{Active: settings.MaxActiveTemplates, Created: company.Limits.TemplatesPerDay}
	if err := c.store.Templates.CreateTemplate(ctx, r, limits, changes...); err != nil {
		return nil, err
	}
	if !submit {
		return &r.Template, nil
	}
	return c.submitClaimed(ctx, s, r, func(ctx context.Context, claimed *settings.TemplateRecord, _ error) error {
		_, err := c.store.Templates.UndoCreateTemplate(ctx, claimed)
		return err
	})
}

// Edit changes a draft; a rejected template, which becomes a draft; or a pending template, which is withdrawn at the
// channel and becomes a draft. revise returns the edited template. Name and language are fixed once the template has
// been submitted. Errors: not_found, conflict, validation_failed, service_unavailable.
func (c *Catalog) Edit(
	ctx context.Context, companyID, id string, revise func(t carillon.Template) (carillon.Template, error),
) (*carillon.Template, error) {
	r, err := c.unclaimed(ctx, companyID, id)
	if err != nil {
		return nil, err
	}
	switch r.Status {
	case carillon.TemplateDraft, carillon.TemplateRejected, carillon.TemplatePending:
	default:
		return nil, carillon.InConflict("A template that is " + string(r.Status) + " cannot be edited")
	}
	revised, err := revise(r.Template)
	if err != nil {
		return nil, err
	}
	if err := content.Compile(&revised); err != nil {
		return nil, err
	}
	s, err := c.store.Senders.Sender(ctx, r.SenderUID)
	if err != nil {
		return nil, err
	}
	if err := c.checkLinks(s, &revised); err != nil {
		return nil, err
	}
	next := *r
	next.Template = revised
	next.ID, next.ProviderID, next.CompanyID, next.SenderUID, next.CreatedAt = r.ID, r.ProviderID, r.CompanyID, r.SenderUID, r.CreatedAt
	next.Status, next.Reason, next.PollAt = carillon.TemplateDraft, "", time.Time{}
	if (next.Name != r.Name || next.Language != r.Language) && (r.ProviderID != "" || r.Status != carillon.TemplateDraft) {
		return nil, carillon.InConflict("Name and language are fixed once the channel has had the template")
	}
	edited := settings.TemplateChange{Action: settings.TemplateEdited, By: c.by}
	if r.Status != carillon.TemplatePending {
		return &next.Template, orChanged(c.swap(ctx, r, &next, edited))
	}
	err = c.withdraw(ctx, r, func(ctx context.Context, claimed *settings.TemplateRecord) (bool, error) {
		next.ClaimedUntil = time.Time{}
		return c.swap(ctx, claimed, &next, edited)
	})
	return &next.Template, err
}

// checkLinks refuses counted links that recipients cannot open, because the installation has no https address. The phones
// of the sandbox can.
func (c *Catalog) checkLinks(s *carillon.Sender, t *carillon.Template) error {
	prefix := c.store.Templates.Links()
	if prefix == "" || strings.HasPrefix(prefix, "https://") || s.Provider == "sandbox" {
		return nil
	}
	content.CountClicks(t.Shape, prefix)
	if !content.Counted(t.Shape) {
		return nil
	}
	return carillon.Invalid("components", "Clicks are counted at the installation's public https address, and it has none: "+
		"its operator sets --base-url")
}

// swap replaces a template by next and adds changes to its history, unless the template was changed concurrently.
func (c *Catalog) swap(ctx context.Context, r, next *settings.TemplateRecord, changes ...settings.TemplateChange) (bool, error) {
	return c.store.Templates.SwapTemplate(ctx, r, next, time.Now(), settings.TemplateLimits{}, changes...)
}

// orChanged returns a conflict if a concurrent change came first.
func orChanged(ok bool, err error) error {
	if ok || err != nil {
		return err
	}
	return carillon.InConflict("Another request or the channel changed the template meanwhile")
}

// Delete deletes a template of any status. It first deletes it at the channel if it may exist there. Errors:
// not_found, conflict, service_unavailable.
func (c *Catalog) Delete(ctx context.Context, companyID, id string) error {
	r, err := c.unclaimed(ctx, companyID, id)
	if err != nil {
		return err
	}
	if r.ProviderID == "" && r.Status != carillon.TemplatePending {
		return orChanged(c.store.Templates.DeleteTemplate(ctx, r))
	}
	return c.withdraw(ctx, r, c.store.Templates.DeleteTemplate)
}

// unclaimed reads a template. Errors: not_found; conflict if another request has claimed it.
func (c *Catalog) unclaimed(ctx context.Context, companyID, id string) (*settings.TemplateRecord, error) {
	r, err := c.store.Templates.Template(ctx, companyID, id)
	if err != nil {
		return nil, err
	}
	if r.ClaimedUntil.After(time.Now()) {
		return nil, carillon.InConflict("Another request is changing the template")
	}
	return r, nil
}

// claim marks a record as the subject of a request to the channel, and sets its status for the meantime.
func claim(r *settings.TemplateRecord, status carillon.TemplateStatus, now time.Time) {
	r.Status = status
	r.ClaimedUntil = now.Add(claimDuration).Truncate(time.Millisecond)
	r.PollAt = r.ClaimedUntil
}

// withdraw withdraws a template at the channel under a claim, then calls finish to store the result. If the channel
// fails, the template is unchanged.
func (c *Catalog) withdraw(
	ctx context.Context, r *settings.TemplateRecord, finish func(ctx context.Context, claimed *settings.TemplateRecord) (bool, error),
) error {
	s, reviewer, err := c.channel(ctx, r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), claimDuration)
	defer cancel()
	claimed := *r
	claimed.ClaimedUntil = time.Now().Add(claimDuration).Truncate(time.Millisecond)
	if err := orChanged(c.swap(ctx, r, &claimed)); err != nil {
		return err
	}
	call, cancelCall := context.WithTimeout(ctx, callTimeout)
	failed := reviewer.Withdraw(call, s, &r.Template)
	cancelCall()
	if failed != nil {
		_, err := c.underClaim(ctx, &claimed, func(ctx context.Context, now *settings.TemplateRecord) (bool, error) {
			back := *now
			back.ClaimedUntil = time.Time{}
			return c.swap(ctx, now, &back)
		})
		return errors.Join(channelError(s.Provider, failed), err)
	}
	return orChanged(c.underClaim(ctx, &claimed, finish))
}

// underClaim calls write while our claim is valid. The channel may report a change in the meantime; then write is
// called again with the changed record. It returns false if the claim was lost.
func (c *Catalog) underClaim(
	ctx context.Context, claimed *settings.TemplateRecord, write func(ctx context.Context, now *settings.TemplateRecord) (bool, error),
) (bool, error) {
	now := claimed
	for {
		if ok, err := write(ctx, now); ok || err != nil {
			return ok, err
		}
		read, err := c.store.Templates.Template(ctx, claimed.CompanyID, claimed.ID)
		if carillon.IsCode(err, carillon.NotFound) {
			return false, nil
		}
		if err != nil || !read.ClaimedUntil.Equal(claimed.ClaimedUntil) {
			return false, err
		}
		now = read
	}
}

// channel returns the sender of a template and its reviewer.
func (c *Catalog) channel(ctx context.Context, r *settings.TemplateRecord) (*carillon.Sender, Reviewer, error) {
	s, err := c.store.Senders.Sender(ctx, r.SenderUID)
	if err != nil {
		return nil, nil, fmt.Errorf("find the template's sender: %w", err)
	}
	reviewer, ok := c.reviewers[s.Provider]
	if !ok {
		return nil, nil, carillon.InConflict("The provider " + s.Provider + " reviews no templates")
	}
	return s, reviewer, nil
}

// channelError returns the caller's error for a failed request to the channel: the channel's own refusal, else
// upstream_unavailable.
func channelError(provider string, err error) error {
	if _, ok := errors.AsType[*carillon.Error](err); ok {
		return err
	}
	return &carillon.Error{
		Code: carillon.UpstreamUnavailable, Message: "The messaging channel is not available",
		Details: carillon.Details{
			{Key: "service", Value: provider},
			{Key: "estimated_recovery", Value: carillon.FormatTime(time.Now().Add(5 * time.Minute))},
		},
		Err: err,
	}
}
