package work

import (
	"time"

	"carillon/internal/base/provider"
)

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
	Kind      string // kind of the sender's work
	State     BreakerState
	Fault     provider.Fault
	Detail    string    // the channel's code and our text, for the operator; no secrets or content
	Since     time.Time // time when it left closed
	Until     time.Time // open: time of the next attempt
}
