package queue

import (
	"time"

	"carillon/internal/queue/lane"
)

// maxLasting limits the starts and the results of lasting work in a commit: each takes several statements.
const maxLasting = 200

// most returns the maximum number of starts or results in a commit.
func (k *Kind) most(usual int) int {
	if k.Lasting {
		return maxLasting
	}
	return usual
}

// settled is the event that a provider has accepted lasting work.
type settled struct{ f *flight }

func (e settled) apply(_ *dispatcher, now time.Time) {
	k, l := e.f.kind, e.f.lane
	if e.f.settled || k.flights[e.f.job.Key] != e.f { // it has ended
		return
	}
	e.f.settled = true
	l.Settled++
	if l.Breaker != nil && k.lanes[l.UID] == l {
		k.breakers.recordSuccess(l, now)
		k.attend(l, now)
	}
}

// freed makes the lane of ended work check for room, on its present owner node: its bound is the number in progress on
// all nodes.
func (k *kind) freed(l *lane.Lane, now time.Time) {
	if own := k.lanes[l.UID]; own != nil {
		own.Full = time.Time{}
		k.attend(own, now)
		return
	}
	if k.d.shards[shardOf(l.UID)] == nil {
		k.wakeAnywhere(Wake{SenderUID: l.UID, Due: now}, now)
	}
}
