package notify

import (
	"context"
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/identity"
	"carillon/internal/store"
	"carillon/internal/store/calls"
	"carillon/internal/store/messages"
)

// Sent reads notifications.
type Sent struct{ Store *store.Store }

// Row is a notification in a list.
type Row struct {
	*View
	Total  int             `json:"total"`
	Number string          `json:"number"`            // of the first recipient
	UserID string          `json:"user_id,omitempty"` // the channel's id of the first recipient, instead of a number
	Name   string          `json:"name,omitempty"`    // of a first recipient without a number
	Reason carillon.Reason `json:"reason,omitempty"`  // of the only recipient
}

// List returns a page of a company's notifications, newest first. next is the id after which the next page begins, ""
// after the last.
func (x Sent) List(ctx context.Context, companyID string, f messages.Filter) (rows []Row, next string, err error) {
	found, next, err := x.Store.Notifications.List(ctx, companyID, f, time.Now())
	if err != nil {
		return nil, "", err
	}
	rows, err = x.rows(ctx, found)
	return rows, next, err
}

// Of returns those notifications that belong to the company, newest first.
func (x Sent) Of(ctx context.Context, companyID string, ids []string) ([]Row, error) {
	found, err := x.Store.Notifications.Of(ctx, companyID, ids)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b *messages.Notification) int { return strings.Compare(b.ID, a.ID) })
	return x.rows(ctx, found)
}

func (x Sent) rows(ctx context.Context, found []*messages.Notification) ([]Row, error) {
	views, err := viewsOf(ctx, x.Store, found, time.Now())
	if err != nil {
		return nil, err
	}
	messaging, voice := byChannel(found)
	first, err := x.Store.Messages.Openings(ctx, messaging...)
	if err != nil {
		return nil, err
	}
	called, err := x.Store.Calls.Of(ctx, voice)
	if err != nil {
		return nil, err
	}
	rows := make([]Row, len(found))
	for i, n := range found {
		rows[i] = rowOfNotification(n, views[i], first[n.Seq()], called[n.Seq()])
	}
	if len(found) == 0 {
		return rows, nil
	}
	return rows, nameAll(ctx, x.Store, found[0].CompanyID, rows, func(r *Row) (string, *string) { return r.UserID, &r.Name })
}

func rowOfNotification(n *messages.Notification, v *View, first messages.Opening, c *calls.Call) Row {
	if c != nil {
		first = messages.Opening{Number: c.Number, Reason: c.Reason}
	}
	r := Row{View: v, Total: n.Total}
	r.Number, r.UserID = identity.Split(first.Number)
	if n.Total == 1 {
		r.Reason = first.Reason
	}
	return r
}

// Recipient is a recipient with the details that only members of the company see.
type Recipient struct {
	RecipientView
	N      int    `json:"n"`
	Name   string `json:"name,omitempty"`
	Detail string `json:"detail,omitempty"` // the provider's code and text
	DueAt  string `json:"due_at,omitempty"` // next attempt of a waiting message
	Held   bool   `json:"held,omitempty"`   // held because its template is paused
	// Restored means that it is held after a restore, until the operator decides.
	Restored bool `json:"restored,omitempty"`
	// Unknown means that the outcome of the attempt is unknown. DueAt is then when the sender's policy decides.
	Unknown bool `json:"unknown,omitempty"`
}

// Page is a notification with all details.
type Page struct {
	Row
	DueAt      string      `json:"due_at"`
	DoneAt     string      `json:"done_at,omitempty"`
	TemplateID string      `json:"template_id,omitempty"`
	Recipients []Recipient `json:"recipients"`
	ResendOf   string      `json:"resend_of,omitempty"` // the notification whose failed recipients it was sent to
	ResentAs   []string    `json:"resent_as,omitempty"`
	Kept       bool        `json:"kept"` // its request is still stored
}

