package notify

import (
	"context"
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/store/calls"
	"carillon/internal/store/messages"
)

// Sent reads notifications for a company's members.
type Sent struct{ N *Notify }

// Row is a notification in a list.
type Row struct {
	*View
	Total  int             `json:"total"`
	Number string          `json:"number"`           // of the first recipient
	Reason carillon.Reason `json:"reason,omitempty"` // of the only one
}

// List returns a page of a company's notifications, newest first; next is the id that the next page begins after, "" after the last.
func (x Sent) List(ctx context.Context, companyID string, f messages.Filter) (rows []Row, next string, err error) {
	found, next, err := x.N.store.Notifications.List(ctx, companyID, f, time.Now())
	if err != nil {
		return nil, "", err
	}
	rows, err = x.rows(ctx, found)
	return rows, next, err
}

// Of returns those of the notifications that are a company's, newest first.
func (x Sent) Of(ctx context.Context, companyID string, ids []string) ([]Row, error) {
	found, err := x.N.store.Notifications.Of(ctx, companyID, ids)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b *messages.Notification) int { return strings.Compare(b.ID, a.ID) })
	return x.rows(ctx, found)
}

func (x Sent) rows(ctx context.Context, found []*messages.Notification) ([]Row, error) {
	views, err := viewsOf(ctx, x.N.store, found, time.Now())
	if err != nil {
		return nil, err
	}
	var messaging, voice []carillon.Seq
	for _, n := range found {
		if n.Channel == carillon.Voice {
			voice = append(voice, n.Seq())
		} else {
			messaging = append(messaging, n.Seq())
		}
	}
	first, err := x.N.store.Messages.Openings(ctx, messaging...)
	if err != nil {
		return nil, err
	}
	called, err := x.N.store.Calls.Of(ctx, voice)
	if err != nil {
		return nil, err
	}
	rows := make([]Row, len(found))
	for i, n := range found {
		rows[i] = rowOfNotification(n, views[i], first[n.Seq()], called[n.Seq()])
	}
	return rows, nil
}

func rowOfNotification(n *messages.Notification, v *View, first messages.Opening, c *calls.Call) Row {
	if c != nil {
		first = messages.Opening{Number: c.Number, Reason: c.Reason}
	}
	r := Row{View: v, Total: n.Total, Number: first.Number}
	if n.Total == 1 {
		r.Reason = first.Reason
	}
	return r
}

// Recipient is a recipient with what the company's members see besides.
type Recipient struct {
	RecipientView
	N      int    `json:"n"`
	Name   string `json:"name,omitempty"`
	Detail string `json:"detail,omitempty"` // the provider's code and words
	DueAt  string `json:"due_at,omitempty"` // of one that waits: the next attempt
	Held   bool   `json:"held,omitempty"`   // its template is paused
	// Unknown says that the outcome of the attempt is unknown: what comes at DueAt is the decision of the sender's policy.
	Unknown bool `json:"unknown,omitempty"`
}

// Page is a notification with all that is known about it.
type Page struct {
	Row
	DueAt      string      `json:"due_at"`
	DoneAt     string      `json:"done_at,omitempty"`
	TemplateID string      `json:"template_id,omitempty"`
	Recipients []Recipient `json:"recipients"`
	ResendOf   string      `json:"resend_of,omitempty"` // the notification whose failed recipients it was sent to
	ResentAs   []string    `json:"resent_as,omitempty"`
	Kept       bool        `json:"kept"` // its request is still there
}

// One reads a notification with all its recipients. Errors: not_found.
func (x Sent) One(ctx context.Context, companyID, id string) (*Page, error) {
	now := time.Now()
	v, _, err := x.N.Find(ctx, companyID, id, 0, content.MaxRecipients)
	if err != nil {
		return nil, err
	}
	n, err := x.N.store.Notifications.Load(ctx, carillon.SeqOf(id))
	if err != nil {
		return nil, err
	}
	p := &Page{Row: Row{View: v, Total: n.Total}, DueAt: instant(n.DueAt), DoneAt: instant(n.DoneAt), TemplateID: n.TemplateID, Recipients: []Recipient{}, Kept: n.Body != ""}
	l := linksOf(n.Notes)
	p.ResendOf, p.ResentAs = l.of, l.as
	messages, err := x.N.store.Messages.List(ctx, n.Seq(), 0, n.Total)
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
	if len(p.Recipients) > 0 {
		p.Number = p.Recipients[0].Number
	}
	v.Recipients = nil
	return p, nil
}

// show adds what the store knows of a message besides.
func (r *Recipient) show(n *messages.Notification, m *messages.Message, now time.Time) {
	*r = Recipient{RecipientView: recipientOf(n, m, now), N: m.N, Name: r.Name, Detail: m.Detail, Held: m.Held, Unknown: m.Q == 3}
	if m.Q > 0 {
		r.DueAt = instant(m.Due)
	}
}

// namesOf are the names of a notification's recipients, as far as its request is kept.
func namesOf(n *messages.Notification) []string {
	r, err := requestOf(n)
	if err != nil {
		return nil // it is not kept, or an older version took what this one does not
	}
	names := make([]string, len(r.Contacts))
	for i := range r.Contacts {
		names[i] = r.Contacts[i].Name()
	}
	return names
}

// Request is what was asked for, as it came.
type Request struct {
	Channel carillon.Channel `json:"channel"`
	Flat    bool             `json:"unflatten"`
	Body    string           `json:"body"`
}

// Request reads what a notification's request was. Errors: not_found, also where it is not kept.
func (x Sent) Request(ctx context.Context, companyID, id string) (*Request, error) {
	n, err := x.load(ctx, companyID, id)
	if err != nil {
		return nil, err
	}
	if n.Body == "" {
		return nil, carillon.Absent("Request")
	}
	return &Request{n.Channel, n.Flat, n.Body}, nil
}

// load reads a company's notification with its body. Errors: not_found.
func (x Sent) load(ctx context.Context, companyID, id string) (*messages.Notification, error) {
	n, err := x.N.store.Notifications.Load(ctx, carillon.SeqOf(id))
	if err == nil && (n.CompanyID != companyID || n.ID != id) {
		err = carillon.Absent("Notification")
	}
	if err != nil {
		return nil, err
	}
	return n, nil
}
