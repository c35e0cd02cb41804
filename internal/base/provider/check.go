package provider

import (
	"encoding/json"
	"time"
)

// FindingState is the severity of a finding.
type FindingState string

// The states of a finding.
const (
	FindingOK      FindingState = "ok"
	FindingWarn    FindingState = "warn" // it works, but not well or not for long
	FindingBad     FindingState = "bad"
	FindingUnknown FindingState = "unknown" // could not be determined
)

// Finding is one item in the check of a sender at its provider. It contains no secrets.
type Finding struct {
	Item   string            `json:"item"`
	State  FindingState      `json:"state"`
	Code   string            `json:"code"`             // the finding, unique across all items
	Detail string            `json:"detail,omitempty"` // the channel's code and our title for it
	Values map[string]string `json:"values,omitempty"` // for the text of the code
}

// Inspection is a provider's report on a sender.
type Inspection struct {
	Findings []Finding
	Quality  string // in the channel's words; empty if unknown
	Limit    string // message limit, in the channel's words; empty if unknown
	Callback string // address to which the channel posts callbacks; empty if unknown
}

// Grant is the result of a provider's sign-up dialog, in which an administrator gave access to a number.
type Grant struct {
	Code      string // exchanged once for a token, within seconds
	AccountID string
	NumberID  string // empty: the only number of the account
}

// Granted is a number to which a provider gave access, with the settings of its sender.
type Granted struct {
	Number   string
	Settings json.RawMessage
}

// Notice is an unsolicited report of a channel about an account or one of its numbers.
type Notice struct {
	Event string // in the channel's words
	Limit string // message limit; empty if the notice has none
	At    time.Time
}
