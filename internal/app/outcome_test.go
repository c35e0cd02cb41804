package app

import (
	"testing"

	"carillon"
	"carillon/internal/queue"
	"carillon/internal/store"
)

func TestASkippedMessageIsNoFailure(t *testing.T) {
	for want, r := range map[string]store.Result{
		"sent":    {Move: store.MoveDone, Rank: carillon.RankSent},
		"failed":  {Move: store.MoveDone, Rank: carillon.RankFailed, Reason: carillon.ReasonUndeliverable},
		"skipped": {Move: store.MoveDone, Rank: carillon.RankSkipped, Reason: carillon.ReasonSuppressed},
		"retry":   {Move: store.MoveRetry},
		"unknown": {Move: store.MoveUnknown},
		"held":    {Move: store.MoveHold},
	} {
		if got := outcomeOf(&queue.Done{Result: r}); got != want {
			t.Errorf("%+v is counted as %s, want %s", r, got, want)
		}
	}
}
