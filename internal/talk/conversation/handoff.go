package conversation

import (
	"context"
	"slices"
	"time"

	"carillon"
	"carillon/internal/store/chats"
)

// Ask asks for a teammate. If nobody is present, or open is false (outside business hours), the conversation is missed
// immediately and waits for a later answer. A second call changes nothing.
func (s *Conversations) Ask(ctx context.Context, companyID, id, reason string, open bool) (*chats.Conversation, error) {
	there, err := s.anybodyThere(ctx, companyID)
	if err != nil {
		return nil, err
	}
	result, err := s.asked(ctx, companyID, id)
	if err != nil {
		return nil, err
	}
	now := s.now()
	s.replies.interrupt(id)
	of := &chats.Conversation{ID: id, CompanyID: companyID}
	c, err := s.changeCounted(ctx, of, "", result, func(c *chats.Conversation) ([]chats.Turn, error) {
		if err := full(c); err != nil && (c.State == chats.Resolved || c.State == chats.Abandoned) {
			return nil, err // without this limit the contact could ask and leave endlessly
		}
		return outcome(ask(c, reason, open && there, now), result), nil
	})
	return c.Conversation, err
}

func ask(c *chats.Conversation, reason string, there bool, now time.Time) []chats.Turn {
	switch {
	case c.State == chats.Queued || c.State == chats.Active, c.State == chats.Missed && !there:
		return nil
	case !there:
		c.SetState(chats.Missed, now)
	default:
		c.SetState(chats.Queued, now)
	}
	c.Assignee, c.ReplySeq, c.ReplyAt = "", 0, time.Time{}
	turns := []chats.Turn{event(Asked, reason, now)}
	if !there {
		turns = append(turns, event(Missed, "", now))
	}
	return turns
}

func (s *core) anybodyThere(ctx context.Context, companyID string) (bool, error) {
	present, err := s.store.Attendance.Present(ctx, companyID, s.now())
	return slices.ContainsFunc(present, func(p chats.Presence) bool { return !p.Away }), err
}

// By is the teammate who performs an action.
type By struct {
	CompanyID string
	AccountID string
	Name      string // shown to contacts
}

// Desk performs the actions of teammates on conversations.
type Desk struct {
	*core
	replies *replies
}

// Take assigns a conversation to a teammate, who answers from then on; the agent stops. from is the assignee that the
// teammate saw, or "" for none. Errors: conflict if another teammate has it, not_found.
func (s *Desk) Take(ctx context.Context, by By, id, from string) (*chats.Conversation, error) {
	now := s.now()
	c, err := s.change(ctx, by.CompanyID, id, "", func(c *chats.Conversation) ([]chats.Turn, error) {
		if c.Assignee == by.AccountID && c.State == chats.Active {
			return nil, nil
		}
		if another := holder(c); another != "" && another != by.AccountID && another != from {
			return nil, taken(c)
		}
		before := *c
		turns := take(c, by, now)
		keepUndo(c, &before, by, turns, now)
		return turns, nil
	})
	if err == nil {
		s.replies.interrupt(id)
	}
	return c.Conversation, err
}

// holder returns the teammate who has a conversation; a resolved one has none.
func holder(c *chats.Conversation) string {
	if c.State == chats.Resolved {
		return ""
	}
	return c.Assignee
}

func take(c *chats.Conversation, by By, now time.Time) []chats.Turn {
	c.SetState(chats.Active, now)
	c.Assignee, c.ReplySeq, c.ReplyAt = by.AccountID, 0, time.Time{}
	c.ReadSeq = c.LastSeq + 1
	return []chats.Turn{eventBy(Joined, by.AccountID, by.Name, now)}
}

// DetailAssignee is the detail of a conflict error with the account of the teammate who has the conversation.
const DetailAssignee = "assignee"

func taken(c *chats.Conversation) error {
	return &carillon.Error{Code: carillon.Conflict, Message: "Another teammate has the conversation", Details: carillon.Details{
		{Key: "reason", Value: "Another teammate has the conversation"}, {Key: DetailAssignee, Value: c.Assignee},
	}}
}

