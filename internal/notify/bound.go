package notify

import (
	"context"
	"strings"
	"time"

	"carillon"
	"carillon/internal/request"
	"carillon/internal/store"
	"carillon/internal/store/chats"
)

const (
	boundFor  = 30 * 24 * time.Hour // after a notification that a reply belongs to it
	boundMost = 20                  // notifications to a number that are looked at
)

// Bound returns the notifications with a name_event that a person may reply to, the newest first: those that a sender sent to a number
// within a month. Where the person answers a certain message, by the provider's id of it, its notification is the only one, and there is
// none where that has no name_event.
func Bound(ctx context.Context, s *store.Store, companyID string, senderUID int64, number, replyTo string, now time.Time) ([]*chats.Bound, error) {
	found, _, err := s.Notifications(ctx, companyID, store.Filter{
		Number: number, SenderUID: senderUID, Channel: carillon.Messaging, From: now.Add(-boundFor), Limit: boundMost,
	}, now)
	if err != nil {
		return nil, err
	}
	var all []*chats.Bound
	for _, x := range found {
		if replyTo != "" {
			is, err := sentAs(ctx, s, x, number, replyTo)
			if err != nil {
				return nil, err
			}
			if is {
				b, err := bound(ctx, s, x, number)
				if err != nil || b == nil {
					return nil, err
				}
				return []*chats.Bound{b}, nil
			}
		}
		b, err := bound(ctx, s, x, number)
		if err != nil {
			return nil, err
		}
		if b != nil {
			all = append(all, b)
		}
	}
	return all, nil
}

// sentAs reports whether the provider knows the message of a notification to a number by an id.
func sentAs(ctx context.Context, s *store.Store, x *store.Notification, number, providerID string) (bool, error) {
	messages, err := s.Messages(ctx, carillon.SeqOf(x.ID), 0, x.Total)
	for _, m := range messages {
		if m.Number == number && m.ProviderID == providerID {
			return true, err
		}
	}
	return false, err
}

// bound is what a reply to a notification brings a flow; nil: it has no name_event.
func bound(ctx context.Context, s *store.Store, x *store.Notification, number string) (*chats.Bound, error) {
	if x.Labels.Event == "" {
		return nil, nil
	}
	whole, err := s.LoadNotification(ctx, carillon.SeqOf(x.ID))
	if err != nil {
		return nil, err
	}
	b := &chats.Bound{Event: x.Labels.Event, NotificationID: x.ID, Language: strings.ReplaceAll(x.Labels.Language, "_", "-")}
	r, err := request.Parse(x.Channel, []byte(whole.Body), whole.Flat, time.Time{})
	if err != nil {
		return nil, err
	}
	for i := range r.Contacts {
		if r.Contacts[i].Number == number {
			b.Values = r.Contacts[i].Fields()
			break
		}
	}
	return b, nil
}
