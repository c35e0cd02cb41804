package conversation

import (
	"context"

	"carillon/internal/store/chats"
)

// SentTemplate appends the event that a teammate sent a template to the contact. text is the message as the contact
// sees it. A repeated client ID has no effect.
func (s *Runner) SentTemplate(ctx context.Context, by By, id, clientID, text, notificationID string) (*chats.Turn,
	*chats.Conversation, error,
) {
	t := eventBy(Templated, by.AccountID, by.Name, s.now())
	t.ClientID, t.Text, t.Extra.Notification = ownID(chats.Teammate, clientID), text, notificationID
	return s.append(ctx, by.CompanyID, id, t.ClientID, func(c *chats.Conversation) ([]chats.Turn, error) {
		return []chats.Turn{t}, full(c)
	})
}
