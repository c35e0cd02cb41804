// Package dial defines the interface between package call and dialers: a call to place, its progress and its ending.
package dial

import (
	"time"

	"carillon"
	"carillon/internal/base/provider"
)

// Call is one attempt at a call.
type Call struct {
	ID             string
	NotificationID string // empty for a call without one
	Number         string
	Attempt        int // from 1
	AgentID        string
	Contact        map[string]string // the contact's fields, for the agent
	Event          string            // the name_event of the notification; may be empty
}

// Progress receives the events of placing a call: in this order, each at most once, from the goroutine of Place.
type Progress interface {
	// Named reports WhatsApp's id of a call over WhatsApp.
	Named(wacid string)
	Ringing(at time.Time)
	// Answered reports the answer and the call's conversation, or "" if there is none.
	Answered(at time.Time, conversationID string)
	// RecordingRefused reports that the other side refused the recording, while Place talks with it; Recorded does not
	// follow.
	RecordingRefused()
	// Recorded reports the file with the call's recording.
	Recorded(fileID string)
}

// Ending is the end of an attempt (docs/reference/calls.md).
type Ending struct {
	State      carillon.State   // completed, busy, no_answer, rejected, voicemail, failed or canceled
	Reason     carillon.Reason  // if failed
	Cause      string           // the network's status, such as "486 Busy Here"
	Detail     string           // for the operator; no secrets
	EndedBy    string           // agent, callee, caller or system
	AnsweredBy string           // human, machine or unknown; empty if not answered
	Result     carillon.Details // the agent's results by name, in their types
	Fault      provider.Fault   // a fault of the line, recorded by its circuit breaker; empty for faults of the callee
	RetryAfter time.Duration    // with Fault: no other attempt before this time
	At         time.Time
}
