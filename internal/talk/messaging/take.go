package messaging

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/base/share"
	"carillon/internal/store/chats"
	"carillon/internal/store/db"
	"carillon/internal/talk/conversation"
)

const (
	takeTimeout = 60 * time.Second
	takeLease   = takeTimeout + 15*time.Second // after that another node processes the message
	takeTries   = 10
	fileTries   = 4 // within about 15 seconds
)

// takeWaits are the waits before a failed message is processed again.
//
//nolint:gochecknoglobals // read only
var takeWaits = []time.Duration{
	time.Second, 3 * time.Second, 9 * time.Second, 27 * time.Second, takeLease,
}

// intakes returns the workers that turn incoming messages into turns.
func (m *Messaging) intakes() *share.Crew[*chats.Inbound] {
	return &share.Crew[*chats.Inbound]{
		Places: m.o.Shares.Of(share.Inbound), Page: page,
		Due: func(ctx context.Context, without []string) ([]*chats.Inbound, error) {
			return m.o.Store.Waiting(ctx, m.now(), page, without)
		},
		Key:     func(x *chats.Inbound) string { return strconv.FormatInt(x.SenderUID, 10) + "/" + x.ProviderID },
		Company: func(x *chats.Inbound) string { return x.CompanyID },
		Work: func(ctx context.Context, x *chats.Inbound) bool {
			ok, err := m.takeIn(ctx, x)
			if err != nil && ctx.Err() == nil {
				m.o.Log.WarnContext(ctx, "take in a message", "company", x.CompanyID, "sender", x.SenderUID, "tries", x.Tries+1,
					"error", err)
			}
			return ok
		},
		Wake: func() { poke(m.came) },
	}
}

// takeIn claims a message and processes it. It returns false if another node has it, or if it failed.
func (m *Messaging) takeIn(ctx context.Context, x *chats.Inbound) (bool, error) {
	now := m.now()
	lease := now.Add(takeLease)
	if ok, err := m.o.Store.Claim(ctx, x, m.o.Node, now, lease); !ok || err != nil {
		return false, err
	}
	whole := context.WithoutCancel(ctx)
	ctx, cancel := context.WithTimeout(ctx, takeTimeout)
	defer cancel()
	var in provider.Inbound
	became := failed
	err := json.Unmarshal([]byte(x.Content), &in)
	if err == nil {
		became, err = m.take(ctx, x, &in)
	}
	if err != nil && (x.Tries+1 < takeTries || db.Transient(err)) {
		return false, errors.Join(err, m.o.Store.Release(whole, x, lease, m.now().Add(takeWaits[min(x.Tries, len(takeWaits)-1)])))
	}
	if err != nil {
		became, err = failed, errors.Join(err, m.notShown(whole, x.SenderUID, &in, x.ReceivedAt))
	}
	if !in.Echo {
		m.o.Observer.Wrote(in.Label(), string(became))
	}
	return true, errors.Join(err, m.o.Store.Done(whole, x))
}

// notShown records in the conversation that a message could not be processed, and asks its author to send it again.
func (m *Messaging) notShown(ctx context.Context, senderUID int64, in *provider.Inbound, received time.Time) error {
	s, err := m.o.Sender(ctx, senderUID)
	if err != nil || in.Person() == "" || in.Kind == provider.InboundIdentity {
		return err
	}
	c, err := m.open(ctx, s, in, nil)
	if err != nil {
		return err
	}
	if err := m.opens(ctx, s, c, in, received); err != nil {
		return err
	}
	t := &taking{Inbound: in, sender: s, conversation: c}
	x := chats.Extra{
		Event: conversation.NotShown, Name: t.writer(), Enclosed: provider.Enclosed{Group: in.Group, Writer: in.Writer}, PhoneApp: in.Echo,
	}
	if in.Echo {
		return m.o.Conversations.Runner.Note(ctx, s.CompanyID, c.ID, in.ID, "", x)
	}
	if err := m.o.Conversations.Runner.Note(ctx, s.CompanyID, c.ID, in.ID, "", x); err != nil || !in.Written() {
		return err
	}
	return m.notice(ctx, t, textsOf(c.Language).givenUp)
}

// opens opens or extends the window for replies after a message of the person.
func (m *Messaging) opens(ctx context.Context, s *carillon.Sender, c *chats.Conversation, in *provider.Inbound, received time.Time) error {
	if in.Group != "" || in.Echo || !in.Written() {
		return nil
	}
	at := in.At
	if received.Before(at) {
		at = received
	}
	return m.o.Store.SetWindow(ctx, &chats.Window{
		CompanyID: s.CompanyID, ConversationID: c.ID, SenderUID: s.UID, Number: in.From, UserID: in.UserID, LastID: in.ID,
		Until: at.Add(Window).UTC(),
	})
}

