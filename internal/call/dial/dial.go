// Package dial is what a dialer and the part that places calls say to each other: the call to place, its progress and how it
// ended.
package dial

import (
	"time"

	"carillon"
	"carillon/internal/base/provider"
)

// Call is one attempt at a call.
type Call struct {
	ID      string
	Number  string
	Attempt int // from 1
	AgentID string
	Contact map[string]string // the contact's fields, for the agent
	Event   string            // the name_event of the notification; "": none
}

// Progress receives what happens while a call is placed: in this order, each at most once, from the goroutine of Place.
type Progress interface {
	Ringing(at time.Time)
	// Answered begins the talk, which is a conversation; "": there is none.
	Answered(at time.Time, conversationID string)
	// Recorded names the file of the talk's recording.
	Recorded(fileID string)
}

// Ending is how an attempt ended (docs/reference/calls.md).
type Ending struct {
	State      carillon.State   // completed, busy, no_answer, rejected, voicemail, failed or canceled
	Reason     carillon.Reason  // with failed
	Cause      string           // the network's status, such as "486 Busy Here"
	Detail     string           // for the operator; no secrets
	EndedBy    string           // agent, callee, caller or system
	AnsweredBy string           // human, machine or unknown; empty when it was not answered
	Result     carillon.Details // what the agent found out, by the names of its result fields, each in its type
	Fault      provider.Fault   // of the line rather than of the callee: the circuit breaker records it; else empty
	RetryAfter time.Duration    // with Fault: no other attempt before it
	At         time.Time
}
