package provider

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"carillon"
)

// Errors when fetching a file that a person sent.
var (
	ErrNoFile       = errors.New("the channel has no such file")
	ErrFileTooLarge = errors.New("the file is too large")
)

// Inbound is an incoming message or event from a person to a sender, or an echo.
type Inbound struct {
	ID      string       `json:"id"`             // the provider's id
	From    string       `json:"from,omitempty"` // the person's number; empty if the channel does not send it
	Name    string       `json:"name,omitempty"`
	At      time.Time    `json:"at"`
	Kind    InboundKind  `json:"kind"`
	Type    string       `json:"type,omitempty"`     // the channel's name for the type
	Event   string       `json:"event,omitempty"`    // for InboundEvent: the event
	Text    string       `json:"text,omitempty"`     // in readable form
	Payload string       `json:"payload,omitempty"`  // of a button or choice: our own id of it
	ReplyTo string       `json:"reply_to,omitempty"` // provider's id of the message that this one answers
	File    *InboundFile `json:"file,omitempty"`
	Enclosed

	UserID   string  `json:"user_id,omitempty"`  // the channel's id of the person; may be empty
	Username string  `json:"username,omitempty"` // chosen by the person
	Became   *Became `json:"became,omitempty"`   // the person's new identities, as reported by the channel
	Shared   string  `json:"shared,omitempty"`   // the number that the person shared as their own, on request
	// Echo means that the team wrote it in the channel's own app; From and UserID identify the person who got it.
	Echo bool `json:"echo,omitempty"`
}

// Person returns the person's number, or the channel's id if there is no number.
func (x *Inbound) Person() string {
	if x.From != "" {
		return x.From
	}
	return x.UserID
}

// Became holds the new identities of a person. An empty one is unchanged.
type Became struct {
	Number string `json:"number,omitempty"`
	UserID string `json:"user_id,omitempty"`
}

// InboundKind is the kind of an Inbound.
type InboundKind string

// The kinds of inbound messages.
const (
	InboundText        InboundKind = "text"        // also messages with Enclosed parts, in readable form
	InboundChoice      InboundKind = "choice"      // a button or a list entry
	InboundMedia       InboundKind = "file"        // Text is the caption
	InboundReaction    InboundKind = "reaction"    // Text is the emoji; empty if the reaction was removed
	InboundNumber      InboundKind = "number"      // the person has a new number: see Text and Became
	InboundIdentity    InboundKind = "identity"    // the channel changed its id of the person; see Became
	InboundEvent       InboundKind = "event"       // not a reply; Event is one of those below, empty if unknown
	InboundUnsupported InboundKind = "unsupported" // the content cannot be read; Text is the type
)

// Values of Inbound.Event.
const (
	InboundEdited    = "edited"           // the message ReplyTo was edited; Text is the new text
	InboundDeleted   = "deleted"          // the message ReplyTo was deleted
	InboundCalls     = "call_permission"  // the person was asked to allow calls; Text is accept or reject
	InboundTelephone = "identity_changed" // the person has a new phone or reinstalled the channel's app
)

// Written reports whether the person wrote something, which opens the window for replies.
func (in *Inbound) Written() bool {
	switch in.Kind { //nolint:exhaustive // the other kinds are written by the person
	case InboundNumber, InboundIdentity:
		return false
	case InboundEvent:
		return in.Event == InboundCalls
	}
	return true
}

// InboundFile is a file at the provider.
type InboundFile struct {
	ID   string `json:"id"`
	Type string `json:"type"` // MIME type
	Name string `json:"name,omitempty"`
}

// ReplyRef identifies one attempt to send a turn of a conversation.
type ReplyRef struct {
	ConversationID string
	Seq            int64
	Attempt        int
}

const replyPrefix = "reply."

// String returns the reference as sent to a channel: `reply.<conversation>.<seq>.<attempt>`.
func (r ReplyRef) String() string {
	return replyPrefix + r.ConversationID + "." + strconv.FormatInt(r.Seq, 10) + "." + strconv.Itoa(r.Attempt)
}

// ParseReplyRef parses the form that String returns, and nothing else.
func ParseReplyRef(s string) (ReplyRef, error) {
	s, ok := strings.CutPrefix(s, replyPrefix)
	id, rest, _ := strings.Cut(s, ".")
	seq, attempt, _ := strings.Cut(rest, ".")
	n, ok1 := smallInt(seq)
	r := ReplyRef{ConversationID: id, Seq: int64(n)}
	var ok2 bool
	r.Attempt, ok2 = smallInt(attempt)
	if !ok || !carillon.ValidUUID(id) || !ok1 || !ok2 {
		return ReplyRef{}, errRef
	}
	return r, nil
}

// ChoicePrefix is the prefix of a choice's id; the number of the choice, from 1, follows.
const ChoicePrefix = "choice."

// Reply is a turn sent to a person who wrote within the last day.
type Reply struct {
	Ref      ReplyRef
	To       string // number; empty means use UserID
	UserID   string // the channel's id of a person whose number is unknown
	Text     string
	Choices  []string // at most 10
	Language string   // BCP 47, for the texts around the choices
	File     *ReplyFile
	// AskNumber shows a button next to the text by which the person shares their number. The answer is a message with
	// Shared.
	AskNumber bool
	Message   *Message // an application's message, in place of Text, Choices and File; nil for none
}

// TypingFor is the time for which a messaging channel shows the typing indicator, unless a message comes.
const TypingFor = 25 * time.Second

// ReplyFile is a file of a reply, at an address that the provider can read.
type ReplyFile struct {
	URL  string
	Type string // MIME type
	Name string
}

// ReasonWindowClosed refuses a reply more than a day after the person's last message. Only a template may be sent
// then.
const ReasonWindowClosed carillon.Reason = "window_closed"

// ReplyReceipt is a provider's later report on a reply: sent, delivered, read or failed.
type ReplyReceipt struct {
	Ref        ReplyRef
	ProviderID string
	State      carillon.State
	Reason     carillon.Reason // for StateFailed
	Detail     string
}

// Preference is a person's choice about marketing, made in the channel's own settings.
type Preference struct {
	Number string // empty if the channel does not send it
	UserID string // the channel's id of the person; may be empty
	Stop   bool   // true stops marketing messages, false resumes them
	At     time.Time
}

// Addresses returns the person's number and id, if known.
func (p *Preference) Addresses() (all []string) {
	for _, address := range []string{p.Number, p.UserID} {
		if address != "" {
			all = append(all, address)
		}
	}
	return all
}
