package provider

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"carillon"
)

// The errors of files that a person sent.
var (
	ErrNoFile       = errors.New("the channel has no such file")
	ErrFileTooLarge = errors.New("the file is too large")
)

// Inbound is something that a person wrote to a sender.
type Inbound struct {
	ID      string       `json:"id"`             // the provider's
	From    string       `json:"from,omitempty"` // the person's number; "": the channel does not say it
	Name    string       `json:"name,omitempty"`
	At      time.Time    `json:"at"`
	Kind    InboundKind  `json:"kind"`
	Type    string       `json:"type,omitempty"`     // at the channel, in its word
	Event   string       `json:"event,omitempty"`    // of InboundEvent: what the person did
	Text    string       `json:"text,omitempty"`     // as a person reads it
	Payload string       `json:"payload,omitempty"`  // of a button or a choice: our own id of it
	ReplyTo string       `json:"reply_to,omitempty"` // the provider's id of the message that it answers
	File    *InboundFile `json:"file,omitempty"`
	Enclosed

	UserID   string  `json:"user_id,omitempty"`  // the channel's id of the person; "": it has none
	Username string  `json:"username,omitempty"` // that the person chose
	Became   *Became `json:"became,omitempty"`   // the person's identities from now on, as the channel reports
	Shared   string  `json:"shared,omitempty"`   // the number that the person gave as their own, at our request
}

// Person is the number of the person, or else the channel's id of them.
func (x *Inbound) Person() string {
	if x.From != "" {
		return x.From
	}
	return x.UserID
}

// Became holds the identities of a person from now on; an empty one has not changed.
type Became struct {
	Number string `json:"number,omitempty"`
	UserID string `json:"user_id,omitempty"`
}

// InboundKind is what an Inbound is.
type InboundKind string

// The kinds of inbound messages.
const (
	InboundText        InboundKind = "text"        // also enclosed parts, in words
	InboundChoice      InboundKind = "choice"      // a button or an entry of a list
	InboundMedia       InboundKind = "file"        // Text is the caption
	InboundReaction    InboundKind = "reaction"    // Text is the emoji; "": taken back
	InboundNumber      InboundKind = "number"      // the person has another number: Text, and Became
	InboundIdentity    InboundKind = "identity"    // the channel has another id of the person: Became
	InboundEvent       InboundKind = "event"       // what answers nothing: one of the events below, "" for one that is not known
	InboundUnsupported InboundKind = "unsupported" // nothing can be read of it; Text is its type
)

// What a person does besides writing (Inbound.Event).
const (
	InboundEdited    = "edited"           // the message ReplyTo: Text is the new one
	InboundDeleted   = "deleted"          // the message ReplyTo
	InboundCalls     = "call_permission"  // the person was asked for calls: Text is accept or reject
	InboundTelephone = "identity_changed" // the person has another telephone, or has installed the channel again
)

// Written reports whether a person wrote something, which opens the window for replies.
func (in *Inbound) Written() bool {
	switch in.Kind { //nolint:exhaustive // the person wrote the others
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
	Type string `json:"type"` // MIME
	Name string `json:"name,omitempty"`
}

// ReplyRef identifies one attempt to send a turn of a conversation.
type ReplyRef struct {
	ConversationID string
	Seq            int64
	Attempt        int
}

const replyPrefix = "reply."

// String is the reference as it is sent to a channel and back: `reply.<conversation>.<seq>.<attempt>`.
func (r ReplyRef) String() string {
	return replyPrefix + r.ConversationID + "." + strconv.FormatInt(r.Seq, 10) + "." + strconv.Itoa(r.Attempt)
}

// ParseReplyRef reads the form that String writes, and nothing else.
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

// ChoicePrefix stands before the number of a choice, from 1, in the id that it is sent with.
const ChoicePrefix = "choice."

// Reply is a turn that is sent to a person who wrote within the last day.
type Reply struct {
	Ref      ReplyRef
	To       string // the number; "": UserID
	UserID   string // the channel's id of a person whose number is not known
	Text     string
	Choices  []string // at most 10
	Language string   // BCP 47, of what is offered with the choices
	File     *ReplyFile
}

// ReplyFile is a file of a reply, at an address that the provider can read.
type ReplyFile struct {
	URL  string
	Type string // MIME
	Name string
}

// ReasonWindowClosed is why a reply is refused that follows on a person's last message by more than a day: only a template may.
const ReasonWindowClosed carillon.Reason = "window_closed"

// ReplyReceipt is a provider's later report on a reply: sent, delivered, read or failed.
type ReplyReceipt struct {
	Ref        ReplyRef
	ProviderID string
	State      carillon.State
	Reason     carillon.Reason // with StateFailed
	Detail     string
}

// Preference is a person's wish about marketing, as a channel's own settings have it.
type Preference struct {
	Number string // "": the channel does not say it
	UserID string // the channel's id of the person; "": it names none
	Stop   bool   // no more of it; false to get it again
	At     time.Time
}

// Addresses are the person's number and id, where the channel says them.
func (p *Preference) Addresses() (all []string) {
	for _, address := range []string{p.Number, p.UserID} {
		if address != "" {
			all = append(all, address)
		}
	}
	return all
}
