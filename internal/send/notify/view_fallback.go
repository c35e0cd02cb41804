package notify

import (
	"context"
	"fmt"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/send/request"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/store/messages"
)

// FallbackView is the fallback of a notification: the call to recipients whose message is not delivered in time.
type FallbackView struct {
	Channel string `json:"channel" enum:"call"`
	After   string `json:"after"`
	LineID  string `json:"recipient_id,omitempty"` // empty if the line was removed
	AgentID string `json:"agent_id"`
}

// FollowUpView is the fallback of one recipient. Keys that do not apply are omitted.
type FollowUpView struct {
	Channel   string          `json:"channel" enum:"call"`
	State     string          `json:"state" enum:"waiting,called,not_needed,skipped,canceled"`
	Reason    carillon.Reason `json:"reason,omitempty"`
	DueAt     string          `json:"due_at,omitempty"` // while it waits: when the call is due at the earliest
	DecidedAt string          `json:"decided_at,omitempty"`
	CallID    string          `json:"call_id,omitempty"`
	CallState carillon.State  `json:"call_state,omitempty" enum:"calls"`
}

// followUp is a fallback with its call; nil if nobody was called.
type followUp struct {
	messages.StoredFallback
	call *talked
}

// followUpsOf reads the fallbacks of a notification's recipients, in order.
func followUpsOf(ctx context.Context, s *store.Store, x *messages.Notification) ([]followUp, error) {
	if !hasFallback(x) {
		return nil, nil
	}
	found, err := s.Fallbacks.Of(ctx, x.Seq())
	if err != nil {
		return nil, err
	}
	called, attempts, err := s.Calls.All(ctx, x.Seq())
	if err != nil {
		return nil, err
	}
	var talks []string
	for _, c := range called {
		if c.ConversationID != "" {
			talks = append(talks, c.ConversationID)
		}
	}
	noted, err := s.Chats.Noted(ctx, x.CompanyID, talks)
	if err != nil {
		return nil, err
	}
	all := make([]followUp, len(found))
	for i, f := range found {
		all[i].StoredFallback = f
		if c := called[f.Key]; c != nil {
			all[i].call = &talked{
				Call: c, attempts: attempts[f.Key], turns: []chats.Turn{{Extra: chats.Extra{Set: noted[c.ConversationID]}}},
			}
		}
	}
	return all, nil
}

// state returns the state of a fallback. A call that was never dialed because the message arrived after all, or because
// it was canceled, counts as none.
func (f *followUp) state() messages.FallbackState {
	if c := f.call; c != nil && c.State == carillon.StateCanceled && c.Dials == 0 {
		switch c.Reason {
		case carillon.ReasonDelivered:
			return messages.FallbackNotNeeded
		case carillon.ReasonCanceled:
			return messages.FallbackCanceled
		default:
		}
	}
	return f.State
}

func (f *followUp) view(x *messages.Notification) *FollowUpView {
	v := &FollowUpView{
		Channel: request.FallbackCall, State: string(f.state()), Reason: f.Reason, DecidedAt: instant(f.DecidedAt),
	}
	if f.Due.After(x.CreatedAt) { // else immediately
		v.DueAt = instant(f.Due)
	}
	if f.call != nil {
		v.CallID, v.CallState = provider.MessageID(x.ID, f.Key.N()), f.call.State
		if f.call.Reason != "" {
			v.Reason = f.call.Reason
		}
	}
	return v
}

// follow adds the fallbacks to the views of recipients.
func follow(recipients []RecipientView, first int, x *messages.Notification, all []followUp) {
	for i := range all {
		f := &all[i]
		at := f.Key.N() - first
		if at < 0 || at >= len(recipients) {
			continue
		}
		recipients[at].Fallback = f.view(x)
		if f.call != nil && f.call.State != carillon.StateSkipped {
			recipients[at].Call = viewCall(provider.MessageID(x.ID, f.Key.N()), f.call)
		}
	}
}

// fallbackView returns the fallback of a notification; nil if it has none, or if nothing was sent.
func fallbackView(ctx context.Context, s *store.Store, x *messages.Notification, all []followUp) (*FallbackView, error) {
	if len(all) == 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	v := &FallbackView{Channel: request.FallbackCall, After: shortly(all[0].Wait), AgentID: x.Labels.AgentID}
	line, err := s.Senders.SenderOf(ctx, x.CompanyID, all[0].LineUID)
	if line != nil {
		v.LineID = line.ID
	}
	return v, err
}

// shortly returns a duration without the units that are zero, such as 15m.
func shortly(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// followed adds the fallbacks of a notification: each event of the call that follows the message to its only recipient,
// and numbers of recipients if it has several.
func (t *timeline) followed(x *messages.Notification, all []followUp) {
	if x.Total == 1 {
		if len(all) == 1 {
			t.followedOne(&all[0])
		}
		return
	}
	for _, of := range []struct {
		state       messages.FallbackState
		event, text string
	}{
		{messages.FallbackCalled, "fallback", "not delivered to %d of %d recipients: they are called"},
		{messages.FallbackSkipped, "fallback_skipped", "not delivered, and not called: %d of %d recipients"},
		{messages.FallbackCanceled, "fallback_canceled", "the call was canceled for %d of %d recipients"},
	} {
		var first time.Time
		n := 0
		for i := range all {
			if all[i].state() != of.state {
				continue
			}
			if n++; first.IsZero() || all[i].DecidedAt.Before(first) {
				first = all[i].DecidedAt
			}
		}
		t.add(first, of.event, fmt.Sprintf(of.text, n, x.Total))
	}
}

func (t *timeline) followedOne(f *followUp) {
	switch f.State {
	case messages.FallbackSkipped:
		t.add(f.DecidedAt, "fallback_skipped", "not delivered, and not called: "+string(f.Reason))
	case messages.FallbackCanceled:
		t.add(f.DecidedAt, "fallback_canceled", "the call was canceled")
	case messages.FallbackCalled:
		t.add(f.DecidedAt, "fallback", "not delivered: the recipient is called")
	case messages.FallbackWaiting, messages.FallbackNotNeeded:
	}
	if c := f.call; c != nil {
		t.called(f.DecidedAt, f.DecidedAt, c)
		if c.State == carillon.StateCanceled && len(c.attempts) == 0 {
			t.add(c.EndedAt, "fallback_canceled", "the call was canceled")
		}
	}
}
