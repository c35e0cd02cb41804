// Package messaging handles conversations over a messaging channel: messages of people to a sender become turns, and
// turns of agents, flows and teammates are sent to them as long as the channel allows it.
//
//	callback ─▶ Receive ─▶ inbound_message ─▶ conversation ─▶ agent, flow or teammate ─▶ reply ─▶ channel ─▶ Receipts
//
// An incoming message is stored before the channel gets its 200, and recognized if it is repeated. Replies of a
// conversation are sent one at a time; an attempt with an unknown outcome is not repeated.
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

// Channel sends replies and downloads files. whatsapp.Client implements it.
type Channel interface {
	SendReply(ctx context.Context, s *carillon.Sender, m *provider.Reply) provider.Outcome
	// File downloads a file that a person sent, of at most `most` bytes. Errors: provider.ErrNoFile,
	// provider.ErrFileTooLarge.
	File(ctx context.Context, s *carillon.Sender, id string, most int64) (content []byte, mime string, err error)
	MarkRead(ctx context.Context, s *carillon.Sender, id string, typing bool) error
}

// Options configure Messaging. All fields are required except Replied, Proved, Observer, Now, Shares and Alone.
type Options struct {
	Store         *chats.Replies
	Chats         *chats.Store
	Contacts      *chats.Contacts
	Conversations *conversation.Conversations
	Agents        conversation.Agents
	Files         *files.Files
	Channels      map[string]Channel // by provider
	// Sender returns a sender of any company. Errors: not_found.
	Sender func(ctx context.Context, uid int64) (*carillon.Sender, error)
	// Senders returns the company's senders with an id or number.
	Senders func(ctx context.Context, companyID, name string) ([]*carillon.Sender, error)
	// AgentOf returns the ID of the agent that answers for a sender, or "" if only flows and teammates do. The default
	// reads it from the sender's settings.
	AgentOf func(s *carillon.Sender) string
	// Portfolio returns the scope in which the channel's IDs of people are valid for a sender.
	Portfolio func(s *carillon.Sender) string
	// Bound returns the notifications with a name_event that a message of the person with these lines may reply to,
	// newest first.
	Bound func(ctx context.Context, s *carillon.Sender, lines []identity.Key, replyTo string) ([]*chats.Bound, error)
	// Sent returns the text of a notification's message as the person saw it, by its provider ID, or "" for messages
	// to others.
	Sent func(ctx context.Context, s *carillon.Sender, lines []identity.Key, providerID string) (string, error)
	// Replied counts what the person with these lines wrote at a time as a reply to a notification's message; optional.
	Replied func(ctx context.Context, s *carillon.Sender, lines []identity.Key, replyTo string, at time.Time) error
	// Proved records the delivery of a notification's message to the person with these lines. It applies if the person
	// replies to a provider ID that no message has and exactly one message has an unknown outcome. It reports whether
	// there was one. Optional.
	Proved func(ctx context.Context, s *carillon.Sender, lines []identity.Key, providerID string) (bool, error)
	// Begun reports whether a notification has begun a flow in a conversation.
	Begun func(ctx context.Context, companyID, conversationID, notificationID string) (bool, error)
	// Suppress stops all messages to the person with these addresses (numbers or IDs of the channel). Lift allows
	// messages again.
	Suppress func(ctx context.Context, companyID string, addresses ...string) error
	Lift     func(ctx context.Context, companyID string, who identity.Key) error
	// Suppressed reports whether any messages to a person are suppressed.
	Suppressed func(ctx context.Context, companyID string, who identity.Key) (bool, error)
	// FileURL returns an address at which the channel can download one of a company's files.
	FileURL   func(ctx context.Context, companyID string, f *chats.File) (string, error)
	Publisher conversation.Publisher
	Observer  Observer // default: no-op
	Log       *slog.Logger
	Now       func() time.Time // default time.Now
	Shares    *share.Set       // nil: a new set
	// Alone means that no other node uses this database: unfinished work at the start was left by a previous process.
	Alone bool
	Node  string // ID of this node in the table of nodes; empty if it is the only one
}

// Observer receives events for metrics.
type Observer interface {
	// Wrote is called for an incoming message and its result: shown, declined, failed, applied or ignored. Replied is
	// called for a reply that changed its state.
	Wrote(label, result string)
	Replied(state string)
}

