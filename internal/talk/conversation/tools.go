package conversation

import (
	"context"
	"time"

	"carillon/internal/agent"
	"carillon/internal/base/schedule"
	"carillon/internal/store/chats"
)

// maxUses bounds the calls of tools that one reply records.
const maxUses = 20

// use keeps a call of a tool for the record.
func (a *answer) use(u *agent.Use) {
	if u == nil || len(a.used) == maxUses {
		return
	}
	a.used = append(a.used, chats.Use{
		Tool: u.Tool, Arguments: u.Arguments, Status: string(u.Status), Code: u.Code, Reason: u.Reason, MS: u.MS, Changes: u.Changes,
	})
}

// usesTurn returns the note to teammates about calls of tools.
func usesTurn(used []chats.Use, now time.Time) chats.Turn {
	t := event(ToolCalled, "", now)
	t.Note, t.Extra.Tools = true, used
	return t
}

// keepUses records the calls of a reply that is not stored: a teammate took the conversation, or the agent failed.
func (s *replies) keepUses(ctx context.Context, c *chats.Conversation, used []chats.Use) {
	if len(used) == 0 {
		return
	}
	now := s.now()
	if _, err := s.change(ctx, c.CompanyID, c.ID, "", func(*chats.Conversation) ([]chats.Turn, error) {
		return []chats.Turn{usesTurn(used, now)}, nil
	}); err != nil {
		s.o.Log.WarnContext(ctx, "record calls of tools", "conversation", c.ID, "error", err)
	}
}

// claim returns the agent.Request.Claim of a reply: of two nodes that give the same reply, one stores its memory and
// may call the tool.
func (s *replies) claim(c *chats.Conversation) func(ctx context.Context, m agent.Memory) error {
	before := c.Memory
	return func(ctx context.Context, m agent.Memory) error {
		text := m.Text()
		_, err := s.change(ctx, c.CompanyID, c.ID, "", func(have *chats.Conversation) ([]chats.Turn, error) {
			if have.State != chats.Automated || have.ReplySeq < c.ReplySeq || have.Memory != before || text == "" {
				return nil, errOvertaken
			}
			have.Memory = text
			return nil, nil
		})
		if err == nil {
			before = text
		}
		return err
	}
}

// localTime returns the current time in the time zone of the company's calling hours, for agents with tools: they read
// dates such as tomorrow.
func (s *replies) localTime(ctx context.Context, companyID string, a *agent.Agent) (time.Time, error) {
	if len(a.ServerTools) == 0 {
		return time.Time{}, nil
	}
	company, err := s.store.Accounts.Company(ctx, companyID)
	if err != nil || company.CallingHours == nil {
		return s.now(), err
	}
	zone, err := schedule.Zone(company.CallingHours.Timezone)
	if err != nil {
		return s.now(), nil //nolint:nilerr // checked when it was stored
	}
	return s.now().In(zone), nil
}
