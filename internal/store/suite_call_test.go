package store_test

import (
	"slices"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/store/calls"
	"carillon/internal/store/chats"
	"carillon/internal/store/messages"
	"carillon/internal/store/work"
)

func calling() []sentence {
	return []sentence{
		{"a call waits in its lane, is dialed, rings, is answered and ends with its notification", callFromEndToEnd},
		{"a line starts no more calls than may be under way", callsBounded},
		{"a call is dialed again without its notification's end", callRetried},
		{"a start that nobody learned of leaves no attempt", callUnsent},
		{"calls of a node that is gone are interrupted, and no others", callsInterrupted},
		{"a queued call is canceled and moved, one under way is hung up by its company alone", callCanceled},
		{"a call is found by its number, and deleted with its notification", callPurged},
		{"a restore holds what is due, and ends what was under way", callsRestored},
		{"a call that was asked to hang up is not dialed again", callHungUpForGood},
		{"a network's bytes that are no text are stored all the same", callWithOddBytes},
		{"a notification is not closed while its call is open", callKeepsItsNotification},
		{"a start that its node knows nothing of is found", callStrays},
		{"what is said in a call is its last attempt's", callTalks},
		{"calls are listed newest first, by state, line, number, agent and campaign, in pages, to their company alone", callsListed},
		{"calls to lines are listed newest first, by state, line, number and agent, in pages, to their company alone", incomingListed},
		{"a call known from a callback alone is recorded once", incomingReported},
		{"a call to a line is answered, recorded and ends, for its company alone", incomingFromEndToEnd},
		{"calls to a line and calls that are placed count together", incomingBounded},
		{"a call to a line ends with its node, or when asked to", incomingInterrupted},
		{"a second leg takes a place on the line, and ends with its call", legsBounded},
		{"calls wait for a transfer in order", queueInOrder},
		{"old calls to lines are deleted, and a restore ends those under way", incomingPurged},
		{"what conversations found out is read at once, and no other company's", callsNoted},
	}
}

// called is a stored call.
func (r *rig) called(t *testing.T, change ...func(a *messages.Accept)) (*messages.Accept, work.Key) {
	t.Helper()
	a := r.accepted(t, 1, append([]func(a *messages.Accept){
		func(a *messages.Accept) { a.Notification.Channel = carillon.Voice },
	}, change...)...)
	return a, work.Key(a.Notification.Seq().Message(0))
}

func (r *rig) dial(t *testing.T, f work.Fence, limit int, keys ...work.Key) []*work.Start {
	t.Helper()
	b := &work.Batch{Fences: []work.Fence{f}, Now: r.now}
	for _, k := range keys {
		b.Starts = append(b.Starts, &work.Start{Key: k, SenderUID: r.sender.UID, Shard: f.Shard, Limit: limit})
	}
	r.commitCalls(t, b)
	return b.Starts
}

func (r *rig) commitCalls(t *testing.T, b *work.Batch) {
	t.Helper()
	if err := r.Calls.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) callEnds(t *testing.T, k work.Key, move work.Move, o calls.Outcome) {
	t.Helper()
	r.commitCalls(t, &work.Batch{
		Now: r.now, Results: []work.Result{{Key: k, Attempt: 1, Move: move, Due: r.now.Add(time.Minute), At: r.now, Outcome: o}},
	})
}

func (r *rig) callNow(t *testing.T, k work.Key) *calls.Call {
	t.Helper()
	c, err := r.Calls.Find(t.Context(), carillon.MessageKey(k))
	if err != nil || c == nil {
		t.Fatal(c, err)
	}
	return c
}

