package store_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/store/calls"
	"carillon/internal/store/messages"
	"carillon/internal/store/rank"
	"carillon/internal/store/stats"
	"carillon/internal/store/work"
)

func fallingBack() []sentence {
	return []sentence{
		{"a message that is not delivered is followed by one call, whose end closes the notification", fallbackCalls},
		{"a fallback of a message that arrived, or arrives while it is decided, has no call", fallbackNotNeeded},
		{"a failed message makes its fallback due at once", fallbackHastened},
		{"two nodes that decide at once queue one call", fallbackRaced},
		{"calls beyond the day's quota do not follow", fallbackQuota},
		{"a cancel ends fallbacks that wait, calls that are queued and, if asked to, those in progress", fallbackCanceled},
		{"one call that follows is canceled alone, by its company", fallbackCallCanceled},
		{"a move moves the fallback", fallbackMoved},
		{"due fallbacks are found by company, in turn, and bounded", fallbackTurns},
		{"a restore skips fallbacks that wait", fallbackRestored},
		{"a fallback is deleted with its notification", fallbackPurged},
		{"what would be sent to a person is canceled with their fallback alone", fallbackForgotten},
		{"calls that follow messages count as calls of their line alone", fallbackCounted},
	}
}

const wait = 15 * time.Minute

// withFallback is a stored notification of n messages with a fallback to our second sender.
func (r *rig) withFallback(t *testing.T, total int, change ...func(a *messages.Accept)) *messages.Accept {
	t.Helper()
	return r.accepted(t, total, append([]func(a *messages.Accept){func(a *messages.Accept) {
		a.Fallback, a.Notification.Labels.AgentID = &messages.Fallback{LineUID: r.second.UID, Wait: wait}, "agent"
	}}, change...)...)
}

// delivers sends a message of a notification.
func (r *rig) delivers(t *testing.T, f work.Fence, a *messages.Accept, n int) {
	t.Helper()
	r.ends(t, f, a, n, rank.Sent, "")
}

func (r *rig) ends(t *testing.T, f work.Fence, a *messages.Accept, n int, to rank.Rank, reason carillon.Reason) {
	t.Helper()
	attempt := r.start(t, f, a, n)
	r.result(t, work.Result{
		Key: work.Key(a.Notification.Seq().Message(n)), SenderUID: r.sender.UID, Attempt: attempt, Move: work.MoveDone, At: r.now,
		Outcome: messages.Outcome{Rank: to, Reason: reason, ProviderID: fmt.Sprint("p", n)},
	})
}

func (r *rig) reports(t *testing.T, a *messages.Accept, n int, s carillon.State) {
	t.Helper()
	receipt := provider.Receipt{
		Ref: provider.Ref{NotificationID: a.Notification.ID, N: n}, SenderUID: r.sender.UID, State: s, At: r.now,
	}
	if s == carillon.StateFailed {
		receipt.Reason = carillon.ReasonUndeliverable
	}
	if err := r.Messages.Receive(t.Context(), []provider.Receipt{receipt}); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) dueFallbacks(t *testing.T) []messages.WaitingFallback {
	t.Helper()
	due, err := r.Fallbacks.Due(t.Context(), ours, r.now, 100)
	if err != nil {
		t.Fatal(err)
	}
	return due
}

func (r *rig) stepsOf(due []messages.WaitingFallback) []messages.FallbackStep {
	steps := make([]messages.FallbackStep, len(due))
	for i := range due {
		steps[i] = messages.FallbackStep{Of: &due[i], DialAt: r.now}
		steps[i].State, steps[i].Until = due[i].Next(r.now)
	}
	return steps
}

func (r *rig) decides(t *testing.T, due []messages.WaitingFallback, quota int) []messages.FallbackStep {
	t.Helper()
	written, err := r.Fallbacks.Decide(t.Context(), ours, r.stepsOf(due), quota, r.now)
	if err != nil {
		t.Fatal(err)
	}
	return written
}

