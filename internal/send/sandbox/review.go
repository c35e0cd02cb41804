package sandbox

import (
	"context"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/provider"
)

// Suffixes of a template's name that decide the review.
const (
	rejectSuffix = "_reject"
	slowSuffix   = "_slow"
)

const rejectReason = "The sandbox rejects templates whose name ends in _reject"

// templateKey identifies a template as a channel does.
type templateKey struct {
	senderUID      int64
	name, language string
}

func keyOf(s *carillon.Sender, t *carillon.Template) templateKey {
	return templateKey{senderUID: s.UID, name: t.Name, language: t.Language}
}

// providerID returns the reviewer's id of a template: decimal, and the same in every run.
func (k templateKey) providerID() string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strconv.FormatInt(k.senderUID, 10) + "/" + k.name + "/" + k.language))
	return strconv.FormatUint(h.Sum64()>>1, 10)
}

// submission is the reviewer's record of a template.
type submission struct {
	status   carillon.TemplateStatus
	category string
	reason   string
}

// review is a pending decision. It is obsolete once the template has a newer submission.
type review struct {
	key templateKey
	of  *submission
	due time.Time
	at  time.Time // time of the decision and its report: the due time, or later after a failure
}

// Submit starts the review of a template. It is pending now and decided after Delays.Review, except if the name ends
// in `_slow`: then it waits for Decide.
func (c *Channel) Submit(ctx context.Context, s *carillon.Sender, t *carillon.Template) (string, carillon.TemplateStatus, error) {
	if err := ctx.Err(); err != nil {
		return "", "", err
	}
	k := keyOf(s, t)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.templates[k]; !known && len(c.templates) >= maxTemplates {
		return "", "", &carillon.Error{
			Code: carillon.LimitExceeded, Message: "The sandbox keeps no more templates",
			Details: carillon.Details{{Key: "limit", Value: maxTemplates}, {Key: "used", Value: len(c.templates)}},
		}
	}
	x := &submission{status: carillon.TemplatePending, category: t.Category}
	due := time.Now().Add(c.o.Delays.Review)
	if !strings.HasSuffix(t.Name, slowSuffix) && !c.await(review{key: k, of: x, due: due, at: due}) {
		return "", "", &carillon.Error{
			Code: carillon.UpstreamUnavailable, Message: "The sandbox reviews no more at present",
			Details: carillon.Details{
				{Key: "service", Value: "sandbox"}, {Key: "estimated_recovery", Value: carillon.FormatTime(time.Now().Add(time.Minute))},
			},
		}
	}
	c.templates[k] = x
	return k.providerID(), carillon.TemplatePending, nil
}

// await queues a review. It returns false if the queue is full.
func (c *Channel) await(r review) bool {
	select {
	case c.reviews <- r:
		return true
	default:
		return false
	}
}

// Status returns a template's status. For a template submitted to an earlier process, the name decides. A template
// that was never submitted is a *carillon.Error NotFound.
func (c *Channel) Status(_ context.Context, s *carillon.Sender, t *carillon.Template) (provider.TemplateEvent, error) {
	k := keyOf(s, t)
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.known(k, t)
	if x == nil {
		return provider.TemplateEvent{}, carillon.Absent("Template")
	}
	return x.event(k), nil
}

// List returns the templates that a sender submitted since the process started.
func (c *Channel) List(_ context.Context, s *carillon.Sender) (all provider.TemplateList, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, x := range c.templates {
		if k.senderUID == s.UID {
			all.Templates = append(all.Templates, provider.ListedTemplate{TemplateEvent: x.event(k)})
		}
	}
	return all, nil
}

// known finds a submission. A submission to an earlier process is recognized by our id on a pending template.
func (c *Channel) known(k templateKey, t *carillon.Template) *submission {
	if x := c.templates[k]; x != nil {
		return x
	}
	if t.ProviderID != k.providerID() || t.Status != carillon.TemplatePending || len(c.templates) >= maxTemplates {
		return nil
	}
	x := &submission{status: carillon.TemplatePending, category: t.Category}
	if !strings.HasSuffix(k.name, slowSuffix) {
		x.review(k.name)
	}
	c.templates[k] = x
	return x
}

// Withdraw removes a template. A template that does not exist counts as withdrawn.
func (c *Channel) Withdraw(_ context.Context, s *carillon.Sender, t *carillon.Template) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.templates, keyOf(s, t))
	return nil
}

// Decide decides about a template regardless of its name, and reports the decision before it returns. reason is used
// for a rejection.
func (c *Channel) Decide(ctx context.Context, s *carillon.Sender, t *carillon.Template, approve bool, reason string) error {
	k := keyOf(s, t)
	c.mu.Lock()
	known := c.known(k, t)
	if known == nil {
		c.mu.Unlock()
		return carillon.Absent("Template")
	}
	x := &submission{status: carillon.TemplateApproved, category: known.category} // obsoletes a pending review
	if !approve {
		x.status, x.reason = carillon.TemplateRejected, reason
	}
	c.templates[k] = x
	e := x.event(k)
	c.mu.Unlock()
	return c.to.template(ctx, e)
}

// decideReviews decides due reviews and reports the decisions until ctx ends.
func (c *Channel) decideReviews(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-c.reviews:
			if wait(ctx, time.Until(r.at)) {
				c.decide(ctx, r)
			}
		}
	}
}

// decide decides a review and reports the decision, unless the template was withdrawn, resubmitted or decided by
// Decide in the meantime. A failed report is retried for a while.
func (c *Channel) decide(ctx context.Context, r review) {
	c.mu.Lock()
	obsolete := c.templates[r.key] != r.of
	if !obsolete {
		r.of.review(r.key.name)
	}
	e := r.of.event(r.key)
	c.mu.Unlock()
	if obsolete {
		return
	}
	if err := c.to.template(ctx, e); err != nil && ctx.Err() == nil {
		c.o.Logger.WarnContext(ctx, "cannot report a decision", "error", err)
		if r.at = time.Now().Add(retryAfter); r.at.Sub(r.due) < retryFor {
			c.await(r)
		}
	}
}

// review decides by the template's name.
func (x *submission) review(name string) {
	x.status, x.reason = carillon.TemplateApproved, ""
	if strings.HasSuffix(name, rejectSuffix) {
		x.status, x.reason = carillon.TemplateRejected, rejectReason
	}
}

func (x *submission) event(k templateKey) provider.TemplateEvent {
	return provider.TemplateEvent{
		SenderUID: k.senderUID, ProviderID: k.providerID(), Name: k.name, Language: k.language,
		Status: x.status, Category: x.category, Reason: x.reason,
	}
}

func (r Reports) template(ctx context.Context, e provider.TemplateEvent) error {
	if r.Templates == nil {
		return nil
	}
	return r.Templates(ctx, e)
}
