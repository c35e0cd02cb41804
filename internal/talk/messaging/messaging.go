// Package messaging holds conversations over a messaging channel: what people write to a sender becomes turns, and what agents, flows and
// teammates say is sent to them, as long as the channel allows it.
//
//	callback ─▶ Receive ─▶ inbound_message ─▶ conversation ─▶ agent, flow or teammate ─▶ reply ─▶ channel ─▶ Receipts
//
// A message that came in is stored before the channel gets its 200, and known again when it is repeated. Replies of a conversation are
// sent one after the other; an attempt whose outcome is unknown is not repeated.
package messaging

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/base/share"
	"carillon/internal/store/chats"
	"carillon/internal/store/events"

	"carillon/internal/talk/conversation"
	"carillon/internal/talk/files"
)

// Channel sends replies and reads files; whatsapp.Client is one.
type Channel interface {
	SendReply(ctx context.Context, s *carillon.Sender, m *provider.Reply) provider.Outcome
	// File reads a file that a person sent, of at most `most` bytes. Errors: provider.ErrNoFile, provider.ErrFileTooLarge.
	File(ctx context.Context, s *carillon.Sender, id string, most int64) (content []byte, mime string, err error)
	MarkRead(ctx context.Context, s *carillon.Sender, id string, typing bool) error
}

// Options configure Messaging; all are required but Proved, Observer, Now, Shares and Alone.
type Options struct {
	Store         *chats.Replies
	Chats         *chats.Store
	Contacts      *chats.Contacts
	Conversations *conversation.Conversations
	Agents        conversation.Agents
	Files         *files.Files
	Channels      map[string]Channel // by provider
	// Sender finds a sender of any company. Errors: not_found.
	Sender func(ctx context.Context, uid int64) (*carillon.Sender, error)
	// AgentOf is the id of the agent that answers for a sender; "": flows and teammates alone. By default its settings name it.
	AgentOf func(s *carillon.Sender) string
	// Portfolio is the scope of the channel's ids of people that a sender gets.
	Portfolio func(s *carillon.Sender) string
	// Bound returns the notifications with a name_event that a message of a person with some lines may reply to, the newest
	// first.
	Bound func(ctx context.Context, s *carillon.Sender, lines []identity.Key, replyTo string) ([]*chats.Bound, error)
	// Sent returns the text of a notification's message as the person saw it, by the provider's id of it; empty for messages to others.
	Sent func(ctx context.Context, s *carillon.Sender, lines []identity.Key, providerID string) (string, error)
	// Proved records that a notification's message to a person with some lines has arrived: the person answers it by a
	// provider's id that no message has, and it is the only one with an unknown outcome. It reports whether there is one.
	// Optional.
	Proved func(ctx context.Context, s *carillon.Sender, lines []identity.Key, providerID string) (bool, error)
	// Begun reports whether a notification has begun a flow in a conversation.
	Begun func(ctx context.Context, companyID, conversationID, notificationID string) (bool, error)
	// Suppress has the person with a number or an id of the channel get nothing any more, Lift has them get messages again.
	Suppress func(ctx context.Context, companyID string, addresses ...string) error
	Lift     func(ctx context.Context, companyID string, who identity.Key) error
	// Suppressed reports whether a person does not get all messages.
	Suppressed func(ctx context.Context, companyID string, who identity.Key) (bool, error)
	// FileURL is an address at which the channel can load a file of ours.
	FileURL   func(f *chats.File) string
	Publisher conversation.Publisher
	Observer  Observer // default: nobody
	Log       *slog.Logger
	Now       func() time.Time // default time.Now
	Shares    *share.Set       // nil: shares of its own
	// Alone says that no other node has this database: what is being taken in or sent at the start was left by a stop.
	Alone bool
	Node  string // this node's id in the table of nodes; "" where it is alone
}

// Observer is called for what happens, for metrics.
type Observer interface {
	// Wrote is called for a message of a person and what became of it: shown, declined, failed, applied or ignored. Replied is called for
	// a reply that came into a state.
	Wrote(label, result string)
	Replied(state string)
}

type nobody struct{}

func (nobody) Wrote(string, string) {}
func (nobody) Replied(string)       {}

// Messaging is the conversations over messaging channels. Make it with New; Run does its work.
type Messaging struct {
	o    Options
	came chan struct{} // something came in
	said chan struct{} // something is to be sent
	left chan struct{} // a node was declared dead

	mu     sync.Mutex
	typing map[string]time.Time // by conversation: when the channel last showed that somebody writes
	oddAt  time.Time            // when it was last logged that a message was not understood
}

// New builds Messaging.
func New(o Options) *Messaging {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Observer == nil {
		o.Observer = nobody{}
	}
	if o.AgentOf == nil {
		o.AgentOf = agentOf
	}
	m := &Messaging{
		o: o, came: make(chan struct{}, 1), said: make(chan struct{}, 1), left: make(chan struct{}, 1), typing: map[string]time.Time{},
	}
	o.Conversations.OnSpoke(m.Said)
	return m
}

// agentOf is the id of the agent in a sender's settings.
func agentOf(s *carillon.Sender) string {
	var settings struct {
		Agent string `json:"agent"`
	}
	if json.Unmarshal(s.Settings, &settings) != nil {
		return ""
	}
	return settings.Agent
}

// now is the time as the database holds it.
func (m *Messaging) now() time.Time { return m.o.Now().Truncate(time.Millisecond).UTC() }

// Window is how long after a person's last message replies may be sent.
const Window = 24 * time.Hour

const (
	poll = time.Second
	page = 200
)

