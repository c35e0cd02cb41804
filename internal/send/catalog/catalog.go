// Package catalog manages the life cycle of templates: drafts, the channel's review, pauses, limits. It is not the
// channel (Reviewer) and sends nothing. The transitions:
//
//	draft ── submit ──▶ pending ──▶ approved ◀──▶ paused, disabled
//	  ▲ ▲                 │  │           ▲
//	  │ │                 │  │           ▼
//	  │ │                 │  └───────▶ rejected
//	  │ └── edit ─────────┘            │
//	  └──── edit ──────────────────────┘
//
// Callers submit, edit and delete; the channel decides everything else, by callback (Apply), by polling (Run) and when it
// refuses a message because the template is paused (Pause). A request to the channel for a waiting caller first claims
// the template for a minute, so that no other request concerns it meanwhile, and releases it with the new state in one
// write: a crash in between leaves a pending template that is polled like any other. Every write is conditional on the
// state that it was decided on.
package catalog

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/store"
	"carillon/internal/store/templates"
)

// Reviewer is a channel's template review. Its errors are meant for the author: *carillon.Error with the channel's text,
// UpstreamUnavailable when the channel is down, NotFound from Status for a template it does not know.
type Reviewer interface {
	// Submit submits a template: a new one, or again under the provider id of t. One that the channel already has with
	// the same content is adopted, so that a submission whose response was lost can be repeated.
	Submit(ctx context.Context, s *carillon.Sender, t *carillon.Template) (providerID string, status carillon.TemplateStatus, err error)
	// Status reads a template's status.
	Status(ctx context.Context, s *carillon.Sender, t *carillon.Template) (provider.TemplateEvent, error)
	// List reads the status of all templates that the sender's account has.
	List(ctx context.Context, s *carillon.Sender) ([]provider.TemplateEvent, error)
	// Withdraw deletes a template at the channel; one that does not exist counts as withdrawn.
	Withdraw(ctx context.Context, s *carillon.Sender, t *carillon.Template) error
}

// Options configure a catalog; the zero value works.
type Options struct {
	Logger *slog.Logger
}

// The contract's limit on templates at the channel at a time, and the bounds of requests to it.
const (
	maxActive     = 100
	callTimeout   = 30 * time.Second // of a request to the channel
	claimDuration = time.Minute      // longer than callTimeout, so that a claim outlasts its request
)

// Catalog manages the templates of all companies.
type Catalog struct {
	store     *store.Store
	reviewers map[string]Reviewer
	o         Options
	approved  func(ctx context.Context, t *carillon.Template) error
	wake      chan struct{}
	syncing   *sync.Map // companies whose templates are being compared
	by        templates.By
}

// New builds a catalog; reviewers by the provider's name.
func New(st *store.Store, reviewers map[string]Reviewer, o Options) *Catalog {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	approved := func(context.Context, *carillon.Template) error { return nil }
	return &Catalog{approved: approved, store: st, reviewers: reviewers, o: o, wake: make(chan struct{}, 1), syncing: &sync.Map{}, by: templates.By{Kind: "system"}}
}

// OnApproved sets what is called for a template that may be used (again), after it was stored: messages held for it are released.
// It may be called twice. Its error makes the channel repeat a callback. Before Run.
func (c *Catalog) OnApproved(approved func(ctx context.Context, t *carillon.Template) error) {
	c.approved = approved
}

// By returns the same catalog for changes by somebody, whom the history of the templates will name.
func (c *Catalog) By(by templates.By) *Catalog {
	x := *c
	x.by = by
	return &x
}

// Account is a person, by the id of the account.
func Account(id string) templates.By { return templates.By{Kind: "account", ID: id} }

// Key is an application, by the id of its access key.
func Key(id string) templates.By { return templates.By{Kind: "key", ID: id} }

// channelDid is who decides on templates in their history.
func channelDid() templates.By { return templates.By{Kind: "channel"} }

// Find is one template of a company by our id or the channel's. Errors: not_found.
func (c *Catalog) Find(ctx context.Context, companyID, id string) (*carillon.Template, error) {
	r, err := c.store.Templates.Template(ctx, companyID, id)
	if err != nil {
		return nil, err
	}
	return &r.Template, nil
}

// FindNamed is one template of a company by id or by name, and by language unless that is empty. Of several it returns an
// approved one before others, then the default sender's, then the first by language. Errors: not_found.
func (c *Catalog) FindNamed(ctx context.Context, companyID, idOrName, language string) (*carillon.Template, error) {
	senders, err := c.store.Senders.Senders(ctx, companyID)
	if err != nil {
		return nil, err
	}
	var best *carillon.Template
	rank := -1
	for _, s := range senders {
		all, err := c.store.Templates.Templates(ctx, s.UID)
		if err != nil {
			return nil, err
		}
		for _, t := range all {
			if m := rankOf(t, s, idOrName, language); m > rank {
				best, rank = t, m
			}
		}
	}
	if best == nil {
		return nil, carillon.Absent("Template")
	}
	return best, nil
}

// rankOf ranks a template for FindNamed; negative: it does not match.
func rankOf(t *carillon.Template, s *carillon.Sender, idOrName, language string) int {
	rank := 0
	switch {
	case t.ID == idOrName || t.ProviderID == idOrName:
		return 8
	case t.Name != idOrName || language != "" && t.Language != language:
		return -1
	}
	if t.Status == carillon.TemplateApproved {
		rank += 4
	}
	if s.Default {
		rank += 2
	}
	return rank
}
