package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/store/chats"
)

func runningFlows() []sentence {
	return []sentence{
		{"a flow run is stored with what its step says, or neither is", runTogether},
		{"of two writers of a flow run one wins", runOvertaken},
		{"due flow runs are found; one whose conversation a teammate takes is stopped", runDue},
		{"flow runs are listed by company and flow, and go with their conversation", runList},
		{"versions of a flow are kept once", runVersions},
		{"flow runs are counted, and those that failed listed", runCount},
		{"of two who save a draft of a flow one is refused", runDraft},
	}
}

// newRun is a run that is not stored yet.
func (r *rig) newRun(c *chats.Conversation) *chats.Run {
	r.now = r.now.Add(time.Second)
	return &chats.Run{
		ID: carillon.NewID(r.now), CompanyID: c.CompanyID, FlowID: "flow", Version: 1, ConversationID: c.ID, Cause: "event",
		Event: "order-shipped", NotificationID: "n",
		State: "asking", Open: true, Place: 2, Path: "steps.2", Variables: map[string]string{"name": "Ana"}, Question: "Yes?",
		Tries: 1, Steps: 3, Alone: 2,
		StartedAt: r.now, ChangedAt: r.now,
	}
}

func (r *rig) writeRun(t *testing.T, w *chats.RunWrite, edit func(c *chats.Conversation) ([]chats.Turn, error)) (*chats.Run, error) {
	t.Helper()
	if edit == nil {
		edit = func(*chats.Conversation) ([]chats.Turn, error) { return nil, nil }
	}
	c := &chats.Change{CompanyID: w.Run.CompanyID, ConversationID: w.Run.ConversationID, Run: w, Edit: edit}
	err := r.Chats.Do(t.Context(), c)
	return c.Ran, err
}

