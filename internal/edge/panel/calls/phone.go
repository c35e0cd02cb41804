package calls

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/content"
	"carillon/internal/base/identity"
	"carillon/internal/base/jsonbody"
	"carillon/internal/base/provider"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/inbox"
	"carillon/internal/edge/panel/member"
	"carillon/internal/send/notify"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/store/messages"
	"carillon/internal/talk/conversation"
)

// Receiver receives inbound messages from messaging channels.
type Receiver interface {
	// Receive stores messages to a sender, like the channel's callback does.
	Receive(ctx context.Context, s *carillon.Sender, all []provider.Inbound) error
}

// Mobile is the sandbox's channel; the panel shows its phones.
type Mobile interface {
	// MessageID returns the channel's id of a message from a phone. address is the phone's number or the person's id,
	// and client is the phone's own id of the message.
	MessageID(address, client string) string
	// Person returns the identity of the person with a username, who hides the number.
	Person(s *carillon.Sender, username string) identity.Identity
	// Sample returns a file that phones can send.
	Sample(id string) (f provider.InboundFile, ok bool)
	// Refresh makes this node reread which phones are unreachable. Other nodes notice within a second.
	Refresh(ctx context.Context) error
}

// Handset serves the messages of the sandbox's phones: what they received, and actions on them.
type Handset struct {
	Gate     *member.Gate
	Store    *store.Store
	Notify   *notify.Notify
	Messages Receiver
	Mobile   Mobile
}

func (x Handset) Routes() []httpio.Route {
	const path = "/sandbox/phone"
	return []httpio.Route{
		member.Route(x.Gate, "GET", path, auth.MayReadConversations, x.show),
		member.Route(x.Gate, "PUT", path, auth.MaySendNotifications, x.set).Taking(reachRequest{}),
		member.Route(x.Gate, "POST", path+"/messages", auth.MaySendNotifications, x.write).Taking(writeRequest{}),
		member.Route(x.Gate, "GET", path+"/numbers", auth.MayReadConversations, x.numbers),
	}
}

const (
	handsetNotifications = 30
	handsetTurns         = inbox.MaxTurns
	numbersLooked        = 20 // notifications searched for numbers
	numbersEach          = 5
	maxNumbers           = 20
)

// sandboxSender returns a messaging sender of the sandbox.
func (x Handset) sandboxSender(ctx context.Context, companyID, name string) (*carillon.Sender, error) {
	named, err := x.Store.Senders.SendersNamed(ctx, companyID, name)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(named, func(s *carillon.Sender) bool { return s.Channel == carillon.Messaging && s.Provider == "sandbox" })
	if i < 0 {
		return nil, carillon.Invalid("sender", "Must be a messaging sender of the sandbox")
	}
	return named[i], nil
}

// bubble is a message on a phone.
type bubble struct {
	ID      string         `json:"id"` // the channel's id
	Own     bool           `json:"own"`
	Kind    string         `json:"kind" enum:"template,text,choices,choice,file,reaction"`
	At      string         `json:"at"`
	Text    string         `json:"text"`
	Header  *bubbleHeader  `json:"header,omitempty"`
	Footer  string         `json:"footer,omitempty"`
	Buttons []bubbleButton `json:"buttons,omitempty"`
	Offer   *bubbleOffer   `json:"offer,omitempty"`
	Cards   []bubbleCard   `json:"cards,omitempty"`
	Choices []string       `json:"choices,omitempty"`
	Sources []chats.Source `json:"sources,omitempty"`
	File    *chats.File    `json:"file,omitempty"`
	Read    bool           `json:"read"`            // for the phone's own message: read by the company
	About   string         `json:"about,omitempty"` // for the phone's own message: the beginning of the message it refers to
	// AsksNumber shows a button by which the owner shares their number.
	AsksNumber bool `json:"asks_number,omitempty"`
	at         time.Time
}

