package sandbox

import (
	"context"
	"errors"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/provider"
)

// Endings of a template's name that decide what the reviewer does.
const (
	rejectSuffix = "_reject"
	slowSuffix   = "_slow"
)

const rejectReason = "The sandbox rejects templates whose name ends in _reject"

// templateKey names a template as a channel does.
type templateKey struct {
	senderUID      int64
	name, language string
}

func keyOf(s *carillon.Sender, t *carillon.Template) templateKey {
	return templateKey{senderUID: s.UID, name: t.Name, language: t.Language}
}

// providerID is the reviewer's number for a template: decimal, the same in every run.
func (k templateKey) providerID() string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strconv.FormatInt(k.senderUID, 10) + "/" + k.name + "/" + k.language))
	return strconv.FormatUint(h.Sum64()>>1, 10)
}

// submission is what the reviewer knows of a template.
type submission struct {
	version  int64 // of the latest submission or decision; an older review is obsolete
	status   carillon.TemplateStatus
	category string
	reason   string
}

// review is a decision to come.
type review struct {
	key     templateKey
	version int64
}

// Submit starts the review of a template: pending now, decided after Delays.Review, except names that end in `_slow`, which
// wait for Decide.
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
	c.versions++
	if !strings.HasSuffix(t.Name, slowSuffix) && !c.reviews.add(time.Now().Add(c.o.Delays.Review), review{key: k, version: c.versions}) {
		return "", "", &carillon.Error{
			Code: carillon.UpstreamUnavailable, Message: "The sandbox reviews no more at present",
			Details: carillon.Details{{Key: "service", Value: "sandbox"}, {Key: "estimated_recovery", Value: carillon.FormatTime(time.Now().Add(time.Minute))}},
		}
	}
	c.templates[k] = &submission{version: c.versions, status: carillon.TemplatePending, category: t.Category}
	return k.providerID(), carillon.TemplatePending, nil
}

// Status returns a template's status. One that was submitted before the process began is decided by its name;
// *carillon.Error NotFound for what was never submitted.
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

// known finds a submission; one of an earlier process is recognized by our id on a pending template.
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

// Withdraw forgets a template; one that does not exist counts as withdrawn.
func (c *Channel) Withdraw(_ context.Context, s *carillon.Sender, t *carillon.Template) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.templates, keyOf(s, t))
	return nil
}

// Decide makes the reviewer's decision whatever the template's name, and reports it before it returns. Reason belongs to
// a rejection.
func (c *Channel) Decide(ctx context.Context, s *carillon.Sender, t *carillon.Template, approve bool, reason string) error {
	k := keyOf(s, t)
	c.mu.Lock()
	x := c.known(k, t)
	if x == nil {
		c.mu.Unlock()
		return carillon.Absent("Template")
	}
	c.versions++
	x.version = c.versions // makes a review in progress obsolete
	x.status, x.reason = carillon.TemplateApproved, ""
	if !approve {
		x.status, x.reason = carillon.TemplateRejected, reason
	}
	e := x.event(k)
	c.mu.Unlock()
	return c.reportTemplate(ctx, e)
}

// decideDue decides the reviews that are due and reports the decisions.
func (c *Channel) decideDue(ctx context.Context, due []*item[review]) (again, failed []*item[review], err error) {
	var errs []error
	for _, it := range due {
		e, ok := c.decide(it.v)
		if !ok {
			continue
		}
		if err := c.reportTemplate(ctx, e); err != nil {
			failed, errs = append(failed, it), append(errs, err)
		}
	}
	return nil, failed, errors.Join(errs...)
}

// decide returns the decision, unless the template was withdrawn, submitted again or decided by Decide since.
func (c *Channel) decide(r review) (provider.TemplateEvent, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.templates[r.key]
	if x == nil || x.version != r.version {
		return provider.TemplateEvent{}, false
	}
	x.review(r.key.name)
	return x.event(r.key), true
}

// review decides by the name.
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

func (c *Channel) reportTemplate(ctx context.Context, e provider.TemplateEvent) error {
	if c.o.Templates == nil {
		return nil
	}
	return c.o.Templates(ctx, e)
}
