package walks

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/store/chats"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"
	"carillon/internal/talk/conversation"
	"carillon/internal/talk/files"
	"carillon/internal/talk/messaging"
)

const (
	repeatAfter = 300 * time.Millisecond // wait before a repeated answer
	lateAfter   = 10 * time.Minute       // wait before a late answer in writing
)

// chatter writes and taps in a chat.
type chatter struct {
	*site
	conversation string
	n            int
}

func inChat(x *site) person { return &chatter{site: x, conversation: x.open("web_chat")} }

func (p *chatter) id() string { return p.conversation }
func (p *chatter) leave()     {}

func (p *chatter) say(kind, text string) {
	p.t.Helper()
	p.n++
	in := conversation.Said{ClientID: fmt.Sprint(p.n), Kind: kind, Text: text}
	if _, _, err := p.talks.Say(p.t.Context(), p.company, p.conversation, in); err != nil {
		p.t.Fatal(err)
	}
}

func (p *chatter) begin() { p.say(chats.KindText, "begin") }

func (p *chatter) answers(a answer, w way) {
	kind := chats.KindText
	if a.choice > 0 {
		kind = chats.KindChoice
	}
	p.asked(p.conversation, a.question)
	switch w {
	case early:
	case late:
		time.Sleep(lateAfter)
	case interrupted:
		p.restart()
		time.Sleep(2 * time.Second)
	default:
		time.Sleep(2 * time.Second)
	}
	p.say(kind, a.text)
	if w == twice {
		time.Sleep(repeatAfter)
		p.say(kind, a.text)
	}
}

// texter writes and taps on WhatsApp.
type texter struct {
	*site
	sender   *carillon.Sender
	messages *messaging.Messaging
	stop     func()
	n        int

	mu      sync.Mutex
	arrived []provider.Reply // delivered messages; the ID of a message is its position
}

const number = "34600111222"

func onWhatsApp(x *site) person {
	p := &texter{site: x}
	p.sender = &carillon.Sender{
		CompanyID: x.company, ID: "main", Number: "15555550100", Channel: carillon.Messaging, Provider: "test", Default: true,
		MediaCheck: "syntax", Unknown: carillon.DefaultUnknownPolicy(), Settings: []byte(`{}`),
	}
	put := func(ctx context.Context, tx *configure.Tx) error {
		return settings.PutSender(ctx, tx, p.sender, time.Now())
	}
	if err := x.store.Config.Change(x.t.Context(), put); err != nil {
		x.t.Fatal(err)
	}
	p.connect()
	return p
}

// connect starts the messaging part of a node.
func (p *texter) connect() {
	s, no := p.store, func(context.Context, string) (bool, error) { return false, nil }
	node := carillon.NewID(time.Now())
	if err := s.Nodes.Join(p.t.Context(), node, "node"); err != nil {
		p.t.Fatal(err)
	}
	p.messages = messaging.New(messaging.Options{
		Store: s.Replies, Chats: s.Chats, Contacts: s.Contacts, Conversations: p.talks, Agents: p,
		Files:    files.New(s.Files, files.Options{Keys: s.Config.Derived, Suspended: no}),
		Channels: map[string]messaging.Channel{"test": p}, Sender: s.Senders.Sender,
		AgentOf:   func(*carillon.Sender) string { return agentID },
		Portfolio: func(*carillon.Sender) string { return "" },
		Bound: func(context.Context, *carillon.Sender, []identity.Key, string) ([]*chats.Bound, error) {
			return nil, nil
		},
		Sent:       func(context.Context, *carillon.Sender, []identity.Key, string) (string, error) { return "", nil },
		Begun:      s.Runs.Begun,
		Suppressed: func(context.Context, string, identity.Key) (bool, error) { return false, nil },
		Publisher:  p.hub, Log: slog.New(slog.DiscardHandler), Node: node, Alone: true,
	})
	p.stop = running(p.t, p.messages.Run)
}

// SendReply implements messaging.Channel. A message takes a second.
func (p *texter) SendReply(_ context.Context, _ *carillon.Sender, m *provider.Reply) provider.Outcome {
	time.Sleep(time.Second)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.arrived = append(p.arrived, *m)
	return provider.Outcome{Verdict: provider.Sent, ProviderID: fmt.Sprint("wamid.out.", len(p.arrived))}
}

// File implements messaging.Channel.
func (*texter) File(context.Context, *carillon.Sender, string, int64) ([]byte, string, error) {
	return nil, "", provider.ErrNoFile
}

// MarkRead implements messaging.Channel.
func (*texter) MarkRead(context.Context, *carillon.Sender, string, bool) error { return nil }

// gets waits until a message has arrived, and returns its channel ID.
func (p *texter) gets(text string) (id string) {
	p.t.Helper()
	p.until("a message arrives: "+text, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		id = fmt.Sprint("wamid.out.", len(p.arrived))
		return len(p.arrived) > 0 && p.arrived[len(p.arrived)-1].Text == text
	})
	return id
}

func (p *texter) write(in provider.Inbound) {
	p.t.Helper()
	p.n++
	in.ID, in.From, in.At = fmt.Sprint("wamid.in.", p.n), number, time.Now()
	if err := p.messages.Receive(p.t.Context(), p.sender, []provider.Inbound{in}); err != nil {
		p.t.Fatal(err)
	}
}

func (p *texter) begin() {
	p.write(provider.Inbound{Kind: provider.InboundText, Text: "begin"})
	p.until("the conversation begins", func() bool { return p.id() != "" })
}

func (p *texter) id() string {
	c, err := p.store.Chats.OfPerson(p.t.Context(), p.company, identity.Identity{Kind: identity.Line, Key: identity.Number(number)})
	if err != nil {
		p.t.Fatal(err)
	}
	if c == nil {
		return ""
	}
	return c.ID
}

func (p *texter) leave() { p.stop() }

func (p *texter) answers(a answer, w way) {
	in := provider.Inbound{Kind: provider.InboundText, Text: a.text}
	p.asked(p.id(), a.question)
	if w != early { // it has arrived
		question := p.gets(a.question)
		if a.choice > 0 {
			in.Kind, in.Payload, in.ReplyTo = provider.InboundChoice, provider.ChoicePrefix+fmt.Sprint(a.choice), question
		}
	}
	switch w {
	case early:
	case late:
		time.Sleep(lateAfter)
	case interrupted:
		p.stop()
		p.restart()
		p.connect()
		time.Sleep(2 * time.Second)
	default:
		time.Sleep(2 * time.Second)
	}
	p.write(in)
	if w == twice {
		time.Sleep(repeatAfter)
		p.write(in)
	}
}