type bubbleHeader struct {
	Format string `json:"format"`
	Text   string `json:"text,omitempty"`
	URL    string `json:"url,omitempty"`

	Place   *bubblePlace      `json:"place,omitempty"`
	Product *provider.Product `json:"product,omitempty"`
}

type bubblePlace struct {
	Latitude  string `json:"latitude"`
	Longitude string `json:"longitude"`
	Name      string `json:"name"`
	Address   string `json:"address"`
}

type bubbleOffer struct {
	Text   string `json:"text"`
	EndsAt string `json:"ends_at,omitempty"`
}

// bubbleCard is a card of a carousel.
type bubbleCard struct {
	Header  *bubbleHeader  `json:"header,omitempty"`
	Text    string         `json:"text"`
	Buttons []bubbleButton `json:"buttons,omitempty"`
}

type bubbleSection struct {
	Title    string   `json:"title"`
	Products []string `json:"products"`
}

type bubbleButton struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	URL     string `json:"url,omitempty"`
	Phone   string `json:"phone,omitempty"`
	Payload string `json:"payload,omitempty"`
	Code    string `json:"code,omitempty"` // that the button copies

	Sections []bubbleSection `json:"sections,omitempty"` // of products
}

// holder identifies the owner of a phone: a number, or a person with a username whose number the company does not
// know.
type holder struct {
	number, username string
	known            identity.Identity
}

// address returns the key of the stored phone: the number, or the channel's id of the person.
func (h *holder) address() string { return cmp.Or(h.number, h.known.Key.String()) }

// lines returns the keys to which messages to the phone are sent.
func (h *holder) lines() []identity.Key {
	if h.username != "" { // the company may know the number by now
		return []identity.Key{h.known.Key, identity.Number(fictitious(h.username))}
	}
	return []identity.Key{h.known.Key}
}

// usernameForm matches @ and a username; the @ distinguishes usernames from numbers.
var usernameForm = regexp.MustCompile(`^@[A-Za-z0-9._]{1,30}$`)

// holderOf parses the owner of a phone: a number, or `@` and a username.
func (x Handset) holderOf(s *carillon.Sender, text string) (*holder, error) {
	switch {
	case usernameForm.MatchString(text):
		return &holder{username: text[1:], known: x.Mobile.Person(s, text[1:])}, nil
	case strings.HasPrefix(text, "@"):
		return nil, carillon.Invalid("number", "Must be a number, or @ and a username of up to 30 letters, digits, dots and underscores")
	}
	number, err := form.Number("number", text)
	if err != nil {
		return nil, err
	}
	return &holder{number: number, known: identity.Identity{Kind: identity.Line, Key: identity.Number(number)}}, nil
}

// screen is a phone as its owner sees it.
type screen struct {
	Sender      string   `json:"sender"`
	Number      string   `json:"number"` // as requested
	Unreachable bool     `json:"unreachable"`
	Typing      bool     `json:"typing"` // the company is typing
	Messages    []bubble `json:"messages"`
}

// show responds with a phone: the messages received from a sender and those it wrote, oldest first.
func (x Handset) show(r *http.Request, by member.Member) (screen, error) {
	q := r.URL.Query()
	s, err := x.sandboxSender(r.Context(), by.CompanyID, q.Get("sender"))
	if err != nil {
		return screen{}, err
	}
	h, err := x.holderOf(s, q.Get("number"))
	if err != nil {
		return screen{}, err
	}
	now := time.Now()
	phone, err := x.Store.Phones.Phone(r.Context(), by.CompanyID, s.UID, h.address())
	if err != nil {
		return screen{}, err
	}
	shown, err := x.Notify.ShownTo(r.Context(), by.CompanyID, s.UID, h.lines(), handsetNotifications, now)
	if err != nil {
		return screen{}, err
	}
	page := screen{
		Sender: s.ID, Number: q.Get("number"), Unreachable: phone.Unreachable, Typing: now.Before(phone.TypingUntil), Messages: []bubble{},
	}
	for i := range shown {
		page.Messages = append(page.Messages, bubbleOf(&shown[i]))
	}
	said, err := x.said(r.Context(), by.CompanyID, s.UID, h, phone.ReadAt)
	if err != nil {
		return screen{}, err
	}
	page.Messages = append(page.Messages, said...)
	slices.SortStableFunc(page.Messages, func(a, b bubble) int { return a.at.Compare(b.at) })
	page.Typing = page.Typing && !slices.ContainsFunc(page.Messages, func(b bubble) bool {
		return !b.Own && b.at.After(phone.TypingUntil.Add(-provider.TypingFor))
	})
	return page, nil
}

