package notify

import (
	"context"
	"slices"
	"time"

	"carillon"
	"carillon/internal/content"
	"carillon/internal/request"
	"carillon/internal/store"
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

// ShownTo are the last messages that a sender sent to a number and that were delivered, the newest first. It looks at `most` notifications.
func ShownTo(ctx context.Context, s *store.Store, companyID string, senderUID int64, number string, most int, now time.Time) ([]Shown, error) {
	found, _, err := s.Notifications(ctx, companyID, store.Filter{Number: number, SenderUID: senderUID, Channel: carillon.Messaging, Limit: most}, now)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	templates, err := s.Templates(ctx, senderUID)
	if err != nil {
		return nil, err
	}
	var all []Shown
	for _, x := range found {
		i := slices.IndexFunc(templates, func(t *carillon.Template) bool { return t.ID == x.TemplateID })
		if i < 0 {
			continue // it was deleted
		}
		shown, err := shownOf(ctx, s, x, templates[i], number)
		if err != nil {
			return nil, err
		}
		all = append(all, shown...)
	}
	return all, nil
}

func shownOf(ctx context.Context, s *store.Store, x *store.Notification, t *carillon.Template, number string) ([]Shown, error) {
	messages, err := s.Messages(ctx, carillon.SeqOf(x.ID), 0, x.Total)
	if err != nil {
		return nil, err
	}
	var r *request.Request
	var all []Shown
	for _, m := range slices.Backward(messages) {
		if m.Number != number || m.Rank != rank.Delivered && m.Rank != rank.Read {
			continue
		}
		if r == nil {
			whole, err := s.LoadNotification(ctx, carillon.SeqOf(x.ID))
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
