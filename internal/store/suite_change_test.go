package store_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"carillon/internal/store/messages"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/store/rank"
	"carillon/internal/store/work"
)

func changing() []sentence {
	return []sentence{
		{"a cancel takes what has not begun", canceling},
		{"a cancel of what is done or another's is refused", cancelRefused},
		{"a move gives every message its new time until delivery began", moving},
		{"the first waiting message, and the ones before it", waiting},
		{"the milestones are the first sent message and the canceled ones", milestones},
		{"a cancel and a start never both win", cancelAgainstStart},
		{"a notification closes when nothing of it is open", closing},
		{"the open notifications that are due come in pages", openPages},
	}
}

func canceling(t *testing.T, r *rig) {
	f := r.fence(t)
	a := r.accepted(t, 4, func(a *messages.Accept) { a.Messages[3].Skip = carillon.ReasonDuplicate })
	r.start(t, f, a, 0)
	canceled, err := r.Notifications.Cancel(t.Context(), ours, a.Notification.ID, false, r.now)
	if canceled != (messages.Canceled{Messages: 2, Sent: 1}) || err != nil {
		t.Error(canceled, err)
	}
	for n, want := range []rank.Rank{rank.None, rank.Canceled, rank.Canceled, rank.Skipped} {
		if m := r.message(t, a, n); m.Rank != want || (n > 0) != (m.Q == 0) {
			t.Errorf("%+v", m)
		}
	}
	if n, err := r.Notifications.Find(t.Context(), ours, a.Notification.ID); err != nil || n.Canceled || n.Open != 1 || !n.DoneAt.IsZero() {
		t.Errorf("%+v, %v", n, err)
	}
	whole := r.accepted(t, 2)
	canceled, err = r.Notifications.Cancel(t.Context(), ours, whole.Notification.ID, false, r.now)
	if canceled != (messages.Canceled{Messages: 2}) || err != nil {
		t.Error(canceled, err)
	}
	if n, err := r.Notifications.Find(t.Context(), ours, whole.Notification.ID); err != nil || !n.Canceled || n.Open != 0 ||
		!n.DoneAt.Equal(r.now) {
		t.Errorf("%+v, %v", n, err)
	}
}

func cancelRefused(t *testing.T, r *rig) {
	a := r.accepted(t, 1)
	if _, err := r.Notifications.Cancel(t.Context(), theirs, a.Notification.ID, false, r.now); !carillon.IsCode(err, carillon.NotFound) {
		t.Error(err)
	}
	if _, err := r.Notifications.Move(t.Context(), theirs, a.Notification.ID, r.now.Add(time.Hour), r.now); !carillon.IsCode(err,
		carillon.NotFound) {
		t.Error(err)
	}
	if m := r.message(t, a, 0); m.Q != 1 || !m.Due.Equal(a.Notification.DueAt) {
		t.Errorf("another company changed %+v", m)
	}
	if _, err := r.Notifications.Cancel(t.Context(), ours, a.Notification.ID, false, r.now); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Notifications.Cancel(t.Context(), ours, a.Notification.ID, false, r.now); !carillon.IsCode(err, carillon.Conflict) {
		t.Error(err)
	}
	if _, err := r.Notifications.Move(t.Context(), ours, a.Notification.ID, r.now, r.now); !carillon.IsCode(err, carillon.Conflict) {
		t.Error(err)
	}
}

func moving(t *testing.T, r *rig) {
	f, later := r.fence(t), r.now.Add(26*time.Hour)
	a := r.accepted(t, 3, func(a *messages.Accept) { a.Messages[2].Skip = carillon.ReasonDuplicate })
	n, err := r.Notifications.Move(t.Context(), ours, a.Notification.ID, later, r.now)
	if err != nil || !n.DueAt.Equal(later) || !n.MovedAt.Equal(r.now) || !n.Scheduled {
		t.Fatalf("%+v, %v", n, err)
	}
	if r.start(t, f, a, 0) != 0 {
		t.Error("started at the time before the move")
	}
	r.now = later
	if r.start(t, f, a, 0) != 1 {
		t.Error("not started at the new time")
	}
	if _, err := r.Notifications.Move(t.Context(), ours, a.Notification.ID, later.Add(time.Hour), r.now); !carillon.IsCode(err,
		carillon.Conflict) {
		t.Error("moved after delivery began:", err)
	}
	if m := r.message(t, a, 1); !m.Due.Equal(later) {
		t.Errorf("a refused move moved %+v", m)
	}
}

func waiting(t *testing.T, r *rig) {
	f, first, a := r.fence(t), r.accepted(t, 3), r.accepted(t, 4)
	check := func(key carillon.MessageKey, held bool, attempt, ahead int) {
		t.Helper()
		w, err := messages.FirstWaiting(t.Context(), r.DB, a.Notification.Seq())
		if err != nil || w == nil || w.Key != key || (w.Hold != "") != held || w.Attempt != attempt {
			t.Fatalf("%+v, %v", w, err)
		}
		if n, err := messages.Ahead(t.Context(), r.DB, r.sender, a.Notification.Class, w, r.now); n != ahead || err != nil {
			t.Errorf("%d are ahead, not %d; %v", n, ahead, err)
		}
	}
	check(a.Notification.Seq().Message(0), false, 0, 3)
	r.start(t, f, first, 0)
	r.start(t, f, a, 0)
	check(a.Notification.Seq().Message(1), false, 0, 2)
	last := a.Notification.Seq().Message(3)
	if _, err := r.DB.Exec(t.Context(), "UPDATE message SET hold = 'restored/x' WHERE id = $1", int64(last)); err != nil {
		t.Fatal(err)
	}
	check(last, true, 0, 4)
	if w, err := messages.FirstWaiting(t.Context(), r.DB, carillon.SeqOf(carillon.NewID(r.now.Add(time.Hour)))); w != nil || err != nil {
		t.Errorf("of a notification that does not exist: %+v, %v", w, err)
	}
}