// fallback returns the fallback of a recipient, and the call; nil if there is none.
func (r *rig) fallback(t *testing.T, a *messages.Accept, n int) (messages.StoredFallback, *calls.Call) {
	t.Helper()
	all, err := r.Fallbacks.Of(t.Context(), a.Notification.Seq())
	if err != nil {
		t.Fatal(err)
	}
	called, _, err := r.Calls.All(t.Context(), a.Notification.Seq())
	if err != nil {
		t.Fatal(err)
	}
	key := a.Notification.Seq().Message(n)
	i := slices.IndexFunc(all, func(f messages.StoredFallback) bool { return f.Key == key })
	if i < 0 {
		t.Fatalf("no fallback of %d: %+v", n, all)
	}
	return all[i], called[key]
}

func (r *rig) open(t *testing.T, a *messages.Accept) int {
	t.Helper()
	if err := r.Notifications.CloseDone(t.Context(), []carillon.Seq{a.Notification.Seq()}, r.now); err != nil {
		t.Fatal(err)
	}
	n, err := r.Notifications.Find(t.Context(), ours, a.Notification.ID)
	if err != nil {
		t.Fatal(err)
	}
	return n.Open
}

// lineFence makes the node the owner of the shard of our second sender.
func (r *rig) lineFence(t *testing.T) work.Fence {
	t.Helper()
	f := work.Fence{Shard: r.second.Shard(), Owner: "node"}
	f.Epoch = r.take(t, f.Shard, f.Owner)
	return f
}

func fallbackCalls(t *testing.T, r *rig) {
	f := r.fence(t)
	a := r.withFallback(t, 2, func(a *messages.Accept) { a.Messages[1].Skip = carillon.ReasonSuppressed })
	begin := r.now
	r.now = r.now.Add(time.Minute) // sent late
	r.delivers(t, f, a, 0)
	if r.open(t, a) == 0 {
		t.Error("a notification is closed while a fallback waits")
	}
	if due := r.dueFallbacks(t); len(due) != 0 {
		t.Errorf("%+v is due before its time", due)
	}
	r.now = begin.Add(wait)
	if written := r.decides(t, r.dueFallbacks(t), 0); len(written) != 1 || written[0].State != messages.FallbackWaiting {
		t.Fatalf("%+v a quarter of an hour after the request", written)
	}
	r.now = begin.Add(time.Minute + wait - time.Millisecond)
	if due := r.dueFallbacks(t); len(due) != 0 {
		t.Errorf("%+v is due a millisecond early", due)
	}
	r.now = begin.Add(time.Minute + wait)
	due := r.dueFallbacks(t)
	if written := r.decides(t, due, 5); len(written) != 1 || written[0].State != messages.FallbackCalled {
		t.Fatalf("%+v", written)
	}
	if written := r.decides(t, due, 5); len(written) != 0 {
		t.Errorf("it is decided twice: %+v", written)
	}
	x, c := r.fallback(t, a, 0)
	if x.State != messages.FallbackCalled || !x.DecidedAt.Equal(r.now) || !x.Due.IsZero() || x.Wait != wait || c == nil ||
		!c.Queued || c.SenderUID != r.second.UID || c.Number != "34600000000" || !c.Due.Equal(r.now) {
		t.Errorf("%+v, %+v", x, c)
	}
	lf, k := r.lineFence(t), work.Key(a.Notification.Seq().Message(0))
	r.commitCalls(t, &work.Batch{
		Fences: []work.Fence{lf}, Now: r.now, Starts: []*work.Start{{Key: k, SenderUID: r.second.UID, Shard: lf.Shard}},
	})
	if r.open(t, a) == 0 {
		t.Error("a notification is closed while the call is in progress")
	}
	if _, attempts, err := r.Calls.All(t.Context(), a.Notification.Seq()); err != nil || len(attempts[carillon.MessageKey(k)]) != 1 {
		t.Error(attempts, err)
	}
	r.callEnds(t, k, work.MoveDone, calls.Outcome{State: carillon.StateCompleted, EndedBy: "callee", Counts: true})
	if n, err := r.Notifications.Find(t.Context(), ours, a.Notification.ID); err != nil || n.Open != 0 || !n.DoneAt.Equal(r.now) {
		t.Errorf("%+v, %v", n, err)
	}
	for id, there := range map[string]bool{a.Notification.ID + ".0": true, a.Notification.ID: false, a.Notification.ID + ".1": false} {
		if c, err := r.Calls.One(t.Context(), ours, id); (c != nil) != there || err != nil {
			t.Errorf("%s: %+v, %v", id, c, err)
		}
		if c, err := r.Calls.One(t.Context(), theirs, id); c != nil || err != nil {
			t.Errorf("%s, of another company: %+v, %v", id, c, err)
		}
	}
}