func callFromEndToEnd(t *testing.T, r *rig) {
	f := r.fence(t)
	a, k := r.called(t)
	q := r.Calls
	lanes, err := q.Lanes(t.Context(), f.Shard)
	if err != nil || len(lanes) != 1 || lanes[0].SenderUID != r.sender.UID {
		t.Fatal(lanes, err)
	}
	rows, err := q.Window(t.Context(), f.Shard, lanes[0], time.UnixMilli(0), r.now, 10)
	if err != nil || len(rows) != 1 || rows[0].Key != k {
		t.Fatal(rows, err)
	}
	if due, err := q.NextDue(t.Context(), f.Shard, lanes[0], time.UnixMilli(0)); err != nil || !due.Equal(r.now) {
		t.Fatal(due, err)
	}
	if st := r.dial(t, f, 1, k); st[0].Attempt != 1 {
		t.Fatalf("%+v", st[0])
	}
	if flights, err := q.Flights(t.Context(), f); err != nil || len(flights) != 1 || flights[0].Attempt != 1 {
		t.Fatal(flights, err)
	}
	for i, s := range []carillon.State{carillon.StateRinging, carillon.StateInProgress, carillon.StateRinging} {
		if err := q.Progress(t.Context(), carillon.MessageKey(k), 1, s, r.now.Add(time.Duration(i+1)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	if c := r.callNow(t, k); c.State != carillon.StateInProgress || !c.UnderWay || !c.RingingAt.Equal(r.now.Add(time.Second)) {
		t.Fatalf("%+v", c)
	}
	r.now = r.now.Add(time.Minute)
	for range 2 { // the second result changes nothing
		r.callEnds(t, k, work.MoveDone, calls.Outcome{
			State: carillon.StateCompleted, Cause: "200 OK", EndedBy: "callee", AnsweredBy: "human", Counts: true,
		})
	}
	c := r.callNow(t, k)
	if c.State != carillon.StateCompleted || c.UnderWay || c.Queued || c.Dials != 1 || c.Cause != "200 OK" ||
		c.EndedBy != "callee" || !c.EndedAt.Equal(r.now) {
		t.Errorf("%+v", c)
	}
	if n, err := r.Notifications.Load(t.Context(), a.Notification.Seq()); err != nil || n.Open != 0 || !n.DoneAt.Equal(r.now) {
		t.Error(n, err)
	}
	attempts, err := q.Attempts(t.Context(), carillon.MessageKey(k))
	if err != nil || len(attempts) != 1 || attempts[0].State != carillon.StateCompleted || attempts[0].AnsweredAt.IsZero() {
		t.Error(attempts, err)
	}
	of, err := q.Of(t.Context(), []carillon.Seq{a.Notification.Seq(), a.Notification.Seq() + 1})
	if err != nil || len(of) != 1 {
		t.Error(of, err)
	}
}

func callsBounded(t *testing.T, r *rig) {
	f := r.fence(t)
	var keys []work.Key
	for range 5 {
		_, k := r.called(t)
		keys = append(keys, k)
	}
	began := func(starts []*work.Start) (n, full int) {
		for _, st := range starts {
			if st.Attempt > 0 {
				n++
			}
			if st.Full {
				full++
			}
		}
		return n, full
	}
	if n, full := began(r.dial(t, f, 2, keys...)); n != 2 || full != 3 {
		t.Fatalf("%d start, %d find the line full", n, full)
	}
	if n, err := r.Calls.UnderWay(t.Context(), r.sender.UID); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	// Another node takes the shard, and knows nothing of the two.
	if _, err := r.Nodes.Depose(t.Context(), "node", 1); err != nil {
		t.Fatal(err)
	}
	taken, err := r.Nodes.Take(t.Context(), []int{f.Shard}, "other")
	if err != nil || len(taken) != 1 {
		t.Fatal(taken, err)
	}
	f = work.Fence{Shard: f.Shard, Owner: "other", Epoch: taken[0].Epoch}
	if n, full := began(r.dial(t, f, 2, keys[2:]...)); n != 0 || full != 3 {
		t.Errorf("after the take-over %d start, %d find the line full", n, full)
	}
	r.callEnds(t, keys[0], work.MoveDone, calls.Outcome{State: carillon.StateCompleted})
	if n, full := began(r.dial(t, f, 2, keys[2:]...)); n != 1 || full != 2 {
		t.Errorf("with a free slot %d start, %d find the line full", n, full)
	}
	if n, full := began(r.dial(t, f, 0, keys[3:]...)); n != 2 || full != 0 {
		t.Errorf("without a bound %d start, %d find the line full", n, full)
	}
	lost := f
	lost.Epoch++
	b := &work.Batch{Fences: []work.Fence{lost}, Starts: []*work.Start{{Key: keys[0], Shard: f.Shard}}, Now: r.now}
	if r.commitCalls(t, b); !slices.Equal(b.Lost, []int{f.Shard}) {
		t.Errorf("lost %v", b.Lost)
	}
}

func callRetried(t *testing.T, r *rig) {
	f := r.fence(t)
	a, k := r.called(t)
	r.dial(t, f, 0, k)
	r.callEnds(t, k, work.MoveRetry, calls.Outcome{State: carillon.StateBusy, Cause: "486 Busy Here", Counts: true})
	c := r.callNow(t, k)
	if !c.Queued || c.State != carillon.StateQueued || c.Dials != 1 || !c.Due.Equal(r.now.Add(time.Minute)) || c.Cause != "486 Busy Here" {
		t.Errorf("%+v", c)
	}
	if n, err := r.Notifications.Load(t.Context(), a.Notification.Seq()); err != nil || n.Open != 1 {
		t.Error(n, err)
	}
	b := &work.Batch{Now: r.now, Later: []work.Queued{{Key: k, Due: r.now.Add(time.Hour)}}}
	if r.commitCalls(t, b); !r.callNow(t, k).Due.Equal(r.now.Add(time.Hour)) {
		t.Errorf("not postponed: %+v", r.callNow(t, k))
	}
}

func callUnsent(t *testing.T, r *rig) {
	f := r.fence(t)
	_, k := r.called(t)
	r.dial(t, f, 0, k)
	r.callEnds(t, k, work.MoveUnsent, calls.Outcome{})
	attempts, err := r.Calls.Attempts(t.Context(), carillon.MessageKey(k))
	if c := r.callNow(t, k); err != nil || len(attempts) != 0 || !c.Queued || c.Dials != 0 {
		t.Errorf("%+v, %v, %v", c, attempts, err)
	}
}

func callsInterrupted(t *testing.T, r *rig) {
	f := r.fence(t)
	_, k := r.called(t)
	r.dial(t, f, 0, k)
	if all, err := r.Calls.Foreign(t.Context(), f.Shard); len(all) != 0 || err != nil {
		t.Fatalf("its own calls are foreign: %v, %v", all, err)
	}
	if err := r.Nodes.Join(t.Context(), "other", "other"); err != nil { // from now on the store is the other node's
		t.Fatal(err)
	}
	all, err := r.Calls.Foreign(t.Context(), f.Shard)
	if len(all) != 1 || err != nil || all[0].Gone || all[0].Node != "node" {
		t.Fatal(all, err)
	}
	if _, err := r.Nodes.Depose(t.Context(), "node", 1); err != nil {
		t.Fatal(err)
	}
	if all, err = r.Calls.Foreign(t.Context(), f.Shard); len(all) != 1 || err != nil || !all[0].Gone {
		t.Fatal(all, err)
	}
	if err := r.Calls.Interrupt(t.Context(), all, r.now); err != nil {
		t.Fatal(err)
	}
	if c := r.callNow(t, k); c.State != carillon.StateFailed || c.Reason != carillon.ReasonInterrupted || c.UnderWay || c.Queued {
		t.Errorf("%+v", c)
	}
	r.callEnds(t, k, work.MoveDone, calls.Outcome{State: carillon.StateCompleted}) // the node lived after all
	if c := r.callNow(t, k); c.State != carillon.StateFailed {
		t.Errorf("%+v", c)
	}
}

func callCanceled(t *testing.T, r *rig) {
	f := r.fence(t)
	a, k := r.called(t)
	id, later := a.Notification.ID, r.now.Add(time.Hour)
	if _, err := r.Notifications.Move(t.Context(), ours, id, later, r.now); err != nil || !r.callNow(t, k).Due.Equal(later) {
		t.Fatal(err, r.callNow(t, k))
	}
	if c, err := r.Notifications.Cancel(t.Context(), ours, id, false, r.now); c != (messages.Canceled{Messages: 1}) || err != nil {
		t.Fatal(c, err)
	}
	if c := r.callNow(t, k); c.State != carillon.StateCanceled || c.Reason != carillon.ReasonCanceled {
		t.Errorf("%+v", c)
	}
	b, k := r.called(t)
	r.dial(t, f, 0, k)
	for company, want := range map[string]carillon.State{theirs: "", ours: carillon.StateDialing} {
		if state, _, err := r.Calls.HangUp(t.Context(), company, carillon.MessageKey(k)); state != want || err != nil {
			t.Errorf("%s hangs up a call in %q, %v", company, state, err)
		}
	}
	if keys, err := r.Calls.ToHangUp(t.Context()); !slices.Equal(keys, []carillon.MessageKey{carillon.MessageKey(k)}) || err != nil {
		t.Error(keys, err)
	}
	if _, err := r.Notifications.Move(t.Context(), ours, b.Notification.ID, later, r.now); !carillon.IsCode(err, carillon.Conflict) {
		t.Errorf("moved while it rings: %v", err)
	}
	if _, err := r.Notifications.Cancel(t.Context(), ours, b.Notification.ID, false, r.now); !carillon.IsCode(err, carillon.Conflict) {
		t.Errorf("canceled while it rings: %v", err)
	}
}

func callPurged(t *testing.T, r *rig) {
	f := r.fence(t)
	a, k := r.called(t)
	r.dial(t, f, 0, k)
	r.callEnds(t, k, work.MoveDone, calls.Outcome{State: carillon.StateCompleted, Counts: true})
	for _, filled := range []bool{false, true} {
		if filled {
			if _, err := r.Search.Fill(t.Context(), r.now.Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
		all, _, err := r.Notifications.List(t.Context(), ours,
			messages.Filter{Lines: identity.Numbers(a.Messages[0].Number), Limit: 10}, r.now)
		if len(all) != 1 || err != nil {
			t.Errorf("filled %v: found %d, %v", filled, len(all), err)
		}
	}
	p, err := r.Purges.Purge(t.Context(), ours, time.UnixMilli(1), r.now.Add(time.Second), 1000)
	if p.Notifications != 1 || p.Rows != 5 || err != nil { // the notification, the call, its attempt, two search entries
		t.Errorf("%+v, %v", p, err)
	}
	if c, err := r.Calls.Find(t.Context(), carillon.MessageKey(k)); c != nil || err != nil {
		t.Errorf("left: %+v, %v", c, err)
	}
}

func callsRestored(t *testing.T, r *rig) {
	f := r.fence(t)
	_, dialing := r.called(t)
	r.dial(t, f, 0, dialing)
	_, first := r.called(t)
	_, second := r.called(t)
	_, later := r.called(t, func(a *messages.Accept) { a.DialAt = r.now.Add(time.Hour) })
	held, err := r.Mark(t.Context(), r.now, func(int, int) {})
	if err != nil || held.Total() != 2 {
		t.Fatal(held, err)
	}
	if c := r.callNow(t, dialing); c.State != carillon.StateFailed || c.Reason != carillon.ReasonInterrupted {
		t.Errorf("%+v", c)
	}
	attempts, err := r.Calls.Attempts(t.Context(), carillon.MessageKey(dialing))
	if len(attempts) != 1 || attempts[0].State != carillon.StateFailed || attempts[0].Reason != carillon.ReasonInterrupted ||
		!attempts[0].EndedAt.Equal(r.now) || err != nil {
		t.Errorf("%+v, %v", attempts, err)
	}
	if !r.callNow(t, first).Held || r.callNow(t, later).Held {
		t.Error("not what is due is held")
	}
	if d, err := r.Decide(t.Context(), ours, true, r.now, 1); d.Messages != 1 || len(d.CallLanes) != 1 || err != nil {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := r.Decide(t.Context(), ours, false, r.now, 10); d.Messages != 1 || err != nil {
		t.Errorf("%+v, %v", d, err)
	}
	states := []carillon.State{r.callNow(t, first).State, r.callNow(t, second).State}
	slices.Sort(states)
	if !slices.Equal(states, []carillon.State{carillon.StateFailed, carillon.StateQueued}) {
		t.Errorf("%v", states)
	}
	if ended, err := r.Unmark(t.Context()); !ended || err != nil {
		t.Error(ended, err)
	}
}

func callHungUpForGood(t *testing.T, r *rig) {
	f := r.fence(t)
	for _, move := range []work.Move{work.MoveRetry, work.MoveUnsent} {
		a, k := r.called(t)
		r.dial(t, f, 0, k)
		if _, _, err := r.Calls.HangUp(t.Context(), ours, carillon.MessageKey(k)); err != nil {
			t.Fatal(err)
		}
		r.callEnds(t, k, move, calls.Outcome{State: carillon.StateBusy, Counts: true})
		if c := r.callNow(t, k); c.Queued || c.State != carillon.StateCanceled || c.Reason != carillon.ReasonCanceled {
			t.Errorf("%+v", c)
		}
		if n, err := r.Notifications.Load(t.Context(), a.Notification.Seq()); err != nil || n.Open != 0 {
			t.Error(n, err)
		}
	}
}

func callWithOddBytes(t *testing.T, r *rig) {
	f := r.fence(t)
	_, k := r.called(t)
	r.dial(t, f, 0, k)
	r.callEnds(t, k, work.MoveDone, calls.Outcome{State: carillon.StateRejected, Cause: "603 D\xe9cline\x00", Counts: true})
	if c := r.callNow(t, k); c.State != carillon.StateRejected || c.Cause != "603 D\uFFFDcline\uFFFD" {
		t.Errorf("%+v", c)
	}
}

func callKeepsItsNotification(t *testing.T, r *rig) {
	a, _ := r.called(t)
	seq := a.Notification.Seq()
	if err := r.Notifications.CloseDone(t.Context(), []carillon.Seq{seq}, r.now); err != nil {
		t.Fatal(err)
	}
	if n, err := r.Notifications.Load(t.Context(), seq); err != nil || n.Open != 1 || !n.DoneAt.IsZero() {
		t.Error(n, err)
	}
	if done, _, _, err := r.Notifications.OpenAfter(t.Context(), "", carillon.NoSeq, r.now, 10); len(done) != 0 || err != nil {
		t.Error(done, err)
	}
}

func callStrays(t *testing.T, r *rig) {
	f := r.fence(t)
	_, known := r.called(t)
	_, stray := r.called(t)
	r.dial(t, f, 0, known, stray)
	knows := func(k carillon.MessageKey) bool { return work.Key(k) == known }
	if all, err := r.Calls.Strays(t.Context(), r.now, knows); len(all) != 0 || err != nil {
		t.Errorf("found too early: %v, %v", all, err)
	}
	all, err := r.Calls.Strays(t.Context(), r.now.Add(time.Second), knows)
	if len(all) != 1 || work.Key(all[0].Key) != stray || all[0].Attempt != 1 || err != nil {
		t.Error(all, err)
	}
}

func callTalks(t *testing.T, r *rig) {
	f := r.fence(t)
	_, k := r.called(t)
	r.dial(t, f, 0, k)
	want := calls.Talk{ConversationID: "conversation", Recording: "file"}
	for attempt, there := range []bool{false, true} {
		if err := r.Calls.SetTalk(t.Context(), carillon.MessageKey(k), attempt, want); err != nil {
			t.Fatal(err)
		}
		if c := r.callNow(t, k); (c.Talk == want) != there {
			t.Errorf("attempt %d: %+v", attempt, c.Talk)
		}
	}
}

// listedCalls reads all pages of a list.
func (r *rig) listedCalls(t *testing.T, company string, f calls.Filter, page int) (ids []string) {
	t.Helper()
	for f.Limit = page; ; {
		rows, next, err := r.Calls.List(t.Context(), company, f, r.now)
		if err != nil || len(rows) > page {
			t.Fatal(len(rows), err)
		}
		for _, c := range rows {
			ids = append(ids, c.NotificationID)
		}
		if f.Before = next; next == calls.Oldest {
			return ids
		}
	}
}

func callsListed(t *testing.T, r *rig) {
	f := r.fence(t)
	var all []string
	for i := range 6 {
		a, k := r.called(t, func(a *messages.Accept) {
			r.now = r.now.Add(time.Second)
			a.Notification.ID, a.Notification.CreatedAt = carillon.NewID(r.now), r.now
			a.Notification.Campaign, a.Notification.Labels.AgentID = []string{"spring", "autumn"}[i%2], []string{"ann", "bob", "eve"}[i%3]
			a.Messages[0].Number = []string{"34611000001", "34611000002"}[i/3]
			if i == 5 {
				a.Notification.Scheduled, a.Notification.DueAt = true, r.now.Add(time.Hour)
			}
		})
		all = append([]string{a.Notification.ID}, all...)
		if i < 3 {
			r.dial(t, f, 0, k)
		}
		if i == 0 {
			r.callEnds(t, k, work.MoveDone, calls.Outcome{State: carillon.StateBusy, Counts: true})
		}
	}
	pick := func(at ...int) (ids []string) {
		for _, i := range at {
			ids = append(ids, all[i])
		}
		return ids
	}
	for _, tc := range []struct {
		f    calls.Filter
		want []string
	}{
		{calls.Filter{}, all},
		{calls.Filter{States: []carillon.State{carillon.StateScheduled}}, pick(0)},
		{calls.Filter{States: []carillon.State{carillon.StateQueued}}, pick(1, 2)},
		{calls.Filter{States: []carillon.State{carillon.StateDialing, carillon.StateRinging}}, pick(3, 4)},
		{calls.Filter{States: []carillon.State{carillon.StateBusy}}, pick(5)},
		{calls.Filter{States: []carillon.State{carillon.StateBusy, carillon.StateQueued}}, pick(1, 2, 5)},
		{calls.Filter{Line: identity.Number("34611000002")}, pick(0, 1, 2)},
		{calls.Filter{Line: identity.Number("34611000002"), States: []carillon.State{carillon.StateScheduled}}, pick(0)},
		{calls.Filter{AgentID: "bob"}, pick(1, 4)},
		{calls.Filter{Campaign: "spring"}, pick(1, 3, 5)},
		{calls.Filter{SenderUID: r.second.UID}, nil},
		{calls.Filter{SenderUID: r.sender.UID, AgentID: "eve", Campaign: "autumn"}, pick(0)},
	} {
		for _, page := range []int{1, 2, 100} {
			if got := r.listedCalls(t, ours, tc.f, page); !slices.Equal(got, tc.want) {
				t.Errorf("%+v in pages of %d: %v, want %v", tc.f, page, got, tc.want)
			}
		}
		if got := r.listedCalls(t, theirs, tc.f, 100); len(got) > 0 {
			t.Errorf("%+v of another company: %v", tc.f, got)
		}
	}
	if c, err := r.Calls.One(t.Context(), ours, all[0]); err != nil || c == nil || c.NotificationID != all[0] || c.Body == "" {
		t.Error(c, err)
	}
	for company, id := range map[string]string{theirs: all[0], ours: carillon.NewID(r.now.Add(time.Hour))} {
		if c, err := r.Calls.One(t.Context(), company, id); c != nil || err != nil {
			t.Errorf("%s finds %s: %v, %v", company, id, c, err)
		}
	}
}

func callsNoted(t *testing.T, r *rig) {
	talk := func(company string) string {
		id := r.opened(t, company, "v").Conversation.ID
		c := &chats.Change{CompanyID: company, ConversationID: id, Edit: func(*chats.Conversation) ([]chats.Turn, error) {
			set := func(v string) chats.Turn {
				x := chats.Extra{Event: "noted", Set: []chats.Value{{Name: "people", Type: "choice", Text: v}}}
				return chats.Turn{Author: chats.System, Kind: chats.KindEvent, Extra: x, At: r.now}
			}
			return []chats.Turn{set("One"), {Author: chats.Visitor, Kind: chats.KindText, Text: `"set":`, At: r.now}, set("Two")}, nil
		}}
		if err := r.Chats.Do(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		return id
	}
	mine, other := talk(ours), talk(theirs)
	noted, err := r.Chats.Noted(t.Context(), ours, []string{mine, other, "nothing"})
	if err != nil || len(noted) != 1 || len(noted[mine]) != 2 || noted[mine][1].Text != "Two" {
		t.Error(noted, err)
	}
}
