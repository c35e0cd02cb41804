package messaging

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"carillon/internal/base/provider"
	"carillon/internal/store/chats"
	"carillon/internal/talk/conversation"
	"carillon/internal/talk/flow"
)

// wish returns the request in a message, such as STOP, which is always obeyed. START counts only if messages to the
// person are suppressed; otherwise it is an ordinary word.
func (m *Messaging) wish(ctx context.Context, t *taking) (asked, error) {
	a, err := m.asks(ctx, t)
	if err != nil || a.wish != start {
		return a, err
	}
	suppressed, err := m.o.Suppressed(ctx, t.sender.CompanyID, t.who)
	if !suppressed {
		a = asked{}
	}
	return a, err
}

// asks returns the request in the words of a message. Words that are also ordinary answers do not count if they were
// tapped or offered as a choice, or if they start a flow.
func (m *Messaging) asks(ctx context.Context, t *taking) (asked, error) {
	switch {
	case t.File != nil, t.Form != nil, t.Order != nil, t.Cards != nil, t.Place != nil:
		return asked{}, nil
	case t.Kind == provider.InboundChoice:
		for _, text := range []string{t.Payload, t.Text} {
			if a := wishOf(text); a.wish != "" && !a.answer {
				return a, nil
			}
		}
		return asked{}, nil
	}
	a := wishOf(t.Text)
	if !a.answer {
		return a, nil
	}
	offered, err := m.offered(ctx, t)
	if offered || err != nil {
		a = asked{}
	}
	return a, err
}

// offered reports whether a text is one of the company's last offered choices, or a keyword of a flow.
func (m *Messaging) offered(ctx context.Context, t *taking) (bool, error) {
	last, err := m.lastSaid(ctx, t.conversation)
	if err != nil {
		return false, err
	}
	plain := flow.Plain(t.Text)
	if last != nil && slices.ContainsFunc(last.Extra.Choices, func(c string) bool { return flow.Plain(c) == plain }) {
		return true, nil
	}
	return m.o.Conversations.Runner.Keyword(ctx, t.sender.CompanyID, t.Text)
}

// obey stops messages to a person, or allows them again, and confirms it. For START, the suppression is lifted last:
// START is a request only while it exists, so after a crash all steps are repeated.
func (m *Messaging) obey(ctx context.Context, t *taking, a asked) error {
	company, id := t.sender.CompanyID, t.conversation.ID
	runner, texts := m.o.Conversations.Runner, textsOf(a.language(t.conversation.Language), t.conversation.Language)
	if _, _, err := m.o.Conversations.Say(ctx, company, id, conversation.Said{
		ClientID: t.ID, Kind: chats.KindText, Text: conversation.Clean(t.Text), Quiet: true, Of: t.to.seq, About: t.to.text,
		Enclosed: t.Enclosed,
	}); err != nil {
		return err
	}
	what, text := conversation.Started, texts.started
	if a.wish == stop {
		what, text = conversation.Stopped, texts.stopped
		if err := m.o.Suppress(ctx, company, t.Person()); err != nil {
			return fmt.Errorf("suppress a number: %w", err)
		}
		if err := runner.Stop(ctx, company, id, strings.TrimSpace(t.Text)); err != nil {
			return err
		}
	}
	if err := runner.Note(ctx, company, id, t.ID+":wish", "", chats.Extra{Event: what}); err != nil {
		return err
	}
	if err := runner.Say(ctx, company, id, t.ID, text); err != nil {
		return err
	}
	if a.wish == start {
		if err := m.o.Lift(ctx, company, t.who); err != nil {
			return fmt.Errorf("lift a suppression: %w", err)
		}
	}
	return nil
}
