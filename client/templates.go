package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
)

// Templates has the methods for templates.
type Templates struct{ c *Client }

// Templates returns the methods for templates.
func (c *Client) Templates() Templates { return Templates{c} }

// Template is a template of a sender.
type Template struct {
	ID              string      `json:"id"` // at the channel
	Name            string      `json:"name"`
	Language        string      `json:"language"`
	Status          string      `json:"status"`   // DRAFT, PENDING, APPROVED, REJECTED, PAUSED or DISABLED
	Category        string      `json:"category"` // MARKETING, UTILITY or AUTHENTICATION
	Components      []Component `json:"components"`
	ParameterFormat string      `json:"parameter_format"` // POSITIONAL or NAMED
	Reason          string      `json:"reason"`           // reason of a rejection or pause
	// SendTTL is the time in seconds after which the channel drops an undelivered message: -1 means 30 days, 0 the channel's default.
	SendTTL int `json:"message_send_ttl_seconds"`
}

// Component is a part of a template.
type Component struct {
	Type    string          `json:"type"` // HEADER, BODY, FOOTER or BUTTONS
	Format  string          `json:"format,omitempty"`
	Text    string          `json:"text,omitempty"`
	Buttons []Button        `json:"buttons,omitempty"`
	Example json.RawMessage `json:"example,omitempty"`
}

// Button is a button of a template.
type Button struct {
	Type        string   `json:"type"` // URL, QUICK_REPLY or PHONE_NUMBER
	Text        string   `json:"text"`
	URL         string   `json:"url,omitempty"`
	PhoneNumber string   `json:"phone_number,omitempty"`
	Example     []string `json:"example,omitempty"`
}

// Draft is a template to create, or the changes to one.
type Draft struct {
	Name       string            `json:"name,omitempty"`
	Language   string            `json:"language,omitempty"`
	Category   string            `json:"category,omitempty"`
	Body       string            `json:"content,omitempty"`   // with {{name}} markers
	Variables  []string          `json:"variables,omitempty"` // names of the markers
	Samples    map[string]string `json:"samples,omitempty"`   // values of the markers, for the reviewer
	Components []Component       `json:"components,omitempty"`
	Submit     bool              `json:"submit,omitempty"` // submit for approval immediately
}

// List returns the approved templates of the sender with a number.
func (x Templates) List(ctx context.Context, number string) ([]Template, error) {
	got, err := get[[]Template](ctx, x.c, Call{
		Method: http.MethodGet, Path: Prefix + "notify/templates", Query: url.Values{"phone_number": {number}}, As: Company,
	})
	if err != nil {
		return nil, err
	}
	return *got, nil
}

// Get reads a template of any status by its ID.
func (x Templates) Get(ctx context.Context, id string) (*Template, error) {
	return get[Template](ctx, x.c, Call{Method: http.MethodGet, Path: templatePath(id), As: Company})
}

// Find reads a template of any status by its ID, or by its name and language, which may be empty. Among several
// matches it prefers approved templates, then those of the default sender.
func (x Templates) Find(ctx context.Context, nameOrID, language string) (*Template, error) {
	q := url.Values{"template": {nameOrID}}
	if language != "" {
		q.Set("language", language)
	}
	got, err := get[struct {
		Template Template `json:"template"`
	}](ctx, x.c, Call{Method: http.MethodGet, Path: Prefix + "notify/template/components", Query: q, As: Company})
	if err != nil {
		return nil, err
	}
	return &got.Template, nil
}

// CreatedTemplate is the response to Create.
type CreatedTemplate struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Status string `json:"status"`
}

// Create creates a template of the sender with a number; empty for the default sender.
func (x Templates) Create(ctx context.Context, number string, d Draft) (*CreatedTemplate, error) {
	q := url.Values{}
	if number != "" {
		q.Set("phone_number", number)
	}
	got, err := get[struct {
		Template CreatedTemplate `json:"template"`
	}](ctx, x.c, Call{Method: http.MethodPost, Path: Prefix + "notify/templates", Query: q, Body: d, As: Company})
	if err != nil {
		return nil, err
	}
	return &got.Template, nil
}

// Edit changes a draft, rejected or pending template, which becomes a draft.
func (x Templates) Edit(ctx context.Context, id string, d Draft) (*Template, error) {
	return get[Template](ctx, x.c, Call{Method: http.MethodPatch, Path: templatePath(id), Body: d, As: Company})
}

// Submit submits a draft for approval.
func (x Templates) Submit(ctx context.Context, id string) (*Template, error) {
	return get[Template](ctx, x.c, Call{Method: http.MethodPost, Path: templatePath(id) + "/submit", As: Company})
}

// Delete deletes a template.
func (x Templates) Delete(ctx context.Context, id string) error {
	_, err := x.c.Do(ctx, Call{Method: http.MethodDelete, Path: templatePath(id), As: Company})
	return err
}

func templatePath(id string) string { return Prefix + "notify/templates/" + url.PathEscape(id) }
