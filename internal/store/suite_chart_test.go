package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/store/calls"
	"carillon/internal/store/chats"
	"carillon/internal/store/messages"
	"carillon/internal/store/stats"
	"carillon/internal/store/work"
)

func charting() []sentence {
	return []sentence{
		{"calls are counted by their states, and deleted ones stay counted", callsByState},
		{"calls to a line are counted by their states", incomingByState},
		{"a handoff lasts until the agent continues, with its first reply and its end", handoffsFollowed},
		{"ratings are those of a time, the last one of each conversation", ratingsRead},
	}
}

type states map[carillon.State]int64

// callStates are the calls of a filter, added up.
func (r *rig) callStates(t *testing.T, company string, f stats.CallFilter) states {
	t.Helper()
	hours, err := r.Stats.Calls(t.Context(), company, f)
	if err != nil {
		t.Fatal(err)
	}
	sum := states{}
	for _, h := range hours {
		if !h.At.Equal(h.At.Truncate(time.Hour)) {
			t.Errorf("%v is no hour", h.At)
		}
		for state, n := range h.States {
			if sum[state] += n; sum[state] == 0 {
				delete(sum, state)
			}
		}
	}
	return sum
}

func callsByState(t *testing.T, r *rig) {
	f, begun := r.fence(t), r.now
	agent := func(id string) func(a *messages.Accept) {
		return func(a *messages.Accept) { a.Notification.Labels.AgentID = id }
	}
	first, talks := r.called(t, agent("ann"))
	_, busy := r.called(t, agent("ann"))
	r.called(t, agent("bob"))
	r.called(t, agent("bob"), func(a *messages.Accept) { a.Messages[0].Skip = carillon.ReasonSuppressed })
	r.dial(t, f, 0, talks)
	r.dial(t, f, 0, busy)
	if err := r.Calls.Progress(t.Context(), carillon.MessageKey(talks), 1, carillon.StateInProgress, r.now); err != nil {
		t.Fatal(err)
	}
	r.callEnds(t, busy, work.MoveDone, calls.Outcome{State: carillon.StateBusy})
	r.counted(t)
	all := states{carillon.StateInProgress: 1, carillon.StateBusy: 1, carillon.StateQueued: 1, carillon.StateSkipped: 1}
	campaign, other, class := first.Notification.Campaign, "none", first.Notification.Class
	for name, x := range map[string]struct {
		filter stats.CallFilter
		want   states
	}{
		"all":        {stats.CallFilter{}, all},
		"a campaign": {stats.CallFilter{Campaign: &campaign, Class: &class, SenderUID: r.sender.UID}, all},
		"none":       {stats.CallFilter{Campaign: &other}, states{}},
		"a sender":   {stats.CallFilter{SenderUID: r.sender.UID + 1}, states{}},
		"an agent":   {stats.CallFilter{AgentID: "ann"}, states{carillon.StateInProgress: 1, carillon.StateBusy: 1}},
		"before":     {stats.CallFilter{To: begun.Truncate(time.Hour)}, states{}},
		"since":      {stats.CallFilter{From: begun.Truncate(time.Hour), To: r.now.Add(time.Hour)}, all},
	} {
		if diff := cmp.Diff(x.want, r.callStates(t, ours, x.filter)); diff != "" {
			t.Error(name, diff)
		}
	}
	if got := r.callStates(t, theirs, stats.CallFilter{}); len(got) > 0 {
		t.Error("another company has", got)
	}

	r.callEnds(t, talks, work.MoveDone, calls.Outcome{State: carillon.StateCompleted})
	r.counted(t)
	delete(all, carillon.StateInProgress)
	all[carillon.StateCompleted] = 1
	if diff := cmp.Diff(all, r.callStates(t, ours, stats.CallFilter{})); diff != "" {
		t.Error("after a call has ended", diff)
	}

	r.searchable(t)
	r.now = r.now.Add(time.Second)
	if _, err := r.Purges.Purge(t.Context(), ours, begun.Add(-time.Hour), r.now, 1000); err != nil {
		t.Fatal(err)
	}
	r.counted(t)
	if diff := cmp.Diff(all, r.callStates(t, ours, stats.CallFilter{})); diff != "" {
		t.Error("after calls were deleted", diff)
	}
	if _, err := r.Purges.DropStats(t.Context(), r.now.Add(24*time.Hour), 100); err != nil {
		t.Fatal(err)
	}
	if got := r.callStates(t, ours, stats.CallFilter{}); len(got) > 0 {
		t.Error("old counts stay", got)
	}
}

