// Package provider is what a provider and the parts that send through it say to each other: the message that goes out, the
// verdict on it, the receipts that follow, and what the channel reports about templates.
package provider

import (
	"time"

	"carillon"
)

// Outgoing is one message for a provider, with all placeholders filled.
type Outgoing struct {
	Ref      Ref
	Number   string
	Class    carillon.Class
	Template *carillon.Template
	Content  Content
}

// Content is what fills a template for one recipient.
type Content struct {
	HeaderText string   // header text, when the header has a variable
	MediaURL   string   // header media, when the header is media
	Body       []string // in the order of the body's distinct markers
	Buttons    []ButtonValue
}

// ButtonValue fills the URL suffix or the quick-reply payload of one button.
type ButtonValue struct {
	Index int    // position in the template's buttons
	Kind  string // url or quick_reply
	Value string
}

// Verdict classifies a provider's response.
type Verdict int

// The verdicts.
const (
	Sent          Verdict = iota // accepted by the provider
	Refused                      // permanently: the message fails with Reason
	RetryLater                   // not accepted; retried after RetryAfter, or with backoff if that is 0
	PauseSender                  // not accepted; the fault concerns all messages of the sender
	PauseTemplate                // not accepted; the template is paused or disabled at the channel
	Unknown                      // may have been accepted: reconciled, not retried
)

// String returns the verdict's name.
func (v Verdict) String() string {
	return [...]string{"sent", "refused", "retry_later", "pause_sender", "pause_template", "unknown"}[v]
}

// Outcome is the result of one attempt.
type Outcome struct {
	Verdict    Verdict
	ProviderID string
	Reason     carillon.Reason // for Refused, and if the attempts are exhausted
	Detail     string          // the provider's code and text for the operator; no secrets, no content
	RetryAfter time.Duration   // for RetryLater and PauseSender; 0: with backoff
	MaxTries   int             // for RetryLater: maximum number of attempts; 0: the default
	Fault      Fault           // what is likely to affect the sender's next message too; "": nothing
	Number     string          // with Sent: the channel's own form of the recipient's number; "": it does not say
}

// Receipt is a provider's later report on a message: sent, delivered, read or failed.
type Receipt struct {
	Ref        Ref
	SenderUID  int64
	ProviderID string
	State      carillon.State
	At         time.Time
	Reason     carillon.Reason // with StateFailed
	Detail     string
	OptOut     bool   // the recipient opted out of marketing: the number is suppressed for it
	Number     string // the channel's form of the recipient's number; "": it does not say
	UserID     string // the channel's id of the recipient; "": it does not say
}

// TemplateEvent is a channel's report on the review or health of a template.
type TemplateEvent struct {
	SenderUID  int64
	ProviderID string
	Name       string
	Language   string
	Status     carillon.TemplateStatus
	Category   string // when it changed
	Reason     string
}
