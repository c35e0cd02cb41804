package carillon

import "time"

// Fault classes what kept an attempt from its end and may well keep the next one of the same sender: what a circuit
// breaker counts. A fault of the message alone, or of its recipient, is none.
type Fault string

// The classes of faults.
const (
	FaultUnreachable Fault = "unreachable" // the channel cannot be dialed, or does not prove who it is
	FaultThrottled   Fault = "throttled"   // the channel wants to be asked less often
	FaultAccount     Fault = "account"     // the account is refused: authentication, permission, payment, policy
	FaultProvider    Fault = "provider"    // the channel says that it has a fault of its own
	FaultUnknown     Fault = "unknown"     // no whole answer in time: the outcome is not known
)

// Faults are all classes of faults.
func Faults() []Fault {
	return []Fault{FaultUnreachable, FaultThrottled, FaultAccount, FaultProvider, FaultUnknown}
}

// BreakerState is the state of a sender's circuit breaker.
type BreakerState string

// The states of a breaker.
const (
	BreakerClosed   BreakerState = "closed"    // all is well
	BreakerOpen     BreakerState = "open"      // nothing starts before Until
	BreakerHalfOpen BreakerState = "half_open" // one message at a time, until one is answered
)

// Breaker is what can be known of a sender's circuit breaker that is not closed.
type Breaker struct {
	SenderUID int64
	CompanyID string
	State     BreakerState
	Fault     Fault
	Detail    string    // the channel's code and a text of ours, for the operator; no secrets, no content
	Since     time.Time // when it left closed
	Until     time.Time // open: when the next message is tried
}
