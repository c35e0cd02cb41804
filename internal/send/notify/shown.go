package notify

import (
	"context"
	"slices"
	"time"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/identity"
	"carillon/internal/send/link"
	"carillon/internal/send/request"
	"carillon/internal/store"
	"carillon/internal/store/messages"
	"carillon/internal/store/rank"
)

// Shown is a message as its recipient sees it.
type Shown struct {
	NotificationID string
	ProviderID     string
	At             time.Time // when it was delivered, else when it was read
	ReadAt         time.Time
	*content.Rendered
}

// ShownTo returns the last messages from a sender that were delivered to a person, newest first. It examines at most
// `most` notifications.
func (n *Notify) ShownTo(
	ctx context.Context, companyID string, senderUID int64, lines []identity.Key, most int, now time.Time,
) ([]Shown, error) {
	if len(lines) == 0 {
		return nil, nil
	}
	f := messages.Filter{Lines: lines, SenderUID: senderUID, Channel: carillon.Messaging, Limit: most}
	found, _, err := n.store.Notifications.List(ctx, companyID, f, now)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	templates, err := n.store.Templates.Templates(ctx, senderUID)
	if err != nil {
		return nil, err
	}
	var all []Shown
	for _, x := range found {
		shown, err := shownOf(ctx, n.store, n.o.Links, x, templates, func(m *messages.Message) bool {
			return identity.Has(lines, m.Number) && (m.Rank == rank.Delivered || m.Rank == rank.Read)
		})
		if err != nil {
			return nil, err
		}
		all = append(all, shown...)
	}
	return all, nil
}

// SentAs returns the body of a message that a sender sent to a person within the last month, by the provider's id, or
// "" if there is none. It is rendered with the current template.
func SentAs(
	ctx context.Context, s *store.Store, companyID string, senderUID int64, lines []identity.Key, providerID string, now time.Time,
) (string, error) {
	found, err := lately(ctx, s, companyID, senderUID, lines, now)
	if err != nil {
		return "", err
	}
	for _, x := range found {
		is, _, err := reachedBy(ctx, s, x, lines, providerID)
		if err != nil {
			return "", err
		}
		if !is {
			continue
		}
		templates, err := s.Templates.Templates(ctx, senderUID)
		if err != nil {
			return "", err
		}
		if x.Secret { // a quotation is stored
			return content.Mask, nil
		}
		shown, err := shownOf(ctx, s, nil, x, templates, func(m *messages.Message) bool {
			return identity.Has(lines, m.Number) && m.ProviderID == providerID
		})
		if err != nil || len(shown) == 0 {
			return "", err
		}
		return shown[0].Body, nil
	}
	return "", nil
}

// shownOf returns messages of a notification as their recipients see them, last one first; without a codec, counted
// links show their destination. It returns none if the template was deleted.
func shownOf(
	ctx context.Context, s *store.Store, l *link.Codecs, x *messages.Notification, templates []*carillon.Template,
	wanted func(m *messages.Message) bool,
) ([]Shown, error) {
	i := slices.IndexFunc(templates, func(t *carillon.Template) bool { return t.ID == x.TemplateID })
	if i < 0 {
		return nil, nil
	}
	t := templates[i]
	messages, err := s.Messages.List(ctx, carillon.SeqOf(x.ID), 0, x.Total)
	if err != nil {
		return nil, err
	}
	var r *request.Request
	var all []Shown
	for _, m := range slices.Backward(messages) {
		if !wanted(&m) {
			continue
		}
		if r == nil {
			whole, err := s.Notifications.Load(ctx, carillon.SeqOf(x.ID))
			if err != nil {
				return nil, err
			}
			if r, err = requestOf(whole); err != nil {
				return nil, err
			}
		}
		c, err := r.Content(t, m.N)
		if err != nil {
			continue // the template has changed since
		}
		if err := addTokens(ctx, l, &c, x.CompanyID, x.Seq().Message(m.N)); err != nil && l != nil {
			return nil, err
		}
		rendered, err := content.Render(t, &c)
		if err != nil {
			return nil, err
		}
		at := m.DeliveredAt
		if at.IsZero() {
			at = m.ReadAt
		}
		all = append(all, Shown{x.ID, m.ProviderID, at, m.ReadAt, rendered})
	}
	return all, nil
}

// Filled is a template with the values for one recipient of a notification.
type Filled struct {
	Components []carillon.Component `json:"components"`
	Values     map[string]string    `json:"values"`  // by component key, such as header_image or body_text_0
	Changed    bool                 `json:"changed"` // the template has changed and the request no longer fits it
}

// Filled returns the values for recipient i of a notification, with the current template. Errors: not_found, also if
// the template or the request was deleted.
func (x Sent) Filled(ctx context.Context, companyID, id string, i int) (*Filled, error) {
	n, err := x.load(ctx, companyID, id)
	if err != nil {
		return nil, err
	}
	if n.Channel == carillon.Voice || i < 0 || i >= n.Total {
		return nil, carillon.Absent("Message")
	}
	all, err := x.Store.Templates.Templates(ctx, n.SenderUID)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(t *carillon.Template) bool { return t.ID == n.TemplateID })
	if at < 0 {
		return nil, carillon.Absent("Template")
	}
	f := &Filled{Components: all[at].Components, Values: map[string]string{}}
	if n.Body == "" {
		return f, nil
	}
	r, err := requestOf(n)
	if err != nil {
		return f, nil //nolint:nilerr // accepted by an older version and now invalid: show the template without values
	}
	c, err := r.Content(all[at], i)
	if err != nil {
		f.Changed = true
		return f, nil //nolint:nilerr // the error only means that the template has changed
	}
	f.Values = content.Values(all[at], &c)
	return f, nil
}
