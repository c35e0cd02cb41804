package conversation

import (
	"context"
	"errors"
	"time"

	"carillon/internal/store/chats"
)

const (
	sweepEvery  = 5 * time.Second
	maxSweep    = 100
	wrapUpAfter = 10 * time.Minute
	// leftAfter is how long after its last sign of life a contact in the queue has left.
	leftAfter = 2 * time.Minute
)

// sweep ends what waited for too long, and gives replies that a stopped node left.
func (s *Conversations) sweep(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(sweepEvery):
		}
		if err := s.Sweep(ctx); err != nil && ctx.Err() == nil {
			s.o.Log.WarnContext(ctx, "look after conversations", "error", err)
		}
	}
}

// Sweep ends what waited for too long by now: places in the queue, wrap-ups; and has overdue replies given.
func (s *Conversations) Sweep(ctx context.Context) error {
	now := s.now()
	return errors.Join(
		s.replies.takeOver(ctx, now.Add(-overdue)),
		expire(ctx, s, chats.Queued, now.Add(-leftAfter), func(c *chats.Conversation) (chats.State, string) {
			contact, err := s.store.Contacts.ContactOf(ctx, c.CompanyID, c.ContactID)
			switch {
			case err == nil && contact.SeenAt.Before(now.Add(-leftAfter)):
				return chats.Abandoned, Abandoned
			case now.Sub(c.StateAt) >= s.o.MissedAfter:
				return chats.Missed, Missed
			}
			return c.State, ""
		}),
		expire(ctx, s, chats.WrapUp, now.Add(-wrapUpAfter), func(*chats.Conversation) (chats.State, string) {
			return chats.Resolved, Resolved
		}),
	)
}

// expire moves conversations on that have been in a state since before an instant, as to says; the state itself: not yet.
func expire(
	ctx context.Context, s *Conversations, from chats.State, before time.Time, to func(c *chats.Conversation) (chats.State, string),
) error {
	waiting, err := s.store.Chats.InState(ctx, from, before, maxSweep)
	if err != nil {
		return err
	}
	var failed []error // one that fails does not hold up those behind it
	for _, c := range waiting {
		state, what := to(c)
		if state == from {
			continue
		}
		now := s.now()
		if _, err := s.change(ctx, c.CompanyID, c.ID, "", func(have *chats.Conversation) ([]chats.Turn, error) {
			if have.State != from || !have.StateAt.Equal(c.StateAt) {
				return nil, errOvertaken
			}
			have.SetState(state, now)
			return []chats.Turn{event(what, "", now)}, nil
		}); err != nil && !errors.Is(err, errOvertaken) {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// Alive records a sign of life of a contact, who else has left the queue.
func (s *Conversations) Alive(ctx context.Context, c *chats.Conversation) error {
	return s.store.Contacts.Alive(ctx, c.CompanyID, c.ContactID, s.now())
}
