package messaging

import (
	"context"
	"math"
	"time"

	"carillon/internal/base/provider"
	"carillon/internal/store/chats"
	"carillon/internal/talk/conversation"
)

// result is the outcome of an incoming message, for metrics.
type result string

const (
	shown    result = "shown"    // shown in its conversation
	declined result = "declined" // unreadable: the conversation has an event, and the person was notified
	// failed: processing failed for good: the conversation has an event, and the person was asked to send it again.
	failed  result = "failed"
	applied result = "applied" // the channel reported another ID of the person; nothing to show
	ignored result = "ignored" // it names no author, or is addressed to a number without a sender
)

// decline records a message that cannot be read and notifies the person.
func (m *Messaging) decline(ctx context.Context, t *taking) (result, error) {
	m.odd(ctx, t)
	if err := m.note(ctx, t, conversation.NotShown); err != nil {
		return failed, err
	}
	return t.asked(), m.notice(ctx, t, textsOf(t.conversation.Language).unread)
}

// asked returns the result of a message of which only an event was stored: declined, since the author is asked for
// another form, or shown in a group, where nobody is asked.
func (t *taking) asked() result {
	if t.Group != "" {
		return shown
	}
	return declined
}

// Ignore counts messages without a conversation: they name no author, or are addressed to a number without a sender.
func (m *Messaging) Ignore(all []provider.Inbound) {
	for i := range all {
		m.o.Observer.Wrote(all[i].Label(), string(ignored))
	}
}

// notice sends a person a notice about their message. It does not repeat the same notice: otherwise two machines could
// answer each other forever. Groups get no notices.
func (m *Messaging) notice(ctx context.Context, t *taking, text string) error {
	if t.Group != "" {
		return nil
	}
	last, err := m.lastSaid(ctx, t.conversation)
	if err != nil || last != nil && last.Text == text {
		return err
	}
	return m.o.Conversations.Runner.Say(ctx, t.sender.CompanyID, t.conversation.ID, t.ID+":notice", text)
}

// lookBack is the number of turns searched for the company's last one.
const lookBack = 20

// lastSaid returns the company's last turn that a person received, or nil if there is none among the newest turns.
func (m *Messaging) lastSaid(ctx context.Context, c *chats.Conversation) (last *chats.Turn, err error) {
	turns, err := m.o.Chats.TurnsBefore(ctx, c.CompanyID, c.ID, math.MaxInt64, lookBack)
	for i := range turns {
		if t := &turns[i]; t.Author != chats.Visitor && t.Author != chats.System && !t.Note {
			last = t
		}
	}
	return last, err
}

// oddEvery is the minimum interval between log lines of a node about messages that were not understood.
const oddEvery = time.Minute

// odd logs the kind of a message that was not understood, at most once per oddEvery.
func (m *Messaging) odd(ctx context.Context, t *taking) {
	m.mu.Lock()
	now := m.now()
	log := now.Sub(m.oddAt) >= oddEvery
	if log {
		m.oddAt = now
	}
	m.mu.Unlock()
	if log {
		m.o.Log.InfoContext(ctx, "a message is not understood", "company", t.sender.CompanyID, "sender", t.sender.ID, "kind", t.Text)
	}
}
