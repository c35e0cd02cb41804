package notify

import (
	"context"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/store/messages"
	"carillon/internal/store/rank"
)

const (
	boundFor = 30 * 24 * time.Hour // after a notification that a reply belongs to it
	maxBound = 20                  // notifications to a person that are looked at
)

// Bound returns the notifications with a name_event that a person may reply to, the newest first: those that a sender sent to one of their
// lines within a month. Where the person answers a certain message, by the provider's id of it, its notification is the only one, and there
// is none where that has no name_event.
func Bound(
	ctx context.Context, s *store.Store, companyID string, senderUID int64, lines []identity.Key, replyTo string, now time.Time,
) ([]*chats.Bound, error) {
	if len(lines) == 0 {
		return nil, nil
	}
	found, _, err := s.Notifications.List(ctx, companyID, messages.Filter{
		Lines: lines, SenderUID: senderUID, Channel: carillon.Messaging, From: now.Add(-boundFor), Limit: maxBound,
	}, now)
	if err != nil {
		return nil, err
	}
	var all []*chats.Bound
	for _, x := range found {
		answered, reached, err := reachedBy(ctx, s, x, lines, replyTo)
		if err != nil {
			return nil, err
		}
		if !answered && !reached {
			continue
		}
		b, err := bound(ctx, s, x, lines)
		switch {
		case err != nil:
			return nil, err
		case answered && b == nil:
			return nil, nil
		case answered:
			return []*chats.Bound{b}, nil
		case b != nil:
			all = append(all, b)
		}
	}
	return all, nil
}

// reachedBy reports whether the provider knows the message of a notification to a person by an id, and whether the person may have got
// it: they may where it was sent, or is being sent. The body of a notification that reaches nobody is not kept.
func reachedBy(
	ctx context.Context, s *store.Store, x *messages.Notification, lines []identity.Key, providerID string,
) (answered, reached bool, err error) {
	messages, err := s.Messages.List(ctx, carillon.SeqOf(x.ID), 0, x.Total)
	for i := range messages {
		m := &messages[i]
		if !identity.Has(lines, m.Number) {
			continue
		}
		answered = answered || providerID != "" && m.ProviderID == providerID
		switch m.Rank {
		case rank.Sent, rank.Delivered, rank.Read, rank.FailedUnknown:
			reached = true
		case rank.None:
			reached = reached || !m.StartedAt.IsZero()
		case rank.Skipped, rank.Canceled, rank.Failed:
		}
	}
	return answered, reached, err
}

// bound is what a reply to a notification brings a flow; nil: it has no name_event.
func bound(ctx context.Context, s *store.Store, x *messages.Notification, lines []identity.Key) (*chats.Bound, error) {
	if x.Labels.Event == "" {
		return nil, nil
	}
	whole, err := s.Notifications.Load(ctx, carillon.SeqOf(x.ID))
	if err != nil || whole.Body == "" {
		return nil, err
	}
	b := &chats.Bound{Event: x.Labels.Event, NotificationID: x.ID, Language: strings.ReplaceAll(x.Labels.Language, "_", "-")}
	r, err := requestOf(whole)
	if err != nil {
		return b, nil //nolint:nilerr // an older version took what this one does not: the reply counts without the values
	}
	for i := range r.Contacts {
		if identity.Has(lines, r.Contacts[i].Number) {
			b.Values = r.Contacts[i].Fields()
			break
		}
	}
	return b, nil
}
