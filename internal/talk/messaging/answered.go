package messaging

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/store/chats"
)

// answered is the message that a contact replies or reacts to. The zero value means none.
type answered struct {
	seq     int64  // turn, or 0 if it is a notification's message or unknown
	text    string // its beginning
	choices []string
	ids     []string // of choices, if an application chose them
}

// maxAbout is the maximum length of the quoted beginning of a message, in characters.
const maxAbout = 120

// answered finds the message that the contact replies to: a reply of the company, a message of the contact, or one of
// a notification.
func (m *Messaging) answered(
	ctx context.Context, s *carillon.Sender, c *chats.Conversation, in *provider.Inbound, lines []identity.Key,
) (answered, error) {
	if in.ReplyTo == "" {
		return answered{}, nil
	}
	t, err := m.referenced(ctx, c, in.ReplyTo)
	if err != nil {
		return answered{}, err
	}
	if t == nil {
		text, err := m.o.Sent(ctx, s, lines, in.ReplyTo)
		if err != nil || text != "" || in.Echo { // only an answer of the person proves a delivery
			return answered{text: begin(text)}, err
		}
		if t, err = m.proved(ctx, s, c, in); err != nil {
			return answered{}, err
		}
		if t == nil {
			return m.provedSent(ctx, s, in, lines)
		}
	}
	text := t.Text
	if text == "" && t.Extra.File != nil {
		text = t.Extra.File.Name
	}
	return answered{t.Seq, begin(text), t.Extra.Choices, t.Extra.ChoiceIDs}, nil
}

// referenced returns the turn of a conversation with the channel's id; nil if there is none.
func (m *Messaging) referenced(ctx context.Context, c *chats.Conversation, id string) (*chats.Turn, error) {
	seq, err := m.o.Store.SeqOf(ctx, c.CompanyID, c.ID, id)
	if err != nil {
		return nil, err
	}
	if seq > 0 {
		turns, err := m.o.Chats.TurnsBefore(ctx, c.CompanyID, c.ID, seq+1, 1)
		if err != nil || len(turns) == 0 || turns[0].Seq != seq {
			return nil, err
		}
		return &turns[0], nil
	}
	for _, author := range []chats.Author{chats.Visitor, chats.Teammate} { // teammate: written in the channel's own app
		if t, err := m.o.Chats.TurnBy(ctx, c.CompanyID, c.ID, string(author)+":"+id); err != nil || t != nil {
			return t, err
		}
	}
	return nil, nil
}

// maxUnproven is the number of unproven replies that a message is compared with.
const maxUnproven = 10

// proved finds the answered turn among replies whose delivery is unconfirmed, because the channel has not reported
// their ID. The answer proves the delivery, so proved marks that reply as delivered. It returns nil if there is none.
func (m *Messaging) proved(ctx context.Context, s *carillon.Sender, c *chats.Conversation, in *provider.Inbound) (*chats.Turn, error) {
	all, err := m.o.Store.Unproven(ctx, s.CompanyID, c.ID, maxUnproven)
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		turns, err := m.o.Chats.TurnsBefore(ctx, s.CompanyID, c.ID, r.Seq+1, 1)
		if err != nil {
			return nil, err
		}
		if len(turns) == 0 || turns[0].Seq != r.Seq || in.Kind == provider.InboundChoice && !offers(&turns[0], in) {
			continue
		}
		r.State, r.ProviderID, r.Reason, r.Detail = string(carillon.StateDelivered), in.ReplyTo, "", ""
		risen, err := m.o.Store.Receipt(ctx, s.UID, r, m.now())
		if err != nil {
			return nil, err
		}
		if risen {
			m.show(r)
		}
		poke(m.said)
		return &turns[0], nil
	}
	return nil, nil
}

// provedSent does the same as proved for a button of a notification's message.
func (m *Messaging) provedSent(ctx context.Context, s *carillon.Sender, in *provider.Inbound, lines []identity.Key) (answered, error) {
	if m.o.Proved == nil || in.Kind != provider.InboundChoice {
		return answered{}, nil
	}
	known, err := m.o.Proved(ctx, s, lines, in.ReplyTo)
	if err != nil || !known {
		return answered{}, err
	}
	text, err := m.o.Sent(ctx, s, lines, in.ReplyTo)
	return answered{text: begin(text)}, err
}

// offers reports whether a turn offers the selected choice. The channel may have truncated the choice's text.
func offers(t *chats.Turn, in *provider.Inbound) bool {
	if slices.Contains(t.Extra.ChoiceIDs, in.Payload) {
		return true
	}
	taken := answered{choices: t.Extra.Choices}.choice(in.Payload)
	return taken != "" && strings.HasPrefix(taken, strings.TrimRight(in.Text, "…"))
}

// choice returns the full text of a choice by the ID it was sent with, since the channel truncates long texts. It
// returns "" if unknown.
func (a answered) choice(payload string) string {
	n, ok := strings.CutPrefix(payload, provider.ChoicePrefix)
	if i, err := strconv.Atoi(n); ok && err == nil && i >= 1 && i <= len(a.choices) {
		return a.choices[i-1]
	}
	return ""
}

// choiceID returns the application's id of a choice. The sandbox sends our own.
func (a answered) choiceID(payload string) string {
	n, own := strings.CutPrefix(payload, provider.ChoicePrefix)
	if i, err := strconv.Atoi(n); own && err == nil && i >= 1 && i <= len(a.ids) {
		return a.ids[i-1]
	}
	if slices.Contains(a.ids, payload) {
		return payload
	}
	return ""
}

// begin returns the beginning of a text, on one line.
func begin(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > maxAbout {
		return string(r[:maxAbout-1]) + "…"
	}
	return text
}

// starts returns the notification whose flow the message starts: the first that has not begun a flow yet.
// Notifications whose event starts no flow are recorded in the conversation and skipped.
func (m *Messaging) starts(ctx context.Context, t *taking) (*chats.Bound, error) {
	runner, companyID, id := m.o.Conversations.Runner, t.sender.CompanyID, t.conversation.ID
	for _, b := range t.bound {
		unknown, err := runner.Unknown(ctx, companyID, id, *b)
		if err != nil {
			return nil, err
		}
		if unknown {
			continue
		}
		begun, err := m.o.Begun(ctx, companyID, id, b.NotificationID)
		if err != nil || !begun {
			return b, err
		}
	}
	return nil, nil
}
