package notify

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"carillon"
	"carillon/internal/queue"
	"carillon/internal/store/messages"
	"carillon/internal/store/rank"
	"carillon/internal/store/work"
)

// A fault of our own postpones a message. If the fault is permanent, the message fails eventually. An unreachable
// database always counts as temporary.
func TestAFaultOfOursThatDoesNotPassEndsAMessage(t *testing.T) {
	n := &worker{o: &Options{Log: slog.New(slog.DiscardHandler)}}
	fault, away := errors.New("a fault"), context.DeadlineExceeded
	for name, c := range map[string]struct {
		attempt int
		err     error
		want    work.Move
	}{
		"a fault":                     {1, fault, work.MoveRetry},
		"a fault for almost a day":    {maxOwnTries - 1, fault, work.MoveRetry},
		"a fault for a day":           {maxOwnTries, fault, work.MoveDone},
		"the database is away for it": {10 * maxOwnTries, away, work.MoveRetry},
	} {
		j := &attempt{Job: &queue.Job{Attempt: c.attempt}, sender: &carillon.Sender{ID: "main"}}
		done := n.later(j, c.err, time.Now())
		if done.Result.Move != c.want {
			t.Errorf("%s: %v", name, done.Result)
		}
		if o := messages.OutcomeOf(&done.Result); c.want == work.MoveDone &&
			(o.Rank != rank.Failed || o.Reason != carillon.ReasonAttemptsExhausted || done.Result.Detail == "") {
			t.Errorf("%s: %+v, %q", name, o, done.Result.Detail)
		}
	}
}