func fallbackNotNeeded(t *testing.T, r *rig) {
	f := r.fence(t)
	a := r.withFallback(t, 3)
	for n := range 3 {
		r.delivers(t, f, a, n)
	}
	r.reports(t, a, 0, carillon.StateRead)
	r.now = r.now.Add(wait)
	due := r.dueFallbacks(t)
	r.reports(t, a, 1, carillon.StateDelivered) // after it was read
	written := r.decides(t, due, 0)
	if len(written) != 2 {
		t.Fatalf("%+v", written)
	}
	r.decides(t, r.dueFallbacks(t), 0)
	for n, want := range []messages.FallbackState{messages.FallbackNotNeeded, messages.FallbackNotNeeded, messages.FallbackCalled} {
		if x, c := r.fallback(t, a, n); x.State != want || (c != nil) != (want == messages.FallbackCalled) {
			t.Errorf("%d: %+v, %+v", n, x, c)
		}
	}
}

func fallbackHastened(t *testing.T, r *rig) {
	f := r.fence(t)
	a := r.withFallback(t, 3)
	r.ends(t, f, a, 0, rank.Failed, carillon.ReasonUndeliverable)
	r.delivers(t, f, a, 1)
	r.reports(t, a, 1, carillon.StateFailed)
	r.reports(t, a, 1, carillon.StateFailed) // repeated
	r.delivers(t, f, a, 2)
	due := r.dueFallbacks(t)
	if len(due) != 2 {
		t.Fatalf("%+v", due)
	}
	for _, x := range r.decides(t, due, 0) {
		if x.State != messages.FallbackCalled || x.Of.Key.N() == 2 {
			t.Errorf("%+v", x)
		}
	}
	r.reports(t, a, 0, carillon.StateFailed)
	if due := r.dueFallbacks(t); len(due) != 0 {
		t.Errorf("%+v after a late report", due)
	}
}

func fallbackRaced(t *testing.T, r *rig) {
	f := r.fence(t)
	a := r.withFallback(t, 4)
	for n := range 4 {
		r.delivers(t, f, a, n)
	}
	r.now = r.now.Add(wait)
	due := r.dueFallbacks(t)
	var both sync.WaitGroup
	var mu sync.Mutex
	called := 0
	for range 2 {
		steps := r.stepsOf(due)
		both.Go(func() {
			written, err := r.Fallbacks.Decide(t.Context(), ours, steps, 0, r.now)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			called += len(written)
			mu.Unlock()
		})
	}
	both.Wait()
	if all, _, err := r.Calls.All(t.Context(), a.Notification.Seq()); called != 4 || len(all) != 4 || err != nil {
		t.Errorf("%d decisions, %d calls, %v", called, len(all), err)
	}
}

func fallbackQuota(t *testing.T, r *rig) {
	f := r.fence(t)
	a := r.withFallback(t, 3)
	for n := range 3 {
		r.delivers(t, f, a, n)
	}
	r.now = r.now.Add(wait)
	r.decides(t, r.dueFallbacks(t), 2)
	var states []messages.FallbackState
	for n := range 3 {
		x, _ := r.fallback(t, a, n)
		states = append(states, x.State)
		if x.State == messages.FallbackSkipped && x.Reason != carillon.ReasonQuotaExceeded {
			t.Errorf("%+v", x)
		}
	}
	want := []messages.FallbackState{messages.FallbackCalled, messages.FallbackCalled, messages.FallbackSkipped}
	if !slices.Equal(states, want) {
		t.Error(states)
	}
	if used, err := r.Notifications.Used(t.Context(), ours, r.now.Format(time.DateOnly)); err != nil || used != 3 {
		t.Errorf("%d recipients are charged, %v", used, err)
	}
}

