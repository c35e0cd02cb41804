package notify

import (
	"context"
	"slices"
	"time"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/identity"
	"carillon/internal/send/request"
	"carillon/internal/store"
	"carillon/internal/store/messages"
	"carillon/internal/store/rank"
)

// Shown is a message as its recipient sees it.
type Shown struct {
	NotificationID string
	ProviderID     string
	At             time.Time // when it was delivered, or else read
	ReadAt         time.Time
	*content.Rendered
}

// ShownTo are the last messages that a sender sent to a person and that were delivered, the newest first. It looks at `most` notifications.
func ShownTo(
	ctx context.Context, s *store.Store, companyID string, senderUID int64, lines []identity.Key, most int, now time.Time,
) ([]Shown, error) {
	if len(lines) == 0 {
		return nil, nil
	}
	f := messages.Filter{Lines: lines, SenderUID: senderUID, Channel: carillon.Messaging, Limit: most}
	found, _, err := s.Notifications.List(ctx, companyID, f, now)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	templates, err := s.Templates.Templates(ctx, senderUID)
	if err != nil {
		return nil, err
	}
	var all []Shown
	for _, x := range found {
		i := slices.IndexFunc(templates, func(t *carillon.Template) bool { return t.ID == x.TemplateID })
		if i < 0 {
			continue // it was deleted
		}
		shown, err := shownOf(ctx, s, x, templates[i], func(m *messages.Message) bool {
			return identity.Has(lines, m.Number) && (m.Rank == rank.Delivered || m.Rank == rank.Read)
		})
		if err != nil {
			return nil, err
		}
		all = append(all, shown...)
	}
	return all, nil
}

// SentAs is the body of a message that a sender sent to a person within a month, by the provider's id of it; "": there is none. What it
// says follows from the template as it is now.
func SentAs(
	ctx context.Context, s *store.Store, companyID string, senderUID int64, lines []identity.Key, providerID string, now time.Time,
) (string, error) {
	if len(lines) == 0 {
		return "", nil
	}
	found, _, err := s.Notifications.List(ctx, companyID, messages.Filter{
		Lines: lines, SenderUID: senderUID, Channel: carillon.Messaging, From: now.Add(-boundFor), Limit: maxBound,
	}, now)
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
		i := slices.IndexFunc(templates, func(t *carillon.Template) bool { return t.ID == x.TemplateID })
		if i < 0 {
			return "", nil
		}
		shown, err := shownOf(ctx, s, x, templates[i], func(m *messages.Message) bool {
			return identity.Has(lines, m.Number) && m.ProviderID == providerID
		})
		if err != nil || len(shown) == 0 {
			return "", err
		}
		return shown[0].Body, nil
	}
	return "", nil
}

// shownOf are messages of a notification as their recipients see them, the last one first.
func shownOf(ctx context.Context, s *store.Store, x *messages.Notification, t *carillon.Template, wanted func(m *messages.Message) bool) ([]Shown, error) {
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
