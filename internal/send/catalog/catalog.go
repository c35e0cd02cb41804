// Package catalog manages the life cycle of templates: drafts, the channel's review, pauses, limits. It does not
// implement a channel (see Reviewer) and sends nothing. The transitions:
//
//	draft ── submit ──▶ pending ──▶ approved ◀──▶ paused, disabled
//	  ▲ ▲                 │  │           ▲
//	  │ │                 │  │           ▼
//	  │ │                 │  └───────▶ rejected
//	  │ └── edit ─────────┘            │
//	  └──── edit ──────────────────────┘
//
// Callers submit, edit and delete. The channel decides everything else: by callback (Apply), by polling (Run) and by
// refusing a message because the template is paused (Pause). A request to the channel on behalf of a waiting caller
// first claims the template for a minute, which blocks other requests for it. The write that stores the new state also
// releases the claim, so a crash in between leaves a pending template that is polled like any other. Every write is
// conditional on the state that the decision was based on.
package catalog

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/provider"
	"carillon/internal/store"
	"carillon/internal/store/settings"
)

// Reviewer is a channel's template review. Its errors are meant for the template's author: a *carillon.Error with the
// channel's text, UpstreamUnavailable if the channel is down, NotFound from Status for a template that the channel
// does not know.
type Reviewer interface {
	// Submit submits a new template, or resubmits it under the provider id of t. If the channel already has a template
	// with the same content, Submit adopts it, so that a submission can be repeated after a lost response.
	Submit(ctx context.Context, s *carillon.Sender, t *carillon.Template) (providerID string, status carillon.TemplateStatus, err error)
	// Status reads a template's status at the channel.
	Status(ctx context.Context, s *carillon.Sender, t *carillon.Template) (provider.TemplateEvent, error)
	// List reads all templates of the sender's account.
	List(ctx context.Context, s *carillon.Sender) (provider.TemplateList, error)
	// Withdraw deletes a template at the channel. A template that does not exist there counts as withdrawn.
	Withdraw(ctx context.Context, s *carillon.Sender, t *carillon.Template) error
}

// Options configure a catalog. The zero value works.
type Options struct {
	Logger *slog.Logger
}

// The bounds of requests to the channel.
const (
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
	due       chan struct{}
	syncing   *sync.Map // companies that are being synced
	by        settings.TemplateAuthor
}

// New returns a catalog. reviewers are keyed by provider name.
func New(st *store.Store, reviewers map[string]Reviewer, o Options) *Catalog {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	approved := func(context.Context, *carillon.Template) error { return nil }
	return &Catalog{
		approved: approved, store: st, reviewers: reviewers, o: o, wake: make(chan struct{}, 1), due: make(chan struct{}, 1),
		syncing: &sync.Map{}, by: settings.TemplateAuthor{Kind: "system"},
	}
}

// OnApproved sets the function to call after a template was stored as approved, also when it is approved again. It
// releases messages held for the template. It may be called twice. If it returns an error, the channel repeats the
// callback. Call OnApproved before Run.
func (c *Catalog) OnApproved(approved func(ctx context.Context, t *carillon.Template) error) {
	c.approved = approved
}

// By returns the same catalog for changes by a person or application, which the history of the templates names.
func (c *Catalog) By(by settings.TemplateAuthor) *Catalog {
	x := *c
	x.by = by
	return &x
}

// Account identifies a person by account id.
func Account(id string) settings.TemplateAuthor {
	return settings.TemplateAuthor{Kind: "account", ID: id}
}

// Key identifies an application by the id of its access key.
func Key(id string) settings.TemplateAuthor { return settings.TemplateAuthor{Kind: "key", ID: id} }

// channelDid identifies the channel as the author of a change in the history.
func channelDid() settings.TemplateAuthor { return settings.TemplateAuthor{Kind: "channel"} }

// Find returns a template of a company by our id or the channel's. Errors: not_found.
func (c *Catalog) Find(ctx context.Context, companyID, id string) (*carillon.Template, error) {
	r, err := c.store.Templates.Template(ctx, companyID, id)
	if err != nil {
		return nil, err
	}
	return &r.Template, nil
}