// bubbleOf returns a template message as shown on the phone.
func bubbleOf(m *notify.Shown) bubble {
	b := bubble{ID: m.ProviderID, Kind: "template", Text: m.Body, Footer: m.Footer, At: carillon.FormatTime(m.At), at: m.At}
	b.Header, b.Buttons = headerOf(m.Rendered), buttonsOf(m.Rendered)
	if m.Offer != "" {
		b.Offer = &bubbleOffer{Text: m.Offer}
		if !m.OfferEnds.IsZero() {
			b.Offer.EndsAt = carillon.FormatTime(m.OfferEnds)
		}
	}
	for i := range m.Cards {
		card := &m.Cards[i]
		b.Cards = append(b.Cards, bubbleCard{headerOf(card), card.Body, buttonsOf(card)})
	}
	return b
}

func headerOf(m *content.Rendered) *bubbleHeader {
	if m.HeaderFormat == "" {
		return nil
	}
	h := &bubbleHeader{Format: m.HeaderFormat, Text: m.Header, URL: m.MediaURL, Product: m.Product}
	if m.Location != nil {
		h.Place = (*bubblePlace)(m.Location)
	}
	return h
}

func buttonsOf(m *content.Rendered) (all []bubbleButton) {
	for _, y := range m.Buttons {
		b := bubbleButton{Type: y.Type, Text: y.Text, URL: y.URL, Phone: y.Phone, Payload: y.Payload, Code: y.Code}
		for _, s := range y.Sections {
			b.Sections = append(b.Sections, bubbleSection(s))
		}
		all = append(all, b)
	}
	return all
}

// said returns the turns of the owner's conversation that the phone shows: the owner's, and the delivered replies.
func (x Handset) said(ctx context.Context, companyID string, senderUID int64, h *holder, read time.Time) ([]bubble, error) {
	c, err := x.Store.Chats.OfPerson(ctx, companyID, h.known)
	if err != nil || c == nil {
		return nil, err
	}
	turns, err := x.Store.Chats.TurnsBefore(ctx, companyID, c.ID, c.LastSeq+1, handsetTurns)
	if err != nil || len(turns) == 0 {
		return nil, err
	}
	sent, err := x.Store.Replies.Replies(ctx, companyID, c.ID, turns[0].Seq, turns[len(turns)-1].Seq)
	if err != nil {
		return nil, err
	}
	arrived := make(map[int64]*chats.Reply, len(sent))
	for _, y := range sent {
		if y.SenderUID == senderUID && (y.State == "delivered" || y.State == "read") {
			arrived[y.Seq] = y
		}
	}
	var all []bubble
	for i, v := range inbox.Views(companyID, c.ID, turns) {
		b := bubble{
			Kind: v.Kind, Text: v.Text, File: v.File, Choices: v.Choices, Sources: v.Sources, About: v.About, At: v.At, at: turns[i].At,
		}
		reply := arrived[v.Seq]
		switch {
		case v.Event == conversation.Reacted:
			b.ID, b.Own, b.Kind = v.ClientID, true, "reaction"
		case v.Kind == chats.KindEvent:
			continue
		case v.Author == chats.Visitor:
			b.ID, b.Own, b.Read = v.ClientID, true, !b.at.After(read)
		case reply == nil:
			continue
		default:
			b.ID, b.AsksNumber = reply.ProviderID, turns[i].Extra.AskNumber && h.number == "" || asksNumber(reply)
		}
		all = append(all, b)
	}
	return all, nil
}

