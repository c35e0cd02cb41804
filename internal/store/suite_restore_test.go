package store_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"carillon/internal/store/messages"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/store/rank"
	"carillon/internal/store/work"
)

func restoring() []sentence {
	return []sentence{
		{"a mark holds what is due, ends what was being sent, and leaves the rest", markHolds},
		{"what is held is sent or failed as decided, company by company", decisions},
		{"a receipt lifts what is held or ended after a restore", receiptsLift},
		{"what waits for a template is held too, and no approval releases it", markHoldsHeld},
		{"a mark ends replies that wait, and runs that are due", markEndsTalk},
		{"a mark that broke off says so until it is made again", markBrokeOff},
	}
}

func (r *rig) mark(t *testing.T) *store.Restored {
	t.Helper()
	x, err := r.Mark(t.Context(), r.now, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// stands returns the state of a message: q, state, reason, whether it is held.
func (r *rig) stands(t *testing.T, a *messages.Accept, n int) string {
	t.Helper()
	m := r.message(t, a, n)
	text := strconv.Itoa(m.Q) + " " + string(m.Rank.State())
	if m.Reason != "" {
		text += " " + string(m.Reason)
	}
	if m.Held {
		text += " held"
	}
	return text
}

func (r *rig) standing(t *testing.T, a *messages.Accept, want ...string) {
	t.Helper()
	var got []string
	for n := range want {
		got = append(got, r.stands(t, a, n))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func markHolds(t *testing.T, r *rig) {
	if x, err := r.Restored(t.Context()); x != nil || err != nil {
		t.Error(x, err)
	}
	f, a := r.fence(t), r.accepted(t, 5)
	later := r.accepted(t, 2, func(a *messages.Accept) { a.Notification.DueAt = r.now.Add(time.Hour) })
	theirsDue := r.accepted(t, 3, at(r.foreign, carillon.Marketing, r.now))
	for n := range 4 {
		r.start(t, f, a, n)
	}
	r.result(t,
		work.Result{Key: work.Key(a.Notification.Seq().Message(0)), Attempt: 1, At: r.now, Outcome: messages.Outcome{Rank: rank.Sent}},
		work.Result{Key: work.Key(a.Notification.Seq().Message(1)), Attempt: 1, Move: work.MoveUnknown, Due: r.now.Add(time.Hour)},
		work.Result{Key: work.Key(a.Notification.Seq().Message(2)), Attempt: 1, Move: work.MoveRetry, Due: r.now})
	x := r.mark(t)
	want := &store.Restored{At: r.now, Held: []store.HeldBack{{CompanyID: ours, Messages: 2}, {CompanyID: theirs, Messages: 3}}, Failed: 2}
	if d := cmp.Diff(want, x); d != "" || x.Total() != 5 {
		t.Error(d)
	}
	r.standing(t, a, "0 sent", "0 failed outcome_unknown", "1 queued held", "0 failed outcome_unknown", "1 queued held")
	r.standing(t, theirsDue, "1 queued held", "1 queued held", "1 queued held")
	r.standing(t, later, "1 queued", "1 queued")
	if n := r.start(t, f, a, 4); n != 0 {
		t.Error("a held message was started")
	}
	if all, err := r.Messages.Lanes(t.Context(), f.Shard); len(all) != 1 || !all[0].Due.Equal(later.Notification.DueAt) || err != nil {
		t.Errorf("lanes are %+v, %v", all, err)
	}
	r.now = later.Notification.DueAt
	if n := r.start(t, f, later, 0); n != 1 {
		t.Error("what is due later was not started")
	}
	if all, err := r.Messages.Holds(t.Context()); len(all) > 0 || err != nil {
		t.Errorf("templates that messages wait for: %v, %v", all, err)
	}
}

func (r *rig) decide(t *testing.T, company string, send bool, limit int) store.Decided {
	t.Helper()
	d, err := r.Decide(t.Context(), company, send, r.now, limit)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func decisions(t *testing.T, r *rig) {
	f, a := r.fence(t), r.accepted(t, 3)
	b := r.accepted(t, 2, at(r.foreign, carillon.Marketing, r.now))
	r.mark(t)
	d := r.decide(t, ours, true, 2)
	want := store.Decided{
		Messages: 2, Notifications: []carillon.Seq{a.Notification.Seq()},
		Lanes: []work.Lane{{SenderUID: r.sender.UID, Class: carillon.Utility}},
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
	if ended, err := r.Unmark(t.Context()); ended || err != nil {
		t.Error("the state ended while messages are held", err)
	}
	if d := r.decide(t, ours, true, 100); d.Messages != 1 {
		t.Errorf("%+v", d)
	}
	r.standing(t, a, "1 queued", "1 queued", "1 queued")
	r.standing(t, b, "1 queued held", "1 queued held")
	if n := r.start(t, f, a, 1); n != 1 {
		t.Error("what was released is not started")
	}
	x, err := r.Restored(t.Context())
	if diff := cmp.Diff(&store.Restored{At: x.At, Held: []store.HeldBack{{CompanyID: theirs, Messages: 2}}}, x); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if d := r.decide(t, theirs, false, 100); d.Messages != 2 || len(d.Notifications) != 1 {
		t.Errorf("%+v", d)
	}
	r.standing(t, b, "0 failed outcome_unknown held", "0 failed outcome_unknown held")
	for _, send := range []bool{true, false} {
		if d := r.decide(t, theirs, send, 100); d.Messages != 0 {
			t.Errorf("decided twice: %+v", d)
		}
	}
	if ended, err := r.Unmark(t.Context()); !ended || err != nil {
		t.Error("the state did not end", err)
	}
	if x, err := r.Restored(t.Context()); x != nil || err != nil {
		t.Error(x, err)
	}
}

func receiptsLift(t *testing.T, r *rig) {
	f, a := r.fence(t), r.accepted(t, 4)
	r.start(t, f, a, 3)
	plain := r.accepted(t, 1, func(a *messages.Accept) { a.Notification.DueAt = r.now.Add(time.Hour) })
	r.mark(t)
	r.receive(t, r.receipt(a, 0, carillon.StateDelivered), r.receipt(a, 3, carillon.StateSent), r.receipt(plain, 0, carillon.StateSent))
	r.decide(t, ours, false, 100)
	r.receive(t, r.receipt(a, 1, carillon.StateSent))
	r.standing(t, a, "0 delivered held", "0 sent held", "0 failed outcome_unknown held", "0 sent")
	r.standing(t, plain, "1 queued")
}

func markHoldsHeld(t *testing.T, r *rig) {
	f, a := r.fence(t), r.accepted(t, 2)
	r.start(t, f, a, 0)
	r.result(t, work.Result{
		Key: work.Key(a.Notification.Seq().Message(0)), Attempt: 1, Move: work.MoveHold, Outcome: messages.Outcome{Hold: ours + "/1"},
	})
	r.mark(t)
	if n, err := r.Messages.Release(t.Context(), ours+"/1", 100); n != 0 || err != nil {
		t.Error("an approval released what is held after a restore:", n, err)
	}
	r.standing(t, a, "1 queued held", "1 queued held")
	if d := r.decide(t, ours, true, 100); d.Messages != 2 {
		t.Errorf("%+v", d)
	}
	r.standing(t, a, "1 queued", "1 queued")
}

func markBrokeOff(t *testing.T, r *rig) {
	a, b := r.accepted(t, 1), r.accepted(t, 1, at(r.second, carillon.Utility, r.now))
	ctx, stop := context.WithCancel(t.Context())
	if x, err := r.Mark(ctx, r.now, func(int, int) { stop() }); err == nil {
		t.Errorf("it went on to %+v", x)
	}
	if x, err := r.Restored(t.Context()); err != nil || !x.Broken || x.Total() != 1 {
		t.Errorf("%+v, %v", x, err)
	}
	r.decide(t, ours, true, 100)
	if ended, err := r.Unmark(t.Context()); ended || err != nil {
		t.Error("a broken mark was taken off", err)
	}
	if x := r.mark(t); x.Broken || x.Total() != 2 {
		t.Errorf("%+v", x)
	}
	r.standing(t, a, "1 queued held")
	r.standing(t, b, "1 queued held")
}

func markEndsTalk(t *testing.T, r *rig) {
	due, later, asking := r.newRun(r.talk(t, ours)), r.newRun(r.talk(t, ours)), r.newRun(r.talk(t, ours))
	due.State, due.Due, due.Begun = "calling", r.now, true
	later.State, later.Due = "waiting", r.now.Add(time.Hour)
	for _, x := range []*chats.Run{due, later, asking} {
		if _, err := r.writeRun(t, &chats.RunWrite{Run: x, Entries: []chats.RunEntry{{At: r.now, Path: x.Path, Kind: "http"}}},
			nil); err != nil {
			t.Fatal(err)
		}
	}
	c := r.chatting(t)
	r.reply(t, c, "one", "two") // the second waits for the first
	r.mark(t)
	r.mark(t)
	for _, x := range []struct {
		run     *chats.Run
		state   string
		entries int
	}{{due, "failed", 2}, {later, "waiting", 1}, {asking, "asking", 1}} {
		got, err := r.Runs.Find(t.Context(), ours, x.run.ID)
		if err != nil {
			t.Fatal(err)
		}
		log, err := r.Runs.Entries(t.Context(), ours, x.run.ID)
		if err != nil || got.State != x.state || len(log) != x.entries || got.Entries != x.entries ||
			got.Due.IsZero() != (x.state != "waiting") {
			t.Errorf("%+v %+v %v, not %s", got, log, err, x.state)
		}
		if x.state == "failed" && (!strings.HasPrefix(got.Error, "steps.2: The database was restored") || got.Open) {
			t.Errorf("%+v", got)
		}
	}
	all, err := r.Replies.Replies(t.Context(), ours, c.ID, 1, 100)
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	for _, y := range all {
		if y.State != "unknown" || y.Reason != "outcome_unknown" || !y.Due.IsZero() {
			t.Errorf("%+v", y)
		}
	}
}