func incomingByState(t *testing.T, r *rig) {
	r.fence(t)
	r.rings(t, 0)
	c, _ := r.rings(t, 0)
	if err := r.Incoming.End(t.Context(), c.ID, calls.IncomingEnd{State: carillon.StateCompleted, At: r.now}); err != nil {
		t.Fatal(err)
	}
	of := func(company string, f stats.CallFilter) states {
		t.Helper()
		f.From, f.To = r.now.Add(-time.Hour), r.now.Add(time.Hour)
		hours, err := r.Stats.Incoming(t.Context(), company, f)
		if err != nil {
			t.Fatal(err)
		}
		sum := states{}
		for _, h := range hours {
			for state, n := range h.States {
				sum[state] += n
			}
		}
		return sum
	}
	want := states{carillon.StateRinging: 1, carillon.StateCompleted: 1}
	for _, f := range []stats.CallFilter{{}, {AgentID: "ann", SenderUID: r.sender.UID}} {
		if diff := cmp.Diff(want, of(ours, f)); diff != "" {
			t.Error(f, diff)
		}
	}
	if got := of(ours, stats.CallFilter{AgentID: "bob"}); len(got) > 0 {
		t.Error("another agent has", got)
	}
	if got := of(theirs, stats.CallFilter{}); len(got) > 0 {
		t.Error("another company has", got)
	}
}

// handoffs are those of a company, in order.
func (r *rig) handoffs(t *testing.T, company string) (all []chats.Times) {
	t.Helper()
	if err := r.Quality.EachHandoff(t.Context(), company, time.Time{}, r.now.Add(time.Hour), func(x *chats.Times) {
		all = append(all, *x)
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func handoffsFollowed(t *testing.T, r *rig) {
	r.now = r.now.Truncate(time.Millisecond)
	id := r.opened(t, ours, "maria").Conversation.ID
	teammate := func(account string, note bool) {
		t.Helper()
		r.changes(t, id, func(*chats.Conversation) []chats.Turn {
			return []chats.Turn{{Author: chats.Teammate, Kind: chats.KindText, Text: "Here.", AccountID: account, Note: note, At: r.now}}
		})
	}
	check := func(what string, want ...chats.Times) {
		t.Helper()
		if diff := cmp.Diff(want, r.handoffs(t, ours)); diff != "" {
			t.Error(what, diff)
		}
	}
	r.says(t, id, chats.Visitor, "A person, please.")
	r.says(t, id, chats.Agent, "A moment.")
	check("nobody has waited")
	r.state(t, id, chats.Queued, "")
	first := chats.Times{Handoff: chats.Handoff{At: r.now}}
	check("queued", first)
	r.state(t, id, chats.Active, "lena")
	teammate("lena", true)
	check("a note is no reply", first)
	teammate("lena", false)
	first.RepliedAt, first.By = r.now, "lena"
	check("replied", first)
	r.state(t, id, chats.Queued, "") // passed on
	r.state(t, id, chats.Active, "omar")
	teammate("omar", false)
	check("another teammate replied", first)
	r.state(t, id, chats.Resolved, "omar")
	first.ResolvedAt = r.now
	check("resolved", first)
	r.changes(t, id, func(c *chats.Conversation) []chats.Turn { // undone
		c.State, c.ResolvedAt = chats.Active, time.Time{}
		return nil
	})
	open := first
	open.ResolvedAt = time.Time{}
	check("open again", open)
	r.state(t, id, chats.Resolved, "omar")
	first.ResolvedAt = r.now

	r.state(t, id, chats.Automated, "") // the contact writes again
	r.says(t, id, chats.Visitor, "Once more.")
	r.state(t, id, chats.Queued, "")
	second := chats.Times{Handoff: chats.Handoff{At: r.now}}
	check("a second wait", first, second)
	r.state(t, id, chats.Automated, "") // back to the agent
	r.says(t, id, chats.Agent, "I can help.")
	check("the agent continues", first, second)

	if got := r.handoffs(t, theirs); len(got) > 0 {
		t.Error("another company has", got)
	}
	found, err := r.Chats.Find(t.Context(), ours, id)
	if err != nil || !found.Handoff.At.IsZero() {
		t.Error(found, err)
	}
}

func ratingsRead(t *testing.T, r *rig) {
	r.now = r.now.Truncate(time.Millisecond)
	rate := func(id string, rating int) {
		t.Helper()
		r.changes(t, id, func(c *chats.Conversation) []chats.Turn {
			c.Rating, c.RatedAt = rating, r.now
			return nil
		})
	}
	one, two := r.opened(t, ours, "maria").Conversation.ID, r.opened(t, ours, "pablo").Conversation.ID
	rate(one, 2)
	rate(two, 5)
	rate(one, 4)
	ratings := func(company, agent string, from time.Time) (all []int) {
		t.Helper()
		if err := r.Quality.EachRating(t.Context(), company, agent, from, r.now.Add(time.Hour), func(_ time.Time, rating int) {
			all = append(all, rating)
		}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	if diff := cmp.Diff([]int{5, 4}, ratings(ours, "a", time.Time{})) + cmp.Diff([]int{4}, ratings(ours, "", r.now)); diff != "" {
		t.Error(diff)
	}
	if got := append(ratings(ours, "b", time.Time{}), ratings(theirs, "", time.Time{})...); len(got) > 0 {
		t.Error(got)
	}
}
