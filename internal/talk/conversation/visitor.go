package conversation

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/store/chats"
)

// CallOff withdraws the contact's request for a teammate, or takes the conversation from the teammate who has it: the
// agent responds again. Errors: conflict if no teammate was requested, or if there is no agent.
func (s *Conversations) CallOff(ctx context.Context, companyID, id string) (*chats.Conversation, error) {
	now := s.now()
	c, err := s.change(ctx, companyID, id, "", func(c *chats.Conversation) ([]chats.Turn, error) {
		switch {
		case c.State != chats.Queued && c.State != chats.Active && c.State != chats.Missed:
			return nil, carillon.InConflict("No teammate was asked for")
		case c.AgentID == "":
			return nil, carillon.InConflict("No agent answers in this conversation")
		}
		c.SetState(chats.Automated, now)
		c.Assignee, c.ReplySeq, c.ReplyAt = "", 0, time.Time{}
		return []chats.Turn{event(CalledOff, "", now)}, nil
	})
	return c.Conversation, err
}

// known returns the contact with the details that agents and flows may use. A caller ID proves nothing, since anybody
// can forge one: the details stored with a number belong to its owner, not necessarily to the caller.
func known(c *chats.Conversation, contact *chats.Contact) *chats.Contact {
	if c.Channel != "phone" || contact.Verified {
		return contact
	}
	caller := *contact
	caller.Name, caller.Email = "", ""
	return &caller
}
