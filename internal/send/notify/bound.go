package notify

import (
	"context"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/store/messages"
	"carillon/internal/store/rank"
)

const (
	boundFor = 30 * 24 * time.Hour // how long after a notification a reply can belong to it
	maxBound = 20                  // number of notifications to a person that are checked
)

// Bound returns the notifications with a name_event that a person may be replying to, newest first. They were sent by
// the sender to one of the person's lines within the last month. If the person replies to a particular message,
// identified by the provider's id, the result is only its notification, or none if that has no name_event.
func Bound(
	ctx context.Context, s *store.Store, companyID string, senderUID int64, lines []identity.Key, replyTo string, now time.Time,
) ([]*chats.Bound, error) {
	found, err := lately(ctx, s, companyID, senderUID, lines, now)
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

// lately returns the notifications that a sender sent to a person within the last month, newest first.
func lately(
	ctx context.Context, s *store.Store, companyID string, senderUID int64, lines []identity.Key, now time.Time,
) ([]*messages.Notification, error) {
	if len(lines) == 0 {
		return nil, nil
	}
	found, _, err := s.Notifications.List(ctx, companyID, messages.Filter{
		Lines: lines, SenderUID: senderUID, Channel: carillon.Messaging, From: now.Add(-boundFor), Limit: maxBound,
	}, now)
	return found, err
}

// reachedBy reports whether a notification contains the message that the person answers, by the provider's id, and
// whether one of its messages may have reached the person, because it was sent or is being sent. Without a reached
// recipient the body of the notification is not kept.
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

// bound returns the data that a reply to a notification gives to a flow, or nil if the notification has no name_event.
func bound(ctx context.Context, s *store.Store, x *messages.Notification, lines []identity.Key) (*chats.Bound, error) {
	if x.Labels.Event == "" {
		return nil, nil
	}
	whole, err := s.Notifications.Load(ctx, carillon.SeqOf(x.ID))
	if err != nil || whole.Body == "" || whole.Secret {
		return nil, err
	}
	b := &chats.Bound{Event: x.Labels.Event, NotificationID: x.ID, Language: strings.ReplaceAll(x.Labels.Language, "_", "-")}
	r, err := requestOf(whole)
	if err != nil {
		return b, nil //nolint:nilerr // accepted by an older version: omit the values
	}
	for i := range r.Contacts {
		if c := &r.Contacts[i]; identity.Has(lines, c.Address()) || c.UserID != "" && identity.Has(lines, c.UserID) {
			b.Values = r.Contacts[i].Fields()
			break
		}
	}
	return b, nil
}

// Proved records that a message with an unknown outcome has arrived at one of a person's lines: the person answers a
// message with a provider id that no message has, and there is exactly one message that it can be. It reports whether
// there is one.
func Proved(ctx context.Context, n *Notify, s *carillon.Sender, lines []identity.Key, providerID string) (bool, error) {
	now := time.Now()
	found, err := lately(ctx, n.store, s.CompanyID, s.UID, lines, now)
	if err != nil {
		return false, err
	}
	var candidates []provider.Receipt
	for _, x := range found {
		messages, err := n.store.Messages.List(ctx, carillon.SeqOf(x.ID), 0, x.Total)
		if err != nil {
			return false, err
		}
		for i := range messages {
			m := &messages[i]
			switch {
			case !identity.Has(lines, m.Number):
			case m.ProviderID == providerID:
				return false, nil
			case m.ProviderID == "" && (m.Rank == rank.FailedUnknown || m.Rank == rank.None && !m.StartedAt.IsZero()):
				candidates = append(candidates, provider.Receipt{
					Ref: provider.Ref{NotificationID: x.ID, N: m.N}, ProviderID: providerID, State: carillon.StateDelivered, At: now,
				})
			}
		}
	}
	if len(candidates) != 1 {
		return false, nil
	}
	return true, n.Receive(ctx, s, candidates)
}
