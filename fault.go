package carillon

import "time"

// Fault is the class of a failure that is likely to affect the sender's next attempt too, which is what a circuit breaker
// counts. A failure that concerns only the message or its recipient is not a fault.
type Fault string

// The classes of faults.
const (
	FaultUnreachable Fault = "unreachable" // no connection to the channel, or its certificate is invalid
	FaultThrottled   Fault = "throttled"   // the channel limits the rate
	FaultAccount     Fault = "account"     // the channel refuses the account: authentication, permission, payment, policy
	FaultProvider    Fault = "provider"    // the channel reports an error of its own
	FaultUnknown     Fault = "unknown"     // no complete response in time: the outcome is unknown
)

// Faults lists all classes.
func Faults() []Fault {
	return []Fault{FaultUnreachable, FaultThrottled, FaultAccount, FaultProvider, FaultUnknown}
}

// BreakerState is the state of a sender's circuit breaker.
type BreakerState string

// The states of a circuit breaker.
const (
	BreakerClosed   BreakerState = "closed"    // messages are sent
	BreakerOpen     BreakerState = "open"      // no message starts before Until
	BreakerHalfOpen BreakerState = "half_open" // one message at a time, until one gets a response
)

// Breaker describes a sender's circuit breaker that is not closed.
type Breaker struct {
	SenderUID int64
	CompanyID string
	Kind      string // of the work that the sender does
	State     BreakerState
	Fault     Fault
	Detail    string    // the channel's code and our text, for the operator; no secrets, no content
	Since     time.Time // when it left closed
	Until     time.Time // open: when the next message is tried
}
