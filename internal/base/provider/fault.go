package provider

// Fault is the class of a failure that is likely to affect the sender's next attempt too. Circuit breakers count
// faults. A failure that concerns only the message or its recipient is not a fault.
type Fault string

// The classes of faults.
const (
	FaultUnreachable Fault = "unreachable" // no connection to the channel, or its certificate is invalid
	FaultThrottled   Fault = "throttled"   // the channel limited the rate
	FaultAccount     Fault = "account"     // the channel refuses the account: authentication, permission, payment, policy
	FaultProvider    Fault = "provider"    // the channel reported an internal error
	FaultUnknown     Fault = "unknown"     // no complete response in time: the outcome is unknown
)

// Faults lists all classes.
func Faults() []Fault {
	return []Fault{FaultUnreachable, FaultThrottled, FaultAccount, FaultProvider, FaultUnknown}
}