func fallbackCanceled(t *testing.T, r *rig) {
	f := r.fence(t)
	a := r.withFallback(t, 4)
	for n := range 3 {
		r.delivers(t, f, a, n)
	}
	r.reports(t, a, 0, carillon.StateFailed)
	r.reports(t, a, 1, carillon.StateFailed)
	r.decides(t, r.dueFallbacks(t), 0) // 0 and 1 are called, 2 waits, 3 is not sent
	lf := r.lineFence(t)
	k := work.Key(a.Notification.Seq().Message(0))
	r.commitCalls(t, &work.Batch{
		Fences: []work.Fence{lf}, Now: r.now, Starts: []*work.Start{{Key: k, SenderUID: r.second.UID, Shard: lf.Shard}},
	})
	got, err := r.Notifications.Cancel(t.Context(), ours, a.Notification.ID, true, r.now)
	if want := (messages.Canceled{Messages: 1, Sent: 3, Fallbacks: 2, HungUp: 1}); got != want || err != nil {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	for n, want := range []messages.FallbackState{
		messages.FallbackCalled, messages.FallbackCalled, messages.FallbackCanceled, messages.FallbackCanceled,
	} {
		x, c := r.fallback(t, a, n)
		if x.State != want || n == 1 && (c.State != carillon.StateCanceled || c.Queued) {
			t.Errorf("%d: %+v, %+v", n, x, c)
		}
	}
	if r.open(t, a) == 0 {
		t.Error("it is closed while a call is in progress")
	}
	if keys, err := r.Calls.ToHangUp(t.Context()); err != nil || len(keys) != 1 || work.Key(keys[0]) != k {
		t.Error(keys, err)
	}
	if _, err := r.Notifications.Cancel(t.Context(), ours, a.Notification.ID, true, r.now); !carillon.IsCode(err, carillon.Conflict) {
		t.Error(err)
	}
	r.callEnds(t, k, work.MoveDone, calls.Outcome{State: carillon.StateCompleted, EndedBy: "system", Counts: true})
	if r.open(t, a) != 0 {
		t.Error("it stays open")
	}
}

func fallbackCallCanceled(t *testing.T, r *rig) {
	f := r.fence(t)
	a := r.withFallback(t, 2)
	r.ends(t, f, a, 0, rank.Failed, carillon.ReasonUndeliverable)
	r.decides(t, r.dueFallbacks(t), 0)
	id := a.Notification.ID
	for _, c := range []struct {
		company, id string
		code        carillon.Code
	}{{theirs, id + ".0", carillon.NotFound}, {ours, id, carillon.NotFound}, {ours, id + ".1", carillon.Conflict}} {
		if err := r.Fallbacks.CancelCall(t.Context(), c.company, c.id, r.now); !carillon.IsCode(err, c.code) {
			t.Errorf("%s, %s: %v", c.company, c.id, err)
		}
	}
	if err := r.Fallbacks.CancelCall(t.Context(), ours, id+".0", r.now); err != nil {
		t.Fatal(err)
	}
	if x, c := r.fallback(t, a, 0); x.State != messages.FallbackCalled || c.State != carillon.StateCanceled {
		t.Errorf("%+v, %+v", x, c)
	}
	if m := r.message(t, a, 1); m.Q != 1 {
		t.Errorf("a message is canceled too: %+v", m)
	}
	if err := r.Fallbacks.CancelCall(t.Context(), ours, id+".0", r.now); !carillon.IsCode(err, carillon.Conflict) {
		t.Error(err)
	}
}

func fallbackMoved(t *testing.T, r *rig) {
	a := r.withFallback(t, 1)
	due := r.now.Add(-time.Hour)
	if _, err := r.Notifications.Move(t.Context(), ours, a.Notification.ID, due, r.now); err != nil {
		t.Fatal(err)
	}
	if x, _ := r.fallback(t, a, 0); !x.Due.Equal(due.Add(wait)) {
		t.Errorf("%+v", x)
	}
}

func fallbackTurns(t *testing.T, r *rig) {
	r.withFallback(t, 20)
	r.accepted(t, 1, func(a *messages.Accept) {
		a.Notification.CompanyID, a.Notification.SenderUID = theirs, r.foreign.UID
		a.Fallback = &messages.Fallback{LineUID: r.foreign.UID, Wait: wait}
	})
	r.now = r.now.Add(wait)
	for _, c := range []struct {
		after string
		limit int
		want  []string
	}{{"", 9, []string{ours, theirs}}, {"", 1, []string{ours}}, {ours, 9, []string{theirs}}, {theirs, 9, nil}} {
		if got, err := r.Fallbacks.Companies(t.Context(), c.after, r.now, c.limit); !slices.Equal(got, c.want) || err != nil {
			t.Errorf("after %q: %v, %v, want %v", c.after, got, err, c.want)
		}
	}
	if got, err := r.Fallbacks.Companies(t.Context(), "", r.now.Add(-time.Second), 9); len(got) != 0 || err != nil {
		t.Errorf("before their time: %v, %v", got, err)
	}
	if due, err := r.Fallbacks.Due(t.Context(), ours, r.now, 7); len(due) != 7 || err != nil {
		t.Errorf("%d, %v", len(due), err)
	}
}

func fallbackRestored(t *testing.T, r *rig) {
	a := r.withFallback(t, 1)
	if _, err := r.Mark(t.Context(), r.now, func(int, int) {}); err != nil {
		t.Fatal(err)
	}
	if x, c := r.fallback(t, a, 0); x.State != messages.FallbackSkipped || x.Reason != carillon.ReasonOutcomeUnknown || c != nil {
		t.Errorf("%+v, %+v", x, c)
	}
}

func fallbackPurged(t *testing.T, r *rig) {
	a := r.withFallback(t, 1)
	if _, err := r.Notifications.Cancel(t.Context(), ours, a.Notification.ID, false, r.now); err != nil {
		t.Fatal(err)
	}
	n, err := r.Notifications.Load(t.Context(), a.Notification.Seq())
	if err != nil {
		t.Fatal(err)
	}
	if gone, err := r.Purges.Delete(t.Context(), n, []string{"34600000000"}, r.now); gone != 1 || err != nil {
		t.Fatal(gone, err)
	}
	if all, err := r.Fallbacks.Of(t.Context(), a.Notification.Seq()); len(all) != 0 || err != nil {
		t.Errorf("%+v, %v", all, err)
	}
}

func fallbackForgotten(t *testing.T, r *rig) {
	f := r.fence(t)
	a := r.withFallback(t, 2)
	r.delivers(t, f, a, 0)
	r.delivers(t, f, a, 1)
	if err := r.Notifications.CancelTo(t.Context(), ours, a.Notification.Seq(), []string{"34600000001"}, r.now); err != nil {
		t.Fatal(err)
	}
	for n, want := range []messages.FallbackState{messages.FallbackWaiting, messages.FallbackCanceled} {
		if x, _ := r.fallback(t, a, n); x.State != want {
			t.Errorf("%d: %+v", n, x)
		}
	}
}

func fallbackCounted(t *testing.T, r *rig) {
	f := r.fence(t)
	a := r.withFallback(t, 2)
	for n := range 2 {
		r.ends(t, f, a, n, rank.Failed, carillon.ReasonUndeliverable)
	}
	r.decides(t, r.dueFallbacks(t), 0)
	for {
		more, err := r.Stats.Step(t.Context(), r.now)
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			break
		}
	}
	counted := map[int64]int64{}
	for _, uid := range []int64{r.sender.UID, r.second.UID} {
		f := stats.CallFilter{From: r.now.Add(-time.Hour), To: r.now.Add(time.Hour), SenderUID: uid}
		hours, err := r.Stats.Calls(t.Context(), ours, f)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hours {
			counted[uid] += h.States[carillon.StateQueued]
		}
	}
	if counted[r.second.UID] != 2 || counted[r.sender.UID] != 0 {
		t.Errorf("calls by line: %v", counted)
	}
	total, err := r.Stats.Total(t.Context(), ours, stats.Filter{From: r.now.Add(-time.Hour), To: r.now.Add(time.Hour)})
	if err != nil || total.Accepted != 2 || total.Failed != 2 {
		t.Errorf("%+v, %v", total, err)
	}
}