func runTogether(t *testing.T, r *rig) {
	c, s := r.talk(t, ours), r.Runs
	x := r.newRun(c)
	refused := errors.New("no")
	if _, err := r.writeRun(t, &chats.RunWrite{Run: x},
		func(*chats.Conversation) ([]chats.Turn, error) { return nil, refused }); !errors.Is(err, refused) {
		t.Error(err)
	}
	if got, err := s.Current(t.Context(), ours, c.ID); got != nil || err != nil {
		t.Error("a run whose step was refused:", got, err)
	}
	log := []chats.RunEntry{
		{At: r.now, Path: "steps.0", Kind: "say", Text: "Yes?"}, {
			At: r.now, Path: "steps.1", Kind: "ask", Changed: map[string]string{"a": "1"},
		},
	}
	ran, err := r.writeRun(t, &chats.RunWrite{Run: x, Entries: log}, func(*chats.Conversation) ([]chats.Turn, error) {
		return []chats.Turn{{Author: chats.Agent, Kind: chats.KindText, Text: "Yes?", At: r.now}}, nil
	})
	if err != nil || ran.Rev != 1 || ran.Entries != 2 || x.Rev != 0 {
		t.Fatal(ran, err)
	}
	got, err := s.Current(t.Context(), ours, c.ID)
	if diff := cmp.Diff(ran, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if got, _ := s.Current(t.Context(), theirs, c.ID); got != nil {
		t.Error("another company sees it")
	}
	for company, want := range map[string]bool{ours: true, theirs: false} {
		if got, err := s.Begun(t.Context(), company, c.ID, "n"); got != want || err != nil {
			t.Error(company, got, err)
		}
	}
	if got, _ := s.Find(t.Context(), theirs, x.ID); got != nil {
		t.Error("another company finds it")
	}
	entries, err := s.Entries(t.Context(), ours, x.ID)
	log[0].Seq, log[1].Seq = 1, 2
	if diff := cmp.Diff(log, entries); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if entries, _ := s.Entries(t.Context(), theirs, x.ID); len(entries) > 0 {
		t.Error("another company reads it")
	}
	turns, err := r.Chats.TurnsBefore(t.Context(), ours, c.ID, 10, 10)
	if len(turns) != 1 || err != nil {
		t.Error(turns, err)
	}
}

func runOvertaken(t *testing.T, r *rig) {
	c := r.talk(t, ours)
	first, err := r.writeRun(t, &chats.RunWrite{Run: r.newRun(c)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.writeRun(t, &chats.RunWrite{Run: r.newRun(c)}, nil); !errors.Is(err, chats.ErrOvertaken) {
		t.Error("a second run of the conversation:", err)
	}
	next := *first
	next.State, next.Place, next.Due = "waiting", 4, r.now.Add(time.Hour)
	if _, err := r.writeRun(t, &chats.RunWrite{Run: &next}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := r.writeRun(t, &chats.RunWrite{Run: first}, func(*chats.Conversation) ([]chats.Turn, error) {
		t.Error("it is edited")
		return nil, nil
	}); !errors.Is(err, chats.ErrOvertaken) {
		t.Error("a write of what was read before:", err)
	}
	over, _ := r.Runs.Find(t.Context(), ours, first.ID)
	over.State, over.Open, over.Due, over.Error = "failed", false, time.Time{}, "steps.1: no"
	if _, err := r.writeRun(t, &chats.RunWrite{Run: over}, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Runs.Current(t.Context(), ours, c.ID); got != nil || err != nil {
		t.Error("it goes on:", got, err)
	}
	if _, err := r.writeRun(t, &chats.RunWrite{Run: r.newRun(c)}, nil); err != nil {
		t.Error("a run after the one that is over:", err)
	}
	if of, err := r.Runs.OfNotification(t.Context(), ours, "n", 10); len(of) == 0 || err != nil {
		t.Error("of a notification:", of, err)
	}
	if of, err := r.Runs.OfNotification(t.Context(), theirs, "n", 10); len(of) > 0 || err != nil {
		t.Error("of another company's notification:", of, err)
	}
	all, err := r.Runs.OfConversation(t.Context(), ours, c.ID, 10)
	if err != nil || len(all) != 2 || all[1].Error != "steps.1: no" {
		t.Error(all, err)
	}
}

func runDue(t *testing.T, r *rig) {
	s, start := r.Runs, r.now.Add(time.Minute)
	var ids []string
	for i := range 3 {
		x := r.newRun(r.talk(t, ours))
		x.State, x.Due = "waiting", start.Add(time.Duration(2-i)*time.Second)
		ids = append([]string{x.ID}, ids...)
		if _, err := r.writeRun(t, &chats.RunWrite{Run: x}, nil); err != nil {
			t.Fatal(err)
		}
	}
	due, next, err := s.Due(t.Context(), start.Add(time.Second), 10)
	if err != nil || len(due) != 2 || due[0].ID != ids[0] || due[1].ID != ids[1] || !next.Equal(start.Add(2*time.Second)) {
		t.Error(due, next, err)
	}
	if due, next, err := s.Due(t.Context(), start.Add(time.Hour), 10); len(due) != 3 || !next.IsZero() || err != nil {
		t.Error(due, next, err)
	}
	calling := r.newRun(r.talk(t, ours))
	calling.State, calling.Due, calling.Begun, calling.Node = "calling", start, true, "gone"
	if _, err := r.writeRun(t, &chats.RunWrite{Run: calling}, nil); err != nil {
		t.Fatal(err)
	}
	if due, _, err := s.Due(t.Context(), start.Add(time.Hour), 10); len(due) != 3 || err != nil {
		t.Error("effects have no time:", due, err)
	}
	if calls, err := s.Calls(t.Context(), start.Add(-time.Millisecond), 10, nil); len(calls) != 0 || err != nil {
		t.Error(calls, err)
	}
	if calls, err := s.Calls(t.Context(), start.Add(time.Hour), 10, []string{calling.CompanyID}); len(calls) != 0 || err != nil {
		t.Error("without their company:", calls, err)
	}
	if calls, err := s.Calls(t.Context(), start.Add(time.Hour), 10, nil); len(calls) != 1 || calls[0].ID != calling.ID || err != nil {
		t.Error(calls, err)
	}
	if err := s.Recover(t.Context(), start.Add(-time.Millisecond), false); err != nil {
		t.Error(err)
	}
	if calls, err := s.Calls(t.Context(), start.Add(-time.Millisecond), 10, nil); len(calls) != 1 || calls[0].Node != "gone" || err != nil {
		t.Error("its node is gone:", calls, err)
	}
	if err := s.Recover(t.Context(), start.Add(-time.Second), true); err != nil {
		t.Error(err)
	}
	calls, err := s.Calls(t.Context(), start.Add(-time.Second), 10, nil)
	early, _, failed := s.Due(t.Context(), start.Add(-time.Second), 10)
	if len(calls) != 1 || len(early) != 0 || err != nil || failed != nil {
		t.Error("recovered:", calls, early, err, failed)
	}
	c := &chats.Change{CompanyID: ours, ConversationID: due[0].ConversationID, Edit: func(c *chats.Conversation) ([]chats.Turn, error) {
		c.SetState(chats.Active, r.now)
		return nil, nil
	}}
	if err := r.Chats.Do(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	x, err := s.Find(t.Context(), ours, due[0].ID)
	if err != nil || x.State != "stopped" || x.Open || !x.Due.IsZero() {
		t.Errorf("where a teammate took the conversation it is %+v, %v", x, err)
	}
	if log, err := s.Entries(t.Context(), ours, x.ID); len(log) != 1 || log[0].Kind != "stopped" || err != nil {
		t.Error(log, err)
	}
	x.State, x.Open = "asking", true
	if _, err := r.writeRun(t, &chats.RunWrite{Run: x}, nil); !errors.Is(err, chats.ErrOvertaken) {
		t.Error("it goes on:", err)
	}
}

func runList(t *testing.T, r *rig) {
	var all []*chats.Run
	for i := range 5 {
		x := r.newRun(r.talk(t, ours))
		if i == 2 {
			x.FlowID = "other"
		}
		ran, err := r.writeRun(t, &chats.RunWrite{Run: x, Entries: []chats.RunEntry{{At: r.now, Path: "steps.0", Kind: "say"}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append([]*chats.Run{ran}, all...)
	}
	if _, err := r.writeRun(t, &chats.RunWrite{Run: r.newRun(r.talk(t, theirs))}, nil); err != nil {
		t.Fatal(err)
	}
	list := func(flow string, after *chats.Run, limit int) []*chats.Run {
		var page *chats.RunPage
		if after != nil {
			page = &chats.RunPage{StartedAt: after.StartedAt, ID: after.ID}
		}
		got, err := r.Runs.List(t.Context(), ours, chats.RunFilter{FlowID: flow}, page, limit)
		if err != nil {
			t.Error(err)
		}
		return got
	}
	if diff := cmp.Diff(all[:2], list("", nil, 2)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(all[2:], list("", all[1], 10)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(all[2:3], list("other", nil, 10)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(all[3:], list("flow", all[1], 10)); diff != "" {
		t.Error(diff)
	}
	if _, err := r.Purges.DropConversations(t.Context(), ours, r.now.Add(time.Hour), 100); err != nil {
		t.Fatal(err)
	}
	if got := list("", nil, 10); len(got) > 0 {
		t.Errorf("%d runs are left", len(got))
	}
}

func runVersions(t *testing.T, r *rig) {
	s := r.Runs
	for i, c := range []struct {
		company, digest string
		want            int
	}{{ours, "a", 1}, {ours, "b", 2}, {ours, "a", 1}, {theirs, "a", 1}} {
		if got, err := s.Keep(t.Context(), c.company, "flow", c.digest, "definition "+c.digest, r.now); got != c.want || err != nil {
			t.Error(i, got, err)
		}
	}
	if text, err := s.Definition(t.Context(), ours, "flow", 2); text != "definition b" || err != nil {
		t.Error(text, err)
	}
	if text, err := s.Definition(t.Context(), theirs, "flow", 2); text != "" || err != nil {
		t.Error("another company's:", text, err)
	}
	all, err := s.Versions(t.Context(), ours, "flow", 10)
	if len(all) != 2 || all[0].Version != 2 || err != nil {
		t.Error(all, err)
	}
}

func runCount(t *testing.T, r *rig) {
	s, start := r.Runs, r.now
	var failed []string
	for i := range 4 {
		c := r.talk(t, ours)
		x := r.newRun(c)
		if i%2 == 1 {
			x.State, x.Open, x.Error = "failed", false, "steps.0: no"
			failed = append([]string{x.ID}, failed...)
		}
		if i == 3 {
			x.FlowID = "other"
		}
		if _, err := r.writeRun(t, &chats.RunWrite{Run: x}, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		company, flow string
		since         time.Time
		most, want    int
	}{
		{ours, "flow", start, 10, 3},
		{ours, "flow", start, 2, 2},
		{ours, "flow", r.now, 10, 0},
		{ours, "other", r.now, 10, 1},
		{theirs, "flow", start, 10, 0},
	} {
		if got, err := s.Count(t.Context(), c.company, c.flow, c.since, c.most); got != c.want || err != nil {
			t.Errorf("%+v: %d, %v", c, got, err)
		}
	}
	for flow, want := range map[string][]string{"": failed, "flow": failed[1:], "other": failed[:1]} {
		all, err := s.List(t.Context(), ours, chats.RunFilter{FlowID: flow, Failed: true}, nil, 10)
		var got []string
		for _, x := range all {
			got = append(got, x.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Error(flow, diff, err)
		}
		page := &chats.RunPage{StartedAt: r.now.Add(time.Hour), ID: "x"}
		if again, err := s.List(t.Context(), ours, chats.RunFilter{FlowID: flow, Failed: true}, page, 10); len(again) != len(want) ||
			err != nil {
			t.Error(again, err)
		}
	}
	c := r.talk(t, ours)
	people, err := s.People(t.Context(), ours, []string{c.ID})
	if len(people) != 1 || people[c.ID].Channel != c.Channel || err != nil {
		t.Error(people, err)
	}
	if people, err := s.People(t.Context(), theirs, []string{c.ID}); len(people) != 0 || err != nil {
		t.Error("another company's:", people, err)
	}
}

func runDraft(t *testing.T, r *rig) {
	s := r.Runs
	x := &chats.FlowDraft{FlowID: "f", Name: "First", Definition: "{}", SavedAt: r.now}
	if err := s.SaveDraft(t.Context(), ours, x, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if err := s.SaveDraft(t.Context(), ours, &chats.FlowDraft{FlowID: "f", SavedAt: r.now}, time.Time{}); !carillon.IsCode(err,
		carillon.Conflict) {
		t.Error("a second first draft:", err)
	}
	first := x.SavedAt
	next := &chats.FlowDraft{FlowID: "f", Name: "Second", Definition: `{"a":1}`, SavedAt: r.now}
	if err := s.SaveDraft(t.Context(), ours, next, first); err != nil || !next.SavedAt.After(first) {
		t.Error(next, err)
	}
	if err := s.SaveDraft(t.Context(), ours, &chats.FlowDraft{FlowID: "f", SavedAt: r.now}, first); !carillon.IsCode(err,
		carillon.Conflict) {
		t.Error("what was saved by somebody else is overwritten:", err)
	}
	got, err := s.Draft(t.Context(), ours, "f")
	if diff := cmp.Diff(next, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	all, err := s.Drafts(t.Context(), ours)
	if len(all) != 1 || all[0].Name != "Second" || all[0].Definition != "" || err != nil {
		t.Error(all, err)
	}
	if got, err := s.Draft(t.Context(), theirs, "f"); got != nil || err != nil {
		t.Error("another company reads it:", got, err)
	}
	for _, c := range []struct {
		company string
		seen    time.Time
		want    bool
	}{{theirs, time.Time{}, false}, {ours, first, false}, {ours, next.SavedAt, true}, {ours, time.Time{}, false}} {
		if got, err := s.DropDraft(t.Context(), c.company, "f", c.seen); got != c.want || err != nil {
			t.Error(c, got, err)
		}
	}
}