type nobody struct{}

func (nobody) Wrote(string, string) {}
func (nobody) Replied(string)       {}

// Messaging manages the conversations over messaging channels. New builds it; Run does its work.
type Messaging struct {
	o    Options
	came chan struct{} // signals that a message arrived
	said chan struct{} // signals that a reply is to be sent
	left chan struct{} // signals that a node was declared dead

	mu     sync.Mutex
	typing map[string]time.Time // by conversation: when the typing indicator was last sent
	oddAt  time.Time            // time of the last log line about a message that was not understood
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
		o.AgentOf = AgentOf
	}
	m := &Messaging{
		o: o, came: make(chan struct{}, 1), said: make(chan struct{}, 1), left: make(chan struct{}, 1), typing: map[string]time.Time{},
	}
	o.Conversations.OnSpoke(m.Said)
	return m
}

// AgentOf returns the ID of the agent in a sender's settings.
func AgentOf(s *carillon.Sender) string {
	var settings struct {
		Agent string `json:"agent"`
	}
	if json.Unmarshal(s.Settings, &settings) != nil {
		return ""
	}
	return settings.Agent
}

// now returns the current time at the precision of the database.
func (m *Messaging) now() time.Time { return m.o.Now().Truncate(time.Millisecond).UTC() }

// Window is the time after a person's last message in which replies may be sent.
const Window = 24 * time.Hour

const (
	poll = time.Second
	page = 200
)

// Run processes incoming messages and sends replies until ctx ends.
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

// recover takes over the unfinished messages and replies of dead nodes.
func (m *Messaging) recover(ctx context.Context, alone bool) {
	if err := m.o.Store.Recover(ctx, m.now(), alone); err != nil && ctx.Err() == nil {
		m.o.Log.WarnContext(ctx, "take up messages", "error", err)
	}
	poke(m.came)
	poke(m.said)
}

// Deposed makes this node take over the work of a node that was declared dead.
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

// Said wakes the sender of replies after a turn was stored. Without the call, replies are sent a moment later.
func (m *Messaging) Said() { poke(m.said) }

// Receive stores messages to a sender. After a nil error they are durable.
func (m *Messaging) Receive(ctx context.Context, s *carillon.Sender, all []provider.Inbound) error {
	if len(all) == 0 {
		return nil
	}
	now := m.now()
	all = slices.Clone(all)
	for i := range all {
		if all[i].At.IsZero() { // the channel gave no time
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
			ReceivedAt: now.Add(time.Duration(i) * time.Millisecond), // preserves the order of messages in one callback
		}
	}
	if _, err := m.o.Store.Receive(ctx, rows); err != nil {
		return err
	}
	poke(m.came)
	return nil
}

// personOf returns the key by which messages of a person are kept in order: the channel's ID of the person if given,
// since the number is not always present.
func personOf(x *provider.Inbound) string { return cmp.Or(x.UserID, identity.Number(x.From).String()) }

// Receipts stores the channel's reports about replies.
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
		// Also if the state is already stored: the run may not have been ended then.
		if x.Reason == provider.ReasonWindowClosed {
			if err := m.refused(ctx, r); err != nil {
				return err
			}
		}
	}
	poke(m.said)
	return nil
}

// Delivery is the delivery state of a reply, as screens show it.
type Delivery struct {
	Seq    int64  `json:"seq"`
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// show counts a reply's new state and publishes it to the screens of its conversation.
func (m *Messaging) show(r *chats.Reply) {
	m.o.Observer.Replied(r.State)
	text, _ := json.Marshal(Delivery{r.Seq, r.State, r.Reason, r.Detail}) // texts and a number cannot fail
	for _, topic := range []string{chats.Topic(r.ConversationID), chats.InboxTopic} {
		m.o.Publisher.Publish(&events.Event{
			CompanyID: r.CompanyID, Topic: topic, Kind: "delivery", Subject: r.ConversationID, Payload: text, At: m.now(),
		})
	}
}

const (
	typedEvery = 10 * time.Second // well within provider.TypingFor
	maxTyped   = 1000             // conversations
)

// typed reports whether the typing indicator of a conversation is due again.
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

// Read reports to the channel that a person's last message was read. If typing is set, it also shows the typing
// indicator.
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
