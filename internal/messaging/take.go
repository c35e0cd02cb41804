package messaging

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"carillon"
	"carillon/internal/conversation"
	"carillon/internal/files"
	"carillon/internal/provider"
	"carillon/internal/store/chats"
	"carillon/internal/store/replies"
)

// ErrNoFile means that the channel does not have a file any more, or that it is too large.
var ErrNoFile = errors.New("the channel has no such file")

const (
	takeTimeout = 60 * time.Second
	takeLease   = takeTimeout + 15*time.Second // after that another node takes a message in
	takeTries   = 10
)

// TakeIn makes turns of what came in by now.
func (m *Messaging) TakeIn(ctx context.Context) error {
	for {
		waiting, err := m.o.Store.Waiting(ctx, m.now(), page)
		if err != nil || len(waiting) == 0 {
			return err
		}
		var all sync.WaitGroup
		room := make(chan struct{}, workers)
		taken := make(chan bool, len(waiting))
		for _, x := range waiting {
			room <- struct{}{}
			all.Go(func() {
				defer func() { <-room }()
				ok, err := m.takeIn(ctx, x)
				if err != nil && ctx.Err() == nil {
					m.o.Log.WarnContext(ctx, "take in a message", "company", x.CompanyID, "sender", x.SenderUID, "tries", x.Tries+1, "error", err)
				}
				taken <- ok
			})
		}
		all.Wait()
		close(taken)
		some := false
		for ok := range taken {
			some = some || ok
		}
		if !some || ctx.Err() != nil { // what failed is tried again once its lease has run out
			return ctx.Err()
		}
	}
}

// takeIn claims one message and makes a turn of it; false where another node has it, or it failed.
func (m *Messaging) takeIn(ctx context.Context, x *replies.Inbound) (bool, error) {
	now := m.now()
	if ok, err := m.o.Store.Claim(ctx, x, now, now.Add(takeLease)); !ok || err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, takeTimeout)
	defer cancel()
	var in provider.Inbound
	err := json.Unmarshal([]byte(x.Content), &in)
	if err == nil {
		err = m.take(ctx, x, &in)
	}
	if err != nil && x.Tries+1 < takeTries {
		return false, err
	}
	m.o.Observer.Wrote(in.Kind)
	return true, errors.Join(err, m.o.Store.Done(context.WithoutCancel(ctx), x))
}

// take makes a turn of a message. Done again it changes nothing.
func (m *Messaging) take(ctx context.Context, x *replies.Inbound, in *provider.Inbound) error {
	s, err := m.o.Sender(ctx, x.SenderUID)
	if carillon.IsCode(err, carillon.NotFound) {
		return nil // it was removed
	}
	if err != nil {
		return err
	}
	bound, err := m.o.Bound(ctx, s, in.From, in.ReplyTo)
	if err != nil {
		return err
	}
	c, err := m.open(ctx, s, in, bound)
	if err != nil {
		return err
	}
	if err := m.o.Store.SetWindow(ctx, &replies.Window{
		CompanyID: s.CompanyID, ConversationID: c.ID, SenderUID: s.UID, Number: in.From, LastID: in.ID, Until: in.At.Add(Window).UTC(),
	}); err != nil {
		return err
	}
	switch in.Kind {
	case provider.InboundReaction:
		return m.o.Conversations.Runner.Note(ctx, s.CompanyID, c.ID, in.ID, conversation.Reacted, in.Text)
	case provider.InboundUnsupported:
		return m.o.Conversations.Runner.Note(ctx, s.CompanyID, c.ID, in.ID, conversation.NotShown, in.Text)
	}
	if wish := wishOf(in.Text); wish != "" && in.File == nil {
		return m.obey(ctx, s, c, in, wish)
	}
	return m.say(ctx, s, c, in, bound)
}

// open is the conversation of a person with a company, which calls share.
func (m *Messaging) open(ctx context.Context, s *carillon.Sender, in *provider.Inbound, bound []*chats.Bound) (*chats.Conversation, error) {
	agentID, language := m.o.AgentOf(s), ""
	if agentID != "" {
		a, _, err := m.o.Agents.TalkingAgent(ctx, s.CompanyID, agentID)
		switch {
		case carillon.IsCode(err, carillon.NotFound):
			agentID = ""
		case err != nil:
			return nil, err
		default:
			language = a.Language
		}
	}
	if len(bound) > 0 {
		language = cmp.Or(bound[0].Language, language)
	}
	c, _, err := m.o.Conversations.Open(ctx, conversation.Start{
		Channel: "whatsapp", AgentID: agentID, Language: cmp.Or(language, "en"),
		Contact: chats.Contact{CompanyID: s.CompanyID, VisitorID: "tel:" + in.From, Verified: true, Number: in.From, Name: in.Name, Language: language},
	})
	return c, err
}