// Answer appends a turn of a teammate and assigns the conversation to them unless another one has it. seen is the
// company's last turn that the teammate has seen: if there is a newer one, the answer is refused, unless seen is
// negative. Errors: conflict, not_found.
func (s *Desk) Answer(ctx context.Context, by By, id string, in Said, seen int64) (*chats.Turn, *chats.Conversation, error) {
	now := s.now()
	mail, err := s.mails(ctx, by.CompanyID)
	if err != nil {
		return nil, nil, err
	}
	var before chats.Conversation
	change := &chats.Change{CompanyID: by.CompanyID, ConversationID: id, ClientID: ownID(chats.Teammate, in.ClientID), Mail: mail}
	change.Edit = func(c *chats.Conversation) ([]chats.Turn, error) {
		before = *c
		if err := full(c); err != nil {
			return nil, err
		}
		if another := holder(c); another != "" && another != by.AccountID && seen >= 0 {
			return nil, taken(c)
		}
		if seen >= 0 && c.CompanySeq > seen {
			return nil, carillon.InConflict("It was answered meanwhile")
		}
		var turns []chats.Turn
		if c.State != chats.Active || c.Assignee != by.AccountID {
			turns = take(c, by, now)
		}
		t := in.turn(chats.Teammate, now)
		t.AccountID, t.Extra.Name = by.AccountID, by.Name
		turns = append(turns, t)
		c.ReadSeq = c.LastSeq + int64(len(turns))
		return turns, nil
	}
	if err := s.do(ctx, change, &before); err != nil {
		return nil, nil, err
	}
	s.replies.interrupt(id)
	return appended(change, nil)
}

// mails reports whether replies of a company's teammates go by e-mail to contacts who left.
func (s *core) mails(ctx context.Context, companyID string) (bool, error) {
	if !s.o.Mails {
		return false, nil
	}
	company, err := s.store.Accounts.Company(ctx, companyID)
	return err == nil && !company.Inbox.ChatOnly, err
}

// Caption appends the transcript of a teammate's speech. It arrives after the fact, so it leaves the assignee
// unchanged: the teammate may have given the conversation back to the agent meanwhile.
func (s *Desk) Caption(ctx context.Context, by By, id string, in Said) (*chats.Turn, error) {
	now := s.now()
	turn, _, err := s.append(ctx, by.CompanyID, id, ownID(chats.Teammate, in.ClientID), func(c *chats.Conversation) ([]chats.Turn, error) {
		if err := full(c); err != nil {
			return nil, err
		}
		t := in.turn(chats.Teammate, now)
		t.AccountID, t.Extra.Name = by.AccountID, by.Name
		if holder(c) == by.AccountID {
			c.ReadSeq = c.LastSeq + 1
		}
		return []chats.Turn{t}, nil
	})
	return turn, err
}

// Note appends a note that only teammates see.
func (s *Desk) Note(ctx context.Context, by By, id string, in Said) (*chats.Turn, *chats.Conversation, error) {
	now := s.now()
	return s.append(ctx, by.CompanyID, id, ownID(chats.Teammate, in.ClientID), func(c *chats.Conversation) ([]chats.Turn, error) {
		if err := full(c); err != nil {
			return nil, err
		}
		t := in.turn(chats.Teammate, now)
		t.Note, t.AccountID, t.Extra.Name = true, by.AccountID, by.Name
		return []chats.Turn{t}, nil
	})
}

// Release returns a conversation to the queue, or to the agent, who then answers the contact's last message unless it
// is already answered. Errors: conflict if it is resolved or has no agent.
func (s *Desk) Release(ctx context.Context, by By, id string, toAgent bool) (*chats.Conversation, error) {
	now := s.now()
	c, err := s.change(ctx, by.CompanyID, id, "", func(c *chats.Conversation) ([]chats.Turn, error) {
		what, to := Released, chats.Queued
		if toAgent {
			what, to = Returned, chats.Automated
		}
		switch {
		case c.State == chats.Resolved:
			return nil, carillon.InConflict("The conversation is resolved")
		case toAgent && c.AgentID == "":
			return nil, carillon.InConflict("No agent answers in this conversation")
		case c.State == to:
			return nil, nil
		}
		before := *c
		c.SetState(to, now)
		c.Assignee, c.ReplySeq, c.ReplyAt = "", 0, time.Time{}
		if toAgent && c.VisitorSeq > c.CompanySeq {
			c.ReplySeq, c.ReplyAt = c.VisitorSeq, now
		}
		turns := []chats.Turn{eventBy(what, by.AccountID, by.Name, now)}
		keepUndo(c, &before, by, turns, now)
		return turns, nil
	})
	switch {
	case err != nil:
	case !toAgent:
		s.replies.interrupt(id)
	case c.Conversation.ReplySeq > 0:
		s.replies.reply(by.CompanyID, id)
	}
	return c.Conversation, err
}

