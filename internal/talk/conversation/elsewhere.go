package conversation

import (
	"context"
	"time"

	"carillon/internal/store/chats"
)

// Elsewhere appends a message that the team wrote in the channel's own app, or an event in place of it. Like a teammate's
// answer it takes the conversation from the agent and ends the wait for a teammate. A teammate who has the conversation
// keeps it. id is the channel's; a repeated one has no effect. Errors: not_found, limit_exceeded.
func (s *Desk) Elsewhere(ctx context.Context, companyID, conversationID, id string, t chats.Turn) error {
	now := s.now()
	t.ClientID, t.At, t.Extra.PhoneApp = ownID(chats.Teammate, id), now, true
	_, err := s.change(ctx, companyID, conversationID, t.ClientID, func(c *chats.Conversation) ([]chats.Turn, error) {
		if err := full(c); err != nil {
			return nil, err
		}
		if c.State != chats.Active {
			if c.State != chats.WrapUp {
				c.Assignee = ""
			}
			c.SetState(chats.Active, now)
		}
		c.ReplySeq, c.ReplyAt, c.ReadSeq = 0, time.Time{}, c.LastSeq+1
		return []chats.Turn{t}, nil
	})
	if err == nil {
		s.replies.interrupt(conversationID)
	}
	return err
}
