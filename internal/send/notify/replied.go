package notify

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/store/messages"
	"carillon/internal/store/rank"
)

// repliedFor is the time after a message in which its recipient can reply to it.
const repliedFor = 7 * 24 * time.Hour

// Replied counts what a person wrote as a reply to a message: the one that the person answers, by the provider's id, or
// else the newest one that may have reached one of the person's lines. Messages older than a week have no replies.
func (n *Notify) Replied(ctx context.Context, s *carillon.Sender, lines []identity.Key, replyTo string, at time.Time) error {
	found, err := lately(ctx, n.store, s.CompanyID, s.UID, lines, at)
	if err != nil {
		return err
	}
	var newest carillon.MessageKey
	for _, x := range found {
		if x.CreatedAt.After(at) {
			continue
		}
		all, err := n.store.Messages.List(ctx, carillon.SeqOf(x.ID), 0, x.Total)
		if err != nil {
			return err
		}
		for i := range all {
			m := &all[i]
			if !identity.Has(lines, m.Number) || !mayBeAnswered(m, at) {
				continue
			}
			key := carillon.SeqOf(x.ID).Message(m.N)
			if replyTo != "" && m.ProviderID == replyTo {
				return n.store.Stats.Replied(ctx, s.CompanyID, key, at)
			}
			if newest == 0 {
				newest = key
			}
		}
		if newest != 0 && replyTo == "" {
			break
		}
	}
	if newest == 0 {
		return nil
	}
	return n.store.Stats.Replied(ctx, s.CompanyID, newest, at)
}

// mayBeAnswered reports whether a message may have reached its recipient within the time for replies.
func mayBeAnswered(m *messages.Message, at time.Time) bool {
	since := m.SentAt
	for _, t := range []time.Time{m.DeliveredAt, m.StartedAt} {
		if since.IsZero() {
			since = t
		}
	}
	if since.IsZero() || at.Sub(since) > repliedFor {
		return false
	}
	switch m.Rank {
	case rank.Sent, rank.Delivered, rank.Read, rank.FailedUnknown, rank.None:
		return true
	case rank.Skipped, rank.Canceled, rank.Failed:
	}
	return false
}
