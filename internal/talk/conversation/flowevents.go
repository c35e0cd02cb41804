package conversation

import (
	"context"
	"errors"
	"slices"
	"time"

	"carillon"
	"carillon/internal/store/chats"
	"carillon/internal/talk/flow"
)

// triggered returns the first flow of a company whose head satisfies by, or nil.
func (s *core) triggered(ctx context.Context, companyID string, by func(h *flow.Head) bool) (*flow.Flow, error) {
	if s.o.Flows == nil {
		return nil, nil
	}
	all, err := s.o.Flows.Flows(ctx, companyID)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(f flow.Listed) bool { return by(f.Head) })
	if i < 0 {
		return nil, nil
	}
	f, err := s.o.Flows.Flow(ctx, companyID, all[i].ID)
	if carillon.IsCode(err, carillon.NotFound) { // removed meanwhile
		return nil, nil
	}
	return f, err
}

const (
	maxRecent    = 10          // messages of a contact that are examined together
	maxRecentAge = time.Minute // maximum age of the earlier ones
)

// startAny returns the run that the contact's last message starts, and the seq of that message; nil if it starts none.
// On a messaging channel an earlier message may start the run: people send several in quick succession.
func (s *Runner) startAny(ctx context.Context, c *chats.Conversation, turns []chats.Turn) (*chats.Run, int64, error) {
	last := &turns[len(turns)-1]
	if c.Channel != "whatsapp" || last.Author != chats.Visitor {
		x, err := s.start(ctx, c, last)
		return x, c.ReplySeq, err
	}
	before, err := s.o.Runs.OfConversation(ctx, c.CompanyID, c.ID, 1)
	if err != nil {
		return nil, 0, err
	}
	for i := range turns {
		t := &turns[i]
		if t.Seq != c.ReplySeq && (t.Author != chats.Visitor || t.Seq <= c.CompanySeq || last.At.Sub(t.At) > maxRecentAge ||
			len(before) > 0 && !t.At.After(before[0].StartedAt)) {
			continue // already answered
		}
		if x, err := s.start(ctx, c, t); err != nil || x != nil {
			return x, t.Seq, err
		}
	}
	return nil, 0, nil
}

// Unknown reports whether a notification's name_event starts no flow. If so, it records that once in the conversation.
func (s *Runner) Unknown(ctx context.Context, companyID, id string, b chats.Bound) (bool, error) {
	f, err := s.triggered(ctx, companyID, func(h *flow.Head) bool { return b.Event != "" && h.Trigger.Event == b.Event })
	if err != nil || f != nil {
		return false, err
	}
	return true, s.unknown(ctx, companyID, id, &b)
}

func (s *core) unknown(ctx context.Context, companyID, id string, b *chats.Bound) error {
	if b.Event == "" {
		return nil
	}
	t := event(NoSuchFlow, b.Event, s.now())
	t.ClientID = "system:event:" + b.NotificationID
	_, err := s.change(ctx, companyID, id, t.ClientID, func(*chats.Conversation) ([]chats.Turn, error) { return []chats.Turn{t}, nil })
	return err
}

// Unsent ends the run whose turn seq could not be sent, because the contact can no longer be reached. The run
// continues if the contact has written since, or if the turn is older than the run.
func (s *Runner) Unsent(ctx context.Context, companyID, id string, seq int64, why string) error {
	return s.retryOvertaken(func() error {
		x, err := s.o.Runs.Current(ctx, companyID, id)
		if err != nil || x == nil {
			return err
		}
		c, err := s.store.Chats.Find(ctx, companyID, id)
		if err != nil || c.VisitorSeq > seq {
			return err
		}
		turns, err := s.store.Chats.TurnsBefore(ctx, companyID, id, seq+1, 1)
		if err != nil || len(turns) == 0 || turns[0].Seq != seq || turns[0].At.Before(x.StartedAt) {
			return err
		}
		p, err := s.program(ctx, companyID, x.FlowID, x.Version)
		if err != nil {
			return err
		}
		r := stateOf(x)
		o := p.Fail(r, why)
		if _, err = s.commit(ctx, c, p, x, r, o, 0); errors.Is(err, errOvertaken) {
			return nil // somebody has taken the conversation, which ends the run
		}
		return err
	})
}
