package messaging

import (
	"cmp"
	"context"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/store/chats"
	"carillon/internal/talk/conversation"
)

// echo stores a message that the team wrote in the channel's own app. It is a reply of the team: it opens no window and
// asks nobody for anything. It is idempotent.
func (m *Messaging) echo(ctx context.Context, s *carillon.Sender, in *provider.Inbound) (result, error) {
	lines, err := m.lines(ctx, s, in)
	if err != nil {
		return failed, err
	}
	if text, err := m.o.Sent(ctx, s, lines, in.ID); err != nil || text != "" { // this program sent it
		return applied, err
	}
	c, err := m.open(ctx, s, in, nil)
	if err != nil {
		return failed, err
	}
	if seq, err := m.o.Store.SeqOf(ctx, s.CompanyID, c.ID, in.ID); err != nil || seq > 0 {
		return applied, err
	}
	if err := m.address(ctx, s, c, in); err != nil {
		return failed, err
	}
	to, err := m.answered(ctx, s, c, in, lines)
	if err != nil {
		return failed, err
	}
	t := &taking{Inbound: in, sender: s, conversation: c, to: to}
	switch in.Kind {
	case provider.InboundReaction:
		return shown, m.note(ctx, t, conversation.Reacted)
	case provider.InboundEvent:
		return shown, m.note(ctx, t, cmp.Or(eventNames[t.Event], conversation.NotShown))
	case provider.InboundText, provider.InboundChoice, provider.InboundMedia, provider.InboundNumber, provider.InboundIdentity,
		provider.InboundUnsupported:
	}
	turn, err := m.echoed(ctx, t)
	if err != nil {
		return failed, err
	}
	return shown, m.o.Conversations.Desk.Elsewhere(ctx, s.CompanyID, c.ID, t.ID, turn)
}

// address stores the address of a person who has not written, with a closed window: only a template reaches the person.
func (m *Messaging) address(ctx context.Context, s *carillon.Sender, c *chats.Conversation, in *provider.Inbound) error {
	if in.Group != "" {
		return nil
	}
	return m.o.Store.SetWindow(ctx, &chats.Window{
		CompanyID: s.CompanyID, ConversationID: c.ID, SenderUID: s.UID, Number: in.From, UserID: in.UserID,
	})
}

// echoed returns the turn of a message that the team wrote in the channel's own app. One that cannot be shown is an event.
func (m *Messaging) echoed(ctx context.Context, t *taking) (chats.Turn, error) {
	turn := chats.Turn{Author: chats.Teammate, Kind: chats.KindText, Text: conversation.Clean(t.Text), Extra: chats.Extra{
		Of: t.to.seq, About: t.to.text, Enclosed: t.Enclosed,
	}}
	event := func(name string) {
		turn.Author, turn.Kind, turn.Extra.Event = chats.System, chats.KindEvent, name
	}
	switch {
	case t.Kind == provider.InboundUnsupported:
		m.odd(ctx, t)
		event(conversation.NotShown)
	case t.File != nil:
		f, why, err := m.file(ctx, t)
		if err != nil {
			return turn, err
		}
		if f != nil {
			turn.Kind, turn.Extra.File = chats.KindFile, f
			break
		}
		event(conversation.NoFile)
		turn.Text, turn.Extra.Why = cmp.Or(turn.Text, t.File.Name, mediaType(t.File.Type)), why
	}
	return turn, nil
}