// taking is a message being processed.
type taking struct {
	*provider.Inbound
	sender       *carillon.Sender
	who          identity.Key
	conversation *chats.Conversation
	to           answered
	bound        []*chats.Bound // notifications that it may reply to
	last         bool           // last attempt: process it even without its file
}

// take processes a message. It is idempotent.
func (m *Messaging) take(ctx context.Context, x *chats.Inbound, in *provider.Inbound) (result, error) {
	s, err := m.o.Sender(ctx, x.SenderUID)
	if carillon.IsCode(err, carillon.NotFound) {
		m.o.Log.InfoContext(ctx, "ignore a message to a sender that was removed", "company", x.CompanyID, "kind", in.Label())
		return ignored, nil
	}
	if err != nil {
		return failed, err
	}
	if in.Echo {
		return m.echo(ctx, s, in)
	}
	known := m.known(s, in.From, in.UserID)
	if in.Kind == provider.InboundIdentity { // nothing to show in a conversation
		return applied, m.o.Contacts.Renew(ctx, s.CompanyID, known, m.known(s, in.Became.Number, in.Became.UserID), in.At, m.now())
	}
	lines, err := m.lines(ctx, s, in)
	if err != nil {
		return failed, err
	}
	var bound []*chats.Bound
	if in.Group == "" {
		if bound, err = m.o.Bound(ctx, s, lines, in.ReplyTo); err != nil {
			return failed, err
		}
		if m.o.Replied != nil && in.Written() {
			if err := m.o.Replied(ctx, s, lines, in.ReplyTo, x.ReceivedAt); err != nil {
				return failed, err
			}
		}
	}
	c, err := m.open(ctx, s, in, bound)
	if err != nil {
		return failed, err
	}
	if in.Kind == provider.InboundNumber { // reported by the channel, not written by the person
		return shown, m.o.Conversations.Runner.Note(ctx, s.CompanyID, c.ID, in.ID, in.Text, chats.Extra{Event: conversation.Renumbered})
	}
	if err := m.opens(ctx, s, c, in, x.ReceivedAt); err != nil {
		return failed, err
	}
	if err := m.shared(ctx, s, c, in); err != nil {
		return failed, err
	}
	to, err := m.answered(ctx, s, c, in, lines)
	if err != nil {
		return failed, err
	}
	if passed, err := m.o.Store.Passed(ctx, s.CompanyID, c.ID, x.ReceivedAt, m.now()); err != nil {
		return failed, err
	} else if passed {
		poke(m.said)
	}
	return m.become(ctx, &taking{in, s, identity.Of(in.Person()), c, to, bound, x.Tries+1 >= fileTries})
}

// lines returns the addresses of a message's author. A message that was sent from an address that the author has given up
// since gets the present one: by now somebody else may have the former one.
func (m *Messaging) lines(ctx context.Context, s *carillon.Sender, in *provider.Inbound) ([]identity.Key, error) {
	known := m.known(s, in.From, in.UserID)
	var former []identity.Key
	if in.Became == nil && in.Group == "" {
		a, err := m.o.Contacts.Present(ctx, s.CompanyID, known, in.At)
		if err != nil {
			return nil, err
		}
		if a != nil {
			for _, x := range known {
				former = append(former, x.Key)
			}
			in.From, in.UserID = a.Number, a.UserID
			known = m.known(s, in.From, in.UserID)
		}
	}
	lines, err := m.o.Contacts.LinesOf(ctx, s.CompanyID, known)
	return append(lines, former...), err // a notification to the former address may be answered
}

// eventNames maps actions of a person other than writing to events of the conversation.
var eventNames = map[string]string{ //nolint:gochecknoglobals // read only
	provider.InboundEdited: conversation.Edited, provider.InboundDeleted: conversation.Deleted,
	provider.InboundCalls:     conversation.Permission,
	provider.InboundTelephone: conversation.Identity,
}

// become stores a message as an event, a request such as STOP, or a turn.
func (m *Messaging) become(ctx context.Context, t *taking) (result, error) {
	switch t.Kind {
	case provider.InboundReaction:
		return shown, m.note(ctx, t, conversation.Reacted)
	case provider.InboundEvent:
		if err := m.note(ctx, t, cmp.Or(eventNames[t.Event], conversation.NotShown)); err != nil || t.Event != provider.InboundEdited {
			return shown, err
		}
	case provider.InboundUnsupported:
		return m.decline(ctx, t)
	default:
	}
	if t.Group == "" {
		switch a, err := m.wish(ctx, t); {
		case err != nil:
			return failed, err
		case a.wish != "":
			return shown, m.obey(ctx, t, a)
		}
	}
	if t.Kind == provider.InboundEvent {
		return shown, nil
	}
	return m.say(ctx, t)
}

