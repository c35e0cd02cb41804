package carillon

import (
	"encoding/json"
	"time"
)

// Channel is what a sender speaks: template messages or phone calls.
type Channel string

// The channels.
const (
	Messaging Channel = "messaging"
	Voice     Channel = "voice"
)

// Class orders the messages of one sender: transactional before utility before marketing (engine.md, section 3).
type Class int

// The classes, in the order in which they are served.
const (
	Transactional Class = iota
	Utility
	Marketing
	Classes = 3
)

// String is the class as notification_type carries it.
func (c Class) String() string { return [...]string{"transactional", "utility", "marketing"}[c] }

// ParseClass reads a notification_type.
func ParseClass(s string) (Class, bool) {
	for c := range Class(Classes) {
		if c.String() == s {
			return c, true
		}
	}
	return 0, false
}

// Company owns keys, senders, templates and all that is sent with them.
type Company struct {
	ID                string
	Name              string
	Suspended         bool
	StrictRecipientID bool
	CallingHours      *CallingHours
	Limits            Limits
	RetentionDays     int  // days for which ended notifications are kept; 0: for ever
	Suppresses        bool // has at least one suppressed number; spares the look-up where there is none
}

// CallingHours are the local hours in which calls may be placed.
type CallingHours struct {
	Timezone string   `json:"timezone"`
	From     string   `json:"from"`
	To       string   `json:"to"`
	Days     []string `json:"days"`
}

// Limits are a company's rates and quotas; 0: none (decisions.md, section 8).
type Limits struct {
	SendsPerMinute         int `json:"sends_per_minute"`
	TemplateListsPerMinute int `json:"template_lists_per_minute"`
	DailyRecipients        int `json:"daily_recipients"`
	TemplatesPerDay        int `json:"templates_per_day"`
	WidgetCallsPerMinute   int `json:"widget_calls_per_minute"`
}

// DefaultLimits are those of section 8 of decisions.md.
func DefaultLimits() Limits {
	return Limits{
		SendsPerMinute: 6000, TemplateListsPerMinute: 600, DailyRecipients: 100_000,
		TemplatesPerDay: 10, WidgetCallsPerMinute: 120,
	}
}

// DefaultRetentionDays is for how many days a new company's ended notifications are kept.
const DefaultRetentionDays = 90

// Shards is the number of parts in which senders are held (engine.md, section 2).
const Shards = 64

// Sender is a line of a company: a messaging number or a voice line.
type Sender struct {
	UID           int64  // ours, unique over companies; decides the shard
	CompanyID     string //
	ID            string // the company's name for it
	Number        string
	Channel       Channel
	Provider      string // whatsapp, sandbox; voice also sip, twilio, elevenlabs
	Default       bool
	PerSecond     int           // 0: unpaced
	PerRecipient  time.Duration // least time between two messages to one number; 0: unpaced
	MaxConcurrent int           // calls at once; 0: none
	MediaCheck    string        // full or syntax
	Unknown       UnknownPolicy
	Settings      json.RawMessage // the provider's own, secrets included
}

// Shard is the part a sender belongs to.
func (s *Sender) Shard() int { return int(s.UID % Shards) }

// UnknownPolicy says what becomes of a message whose outcome stayed unknown.
type UnknownPolicy struct {
	Retry [Classes]bool // by class: retry, else fail
	After time.Duration
}

// DefaultUnknownPolicy retries transactional and utility, fails marketing, after ten minutes (decisions.md, section 3).
func DefaultUnknownPolicy() UnknownPolicy {
	return UnknownPolicy{Retry: [Classes]bool{true, true, false}, After: 10 * time.Minute}
}

// Agent is a virtual voice agent, as far as accepting a call needs it.
type Agent struct {
	ID, CompanyID, Name, Language string
	Active                        bool
}

// Ref names one attempt to deliver one message. Its text form travels to the channel and back
// (biz_opaque_callback_data).
type Ref struct {
	NotificationID string
	N              int // index of the recipient in the notification
	Attempt        int // from 1; 0: any
}

// Outgoing is one message or call on its way to a provider, all placeholders filled.
type Outgoing struct {
	Ref      Ref
	Number   string
	Class    Class
	Template *Template         // messaging
	Content  Content           // messaging
	AgentID  string            // voice
	Contact  map[string]string // voice: the contact's fields
}

// Content is what fills a template's places for one recipient.
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

// Verdict is a provider's answer, judged (engine.md, section 3).
type Verdict int

// The verdicts.
const (
	Sent          Verdict = iota // taken by the provider
	Refused                      // never will be: fails with Reason
	RetryLater                   // not taken; once more after RetryAfter, or by backoff when that is 0
	PauseSender                  // not taken; the sender's account has a fault that concerns all its messages
	PauseTemplate                // not taken; the template is paused or disabled at the channel
	Unknown                      // may have been taken: reconciled, not retried
)

// String is the verdict's name.
func (v Verdict) String() string {
	return [...]string{"sent", "refused", "retry_later", "pause_sender", "pause_template", "unknown"}[v]
}

// Outcome is what became of one attempt.
type Outcome struct {
	Verdict    Verdict
	ProviderID string
	Reason     Reason        // for Refused, and what to say if attempts run out
	Detail     string        // the provider's code and text for the operator; no secrets, no content
	RetryAfter time.Duration // for RetryLater and PauseSender; 0: by backoff
	MaxTries   int           // for RetryLater: give up after so many attempts; 0: the engine's limit
	Fault      Fault         // what may keep the sender's next message from its end too; "": nothing of the kind
}

// Receipt is a provider's later word on a message: sent, delivered, read or failed.
type Receipt struct {
	Channel    Channel // "" means messaging
	Ref        Ref
	SenderUID  int64
	ProviderID string
	State      State
	At         time.Time
	Reason     Reason // with StateFailed
	Detail     string
	OptOut     bool // the recipient asked for no more: suppress the number
}

// TemplateEvent is a channel's word on a template's review or health.
type TemplateEvent struct {
	SenderUID  int64
	ProviderID string
	Name       string
	Language   string
	Status     TemplateStatus
	Category   string // when it changed
	Reason     string
}