// One reads a notification with all its recipients. Errors: not_found.
func (x Sent) One(ctx context.Context, companyID, id string) (*Page, error) {
	now := time.Now()
	v, _, err := x.Find(ctx, companyID, id, 0, content.MaxRecipients)
	if err != nil {
		return nil, err
	}
	n, err := x.Store.Notifications.Load(ctx, carillon.SeqOf(id))
	if err != nil {
		return nil, err
	}
	p := &Page{
		Row: Row{View: v, Total: n.Total}, DueAt: instant(n.DueAt), DoneAt: instant(n.DoneAt), TemplateID: n.TemplateID,
		Recipients: []Recipient{}, Kept: n.Body != "" && !n.Secret,
	}
	l := linksOf(n.Notes)
	p.ResendOf, p.ResentAs = l.of, l.as
	messages, err := x.Store.Messages.List(ctx, n.Seq(), 0, n.Total)
	if err != nil {
		return nil, err
	}
	names := namesOf(n)
	for i := range v.Recipients {
		r := Recipient{RecipientView: v.Recipients[i], N: i}
		if i < len(names) {
			r.Name = names[i]
		}
		if i < len(messages) {
			r.show(n, &messages[i], now)
		}
		p.Recipients = append(p.Recipients, r)
	}
	if err := nameAll(ctx, x.Store, companyID, p.Recipients, func(r *Recipient) (string, *string) {
		return r.UserID, &r.Name
	}); err != nil {
		return nil, err
	}
	if len(p.Recipients) > 0 {
		p.Number, p.UserID = p.Recipients[0].Number, p.Recipients[0].UserID
		if p.Number == "" {
			p.Row.Name = p.Recipients[0].Name
		}
	}
	v.Recipients = nil
	return p, nil
}

// show sets the details of a stored message.
func (r *Recipient) show(n *messages.Notification, m *messages.Message, now time.Time) {
	before := r.RecipientView
	*r = Recipient{
		RecipientView: recipientOf(n, m, now), N: m.N, Name: r.Name, Detail: m.Detail, Held: m.Held && !m.Restored, Restored: m.Restored,
		Unknown: m.Q == 3,
	}
	r.Fallback, r.Call, r.ClickedAt, r.Clicks = before.Fallback, before.Call, before.ClickedAt, before.Clicks
	if m.Q > 0 {
		r.DueAt = instant(m.Due)
	}
}

// namesOf returns the names of a notification's recipients, or nil if its request was deleted.
func namesOf(n *messages.Notification) []string {
	r, err := requestOf(n)
	if err != nil {
		return nil // deleted, or accepted by an older version and now invalid
	}
	names := make([]string, len(r.Contacts))
	for i := range r.Contacts {
		names[i] = r.Contacts[i].Name()
	}
	return names
}

// nameAll gives the recipients without a number and a name those of their contacts.
func nameAll[T any](ctx context.Context, s *store.Store, companyID string, all []T, of func(r *T) (userID string, name *string)) error {
	var ids []string
	for i := range all {
		if id, name := of(&all[i]); id != "" && *name == "" {
			ids = append(ids, id)
		}
	}
	names, err := s.Contacts.NamesByID(ctx, companyID, ids)
	for i := range all {
		if id, name := of(&all[i]); id != "" && *name == "" {
			*name = names[id]
		}
	}
	return err
}

// Request is the original request.
type Request struct {
	Channel carillon.Channel `json:"channel"`
	Flat    bool             `json:"unflatten"`
	Body    string           `json:"body"`
}

// Request reads the original request of a notification. Errors: not_found, also if the request was deleted or holds
// one-time codes.
func (x Sent) Request(ctx context.Context, companyID, id string) (*Request, error) {
	n, err := x.load(ctx, companyID, id)
	if err != nil {
		return nil, err
	}
	if n.Body == "" || n.Secret {
		return nil, carillon.Absent("Request")
	}
	return &Request{n.Channel, n.Flat, n.Body}, nil
}

// load reads a company's notification with its body. Errors: not_found.
func (x Sent) load(ctx context.Context, companyID, id string) (*messages.Notification, error) {
	n, err := x.Store.Notifications.Load(ctx, carillon.SeqOf(id))
	if err == nil && (n.CompanyID != companyID || n.ID != id) {
		err = carillon.Absent("Notification")
	}
	if err != nil {
		return nil, err
	}
	return n, nil
}
