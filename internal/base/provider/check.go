package provider

import "time"

// FindingState is how good or bad a finding is.
type FindingState string

// The states of a finding.
const (
	FindingOK      FindingState = "ok"
	FindingWarn    FindingState = "warn" // it works, but not for long or not well
	FindingBad     FindingState = "bad"
	FindingUnknown FindingState = "unknown" // it could not be found out
)

// Finding is one item of a check of a sender at its provider. It contains no secrets.
type Finding struct {
	Item   string            `json:"item"`
	State  FindingState      `json:"state"`
	Code   string            `json:"code"`             // what was found, unique over all items
	Detail string            `json:"detail,omitempty"` // the channel's code and our title of it
	Values map[string]string `json:"values,omitempty"` // for the text of the code
}

// Inspection is what a provider says about a sender.
type Inspection struct {
	Findings []Finding
	Quality  string // in the channel's words; empty: not found out
	Limit    string // of messages, in the channel's words; empty: not found out
	Callback string // the address that the channel posts callbacks to; empty: not found out
}

// Notice is what a channel reports about an account or one of its numbers, unasked.
type Notice struct {
	Event string // in the channel's words
	Limit string // of messages; empty: it says nothing about it
	At    time.Time
}
