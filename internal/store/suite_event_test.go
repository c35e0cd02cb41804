package store_test

import (
	"encoding/json"
	"testing"
	"time"

	"carillon/internal/store"
)

func events() []sentence {
	return []sentence{{"events are numbered within their company's topic, read after a number and dropped with age", eventsOfATopic}}
}

func eventsOfATopic(t *testing.T, r *rig) {
	event := func(company, topic string, at time.Time) *store.Event {
		return &store.Event{CompanyID: company, Topic: topic, Kind: "message.sent", Subject: "m", Payload: json.RawMessage(`{}`), At: at}
	}
	old, now := r.now.Add(-time.Hour), r.now
	all := []*store.Event{event(ours, "a", old), event(ours, "a", now), event(theirs, "a", now), event(ours, "b", now)}
	if err := r.AddEvents(t.Context(), all...); err != nil {
		t.Fatal(err)
	}
	if last, err := r.LastEvent(t.Context(), ours, "a"); err != nil || last != 2 {
		t.Errorf("the last is %d, want 2; %v", last, err)
	}
	if got, err := r.EventsAfter(t.Context(), ours, "a", 1, 10); err != nil || len(got) != 1 || got[0].Seq != 2 {
		t.Errorf("after the first: %v, %v", got, err)
	}
	if _, err := r.DropEvents(t.Context(), now.Add(-time.Minute), 10); err != nil {
		t.Fatal(err)
	}
	if got, err := r.EventsAfter(t.Context(), ours, "a", 0, 10); err != nil || len(got) != 1 || got[0].Seq != 2 {
		t.Errorf("after dropping the old: %v, %v", got, err)
	}
	if last, err := r.LastEvent(t.Context(), ours, "a"); err != nil || last != 2 {
		t.Errorf("dropping set the number back to %d, %v", last, err)
	}
}
