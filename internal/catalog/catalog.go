// Package catalog keeps templates through their life: drafts, the channel's review, pauses, limits. It is not the
// channel (Reviewer) and sends nothing. The transitions (decisions.md, section 4):
//
//	draft ── submit ──▶ pending ──▶ approved ◀──▶ paused, disabled
//	  ▲ ▲                 │  └────▶ rejected
//	  │ └── edit ─────────┘            │
//	  └──── edit ──────────────────────┘
//
// Callers submit, edit and delete; the channel decides all else, by callback (Apply), when it is asked (Run) and when a
// message meets a paused template (Pause). What talks to the channel while a caller waits first claims the template for a
// minute, so that nobody else talks about it meanwhile, and gives it back with the new state in one write: a crash in
// between leaves a pending template that is asked about like any other. Every write is guarded by the state it was
// decided on.
package catalog

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"carillon"
	"carillon/internal/store"
)

// Reviewer is a channel's template review. Its errors are what the author is meant to see: *carillon.Error with the
// channel's words, UpstreamUnavailable when the channel is down, NotFound from Status for a template it does not know.
type Reviewer interface {
	// Submit gives a template to the channel: new, or again under the provider id that t has. One that the channel has
	// already in the same words is taken over: a submission whose answer was lost can be repeated.
	Submit(ctx context.Context, s *carillon.Sender, t *carillon.Template) (providerID string, status carillon.TemplateStatus, err error)
	// Status asks how a template stands.
	Status(ctx context.Context, s *carillon.Sender, t *carillon.Template) (carillon.TemplateEvent, error)
	// Withdraw takes a template off the channel, out of review or out of use; one that is not there is withdrawn.
	Withdraw(ctx context.Context, s *carillon.Sender, t *carillon.Template) error
}

// Options are what a catalog can do without.
type Options struct {
	// OnApproved hears of a template that may be used (again), after it was stored: messages held for it are released.
	// It may hear of one twice. Its error makes the channel repeat a callback.
	OnApproved func(ctx context.Context, t *carillon.Template) error
	Logger     *slog.Logger
}

// The contract's limit on templates at the channel at a time, and how we talk to it.
const (
	maxActive = 100
	talkFor   = 30 * time.Second // with the channel while a caller waits
	claimFor  = time.Minute      // longer than talkFor, so that a claim ends after its talk
)

// Catalog keeps the templates of all companies.
type Catalog struct {
	store     *store.Store
	reviewers map[string]Reviewer
	o         Options
	wake      chan struct{}

	mu    sync.RWMutex
	lists map[int64]list // encoded, by sender
}

// New builds a catalog; reviewers by the provider's name.
func New(st *store.Store, reviewers map[string]Reviewer, o Options) *Catalog {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.OnApproved == nil {
		o.OnApproved = func(context.Context, *carillon.Template) error { return nil }
	}
	return &Catalog{store: st, reviewers: reviewers, o: o, wake: make(chan struct{}, 1), lists: map[int64]list{}}
}

// Find is one template of a company by our id or the channel's. Errors: not_found.
func (c *Catalog) Find(ctx context.Context, companyID, id string) (*carillon.Template, error) {
	r, err := c.store.Template(ctx, companyID, id)
	if err != nil {
		return nil, err
	}
	return &r.Template, nil
}

// FindNamed is one template of a company by id or by name, and by language unless that is empty. Of several it is an
// approved one before others, then the default sender's, then the first by language. Errors: not_found.
func (c *Catalog) FindNamed(ctx context.Context, companyID, idOrName, language string) (*carillon.Template, error) {
	senders, err := c.store.Senders(ctx, companyID)
	if err != nil {
		return nil, err
	}
	var best *carillon.Template
	merit := -1
	for _, s := range senders {
		templates, err := c.store.Templates(ctx, s.UID)
		if err != nil {
			return nil, err
		}
		for _, t := range templates {
			if m := meritOf(t, s, idOrName, language); m > merit {
				best, merit = t, m
			}
		}
	}
	if best == nil {
		return nil, carillon.Absent("Template")
	}
	return best, nil
}

// meritOf orders what FindNamed may choose from; negative: not that template.
func meritOf(t *carillon.Template, s *carillon.Sender, idOrName, language string) int {
	merit := 0
	switch {
	case t.ID == idOrName || t.ProviderID == idOrName:
		return 8
	case t.Name != idOrName || language != "" && t.Language != language:
		return -1
	}
	if t.Status == carillon.TemplateApproved {
		merit += 4
	}
	if s.Default {
		merit += 2
	}
	return merit
}