func milestones(t *testing.T, r *rig) {
	f, a, other := r.fence(t), r.accepted(t, 4), r.accepted(t, 1)
	want := messages.Milestones{}
	check := func() {
		t.Helper()
		m, err := r.Messages.Milestones(t.Context(), a.Notification.Seq())
		if d := cmp.Diff(want, m); d != "" || err != nil {
			t.Error(d, err)
		}
	}
	check()
	r.start(t, f, other, 0)
	r.result(t, r.sent(other, 0))
	check()
	r.now = r.now.Add(time.Second)
	for n := range 2 {
		r.start(t, f, a, n)
		r.result(t, r.sent(a, n))
		if n == 0 {
			want.FirstSent = r.now
		}
		r.now = r.now.Add(time.Second)
	}
	check()
	if _, err := r.Notifications.Cancel(t.Context(), ours, a.Notification.ID, false, r.now); err != nil {
		t.Fatal(err)
	}
	want.CanceledAt, want.Canceled = r.now, 2
	check()
}

func cancelAgainstStart(t *testing.T, r *rig) {
	f := r.fence(t)
	for range 30 {
		a := r.accepted(t, 2)
		st := []*work.Start{
			{Key: work.Key(a.Notification.Seq().Message(0)), Shard: f.Shard},
			{Key: work.Key(a.Notification.Seq().Message(1)), Shard: f.Shard},
		}
		canceled, begin := 0, make(chan struct{})
		var both sync.WaitGroup
		both.Go(func() {
			<-begin
			c, _ := r.Notifications.Cancel(t.Context(), ours, a.Notification.ID, false, r.now) // a conflict: nothing canceled
			canceled = c.Messages
		})
		both.Go(func() {
			<-begin
			if err := r.Messages.Commit(t.Context(), &work.Batch{Fences: []work.Fence{f}, Starts: st, Now: r.now}); err != nil {
				t.Error(err)
			}
		})
		close(begin)
		both.Wait()
		if started := st[0].Attempt + st[1].Attempt; started+canceled != 2 {
			t.Errorf("of 2 messages %d were started and %d canceled", started, canceled)
		}
	}
}

func closing(t *testing.T, r *rig) {
	f, a, b := r.fence(t), r.accepted(t, 2), r.accepted(t, 1)
	seqs := []carillon.Seq{a.Notification.Seq(), b.Notification.Seq()}
	done := func(n int, x *messages.Accept) {
		r.start(t, f, x, n)
		r.result(t, work.Result{
			Key: work.Key(x.Notification.Seq().Message(n)), Attempt: 1, At: r.now, Outcome: messages.Outcome{Rank: rank.Sent},
		})
		if err := r.Notifications.CloseDone(t.Context(), seqs, r.now); err != nil {
			t.Fatal(err)
		}
	}
	check := func(x *messages.Accept, open bool) {
		t.Helper()
		if n, err := r.Notifications.Load(t.Context(), x.Notification.Seq()); err != nil || (n.Open > 0) != open ||
			n.DoneAt.IsZero() != open {
			t.Errorf("open %d, done %s, %v", n.Open, n.DoneAt, err)
		}
	}
	done(0, a)
	check(a, true)
	done(1, a)
	check(a, false)
	check(b, true)
	done(0, b)
	check(b, false)
}

func openPages(t *testing.T, r *rig) {
	f := r.fence(t)
	var want []carillon.Seq
	for i := range 7 {
		a := r.accepted(t, 1, func(a *messages.Accept) {
			switch i {
			case 2:
				a.Notification.DueAt = r.now.Add(time.Hour)
			case 3:
				a.Notification.CompanyID = theirs
			}
		})
		if i == 4 {
			if _, err := r.Notifications.Cancel(t.Context(), ours, a.Notification.ID, false, r.now); err != nil {
				t.Fatal(err)
			}
		}
		if i == 1 || i == 2 || i == 4 {
			continue // still queued, due later, closed already
		}
		r.start(t, f, a, 0)
		r.result(t, work.Result{
			Key: work.Key(a.Notification.Seq().Message(0)), Attempt: 1, At: r.now, Outcome: messages.Outcome{Rank: rank.Sent},
		})
		want = append(want, a.Notification.Seq())
	}
	var got []carillon.Seq
	company, after := "", carillon.NoSeq
	for {
		seqs, lastCompany, last, err := r.Notifications.OpenAfter(t.Context(), company, after, r.now, 2)
		if err != nil {
			t.Fatal(err)
		}
		if lastCompany == "" {
			break
		}
		got, company, after = append(got, seqs...), lastCompany, last
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
