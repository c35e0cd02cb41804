package conversation

import (
	"context"
	"errors"
	"slices"
	"time"

	"carillon"
	"carillon/internal/store/chats"
	"carillon/internal/store/runs"
	"carillon/internal/talk/flow"
)

// triggered returns the flow of a company that something starts; nil: none.
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
	quickly  = 10          // messages of a contact that are looked at together
	maxQuick = time.Minute // within which they were written
)

// startAny returns the run that the contact's message, the last of turns, starts, and the seq of that message; nil without one.
// Over a messaging channel it may be one before the last: people write several quickly.
func (s *Runner) startAny(ctx context.Context, c *chats.Conversation, turns []chats.Turn) (*runs.Run, int64, error) {
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
		if t.Seq != c.ReplySeq && (t.Author != chats.Visitor || t.Seq <= c.CompanySeq || last.At.Sub(t.At) > maxQuick ||
			len(before) > 0 && !t.At.After(before[0].StartedAt)) {
			continue // it has been answered
		}
		if x, err := s.start(ctx, c, t); err != nil || x != nil {
			return x, t.Seq, err
		}
	}
	return nil, 0, nil
}

// Unknown reports whether a notification's name_event starts no flow, and records that in a conversation, once.
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

// Unsent ends the run whose turn seq could not be sent: the contact cannot be reached any more. It is left alone where the contact has
// written since, or the turn is older than the run.
func (s *Runner) Unsent(ctx context.Context, companyID, id string, seq int64, why string) error {
	return s.again(func() error {
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
