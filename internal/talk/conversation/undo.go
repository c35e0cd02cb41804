package conversation

import (
	"context"
	"encoding/json"
	"time"

	"carillon"
	"carillon/internal/store/chats"
)

// undoWithin is the time for which a teammate can undo a change.
const undoWithin = 10 * time.Minute

// undoable is the state of a conversation before a teammate's change, in JSON in chats.Conversation.Undo. Times are in
// milliseconds.
type undoable struct {
	Account   string      `json:"account"` // of the teammate who made the change
	At        int64       `json:"at"`      // when
	Seq       int64       `json:"seq"`     // last turn after the change
	State     chats.State `json:"state"`
	StateAt   int64       `json:"state_at"`
	Assignee  string      `json:"assignee,omitempty"`
	WaitingAt int64       `json:"waiting_at,omitempty"`
	NoticeAt  int64       `json:"notice_at,omitempty"`
	Asks      string      `json:"asks,omitempty"`
	AskedSeq  int64       `json:"asked_seq,omitempty"`
	Memory    string      `json:"memory,omitempty"`
}

// keepUndo lets a teammate undo the change that turned before into c and appends turns.
func keepUndo(c *chats.Conversation, before *chats.Conversation, by By, turns []chats.Turn, now time.Time) {
	text, _ := json.Marshal(undoable{ // texts and numbers cannot fail
		Account: by.AccountID, At: now.UnixMilli(), Seq: before.LastSeq + int64(len(turns)),
		State: before.State, StateAt: millis(before.StateAt),
		Assignee: before.Assignee, WaitingAt: millis(before.WaitingAt), NoticeAt: millis(before.NoticeAt), Asks: before.Asks,
		AskedSeq: before.AskedSeq, Memory: before.Memory,
	})
	c.Undo = string(text)
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func instant(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// Undo restores a conversation as it was before the teammate's last change of its state or assignee. named returns a
// teammate who may answer, or nil. Errors: conflict if the change was long ago or something happened since, not_found.
func (s *Desk) Undo(
	ctx context.Context, by By, id string, named func(ctx context.Context, accountID string) (*By, error),
) (*chats.Conversation, error) {
	have, err := s.store.Chats.Find(ctx, by.CompanyID, id)
	if err != nil {
		return nil, err
	}
	now := s.now()
	was, err := s.undoOf(have, by, now)
	if err != nil {
		return nil, err
	}
	holder := &By{}
	if was.Assignee != "" {
		if holder, err = named(ctx, was.Assignee); err != nil {
			return nil, err
		}
		if holder == nil {
			return nil, carillon.InConflict("The teammate who had it can't answer conversations anymore")
		}
	}
	s.replies.interrupt(id)
	c, err := s.change(ctx, by.CompanyID, id, "", func(c *chats.Conversation) ([]chats.Turn, error) {
		if c.Undo != have.Undo || c.LastSeq != have.LastSeq {
			return nil, changedMeanwhile()
		}
		return was.restore(c, by, *holder, now), nil
	})
	if err == nil && c.Conversation.ReplySeq > 0 {
		s.replies.reply(by.CompanyID, id)
	}
	return c.Conversation, err
}

func changedMeanwhile() error { return carillon.InConflict("The conversation changed meanwhile") }

// undoOf returns the state before the teammate's change of a conversation.
func (s *Desk) undoOf(c *chats.Conversation, by By, now time.Time) (*undoable, error) {
	if c.Undo == "" {
		return nil, changedMeanwhile()
	}
	var was undoable
	if err := json.Unmarshal([]byte(c.Undo), &was); err != nil {
		return nil, err
	}
	if was.Seq != c.LastSeq || was.Account != by.AccountID || now.Sub(instant(was.At)) > undoWithin {
		return nil, changedMeanwhile()
	}
	return &was, nil
}

// restore restores a conversation, and returns the event of the change.
func (was *undoable) restore(c *chats.Conversation, by, holder By, now time.Time) []chats.Turn {
	what := eventBy(Released, by.AccountID, by.Name, now)
	switch {
	case c.State == chats.Resolved:
		what = eventBy(Reopened, by.AccountID, by.Name, now)
	case was.State == chats.Automated:
		what = eventBy(Returned, by.AccountID, by.Name, now)
	case was.Assignee != "":
		what = eventBy(Joined, holder.AccountID, holder.Name, now)
	}
	c.State, c.StateAt, c.ResolvedAt, c.Assignee = was.State, instant(was.StateAt), time.Time{}, was.Assignee
	c.WaitingAt, c.NoticeAt, c.Undo = instant(was.WaitingAt), instant(was.NoticeAt), ""
	c.Asks, c.AskedSeq, c.Memory = was.Asks, was.AskedSeq, was.Memory
	if c.State == chats.Automated && c.VisitorSeq > c.CompanySeq {
		c.ReplySeq, c.ReplyAt = c.VisitorSeq, now
	}
	return []chats.Turn{what}
}
