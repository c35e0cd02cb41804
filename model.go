package carillon

import (
	"encoding/json"
	"time"
)

// Channel is the kind of a sender: template messages or phone calls.
type Channel string

// Channels.
const (
	Messaging Channel = "messaging"
	Voice     Channel = "voice"
)

// Class is the priority of a message within its sender: transactional before utility before marketing.
type Class int

// Classes in order of priority.
const (
	Transactional Class = iota
	Utility
	Marketing
	Classes = 3
)

// String returns the class as a notification_type.
func (c Class) String() string { return [...]string{"transactional", "utility", "marketing"}[c] }

// ParseClass parses a notification_type.
func ParseClass(s string) (Class, bool) {
	for c := range Class(Classes) {
		if c.String() == s {
			return c, true
		}
	}
	return 0, false
}

// Company owns access keys, senders, templates and everything sent with them.
type Company struct {
	ID                string
	Name              string
	Suspended         bool
	StrictRecipientID bool
	CallingHours      *CallingHours // nil: always
	Redial            Redial
	Limits            Limits
	RetentionDays     int // for completed notifications and inactive conversations; 0 means forever
	RecordingDays     int // for recordings of calls; 0 means as long as their conversations
	Inbox             InboxRules
	Suppresses        bool   // has at least one suppressed number; otherwise no lookup is needed
	Move              string // state of a move to or from another installation (docs/guides/cells.md); empty if it is in use here
}

// moveRetry is the number of seconds after which callers of a company that is being moved may try again.
const moveRetry = 30

// Gone reports whether the company is in use at another installation.
func (c *Company) Gone() bool { return c.Move == "moved" || c.Move == "removing" }

// Refusal returns the error for everything that a company asks for or has to do, or nil. While a company is being
// moved it is service_unavailable, so that callers and channels repeat their requests; else forbidden.
func (c *Company) Refusal() error {
	switch {
	case c.Gone():
		return Denied("The company was moved to another installation")
	case c.Move != "":
		return &Error{Code: ServiceUnavailable, Message: "The company is being moved", RetryAfter: moveRetry}
	case c.Suspended:
		return Denied("The company is suspended")
	}
	return nil
}

// InboxRules are a company's rules for notices about conversations.
type InboxRules struct {
	MailAfterMinutes int      `json:"mail_after_minutes"` // a waiting visitor is announced by e-mail after this time; never if it is 0
	OnDuty           []string `json:"on_duty,omitempty"`  // accounts that get these e-mails; if there are none, all who may answer
	ShowText         bool     `json:"show_text"`          // push messages and e-mails have the visitor's name and question
	ChatOnly         bool     `json:"chat_only"`          // replies are not sent by e-mail to visitors who left
}

// NewCompany returns a company with default settings, without an ID.
func NewCompany(name string) Company {
	return Company{
		Name:   name,
		Redial: Redial{Outcomes: []State{StateBusy, StateNoAnswer}, Attempts: 2, After: 10 * time.Minute},
		Limits: Limits{
			SendsPerMinute: 6000, TemplateListsPerMinute: 600, ListsPerMinute: 600, DailyRecipients: 100_000, DailyCalls: 10_000,
			DailyBytes: 10_000_000_000, TemplatesPerDay: 10, WidgetCallsPerMinute: 120, EngineTurnsPerDay: 10_000,
		},
		RetentionDays: 90,
	}
}

// CallingHours are the local hours in which calls may be placed: from From until To on each of the days. If To is not
// after From, the hours extend into the next day.
type CallingHours struct {
	Timezone string   `json:"timezone"` // IANA name
	From     string   `json:"from"`     // 00:00 to 23:59
	To       string   `json:"to"`       // 00:00 to 24:00
	Days     []string `json:"days"`     // mon to sun, on which the hours begin
}

// Redial is the policy for calls that no person answered: the outcomes to redial, how often, and after which pause.
// The zero value never redials.
type Redial struct {
	Outcomes []State       `json:"outcomes"` // among busy, no_answer, rejected and voicemail
	Attempts int           `json:"attempts"` // after the first
	After    time.Duration `json:"after"`
}

// Limits are a company's rate limits and quotas; 0 means no limit.
type Limits struct {
	SendsPerMinute         int `json:"sends_per_minute"`
	TemplateListsPerMinute int `json:"template_lists_per_minute"`
	ListsPerMinute         int `json:"lists_per_minute"`
	DailyRecipients        int `json:"daily_recipients"`
	DailyCalls             int `json:"daily_calls"` // part of DailyRecipients
	DailyBytes             int `json:"daily_bytes"` // storage used by accepted requests
	TemplatesPerDay        int `json:"templates_per_day"`
	WidgetCallsPerMinute   int `json:"widget_calls_per_minute"`
	EngineTurnsPerDay      int `json:"engine_turns_per_day"` // responses of external servers for its agents
}

// Shards is the number of shards that senders are divided into.
const Shards = 64

// Sender is a messaging number or voice line of a company.
type Sender struct {
	UID           int64 // our own random ID of 53 bits, unique across companies; determines the shard
	CompanyID     string
	ID            string // chosen by the company
	Number        string
	Channel       Channel
	Provider      string // whatsapp, sandbox; voice also sip, twilio, elevenlabs
	Default       bool
	PerSecond     int           // 0: not paced
	PerRecipient  time.Duration // minimum time between two messages to one number; 0 means none
	MaxConcurrent int           // concurrent calls; 0 means no limit
	RingTimeout   time.Duration // voice: time after which an unanswered call is canceled
	MediaCheck    string        // full or syntax
	Unknown       UnknownPolicy
	Settings      json.RawMessage // of the provider, including secrets
}

// Shard returns the shard of the sender.
func (s *Sender) Shard() int { return int(s.UID % Shards) }

// UnknownPolicy is the policy for a message whose outcome stays unknown.
type UnknownPolicy struct {
	Retry [Classes]bool // by class: retry if true, otherwise fail
	After time.Duration
}

// DefaultUnknownPolicy retries transactional and utility messages and fails marketing messages, after ten minutes.
func DefaultUnknownPolicy() UnknownPolicy {
	return UnknownPolicy{Retry: [Classes]bool{true, true, false}, After: 10 * time.Minute}
}
