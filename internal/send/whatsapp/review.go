package whatsapp

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"carillon"
	"carillon/internal/base/provider"
)

// statusFields and nodeFields are requested explicitly, because the channel omits most of them by default.
const (
	statusFields = "id,name,language,status,category,rejected_reason"
	nodeFields   = statusFields + ",components"
)

// Paging of the channel's list. The channel's largest accounts have 6,000 templates.
const (
	pageSize = 200
	maxPages = 30
)

// node is a template in the channel's format.
type node struct {
	ID         nodeID               `json:"id"`
	Name       string               `json:"name"`
	Language   string               `json:"language"`
	Status     string               `json:"status"`
	Category   string               `json:"category"`
	Rejected   string               `json:"rejected_reason"`
	Components []carillon.Component `json:"components"`
	listMembers
}

// Submit submits a template to the channel's review. A new template is created, a known one is edited if the channel
// permits it. Submit returns the channel's id and the initial status. Errors that the author can correct are a
// *carillon.Error with the channel's text. An outage of the channel is UpstreamUnavailable.
func (c *Client) Submit(ctx context.Context, s *carillon.Sender, t *carillon.Template) (string, carillon.TemplateStatus, error) {
	a, err := c.account(s)
	if err != nil {
		return "", "", err
	}
	components, err := reviewComponents(t)
	if err != nil {
		return "", "", err
	}
	if t.ProviderID == "" {
		return c.create(ctx, a, t, components)
	}
	known, err := c.node(ctx, a, t.ProviderID)
	switch {
	case errors.Is(err, errAbsent):
		return c.create(ctx, a, t, components)
	case err != nil:
		return "", "", err
	}
	switch known.Status {
	case "APPROVED", "REJECTED", "PAUSED":
		return c.edit(ctx, a, t, known, components)
	case "PENDING", "IN_APPEAL":
		return "", "", carillon.InConflict("The channel is still reviewing this template")
	}
	return c.create(ctx, a, t, components)
}

func (c *Client) create(
	ctx context.Context, a *account, t *carillon.Template, components []carillon.Component,
) (string, carillon.TemplateStatus, error) {
	if err := c.uploadSamples(ctx, a, components, "components"); err != nil {
		return "", "", err
	}
	var made node
	err := c.manage(ctx, a, request{
		method: http.MethodPost, path: a.wabaID + "/message_templates",
		body: reviewBody{
			Name: t.Name, Language: t.Language, Category: t.Category,
			ParameterFormat: t.ParameterFormat, SendTTL: t.SendTTL, Components: components,
		},
	}, &made)
	if errors.Is(err, errExists) {
		return c.adopt(ctx, a, t, components, err)
	}
	if err != nil {
		return "", "", ofAccount(err)
	}
	if made.ID == "" {
		return "", "", unavailable(errors.New("response to create without an id"), 0)
	}
	return string(made.ID), statusOr(made.Status, carillon.TemplatePending), nil
}

// adopt adopts an existing template with the same name, language and content: it is our own, and the response to its
// creation was lost. Different content is a conflict.
func (c *Client) adopt(
	ctx context.Context, a *account, t *carillon.Template, components []carillon.Component, exists error,
) (string, carillon.TemplateStatus, error) {
	known, err := c.find(ctx, a, t)
	if errors.Is(err, errAbsent) {
		return "", "", exists
	}
	if err != nil {
		return "", "", err
	}
	if !sameContent(known.Components, components) {
		return "", "", exists
	}
	return string(known.ID), statusOr(known.Status, carillon.TemplatePending), nil
}

// edit replaces the components. The category is only sent for templates that are not approved, because the channel
// fixes it on approval.
func (c *Client) edit(
	ctx context.Context, a *account, t *carillon.Template, known node, components []carillon.Component,
) (string, carillon.TemplateStatus, error) {
	if err := c.uploadSamples(ctx, a, components, "components"); err != nil {
		return "", "", err
	}
	body := reviewBody{SendTTL: t.SendTTL, Components: components}
	if known.Status != "APPROVED" {
		body.Category, body.ParameterFormat = t.Category, t.ParameterFormat
	}
	var done struct {
		Success bool `json:"success"`
	}
	err := c.manage(ctx, a, request{method: http.MethodPost, path: t.ProviderID, body: body}, &done)
	if err != nil {
		return "", "", err
	}
	if !done.Success {
		return "", "", unavailable(errors.New("response to edit without success"), 0)
	}
	return t.ProviderID, carillon.TemplatePending, nil
}