// asksNumber reports whether an application's message asks for the person's number.
func asksNumber(r *chats.Reply) bool {
	var m struct {
		Type string `json:"type"`
	}
	return r.Content != "" && json.Unmarshal([]byte(r.Content), &m) == nil && m.Type == provider.MessageContactRequest
}

type senderName struct {
	ID     string `json:"id"`
	Number string `json:"number"`
}

// phoneNumbers are the senders of the sandbox, and the numbers that one of them wrote to.
type phoneNumbers struct {
	Senders []senderName `json:"senders"`
	Numbers []string     `json:"numbers"`
}

// numbers responds with the numbers that a sender wrote to most recently, and the senders of the sandbox.
func (x Handset) numbers(r *http.Request, by member.Member) (phoneNumbers, error) {
	page := phoneNumbers{[]senderName{}, []string{}}
	senders, err := x.Store.Senders.Senders(r.Context(), by.CompanyID)
	if err != nil {
		return phoneNumbers{}, err
	}
	for _, s := range senders {
		if s.Channel == carillon.Messaging && s.Provider == "sandbox" {
			page.Senders = append(page.Senders, senderName{s.ID, s.Number})
		}
	}
	name := r.URL.Query().Get("sender")
	if len(page.Senders) == 0 || name == "" {
		return page, nil
	}
	s, err := x.sandboxSender(r.Context(), by.CompanyID, name)
	if err != nil {
		return phoneNumbers{}, err
	}
	found, _, err := x.Store.Notifications.List(
		r.Context(), by.CompanyID, messages.Filter{SenderUID: s.UID, Channel: carillon.Messaging, Limit: numbersLooked}, time.Now(),
	)
	if err != nil {
		return phoneNumbers{}, err
	}
	for _, n := range found {
		messages, err := x.Store.Messages.List(r.Context(), carillon.SeqOf(n.ID), 0, numbersEach)
		if err != nil {
			return phoneNumbers{}, err
		}
		for _, m := range messages {
			if len(page.Numbers) < maxNumbers && !slices.Contains(page.Numbers, m.Number) {
				page.Numbers = append(page.Numbers, m.Number)
			}
		}
	}
	return page, nil
}

// named reads the sender and the owner of a phone.
func (x Handset) named(ctx context.Context, o *jsonbody.Object, companyID string) (*carillon.Sender, *holder, error) {
	name, err := form.Text(o, "sender", form.MaxName)
	if err != nil {
		return nil, nil, err
	}
	written, err := form.Text(o, "number", form.MaxName)
	if err != nil {
		return nil, nil, err
	}
	s, err := x.sandboxSender(ctx, companyID, name)
	if err != nil {
		return nil, nil, err
	}
	h, err := x.holderOf(s, written)
	return s, h, err
}

// reachRequest makes a phone reachable or unreachable.
type reachRequest struct {
	Sender      string `json:"sender"`
	Number      string `json:"number"`
	Unreachable bool   `json:"unreachable"`
}

// set makes a phone unreachable or reachable.
func (x Handset) set(r *http.Request, by member.Member) (httpio.None, error) {
	o, err := form.Body[reachRequest](r)
	if err != nil {
		return nil, err
	}
	s, h, err := x.named(r.Context(), o, by.CompanyID)
	if err != nil {
		return nil, err
	}
	unreachable, given, err := o.Bool("unreachable", "unreachable")
	switch {
	case err != nil:
		return nil, err
	case !given:
		return nil, carillon.Missing("unreachable")
	}
	if err := x.Store.Phones.SetUnreachable(r.Context(), by.CompanyID, s.UID, h.address(), unreachable, time.Now()); err != nil {
		return nil, err
	}
	return nil, x.Mobile.Refresh(r.Context())
}

type phoneMessage struct {
	ID string `json:"id"`
}