// Dismiss returns to the queue all conversations of a member who may no longer answer; those in wrap-up are resolved.
func (s *Desk) Dismiss(ctx context.Context, by By, accountID string) error {
	for {
		held, err := s.store.Chats.HeldBy(ctx, by.CompanyID, accountID, maxSweep)
		if err != nil || len(held) == 0 {
			return err
		}
		for _, c := range held {
			end := func() error { _, err := s.Release(ctx, by, c.ID, false); return err }
			if c.State == chats.WrapUp {
				end = func() error { _, err := s.Resolve(ctx, by, c.ID); return err }
			}
			if err := end(); err != nil && !carillon.IsCode(err, carillon.Conflict) && !carillon.IsCode(err, carillon.NotFound) {
				return err
			}
		}
	}
}

// Assign gives a conversation to another teammate, or to the queue if the account is empty.
func (s *Desk) Assign(ctx context.Context, by, to By, id string) (*chats.Conversation, error) {
	if to.AccountID == "" {
		return s.Release(ctx, by, id, false)
	}
	now := s.now()
	c, err := s.change(ctx, by.CompanyID, id, "", func(c *chats.Conversation) ([]chats.Turn, error) {
		if c.Assignee == to.AccountID && c.State == chats.Active {
			return nil, nil
		}
		before := *c
		turns := take(c, to, now)
		c.ReadSeq = before.ReadSeq // the new assignee has not read it
		keepUndo(c, &before, by, turns, now)
		return turns, nil
	})
	if err == nil {
		s.replies.interrupt(id)
	}
	return c.Conversation, err
}

// Resolve closes a conversation. It is idempotent.
func (s *Desk) Resolve(ctx context.Context, by By, id string) (*chats.Conversation, error) {
	now := s.now()
	s.replies.interrupt(id)
	c, err := s.change(ctx, by.CompanyID, id, "", func(c *chats.Conversation) ([]chats.Turn, error) {
		if c.State == chats.Resolved {
			return nil, nil
		}
		before := *c
		c.SetState(chats.Resolved, now)
		c.ReplySeq, c.ReplyAt, c.ReadSeq = 0, time.Time{}, c.LastSeq+1
		turns := []chats.Turn{eventBy(Resolved, by.AccountID, by.Name, now)}
		keepUndo(c, &before, by, turns, now)
		return turns, nil
	})
	return c.Conversation, err
}

// Reopen reopens a resolved conversation. Errors: conflict if the contact has a newer one.
func (s *Desk) Reopen(ctx context.Context, by By, id string) (*chats.Conversation, error) {
	now := s.now()
	c, err := s.change(ctx, by.CompanyID, id, "", func(c *chats.Conversation) ([]chats.Turn, error) {
		if c.State != chats.Resolved {
			return nil, nil
		}
		c.SetState(chats.Active, now)
		c.Assignee = by.AccountID
		return []chats.Turn{eventBy(Reopened, by.AccountID, by.Name, now)}, nil
	})
	return c.Conversation, err
}

// Tag replaces the tags of a conversation.
func (s *Desk) Tag(ctx context.Context, companyID, id string, tags []string) (*chats.Conversation, error) {
	c, err := s.change(ctx, companyID, id, "", func(c *chats.Conversation) ([]chats.Turn, error) {
		c.Tags = tags
		return nil, nil
	})
	return c.Conversation, err
}

// Read records the last turn that teammates have read.
func (s *Desk) Read(ctx context.Context, companyID, id string, seq int64) (*chats.Conversation, error) {
	c, err := s.change(ctx, companyID, id, "", func(c *chats.Conversation) ([]chats.Turn, error) {
		c.ReadSeq = max(c.ReadSeq, min(seq, c.LastSeq))
		return nil, nil
	})
	return c.Conversation, err
}
