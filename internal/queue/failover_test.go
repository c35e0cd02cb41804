package queue

import (
	"testing"

	"carillon"
	"carillon/internal/store"
)

// The audit of a server that was promoted finds in flight what was sent and written to the one before.
func TestWhatAnAuditSaysSupersedesNoResult(t *testing.T) {
	const sent, retried, started carillon.MessageKey = 1 << 8, 2 << 8, 3 << 8
	unsent := func(k carillon.MessageKey, attempt int) store.Result {
		return store.Result{Key: k, Attempt: attempt, Move: store.MoveUnsent}
	}
	got := newest([]store.Result{
		{Key: sent, Attempt: 1, Move: store.MoveDone}, {Key: retried, Attempt: 1, Move: store.MoveRetry},
	}, []store.Result{
		unsent(sent, 1), unsent(retried, 2), unsent(started, 1),
	})
	for k, want := range map[carillon.MessageKey]store.Move{sent: store.MoveDone, retried: store.MoveUnsent, started: store.MoveUnsent} {
		if got[k].Move != want {
			t.Errorf("of message %d %+v is told, want move %d", k>>8, got[k], want)
		}
	}
}