// writeRequest sends a message from a phone.
type writeRequest struct {
	Sender   string `json:"sender"`
	Number   string `json:"number"`
	ClientID string `json:"client_id"`
	Kind     string `json:"kind" enum:"text,choice,reaction,file,contact"` // contact shares the own number
	Text     string `json:"text,omitempty"`
	Payload  string `json:"payload,omitempty"`
	ReplyTo  string `json:"reply_to,omitempty"`
	Name     string `json:"name,omitempty"`
	File     string `json:"file,omitempty"`
}

// write sends a message from a phone to a sender.
func (x Handset) write(r *http.Request, by member.Member) (phoneMessage, error) {
	o, err := form.Body[writeRequest](r)
	if err != nil {
		return phoneMessage{}, err
	}
	s, h, err := x.named(r.Context(), o, by.CompanyID)
	if err != nil {
		return phoneMessage{}, err
	}
	in, err := x.readInbound(o, h)
	if err != nil {
		return phoneMessage{}, err
	}
	phone, err := x.Store.Phones.Phone(r.Context(), by.CompanyID, s.UID, h.address())
	if err != nil {
		return phoneMessage{}, err
	}
	if phone.Unreachable {
		return phoneMessage{}, carillon.InConflict("The phone is unreachable")
	}
	if err := x.Messages.Receive(r.Context(), s, []provider.Inbound{*in}); err != nil {
		return phoneMessage{}, err
	}
	return phoneMessage{in.ID}, nil
}

const (
	maxReplyTo = 200
	maxReacted = 16
)

// readInbound reads the message from a phone.
func (x Handset) readInbound(o *jsonbody.Object, h *holder) (*provider.Inbound, error) {
	client, err := form.Text(o, "client_id", form.MaxClientID)
	if err != nil {
		return nil, err
	}
	in := &provider.Inbound{ID: x.Mobile.MessageID(h.address(), client), From: h.number, Username: h.username, At: time.Now().UTC()}
	if h.number == "" {
		in.UserID = h.known.Key.String()
	}
	for _, f := range []struct {
		field string
		to    *string
		most  int
	}{{"payload", &in.Payload, 256}, {"reply_to", &in.ReplyTo, maxReplyTo}, {"name", &in.Name, form.MaxName}} {
		given, err := form.Optional(o, f.field, func() (string, error) { return form.Text(o, f.field, f.most) })
		if err != nil {
			return nil, err
		}
		if given != nil {
			*f.to = *given
		}
	}
	kind, err := form.Text(o, "kind", form.MaxName)
	if err != nil {
		return nil, err
	}
	switch in.Kind = provider.InboundKind(kind); in.Kind {
	case provider.InboundText:
		in.Text, err = form.Lines(o, "text", form.MaxWritten)
	case provider.InboundChoice:
		in.Text, err = form.Text(o, "text", maxReplyTo)
		in.Payload = cmp.Or(in.Payload, in.Text)
	case provider.InboundReaction:
		in.Text, err = form.Text(o, "text", maxReacted)
	case provider.InboundMedia:
		var id string
		if id, err = form.Text(o, "file", form.MaxName); err != nil {
			return nil, err
		}
		f, ok := x.Mobile.Sample(id)
		if !ok {
			return nil, carillon.Invalid("file", "Must be a file that phones of the sandbox send")
		}
		in.File = &f
	case ownContact:
		in.Kind, in.Shared = provider.InboundText, cmp.Or(h.number, fictitious(h.username))
		in.Text = in.Shared
		in.Cards = []provider.Card{{Name: in.Name, Numbers: []string{in.Shared}}}
	default:
		return nil, carillon.Invalid("kind", "Must be text, choice, reaction, file or contact")
	}
	return in, err
}

// ownContact is the kind of a message by which the owner of a phone shares their number.
const ownContact = provider.InboundKind("contact")

// fictitious returns the number of a person with a username: one of those reserved for fiction in North America.
func fictitious(username string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.ToLower(username)))
	n := h.Sum32() % 80_000
	return fmt.Sprintf("1%03d55501%02d", 200+n/100, n%100)
}