// say adds what the person says to the conversation.
func (m *Messaging) say(ctx context.Context, s *carillon.Sender, c *chats.Conversation, in *provider.Inbound, bound []*chats.Bound) error {
	said := conversation.Said{ClientID: in.ID, Kind: chats.KindText, Text: conversation.Clean(in.Text)}
	switch {
	case in.File != nil:
		f, err := m.file(ctx, s, c, in)
		if err != nil {
			return err
		}
		if f == nil {
			if err := m.o.Conversations.Runner.Note(ctx, s.CompanyID, c.ID, in.ID+":file", conversation.NotShown, cmp.Or(in.File.Name, in.File.Type)); err != nil || said.Text == "" {
				return err
			}
			break
		}
		said.Kind, said.File = chats.KindFile, f
	case in.Kind == provider.InboundChoice:
		said.Kind = chats.KindChoice
	}
	for _, b := range bound {
		begun, err := m.o.Begun(ctx, s.CompanyID, c.ID, b.NotificationID)
		if err != nil {
			return err
		}
		if !begun {
			said.Bound = b
			break
		}
	}
	_, after, err := m.o.Conversations.Say(ctx, s.CompanyID, c.ID, said)
	if err != nil {
		return err
	}
	if channel := m.o.Channels[s.Provider]; channel != nil && after.ReplySeq > 0 {
		if err := channel.MarkRead(ctx, s, in.ID, true); err != nil { // of no consequence
			m.o.Log.DebugContext(ctx, "mark a message read", "company", s.CompanyID, "error", err)
		}
	}
	return nil
}

// file stores a file that the person sent; nil: it is none that is taken.
func (m *Messaging) file(ctx context.Context, s *carillon.Sender, c *chats.Conversation, in *provider.Inbound) (*chats.File, error) {
	channel := m.o.Channels[s.Provider]
	if channel == nil {
		return nil, nil
	}
	content, mime, err := channel.File(ctx, s, in.File.ID, m.o.Files.Most())
	if errors.Is(err, ErrNoFile) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	name := cmp.Or(in.File.Name, strings.ReplaceAll(cmp.Or(in.File.Type, mime), "/", "."))
	f, err := m.o.Files.Put(ctx, files.From{CompanyID: s.CompanyID, ConversationID: c.ID, SentBy: c.ContactID, Visitor: true}, name, bytes.NewReader(content))
	if carillon.IsCode(err, carillon.ValidationFailed) || carillon.IsCode(err, carillon.LimitExceeded) {
		return nil, nil
	}
	return f, err
}

// obey has a person get no more messages, or get them again, and confirms it.
func (m *Messaging) obey(ctx context.Context, s *carillon.Sender, c *chats.Conversation, in *provider.Inbound, wish wish) error {
	runner, texts := m.o.Conversations.Runner, textsOf(wishLanguage(in.Text), c.Language)
	if _, _, err := m.o.Conversations.Say(ctx, s.CompanyID, c.ID, conversation.Said{
		ClientID: in.ID, Kind: chats.KindText, Text: conversation.Clean(in.Text), Quiet: true,
	}); err != nil {
		return err
	}
	what, text := conversation.Started, texts.started
	if wish == stop {
		what, text = conversation.Stopped, texts.stopped
		if err := m.o.Suppress(ctx, s.CompanyID, in.From); err != nil {
			return fmt.Errorf("suppress a number: %w", err)
		}
		if err := runner.Stop(ctx, s.CompanyID, c.ID, strings.TrimSpace(in.Text)); err != nil {
			return err
		}
	} else if err := m.o.Lift(ctx, s.CompanyID, in.From); err != nil {
		return fmt.Errorf("lift a suppression: %w", err)
	}
	if err := runner.Note(ctx, s.CompanyID, c.ID, in.ID+":wish", what, ""); err != nil {
		return err
	}
	return runner.Say(ctx, s.CompanyID, c.ID, in.ID, text)
}