// note records an action of a person that needs no answer.
func (m *Messaging) note(ctx context.Context, t *taking, event string) error {
	x := chats.Extra{Event: event, Of: t.to.seq, About: t.to.text, Name: t.writer(), Enclosed: t.Enclosed, PhoneApp: t.Echo}
	id := t.ID
	if t.Kind == provider.InboundEvent {
		id += ":event"
	}
	return m.o.Conversations.Runner.Note(ctx, t.sender.CompanyID, t.conversation.ID, id, t.Text, x)
}

// writer returns the name of a message's author in a group, or "" outside of groups.
func (t *taking) writer() string {
	if t.Group == "" {
		return ""
	}
	return cmp.Or(t.Name, t.Username, t.Person())
}

// groupPrefix is the prefix of the contact IDs of groups.
const groupPrefix = "group:"

// open returns the conversation of a person with a company; it is the same for messages and calls. Messages in a group
// belong to a conversation of the group. It has no window, since replies are not sent to groups, and does not affect
// the person's own conversation.
func (m *Messaging) open(ctx context.Context, s *carillon.Sender, in *provider.Inbound, bound []*chats.Bound) (*chats.Conversation, error) {
	if in.Group != "" {
		c, _, err := m.o.Conversations.Open(ctx, conversation.Start{
			Channel: "whatsapp", Contact: chats.Contact{CompanyID: s.CompanyID, VisitorID: groupPrefix + in.Group, Verified: true},
		})
		return c, err
	}
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
	start := conversation.Start{
		Channel: "whatsapp", AgentID: agentID, Language: cmp.Or(language, "en"),
		Known: m.known(s, in.From, in.UserID), Shared: in.Shared, At: in.At,
		Contact: chats.Contact{
			CompanyID: s.CompanyID, Number: in.From, UserID: in.UserID, Username: in.Username, Name: in.Name, Language: language,
		},
	}
	if in.Became != nil {
		start.Became = m.known(s, in.Became.Number, in.Became.UserID)
		start.Contact.Number, start.Contact.UserID = in.Became.Number, in.Became.UserID
	}
	c, _, err := m.o.Conversations.Open(ctx, start)
	return c, err
}

// shared records an event if the number that a person gave as their own belongs to another contact. That contact keeps
// the number.
func (m *Messaging) shared(ctx context.Context, s *carillon.Sender, c *chats.Conversation, in *provider.Inbound) error {
	if in.Shared == "" {
		return nil
	}
	lines, err := m.o.Contacts.LinesOf(ctx, s.CompanyID, m.known(s, in.From, in.UserID))
	if err != nil || identity.Has(lines, in.Shared) {
		return err
	}
	return m.o.Conversations.Runner.Note(ctx, s.CompanyID, c.ID, in.ID+":number", in.Shared, chats.Extra{Event: conversation.NumberTaken})
}

// known returns the identities of a person at a sender, from a number and an ID. Either may be empty.
func (m *Messaging) known(s *carillon.Sender, number, userID string) (all []identity.Identity) {
	if number != "" {
		all = append(all, identity.Identity{Kind: identity.Line, Key: identity.Number(number)})
	}
	if userID != "" {
		all = append(all, identity.Identity{Kind: identity.Person, Scope: m.o.Portfolio(s), Key: identity.User(userID)})
	}
	return all
}

// say appends the person's message to the conversation.
func (m *Messaging) say(ctx context.Context, t *taking) (result, error) {
	company, id := t.sender.CompanyID, t.conversation.ID
	said := conversation.Said{
		ClientID: t.ID, Kind: chats.KindText, Text: conversation.Clean(t.Text), Of: t.to.seq, About: t.to.text,
		Name: t.writer(), Enclosed: t.Enclosed, Quiet: t.Group != "",
	}
	switch {
	case t.File != nil:
		f, why, err := m.file(ctx, t)
		if err != nil {
			return failed, err
		}
		if f == nil {
			if err := m.missing(ctx, t, why); err != nil || said.Text == "" {
				return t.asked(), err
			}
			break
		}
		said.Kind, said.File = chats.KindFile, f
	case t.Kind == provider.InboundChoice:
		said.Kind, said.Text = chats.KindChoice, cmp.Or(t.to.choice(t.Payload), said.Text)
		said.ChoiceID = t.to.choiceID(t.Payload)
	}
	if t.to.seq == 0 { // otherwise it replies to a turn, not to a notification
		var err error
		if said.Bound, err = m.starts(ctx, t); err != nil {
			return failed, err
		}
	}
	_, after, err := m.o.Conversations.Say(ctx, company, id, said)
	if err != nil {
		return failed, err
	}
	if channel := m.o.Channels[t.sender.Provider]; channel != nil && after.ReplySeq > 0 {
		if err := channel.MarkRead(ctx, t.sender, t.ID, true); err != nil { // not critical
			m.o.Log.DebugContext(ctx, "mark a message read", "company", company, "error", err)
		}
	}
	return shown, nil
}
