package messaging

import (
	"context"
	"math"
	"time"

	"carillon/internal/base/provider"
	"carillon/internal/store/chats"
	"carillon/internal/talk/conversation"
)

// result is the end of a message, for metrics.
type result string

const (
	shown    result = "shown"    // in its conversation
	declined result = "declined" // its conversation says that there was one, and the person that it could not be taken
	failed   result = "failed"   // it was given up: its conversation says that there was one, and its author is asked for it again
	applied  result = "applied"  // the channel's report of another id of the person: there is nothing to show
	ignored  result = "ignored"  // it names no author, or is to a number that no sender has
)

// decline records a message that cannot be read, and says so to the person.
func (m *Messaging) decline(ctx context.Context, t *taking) (result, error) {
	m.odd(ctx, t)
	if err := m.note(ctx, t, conversation.NotShown); err != nil {
		return failed, err
	}
	return t.asked(), m.notice(ctx, t, textsOf(t.conversation.Language).unread)
}

// asked is the result of a message of which the conversation has an event alone: its author is asked for another form, but in a group.
func (t *taking) asked() result {
	if t.Group != "" {
		return shown
	}
	return declined
}

// Ignore counts messages for which there is no conversation: they name no author, or are to a number that no sender has.
func (m *Messaging) Ignore(all []provider.Inbound) {
	for i := range all {
		m.o.Observer.Wrote(all[i].Label(), string(ignored))
	}
}

// notice says something to a person about their message. Of several such messages in a row the first gets it: two machines would otherwise
// write to each other for ever. In a group nothing is said.
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

// lookBack is the number of turns that are searched for the company's last one.
const lookBack = 20

// lastSaid returns the company's last turn to a person, or nil where none is among the newest turns.
func (m *Messaging) lastSaid(ctx context.Context, c *chats.Conversation) (last *chats.Turn, err error) {
	turns, err := m.o.Chats.TurnsBefore(ctx, c.CompanyID, c.ID, math.MaxInt64, lookBack)
	for i := range turns {
		if t := &turns[i]; t.Author != chats.Visitor && t.Author != chats.System && !t.Note {
			last = t
		}
	}
	return last, err
}

// oddEvery is the least time between two lines of a node about messages that are not understood.
const oddEvery = time.Minute

// odd logs the kind of a message that was not understood, of many one.
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
