package ops

import (
	"testing"

	"carillon"
	"carillon/internal/store/messages"
	"carillon/internal/store/rank"
	"carillon/internal/store/work"
)

func TestASkippedMessageIsNoFailure(t *testing.T) {
	for want, r := range map[string]struct {
		move work.Move
		o    messages.Outcome
	}{
		"sent":    {work.MoveDone, messages.Outcome{Rank: rank.Sent}},
		"failed":  {work.MoveDone, messages.Outcome{Rank: rank.Failed, Reason: carillon.ReasonUndeliverable}},
		"skipped": {work.MoveDone, messages.Outcome{Rank: rank.Skipped, Reason: carillon.ReasonSuppressed}},
		"retry":   {move: work.MoveRetry},
		"unknown": {move: work.MoveUnknown},
		"held":    {move: work.MoveHold},
	} {
		if got := outcomeOf(r.move, r.o); got != want {
			t.Errorf("%+v is counted as %s, want %s", r, got, want)
		}
	}
}
