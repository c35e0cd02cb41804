package membership

import (
	"testing"
	"time"

	"carillon/internal/store/work"

	"github.com/google/go-cmp/cmp"

	"carillon"
)

// look is an observation at a time, with the expected state of node "x".
type look struct {
	at      time.Duration
	beat    int64
	session bool
	dead    bool
}

func TestNodeIsDeclaredDeadByItsBeatAndItsSession(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		name  string
		looks []look
	}{
		{"it beats on", []look{{0, 1, true, false}, {4 * s, 2, true, false}, {8 * s, 3, true, false}, {12 * s, 4, true, false}}},
		{"it stands still, its session lingers", []look{
			{0, 1, true, false}, {3 * s, 1, true, false}, {5900 * time.Millisecond, 1, true, false}, {6 * s, 1, true, true},
		}},
		{
			"its process died", []look{
				{0, 1, true, false}, {s, 1, false, false}, {2900 * time.Millisecond, 1, false, false}, {3 * s, 1, false, true},
			},
		},
		{
			"it was dead before the observer came", []look{
				{0, 7, false, false}, {1900 * time.Millisecond, 7, false, false}, {2 * s, 7, false, true},
			},
		},
		{
			"it lost its session and beats on", []look{
				{0, 1, false, false}, {s, 2, false, false}, {2 * s, 3, false, false}, {3 * s, 4, false, false},
			},
		},
		{"it lost its session for a moment", []look{
			{0, 1, true, false},
			{s, 1, false, false},
			{2 * s, 1, true, false},
			{3 * s, 1, false, false},
			{4 * s, 1, false, false},
			{5 * s, 1, false, true},
		}},
		{"the observer was away for long", []look{
			{0, 1, true, false},
			{5100 * time.Millisecond, 1, true, false},
			{10 * s, 1, true, false},
			{11100 * time.Millisecond, 1, true, true},
		}},
		{"the database was away and ended all sessions", []look{
			{0, 1, true, false},
			{4900 * time.Millisecond, 1, false, false},
			{5900 * time.Millisecond, 2, false, false},
			{6900 * time.Millisecond, 3, true, false},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w watch
			begin := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
			for _, l := range c.looks {
				nodes := []work.Node{{ID: "self", Beat: 5}, {ID: "x", Beat: l.beat, Session: l.session, Fit: work.Fit}}
				dead, _ := w.look(nodes, "self", begin.Add(l.at))
				want := []work.Node(nil)
				if l.dead {
					want = nodes[1:]
				}
				if d := cmp.Diff(want, dead); d != "" {
					t.Errorf("at %s (-want +got):\n%s", l.at, d)
				}
			}
		})
	}
}

func TestShardsAreDividedAmongTheFittest(t *testing.T) {
	type nodes map[string]work.Fitness
	for _, c := range []struct {
		name  string
		nodes nodes
		want  map[string]int
	}{
		{"one", nodes{"a": work.Fit}, map[string]int{"a": 64}},
		{"three", nodes{"a": work.Fit, "b": work.Fit, "c": work.Fit}, map[string]int{"a": 22, "b": 22, "c": 22}},
		{"one leaves", nodes{"a": work.Fit, "b": work.Leaving}, map[string]int{"a": 64, "b": 0}},
		{"one clock is wrong", nodes{"a": work.ClockOff, "b": work.Fit, "c": work.Fit}, map[string]int{"a": 0, "b": 32, "c": 32}},
		{"every clock is wrong", nodes{"a": work.ClockOff, "b": work.ClockOff}, map[string]int{"a": 32, "b": 32}},
		{"the other clock leaves", nodes{"a": work.ClockOff, "b": work.Leaving}, map[string]int{"a": 64, "b": 0}},
		{"all leave", nodes{"a": work.Leaving, "b": work.Leaving}, map[string]int{"a": 0, "b": 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all []work.Node
			for id, fit := range c.nodes {
				all = append(all, work.Node{ID: id, Fit: fit})
			}
			got := map[string]int{}
			for id := range c.nodes {
				got[id] = part(all, id)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
	events := func(id string, fit work.Fitness) work.Node { return work.Node{ID: id, Fit: fit, Events: true} }
	for name, c := range map[string]struct {
		nodes []work.Node
		want  map[string]int
	}{
		"events and two": {
			[]work.Node{events("a", work.Fit), {ID: "b", Fit: work.Fit}, {ID: "c", Fit: work.Fit}}, map[string]int{"b": 32, "c": 32},
		},
		"only events":                 {[]work.Node{events("a", work.Fit), events("b", work.Fit)}, map[string]int{"a": 32, "b": 32}},
		"the only other clock is off": {[]work.Node{events("a", work.Fit), {ID: "b", Fit: work.ClockOff}}, map[string]int{"a": 64}},
		"the only other one leaves":   {[]work.Node{events("a", work.Fit), {ID: "b", Fit: work.Leaving}}, map[string]int{"a": 64}},
	} {
		for _, n := range c.nodes {
			if got := part(c.nodes, n.ID); got != c.want[n.ID] {
				t.Errorf("%s: %s owns %d", name, n.ID, got)
			}
		}
	}
	if carillon.Shards != 64 {
		t.Error("the table is made for 64 shards")
	}
}
