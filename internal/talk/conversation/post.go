package conversation

import (
	"context"

	"carillon/internal/store/chats"
)

// Post is a message of a company's application.
type Post struct {
	CompanyID string
	Name      string // of the access key, for teammates
	ClientID  string
	Text      string // in readable form
	Choices   []string
	ChoiceIDs []string
	Of        int64 // turn that it replies to; 0 for none
	About     string
	Stored    chats.Posted
}

// Post appends a message of an application. The conversation keeps its state and assignee. A Claim with an earlier
// response gets it as Replay, and nothing is appended. Errors: not_found, limit_exceeded, idempotency_key_reused.
func (s *Desk) Post(ctx context.Context, in Post, id string) (*chats.Change, error) {
	now := s.now()
	var before chats.Conversation
	change := &chats.Change{
		CompanyID: in.CompanyID, ConversationID: id, ClientID: ownID(chats.Teammate, in.ClientID), Posted: &in.Stored,
	}
	change.Edit = func(c *chats.Conversation) ([]chats.Turn, error) {
		before = *c
		if err := full(c); err != nil {
			return nil, err
		}
		said := Said{ClientID: in.ClientID, Kind: chats.KindText, Text: Clean(in.Text), Of: in.Of, About: in.About, Name: in.Name}
		if len(in.Choices) > 0 {
			said.Kind = chats.KindChoices
		}
		t := said.turn(chats.Teammate, now)
		t.Extra.Application, t.Extra.Choices, t.Extra.ChoiceIDs = true, in.Choices, in.ChoiceIDs
		return []chats.Turn{t}, nil
	}
	return change, s.do(ctx, change, &before)
}