// FindNamed returns a template of a company by id or by name, and by language unless that is empty. Among several
// matches it prefers an approved one, then one of the default sender, then the first by language. Errors: not_found.
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

// rankOf ranks a template for FindNamed. A negative rank means no match.
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

// Record is a template as lists show it. The keys are in the contract's order.
type Record struct {
	ID              string `json:"id"`
	Name            string `json:"name"`
	Status          string `json:"status"`
	Category        string `json:"category"`
	Language        string `json:"language"`
	Components      []any  `json:"components"` // each a textPart, mediaPart, buttonsPart or carillon.Component
	ParameterFormat string `json:"parameter_format"`

	Unsupported    []string        `json:"unsupported,omitempty"` // names of the parts that cannot be sent from here
	CategoryChange *CategoryChange `json:"category_change,omitempty"`
	SendTTL        int             `json:"message_send_ttl_seconds,omitempty"`
}

// CategoryChange is a change of the category that the channel announced.
type CategoryChange struct {
	To string `json:"to"`
	At string `json:"at,omitempty"` // if the channel says when
}

// ComingCategory returns the announced change of a template's category; nil if there is none.
func ComingCategory(t *carillon.Template) *CategoryChange {
	if t.Report.ComingCategory == "" {
		return nil
	}
	x := &CategoryChange{To: t.Report.ComingCategory}
	if t.Report.ComingAt > 0 {
		x.At = carillon.FormatTime(time.Unix(t.Report.ComingAt, 0).UTC())
	}
	return x
}

// The forms of a component. The keys are in the contract's order.
type (
	textPart struct {
		Text    string                     `json:"text"`
		Type    string                     `json:"type"`
		Format  string                     `json:"format,omitempty"` // of a header only
		Example *carillon.ComponentExample `json:"example,omitempty"`
	}
	mediaPart struct {
		Type    string                     `json:"type"`
		Format  string                     `json:"format"`
		Example *carillon.ComponentExample `json:"example,omitempty"`
	}
	buttonsPart struct {
		Type    string            `json:"type"`
		Buttons []carillon.Button `json:"buttons"`
	}
)

func partOf(c *carillon.Component) any {
	known := slices.Contains([]string{content.TypeHeader, content.TypeBody, content.TypeFooter, content.TypeButtons}, c.Type)
	switch {
	case !known || len(c.Rest) > 0 || c.AddSecurityRecommendation || c.CodeExpirationMinutes != 0:
		return *c
	case c.Type == content.TypeButtons:
		return buttonsPart{c.Type, c.Buttons}
	case c.Type == content.TypeHeader && c.Format != content.FormatText && c.Format != "":
		return mediaPart{c.Type, c.Format, c.Example}
	default:
		return textPart{c.Text, c.Type, c.Format, c.Example}
	}
}

// RecordOf returns a template's record, with its status in upper case and the channel's id if it has one.
func RecordOf(t *carillon.Template) Record {
	r := Record{
		ID: t.PublicID(), Name: t.Name, Status: strings.ToUpper(string(t.Status)), Category: t.Category, Language: t.Language,
		Components: make([]any, len(t.Components)), ParameterFormat: t.ParameterFormat,
		Unsupported: content.Unsupported(t), CategoryChange: ComingCategory(t), SendTTL: t.SendTTL,
	}
	for i := range t.Components {
		r.Components[i] = partOf(&t.Components[i])
	}
	return r
}

// Approved returns a sender's approved templates by name and language.
func (c *Catalog) Approved(ctx context.Context, senderUID int64) ([]Record, error) {
	all, err := c.store.Templates.Templates(ctx, senderUID)
	if err != nil {
		return nil, err
	}
	records := []Record{}
	for _, t := range all {
		if t.Status == carillon.TemplateApproved {
			records = append(records, RecordOf(t))
		}
	}
	return records, nil
}
