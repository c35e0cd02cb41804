package messaging

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/store/chats"
)

// Known returns the identities of a person at a sender, by number, by the channel's id, or both.
func (m *Messaging) Known(s *carillon.Sender, number, userID string) []identity.Identity {
	return m.known(s, number, userID)
}

// Called opens or extends the window for messages to a person who called the sender's number, as their message does.
func (m *Messaging) Called(ctx context.Context, s *carillon.Sender, number, userID string, at time.Time) error {
	c, err := m.open(ctx, s, &provider.Inbound{From: number, UserID: userID, At: at}, nil)
	if err != nil {
		return err
	}
	return m.o.Store.SetWindow(ctx, &chats.Window{
		CompanyID: s.CompanyID, ConversationID: c.ID, SenderUID: s.UID, Number: number, UserID: userID, Until: at.Add(Window).UTC(),
	})
}
