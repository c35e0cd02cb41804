package store_test

import (
	"strconv"
	"testing"
	"time"

	"carillon/internal/store/messages"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/store/work"
)

func queueing() []sentence {
	return []sentence{
		{"lanes are a shard's senders and classes with their earliest message", lanesOfAShard},
		{"a window is the earliest messages of its lane in its bounds", windowOfALane},
		{"the next due time is the earliest of the lane", nextDueOfALane},
		{"unknown outcomes come up when their wait is over", doubtsComeUp},
		{"settling retries, fails, or finds that a receipt came first", settling},
	}
}

// at makes a change that gives a request another sender, class and time.
func at(sender *carillon.Sender, class carillon.Class, due time.Time) func(a *messages.Accept) {
	return func(a *messages.Accept) {
		a.Notification.SenderUID, a.Notification.CompanyID = sender.UID, sender.CompanyID
		a.Notification.Class, a.Notification.DueAt = class, due
	}
}

func lanesOfAShard(t *testing.T, r *rig) {
	f := r.fence(t)
	far := *r.sender
	far.UID += carillon.Shards // the same shard
	soon, later := r.now.Add(time.Minute), r.now.Add(time.Hour)
	for _, change := range []func(a *messages.Accept){
		at(r.sender, carillon.Marketing, later), at(r.sender, carillon.Marketing, soon), at(r.sender, carillon.Transactional, later),
		at(&far, carillon.Utility, soon), at(r.second, carillon.Utility, soon),
	} {
		r.accepted(t, 2, change)
	}
	r.start(t, f, r.accepted(t, 1), 0) // in flight: no longer in its lane
	lanes, err := r.Messages.Lanes(t.Context(), f.Shard)
	want := []work.Lane{
		{SenderUID: r.sender.UID, Class: carillon.Transactional, Due: later},
		{SenderUID: r.sender.UID, Class: carillon.Marketing, Due: soon},
		{SenderUID: far.UID, Class: carillon.Utility, Due: soon},
	}
	if d := cmp.Diff(want, lanes); err != nil || d != "" {
		t.Error(err, d)
	}
}

func windowOfALane(t *testing.T, r *rig) {
	lane := work.Lane{SenderUID: r.sender.UID, Class: carillon.Utility}
	begin := r.now.Add(time.Hour)
	var ids []string
	for _, i := range []int{3, 1, 4, 0, 2} {
		ids = append(ids, r.accepted(t, 1, at(r.sender, carillon.Utility, begin.Add(time.Duration(i)*time.Second))).Notification.ID)
	}
	r.accepted(t, 1, at(r.sender, carillon.Marketing, begin))
	r.accepted(t, 1, at(r.second, carillon.Utility, begin))
	all, err := r.Messages.Window(t.Context(), r.sender.Shard(), lane, begin.Add(time.Second), begin.Add(3*time.Second), 2)
	want := []work.Queued{
		{Key: work.Key(carillon.SeqOf(ids[1]).Message(0)), Number: "34600000000", Due: begin.Add(time.Second)},
		{Key: work.Key(carillon.SeqOf(ids[4]).Message(0)), Number: "34600000000", Due: begin.Add(2 * time.Second)},
	}
	if d := cmp.Diff(want, all); err != nil || d != "" {
		t.Error(err, d)
	}
	if all, err := r.Messages.Window(t.Context(), r.sender.Shard(), lane, begin, begin.Add(3*time.Second), 100); err != nil ||
		len(all) != 4 {
		t.Error(len(all), err)
	}
}

func nextDueOfALane(t *testing.T, r *rig) {
	lane := work.Lane{SenderUID: r.sender.UID, Class: carillon.Utility}
	soon, later := r.now.Add(time.Minute), r.now.Add(time.Hour)
	r.accepted(t, 1, at(r.sender, carillon.Utility, later))
	r.accepted(t, 1, at(r.sender, carillon.Utility, soon))
	for floor, want := range map[time.Time]time.Time{
		r.now: soon, soon: soon, soon.Add(time.Millisecond): later, later.Add(time.Millisecond): {},
	} {
		if got, err := r.Messages.NextDue(t.Context(), r.sender.Shard(), lane, floor); err != nil || !got.Equal(want) {
			t.Errorf("from %s: %s, want %s; %v", floor, got, want, err)
		}
	}
}

func doubtsComeUp(t *testing.T, r *rig) {
	f, a := r.fence(t), r.accepted(t, 6)
	for n := range 5 {
		r.start(t, f, a, n)
	}
	for n, wait := range []time.Duration{time.Hour, time.Minute, time.Second} { // 3 and 4 stay in flight, 5 queued
		r.result(t, work.Result{Key: work.Key(a.Notification.Seq().Message(n)), Attempt: 1, Move: work.MoveUnknown, Due: r.now.Add(wait)})
	}
	for _, tt := range []struct {
		after time.Duration
		limit int
		want  []int
		next  time.Duration
	}{
		{0, 10, nil, time.Second},
		{time.Second, 10, []int{2}, time.Minute},
		{time.Minute, 10, []int{2, 1}, time.Hour},
		{time.Hour, 10, []int{2, 1, 0}, 0},
		{time.Hour, 2, []int{2, 1}, time.Hour},
	} {
		due, next, err := r.Messages.UnknownOutcomes(t.Context(), f.Shard, r.now.Add(tt.after), tt.limit)
		var got []int
		for _, d := range due {
			got = append(got, d.Key.N())
		}
		want := time.Time{}
		if tt.next > 0 {
			want = r.now.Add(tt.next)
		}
		if d := cmp.Diff(tt.want, got); err != nil || d != "" || !next.Equal(want) {
			t.Errorf("after %s: next %s, want %s, %v\n%s", tt.after, next, want, err, d)
		}
	}
	if due, next, err := r.Messages.UnknownOutcomes(t.Context(), f.Shard+1, r.now.Add(time.Hour), 10); len(due) > 0 ||
		!next.IsZero() || err != nil {
		t.Error(due, next, err)
	}
}

func settling(t *testing.T, r *rig) {
	f, a := r.fence(t), r.accepted(t, 5)
	var doubts []messages.UnknownOutcome
	for n := range 5 {
		r.start(t, f, a, n)
		if n < 4 {
			r.result(t, work.Result{Key: work.Key(a.Notification.Seq().Message(n)), Attempt: 1, Move: work.MoveUnknown, Due: r.now})
		}
		doubts = append(doubts, messages.UnknownOutcome{Key: a.Notification.Seq().Message(n), SenderUID: r.sender.UID, Attempt: 1})
	}
	r.receive(t, r.receipt(a, 2, carillon.StateSent), r.receipt(a, 3, carillon.StateSent))
	if err := r.Messages.Reconcile(t.Context(), []messages.UnknownOutcome{doubts[0], doubts[2], doubts[4]},
		[]messages.UnknownOutcome{doubts[1], doubts[3]}, r.now); err != nil {
		t.Fatal(err)
	}
	for n, want := range []string{"1 queued", "0 failed", "0 sent", "0 sent", "2 queued"} {
		m := r.message(t, a, n)
		if got := strconv.Itoa(m.Q) + " " + string(m.Rank.State()); got != want {
			t.Errorf("message %d: %s, want %s", n, got, want)
		}
	}
	if n := r.start(t, f, a, 0); n != 2 {
		t.Errorf("the retry was started as attempt %d", n)
	}
}
