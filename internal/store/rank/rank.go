// Package rank orders the states of a message. A stored message only rises in rank, so receipts may arrive in any
// order and repeatedly.
package rank

import "carillon"

// Rank is the rank of a message's state. A failure with an unknown outcome ranks below sent, so that a late receipt
// can replace it; a failure reported by the provider ranks below delivered, because some channels report both.
type Rank int

// The ranks as stored. The values never change; the gaps are for new ones.
const (
	None          Rank = 0
	Skipped       Rank = 10
	Canceled      Rank = 20
	FailedUnknown Rank = 30
	Sent          Rank = 40
	Failed        Rank = 50
	Delivered     Rank = 60
	Read          Rank = 70
)

// State returns the state of a rank; queued for None.
func (r Rank) State() carillon.State {
	switch r {
	case Skipped:
		return carillon.StateSkipped
	case Canceled:
		return carillon.StateCanceled
	case FailedUnknown, Failed:
		return carillon.StateFailed
	case Sent:
		return carillon.StateSent
	case Delivered:
		return carillon.StateDelivered
	case Read:
		return carillon.StateRead
	default:
		return carillon.StateQueued
	}
}

// Of returns the rank of a state reported by a provider; None for states that no provider reports.
func Of(s carillon.State) Rank {
	switch s {
	case carillon.StateSent:
		return Sent
	case carillon.StateDelivered:
		return Delivered
	case carillon.StateRead:
		return Read
	case carillon.StateFailed:
		return Failed
	default:
		return None
	}
}
