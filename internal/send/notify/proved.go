package notify

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/store/messages"
	"carillon/internal/store/rank"
)

// Proved records that a message of a sender to one of a person's lines has arrived, though its outcome is not known: the person answers a
// message by this id of the provider's, which no message has, and there is only one that it can be of. It reports whether there is.
func Proved(ctx context.Context, n *Notify, s *carillon.Sender, lines []identity.Key, providerID string) (bool, error) {
	if len(lines) == 0 {
		return false, nil
	}
	now := time.Now()
	found, _, err := n.store.Notifications.List(ctx, s.CompanyID, messages.Filter{
		Lines: lines, SenderUID: s.UID, Channel: carillon.Messaging, From: now.Add(-boundFor), Limit: maxBound,
	}, now)
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