// Run takes in what came and sends replies until ctx ends.
func (m *Messaging) Run(ctx context.Context) error {
	m.recover(ctx, m.o.Alone)
	intakes, sends := m.intakes(), m.sends()
	var all sync.WaitGroup
	all.Go(func() { m.loop(ctx, m.came, "take in messages", intakes.Begin) })
	all.Go(func() { m.loop(ctx, m.said, "send replies", sends.Begin) })
	all.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-m.left:
				m.recover(ctx, false)
			}
		}
	})
	all.Wait()
	intakes.Wait()
	sends.Wait()
	return nil
}

// recover takes up what nodes were taking in or sending that are no more.
func (m *Messaging) recover(ctx context.Context, alone bool) {
	if err := m.o.Store.Recover(ctx, m.now(), alone); err != nil && ctx.Err() == nil {
		m.o.Log.WarnContext(ctx, "take up messages", "error", err)
	}
	poke(m.came)
	poke(m.said)
}

// Deposed has taken up what a node left that was declared dead.
func (m *Messaging) Deposed() { poke(m.left) }

func (m *Messaging) loop(ctx context.Context, wake chan struct{}, what string, work func(ctx context.Context) error) {
	for {
		if err := work(ctx); err != nil && ctx.Err() == nil {
			m.o.Log.WarnContext(ctx, what, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case <-time.After(poll):
		}
	}
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Said has replies sent that were stored in a conversation. Without it they are sent a moment later.
func (m *Messaging) Said() { poke(m.said) }

// Receive stores what people wrote to a sender. After a nil error it is durable.
func (m *Messaging) Receive(ctx context.Context, s *carillon.Sender, all []provider.Inbound) error {
	if len(all) == 0 {
		return nil
	}
	now := m.now()
	all = slices.Clone(all)
	for i := range all {
		if all[i].At.IsZero() { // the channel does not say when
			all[i].At = now
		}
	}
	slices.SortStableFunc(all, func(a, b provider.Inbound) int { return a.At.Compare(b.At) })
	rows := make([]chats.Inbound, len(all))
	for i := range all {
		content, err := json.Marshal(&all[i])
		if err != nil {
			return fmt.Errorf("store an inbound message: %w", err)
		}
		rows[i] = chats.Inbound{
			SenderUID: s.UID, ProviderID: all[i].ID, CompanyID: s.CompanyID, Person: personOf(&all[i]), Content: string(content),
			ReceivedAt: now.Add(time.Duration(i) * time.Millisecond), // they are taken in in this order
		}
	}
	if _, err := m.o.Store.Receive(ctx, rows); err != nil {
		return err
	}
	poke(m.came)
	return nil
}

// personOf is whose messages follow each other: by the channel's id of the person where it says one, for the number may be there or not.
func personOf(x *provider.Inbound) string { return cmp.Or(x.UserID, identity.Number(x.From).String()) }

// Receipts stores what the channel reports of replies.
func (m *Messaging) Receipts(ctx context.Context, s *carillon.Sender, all []provider.ReplyReceipt) error {
	for _, x := range all {
		r := &chats.Reply{
			CompanyID: s.CompanyID, ConversationID: x.Ref.ConversationID, Seq: x.Ref.Seq, State: string(x.State), ProviderID: x.ProviderID,
			Reason: string(x.Reason), Detail: x.Detail,
		}
		risen, err := m.o.Store.Receipt(ctx, s.UID, r, m.now())
		if err != nil {
			return err
		}
		if risen {
			m.show(r)
		}
		if x.Reason == provider.ReasonWindowClosed { // also where it is known already: the run may not have been ended
			if err := m.refused(ctx, r); err != nil {
				return err
			}
		}
	}
	poke(m.said)
	return nil
}

// Delivery is where a reply stands, as screens show it.
type Delivery struct {
	Seq    int64  `json:"seq"`
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// show counts a reply in a state, and passes the state on to the screens of its conversation.
func (m *Messaging) show(r *chats.Reply) {
	m.o.Observer.Replied(r.State)
	text, _ := json.Marshal(Delivery{r.Seq, r.State, r.Reason, r.Detail}) // texts and a number
	for _, topic := range []string{chats.Topic(r.ConversationID), chats.InboxTopic} {
		m.o.Publisher.Publish(&events.Event{
			CompanyID: r.CompanyID, Topic: topic, Kind: "delivery", Subject: r.ConversationID, Payload: text, At: m.now(),
		})
	}
}

const (
	typedEvery = 10 * time.Second // the channel shows for 25 s that somebody writes
	maxTyped   = 1000             // conversations
)

// typed reports whether the channel is to show again that somebody writes in a conversation.
func (m *Messaging) typed(conversationID string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if now.Sub(m.typing[conversationID]) < typedEvery {
		return false
	}
	if len(m.typing) >= maxTyped {
		clear(m.typing)
	}
	m.typing[conversationID] = now
	return true
}

// Read reports to the channel that a person's last message was read, and where typing is true that a reply is being written.
func (m *Messaging) Read(ctx context.Context, companyID, conversationID string, typing bool) error {
	if typing && !m.typed(conversationID) {
		return nil
	}
	w, err := m.o.Store.Window(ctx, companyID, conversationID)
	if err != nil || w == nil || m.now().After(w.Until) {
		return err
	}
	s, err := m.o.Sender(ctx, w.SenderUID)
	if err != nil {
		return err
	}
	if channel := m.o.Channels[s.Provider]; channel != nil {
		return channel.MarkRead(ctx, s, w.LastID, typing)
	}
	return nil
}
