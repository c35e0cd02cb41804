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
	// leftAfter is the silence after which a contact in the queue counts as gone.
	leftAfter = 2 * time.Minute
)

// sweep periodically expires conversations that waited too long and takes over replies of stopped nodes.
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

// Sweep expires places in the queue and wrap-ups that are too old, and takes over overdue replies.
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

// expire moves conversations that have been in a state since before the given time to the state that `to` returns. If
// `to` returns the same state, the conversation stays.
func expire(
	ctx context.Context, s *Conversations, from chats.State, before time.Time, to func(c *chats.Conversation) (chats.State, string),
) error {
	waiting, err := s.store.Chats.InState(ctx, from, before, maxSweep)
	if err != nil {
		return err
	}
	var failed []error // one failure must not hold up the rest
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

// Alive records a sign of life of a contact; without one, the contact counts as gone from the queue.
func (s *Conversations) Alive(ctx context.Context, c *chats.Conversation) error {
	return s.store.Contacts.Alive(ctx, c.CompanyID, c.ContactID, s.now())
}
