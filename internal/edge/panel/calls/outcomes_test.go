package calls_test

import (
	"fmt"
	"testing"
	"time"

	"carillon"
	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/calls"
)

func TestCallsAreCountedByOutcome(t *testing.T) {
	w := paneltest.New(t)
	line, owner := line(w, w.Company("acme").ID), w.As("owner@acme.test")
	w.Company("other")
	first := accepted(w, line, carillon.Voice, "{}")
	accepted(w, line, carillon.Voice, "{}")
	accepted(w, line, carillon.Messaging, "{}")
	w.Execute("UPDATE call SET q = 0, state = 'busy', ended_at = $1 WHERE id = $2", time.Now().UnixMilli(),
		int64(carillon.SeqOf(first).Message(0)))
	for more := true; more; {
		var err error
		if more, err = w.Store.Stats.Step(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	if _, err := w.Store.Incoming.Take(t.Context(), &calls.IncomingCall{
		ID: carillon.NewID(now), CompanyID: line.CompanyID, SenderUID: line.UID, AgentID: "ann", Number: "34600111222", RingingAt: now,
	}, 0); err != nil {
		t.Fatal(err)
	}
	total := func(query, token string) string {
		t.Helper()
		got := w.Want("GET", "/panel/v1/calls/outcomes?"+query, token, "", 200, "", "")
		sum := 0.0
		for _, h := range got["hours"].([]any) {
			for _, n := range h.(map[string]any)["states"].(map[string]any) {
				sum += n.(float64)
			}
		}
		return fmt.Sprint(got["total"], " ", sum)
	}
	const both, none = "map[busy:1 queued:1] 2", "map[] 0"
	for query, want := range map[string]string{
		"": both, "line=line": both, "line=nothing": none, "campaign=spring": both, "campaign=autumn": none,
		"agent=3e0f7a52-1d84-4b7c-8c39-5a2be6d41f11": both, "agent=3e0f7a52-1d84-4b7c-8c39-5a2be6d41f12": none,
		"type=marketing": none, "from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z": none,
		"direction=incoming": "map[ringing:1] 1", "direction=incoming&campaign=spring": none,
	} {
		if got := total(query, owner); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	if got := total("", w.As("owner@other.test")) + total("direction=incoming", w.As("owner@other.test")); got != none+none {
		t.Error("another company's:", got)
	}
	for query, field := range map[string]string{
		"direction=up": "direction", "type=x": "type", "agent=Ann": "agent", "from=x": "from",
		"direction=incoming&from=2026-01-01T00:00:00Z&to=2026-03-01T00:00:00Z": "from",
	} {
		w.Want("GET", "/panel/v1/calls/outcomes?"+query, owner, "", 400, "validation_failed", field)
	}
}
