// Package provider defines the interface between providers and the parts that send through them: the outgoing message,
// the verdict on it, the receipts that follow, and the channel's reports about templates.
package provider

import (
	"time"

	"carillon"
)

// Outgoing is one message for a provider, with all placeholders filled.
type Outgoing struct {
	Ref      Ref
	Number   string // empty means use UserID
	UserID   string // the channel's id of a person whose number is unknown
	Class    carillon.Class
	Template *carillon.Template
	Content  Content
}

// Content holds the values that fill a template for one recipient.
type Content struct {
	HeaderText string   // if the header has a variable
	MediaURL   string   // if the header is media
	Body       []string // in the order of the distinct markers in the body
	Buttons    []ButtonValue
	Location   *HeaderLocation // if the header is a location
	Product    *Product        // if the header is a product
	OfferEnds  int64           // milliseconds since 1970, if the template is an offer that shows its end
	Cards      []Content       // of a carousel
}

// ButtonValue fills one button.
type ButtonValue struct {
	Index    int    // position in the template's buttons
	Kind     string // url, quick_reply, copy_code, catalog, mpm, flow or voice_call
	Value    string // suffix of a URL, one-time code, payload, coupon code, thumbnail's product, or a flow's token
	Products string // mpm: sections of products, see content.ParseSections
	Data     string // flow: a JSON object
	Minutes  int    // voice_call: how long the button works; 0 for the channel's default

	Destination string // of a counted link: the address that it leads to. Value is the link's token
}

// HeaderLocation is the place of a header, in degrees.
type HeaderLocation struct {
	Latitude, Longitude, Name, Address string
}

// Verdict classifies a provider's response.
type Verdict int

// The verdicts.
const (
	Sent          Verdict = iota // accepted by the provider
	Refused                      // permanent: the message fails with Reason
	RetryLater                   // not accepted; retried after RetryAfter or, if that is 0, with backoff
	PauseSender                  // not accepted; the fault affects all messages of the sender
	PauseTemplate                // not accepted; the template is paused or disabled at the channel
	Unknown                      // may have been accepted; not retried before it is reconciled
)

// String returns the verdict's name.
func (v Verdict) String() string {
	return [...]string{"sent", "refused", "retry_later", "pause_sender", "pause_template", "unknown"}[v]
}

// Outcome is the result of one attempt.
type Outcome struct {
	Verdict    Verdict
	ProviderID string
	Reason     carillon.Reason // for Refused, and after the last attempt
	Detail     string          // the provider's code and text, for the operator; contains no secrets and no content
	RetryAfter time.Duration   // for RetryLater and PauseSender; 0 means backoff
	MaxTries   int             // for RetryLater: maximum number of attempts; 0 means the default
	Fault      Fault           // fault that is likely to affect the sender's next message too; may be empty
	Number     string          // for Sent: the channel's own form of the recipient's number; may be empty
}

// Receipt is a provider's later report on a message: sent, delivered, read or failed.
type Receipt struct {
	Ref        Ref
	SenderUID  int64
	ProviderID string
	State      carillon.State
	At         time.Time
	Reason     carillon.Reason // for StateFailed
	Detail     string
	Charge     Charge // what the channel charges for the message; empty if it does not say
	OptOut     bool   // the recipient opted out of marketing: the number is suppressed for it
	Number     string // the channel's form of the recipient's number; may be empty
	UserID     string // the channel's id of the recipient; may be empty
}

// Charge is the price class of a message, in the channel's words.
type Charge struct {
	Type     string // regular, or why it is free
	Category string // of the price list
}

// TemplateEvent is a channel's report on the review or health of a template.
type TemplateEvent struct {
	SenderUID  int64
	ProviderID string
	Name       string
	Language   string
	Status     carillon.TemplateStatus // empty if unchanged
	Category   string                  // empty if unchanged
	Reason     string

	Quality        string // new quality score; empty if unchanged
	QualityAt      int64  // Unix seconds
	ComingCategory string // announced, but not in effect yet
	ComingAt       int64  // Unix seconds; 0 if the channel does not say
	Rewritten      bool   // the parts changed at the channel
}

// TemplateList is a channel's list of an account's templates.
type TemplateList struct {
	Templates []ListedTemplate
	Complete  bool // a template that is not listed does not exist
}

// TemplateStatistics are a channel's own statistics of a template.
type TemplateStatistics struct {
	Counts   bool // whether the account counts by template; the rest is empty otherwise
	Days     []StatisticsDay
	Clicks   []ButtonClicks // of all days, the most frequent first
	Spent    float64        // costs of all days, as far as the channel names them
	Currency string         // of Spent
}

// StatisticsDay is one day in UTC.
type StatisticsDay struct {
	Day                   time.Time
	Sent, Delivered, Read int
}

// ButtonClicks are the clicks on a button of a template. Kind is the channel's name.
type ButtonClicks struct {
	Kind, Text string
	Count      int
}

// ListedTemplate is one template of a list.
type ListedTemplate struct {
	TemplateEvent
	Components      []carillon.Component // nil: the channel lists only the status
	ParameterFormat string
	Report          carillon.TemplateReport
}
