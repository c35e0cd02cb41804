package rank

import (
	"testing"

	"carillon"
	"carillon/docs"
)

// TestTheDrawingShowsWhatRanksAllow compares docs/images/states-message.svg with the ranks: each drawn transition
// between ranked states goes to the greater rank, and no final state leads back to the queue.
func TestTheDrawingShowsWhatRanksAllow(t *testing.T) {
	drawing, err := docs.Transitions("states-message.svg")
	if err != nil {
		t.Fatal(err)
	}
	ranks := map[string]Rank{"scheduled": None, "queued": None, "sending": None, "skipped": Skipped, "canceled": Canceled}
	for _, s := range []carillon.State{carillon.StateSent, carillon.StateFailed, carillon.StateDelivered, carillon.StateRead} {
		ranks[string(s)] = Of(s)
	}
	for _, x := range drawing {
		from, known := ranks[x.From]
		to, knownTo := ranks[x.To]
		if !known || !knownTo || to < from || to == from && from != None {
			t.Errorf("it shows that %s, rank %d, becomes %s, rank %d", x.From, from, x.To, to)
		}
	}
}