// Status reads a template's status from the channel, by the channel's id or, without one, by name and language. A
// template that the channel does not know is a NotFound.
func (c *Client) Status(ctx context.Context, s *carillon.Sender, t *carillon.Template) (provider.TemplateEvent, error) {
	a, err := c.account(s)
	if err != nil {
		return provider.TemplateEvent{}, err
	}
	known, err := c.lookUp(ctx, a, t)
	if errors.Is(err, errAbsent) {
		return provider.TemplateEvent{}, carillon.Absent("Template")
	}
	if err != nil {
		return provider.TemplateEvent{}, err
	}
	status, ok := statusOf(known.Status)
	if !ok {
		return provider.TemplateEvent{}, unavailable(errors.New("template has a status without a rule"), 0)
	}
	e := provider.TemplateEvent{
		SenderUID: s.UID, ProviderID: string(known.ID), Name: known.Name, Language: known.Language,
		Status: status, Reason: rejectedReason(known.Rejected),
	}
	if known.Category != t.Category {
		e.Category = known.Category
	}
	return e, nil
}

// Withdraw deletes one language of a template at the channel. A template that does not exist counts as withdrawn.
func (c *Client) Withdraw(ctx context.Context, s *carillon.Sender, t *carillon.Template) error {
	a, err := c.account(s)
	if err != nil {
		return err
	}
	id := t.ProviderID
	if id == "" { // by name alone the channel would delete every language
		known, err := c.find(ctx, a, t)
		if errors.Is(err, errAbsent) {
			return nil
		}
		if err != nil {
			return err
		}
		id = string(known.ID)
	}
	err = c.manage(ctx, a, request{
		method: http.MethodDelete, path: a.wabaID + "/message_templates",
		query: url.Values{"hsm_id": {id}, "name": {t.Name}},
	}, nil)
	if errors.Is(err, errAbsent) {
		return nil
	}
	return err
}

func (c *Client) lookUp(ctx context.Context, a *account, t *carillon.Template) (node, error) {
	if t.ProviderID != "" {
		return c.node(ctx, a, t.ProviderID)
	}
	return c.find(ctx, a, t)
}

func (c *Client) node(ctx context.Context, a *account, id string) (node, error) {
	var n node
	if !idForm.MatchString(id) {
		return n, errAbsent
	}
	err := c.manage(ctx, a, request{method: http.MethodGet, path: id, query: url.Values{"fields": {nodeFields}}}, &n)
	if err == nil && n.ID == "" {
		err = unavailable(errors.New("template without an id"), 0)
	}
	return n, err
}

// find searches the channel's list for a name and language. The channel's name filter also matches longer names.
func (c *Client) find(ctx context.Context, a *account, t *carillon.Template) (node, error) {
	var found node
	err := c.each(ctx, a, url.Values{"fields": {nodeFields}, "name": {t.Name}, "language": {t.Language}}, func(n node) bool {
		if n.Name == t.Name && n.Language == t.Language && n.ID != "" {
			found = n
		}
		return found.ID == ""
	})
	if err == nil && found.ID == "" {
		err = errAbsent
	}
	return found, err
}

// paging is the continuation of a list of the channel; empty at its end.
type paging struct {
	Next    string `json:"next"`
	Cursors struct {
		After string `json:"after"`
	} `json:"cursors"`
}

// each visits the templates of the channel's list, page by page, until visit returns false.
func (c *Client) each(ctx context.Context, a *account, q url.Values, visit func(n node) bool) error {
	q.Set("limit", strconv.Itoa(pageSize))
	for range maxPages {
		var page struct {
			Data   []node `json:"data"`
			Paging paging `json:"paging"`
		}
		if err := c.manage(ctx, a, request{method: http.MethodGet, path: a.wabaID + "/message_templates", query: q}, &page); err != nil {
			return ofAccount(err)
		}
		for _, n := range page.Data {
			if !visit(n) {
				return nil
			}
		}
		if page.Paging.Next == "" || page.Paging.Cursors.After == "" {
			return nil
		}
		q.Set("after", page.Paging.Cursors.After)
	}
	return nil
}

// ofAccount converts errAbsent for the account's own path: the account is missing, not the template.
func ofAccount(err error) error {
	if errors.Is(err, errAbsent) {
		return unavailable(errors.New("the channel knows no such account: "+err.Error()), 0)
	}
	return err
}
