package store_test

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/store/calls"
	"carillon/internal/store/chats"
	eventtable "carillon/internal/store/events"
	"carillon/internal/store/purge"
	"carillon/internal/store/work"
)

// rings is a call to the rig's line that rings now.
func (r *rig) rings(t *testing.T, limit int) (c *calls.IncomingCall, full bool) {
	t.Helper()
	r.now = r.now.Add(time.Millisecond)
	c = &calls.IncomingCall{
		ID: carillon.NewID(r.now), CompanyID: ours, SenderUID: r.sender.UID, AgentID: "ann", Number: "34600111222", RingingAt: r.now,
	}
	full, err := r.Incoming.Take(t.Context(), c, limit)
	if err != nil {
		t.Fatal(err)
	}
	return c, full
}

func (r *rig) incomingNow(t *testing.T, id string) *calls.IncomingCall {
	t.Helper()
	c, err := r.Incoming.Find(t.Context(), ours, id)
	if err != nil || c == nil {
		t.Fatal(c, err)
	}
	return c
}

// A call over WhatsApp that is known from a callback alone is recorded once, and one with a record keeps it.
func incomingReported(t *testing.T, r *rig) {
	x := r.Incoming
	c, _ := r.rings(t, 0)
	over := calls.NewOverWhatsApp(x)
	if err := over.Named(t.Context(), c.ID, "wacid.own"); err != nil {
		t.Fatal(err)
	}
	for _, wacid := range []string{"wacid.own", "wacid.other", "wacid.other"} {
		if err := over.Report(t.Context(), &calls.IncomingCall{
			ID: carillon.NewID(r.now.Add(time.Second)), CompanyID: ours, SenderUID: r.sender.UID, Number: "34600111222",
			State: carillon.StateFailed, EndedBy: "system", RingingAt: r.now, EndedAt: r.now, Talk: calls.Talk{WACID: wacid},
		}); err != nil {
			t.Fatal(err)
		}
	}
	all, _, err := x.List(t.Context(), ours, calls.IncomingFilter{Limit: 10})
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	for _, got := range all {
		own := got.ID == c.ID
		if got.WACID != map[bool]string{true: "wacid.own", false: "wacid.other"}[own] || got.UnderWay != own {
			t.Errorf("%+v", got.IncomingCall)
		}
	}
}

func incomingFromEndToEnd(t *testing.T, r *rig) {
	r.fence(t)
	if err := r.Topics.Follow(t.Context(), ours, eventtable.Calls); err != nil {
		t.Fatal(err)
	}
	x := r.Incoming
	c, _ := r.rings(t, 0)
	if err := x.Answered(t.Context(), c.ID, "talk", r.now.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if err := x.Recorded(t.Context(), c.ID, "file"); err != nil {
		t.Fatal(err)
	}
	if got := r.incomingNow(t, c.ID); got.State != carillon.StateInProgress || !got.UnderWay || got.Node != "node" ||
		got.ConversationID != "talk" || got.Recording != "file" {
		t.Errorf("%+v", got)
	}
	end := calls.IncomingEnd{
		State: carillon.StateCompleted, Cause: "B\xe9E", EndedBy: "caller",
		Result: carillon.Details{{Key: "confirmed", Value: true}}, At: r.now.Add(4 * time.Second),
	}
	for range 2 { // the second changes nothing
		if err := x.End(t.Context(), c.ID, end); err != nil {
			t.Fatal(err)
		}
		end.State = carillon.StateFailed
	}
	if got := r.incomingNow(t, c.ID); got.State != carillon.StateCompleted || got.UnderWay || got.EndedBy != "caller" ||
		got.Cause != "B\uFFFDE" || !got.EndedAt.Equal(end.At) {
		t.Errorf("%+v", got)
	}
	if got, err := x.Find(t.Context(), theirs, c.ID); got != nil || err != nil {
		t.Errorf("another company's: %+v, %v", got, err)
	}
	left, err := r.Topics.EventsAfter(t.Context(), ours, eventtable.Calls, 0, 10)
	if err != nil || len(left) != 2 || left[0].Kind != "call.started" || left[1].Kind != "call.completed" || left[1].Subject != c.ID {
		t.Fatalf("%+v, %v", left, err)
	}
	var says struct {
		CallID    string `json:"call_id"`
		Direction string `json:"direction"`
		DurationS int    `json:"duration_s"`
		Result    struct{ Confirmed bool }
		EndedBy   string `json:"ended_by"`
		Notified  string `json:"notification_id"`
	}
	if err := json.Unmarshal(left[1].Payload, &says); err != nil || says.CallID != c.ID || says.Direction != "incoming" ||
		says.DurationS != 3 || !says.Result.Confirmed || says.EndedBy != "caller" || says.Notified != "" {
		t.Errorf("%s, %v", left[1].Payload, err)
	}
}

func incomingBounded(t *testing.T, r *rig) {
	f := r.fence(t)
	_, first := r.called(t)
	_, second := r.called(t)
	if st := r.dial(t, f, 3, first); st[0].Full {
		t.Fatal("no call under way, and the line is full")
	}
	c, full := r.rings(t, 3)
	if _, more := r.rings(t, 3); full || more {
		t.Fatal("full with one placed and two taken")
	}
	if _, full := r.rings(t, 3); !full {
		t.Error("a fourth call is taken")
	}
	if st := r.dial(t, f, 3, second); !st[0].Full {
		t.Error("a fourth call is placed")
	}
	if n, err := r.Calls.UnderWay(t.Context(), r.sender.UID); n != 3 || err != nil {
		t.Error(n, err)
	}
	if err := r.Incoming.End(t.Context(), c.ID, calls.IncomingEnd{State: carillon.StateCanceled, At: r.now}); err != nil {
		t.Fatal(err)
	}
	if st := r.dial(t, f, 3, second); st[0].Full {
		t.Error("a free place is not given")
	}
	// Many at once, on a line that has ten places of which three are taken.
	var all sync.WaitGroup
	var taken atomic.Int32
	for i := range 40 {
		c := &calls.IncomingCall{
			ID: carillon.NewID(r.now.Add(time.Duration(i) * time.Second)), CompanyID: ours, SenderUID: r.sender.UID, RingingAt: r.now,
		}
		all.Go(func() {
			full, err := r.Incoming.Take(context.WithoutCancel(t.Context()), c, 10)
			if err != nil {
				t.Error(err)
			}
			if err == nil && !full {
				taken.Add(1)
			}
		})
	}
	all.Wait()
	if taken.Load() != 7 {
		t.Errorf("%d of seven free places are taken", taken.Load())
	}
}

func incomingInterrupted(t *testing.T, r *rig) {
	r.fence(t)
	x := r.Incoming
	c, _ := r.rings(t, 0)
	if state, node, err := x.HangUp(t.Context(), theirs, c.ID); state != "" || err != nil {
		t.Error(state, node, err)
	}
	if ids, err := x.ToHangUp(t.Context()); len(ids) != 0 || err != nil {
		t.Error(ids, err)
	}
	if state, node, err := x.HangUp(t.Context(), ours, c.ID); state != carillon.StateRinging || node != "node" || err != nil {
		t.Error(state, node, err)
	}
	if ids, err := x.ToHangUp(t.Context()); !slices.Equal(ids, []string{c.ID}) || err != nil {
		t.Error(ids, err)
	}
	if ids, err := x.Own(t.Context(), r.now); len(ids) != 0 || err != nil {
		t.Error(ids, err)
	}
	if ids, err := x.Own(t.Context(), r.now.Add(time.Second)); !slices.Equal(ids, []string{c.ID}) || err != nil {
		t.Error(ids, err)
	}
	if err := r.Nodes.Join(t.Context(), "other", "other"); err != nil { // from now on the store is the other node's
		t.Fatal(err)
	}
	for _, gone := range []bool{false, true} {
		if gone {
			if _, err := r.Nodes.Depose(t.Context(), "node", 1); err != nil {
				t.Fatal(err)
			}
		}
		if all, err := x.Foreign(t.Context()); err != nil || len(all) != 1 ||
			all[0] != (calls.ForeignIncoming{ID: c.ID, Node: "node", Gone: gone}) {
			t.Error(all, err)
		}
	}
}

func incomingPurged(t *testing.T, r *rig) {
	r.fence(t)
	old, _ := r.rings(t, 0)
	open, _ := r.rings(t, 0)
	if err := r.Incoming.End(t.Context(), old.ID, calls.IncomingEnd{State: carillon.StateCompleted, At: r.now}); err != nil {
		t.Fatal(err)
	}
	if company, err := r.Purges.Next(t.Context(), purge.Incoming, ""); company != ours || err != nil {
		t.Error(company, err)
	}
	if company, err := r.Purges.Next(t.Context(), purge.Incoming, ours); company != "" || err != nil {
		t.Error(company, err)
	}
	for before, want := range map[time.Time]int{r.now: 0, r.now.Add(time.Second): 1} {
		if p, err := r.Purges.DropOf(t.Context(), purge.Incoming, ours, before, 10); p.Rows != want || p.More || err != nil {
			t.Errorf("%+v, %v", p, err)
		}
	}
	if _, err := r.Mark(t.Context(), r.now, func(int, int) {}); err != nil {
		t.Fatal(err)
	}
	if got := r.incomingNow(t, open.ID); got.UnderWay || got.State != carillon.StateFailed ||
		got.Reason != carillon.ReasonInterrupted || got.EndedAt.IsZero() {
		t.Errorf("%+v", got)
	}
}

// listedIncoming reads all pages of the list of calls to lines.
func (r *rig) listedIncoming(t *testing.T, company string, f calls.IncomingFilter, page int) (ids []string) {
	t.Helper()
	for f.Limit = page; ; {
		rows, next, err := r.Incoming.List(t.Context(), company, f)
		if err != nil || len(rows) > page {
			t.Fatal(len(rows), err)
		}
		for _, c := range rows {
			ids = append(ids, c.ID)
		}
		if f.Before = next; next == "" {
			return ids
		}
	}
}

func incomingListed(t *testing.T, r *rig) {
	var all []string
	for i := range 4 {
		r.now = r.now.Add(time.Second)
		c := &calls.IncomingCall{
			ID: carillon.NewID(r.now), CompanyID: ours, SenderUID: r.sender.UID, AgentID: []string{"ann", "bob"}[i%2],
			Number: []string{"34611000001", ""}[i/2], RingingAt: r.now,
		}
		if full, err := r.Incoming.Take(t.Context(), c, 0); full || err != nil {
			t.Fatal(full, err)
		}
		all = append([]string{c.ID}, all...)
	}
	talk := r.opened(t, ours, "caller", func(o *chats.Open) { o.Contact.Name = "Maria" })
	if err := r.Incoming.Answered(t.Context(), all[0], talk.Conversation.ID, r.now); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		f    calls.IncomingFilter
		want []string
	}{
		{calls.IncomingFilter{}, all},
		{calls.IncomingFilter{Line: identity.Number("34611000001")}, all[2:]},
		{calls.IncomingFilter{Line: identity.Number("34611000001"), AgentID: "ann"}, all[3:]},
		{calls.IncomingFilter{AgentID: "bob"}, []string{all[0], all[2]}},
		{calls.IncomingFilter{States: []carillon.State{carillon.StateRinging, carillon.StateFailed}}, all[1:]},
		{calls.IncomingFilter{SenderUID: r.sender.UID, States: []carillon.State{carillon.StateInProgress}}, all[:1]},
		{calls.IncomingFilter{SenderUID: r.second.UID}, nil},
	} {
		for _, page := range []int{1, 3, 100} {
			if got := r.listedIncoming(t, ours, tc.f, page); !slices.Equal(got, tc.want) {
				t.Errorf("%+v in pages of %d: %v, want %v", tc.f, page, got, tc.want)
			}
		}
		if got := r.listedIncoming(t, theirs, tc.f, 100); len(got) > 0 {
			t.Errorf("%+v of another company: %v", tc.f, got)
		}
	}
	if rows, _, err := r.Incoming.List(t.Context(), ours, calls.IncomingFilter{Limit: 2}); err != nil || rows[0].Name != "Maria" ||
		rows[1].Name != "" {
		t.Error(rows, err)
	}
}

func legsBounded(t *testing.T, r *rig) {
	f := r.fence(t)
	x := r.Incoming
	talk := r.opened(t, ours, "caller").Conversation.ID
	mode := calls.Bridge
	leg := func(limit int) (string, bool) {
		t.Helper()
		r.now = r.now.Add(time.Millisecond)
		l := &calls.Transfer{
			ID: carillon.NewID(r.now), CompanyID: ours, ConversationID: talk, SenderUID: r.sender.UID, Number: "34600999888",
			Mode: mode, DialedAt: r.now,
		}
		full, err := x.Transfer(t.Context(), l, limit)
		if err != nil {
			t.Fatal(err)
		}
		return l.ID, full
	}
	c, _ := r.rings(t, 3)
	if err := x.Answered(t.Context(), c.ID, talk, r.now); err != nil {
		t.Fatal(err)
	}
	busy, full := leg(3)
	ended := calls.TransferEnd{State: carillon.StateBusy, Outcome: calls.Busy, Cause: "486 Busy Here", At: r.now}
	for range 2 { // the second changes nothing
		if err := x.EndTransfer(t.Context(), busy, ended); err != nil || full {
			t.Fatal(full, err)
		}
		ended.Outcome = calls.Failed
	}
	first, full := leg(3)
	if _, more := leg(3); full || more {
		t.Fatal("full with two under way")
	}
	if _, full := leg(3); !full {
		t.Error("a fourth call is placed")
	}
	mode = calls.Refer
	referred, full := leg(3)
	if n, err := r.Calls.UnderWay(t.Context(), r.sender.UID); full || n != 3 || err != nil {
		t.Errorf("a leg of the telephone company: %d calls count, full: %v, %v", n, full, err)
	}
	if err := x.EndTransfer(t.Context(), referred, ended); err != nil {
		t.Fatal(err)
	}
	mode = calls.Bridge
	_, k := r.called(t)
	if st := r.dial(t, f, 3, k); !st[0].Full {
		t.Error("legs do not count for calls that are placed")
	}
	if err := x.TransferAnswered(t.Context(), first, r.now.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if err := x.TransferTaken(t.Context(), first, r.now.Add(2*time.Second)); err != nil {
		t.Fatal(err)
	}
	if err := x.End(t.Context(), c.ID, calls.IncomingEnd{State: carillon.StateFailed, At: r.now.Add(time.Minute)}); err != nil {
		t.Fatal(err)
	}
	all, err := x.Transfers(t.Context(), ours, talk)
	if err != nil || len(all) != 4 || all[0].State != carillon.StateBusy || all[0].Cause != "486 Busy Here" ||
		all[0].Outcome != calls.Busy || all[1].State != carillon.StateCompleted || all[1].Outcome != calls.Taken ||
		!all[1].TakenAt.Equal(all[1].AnsweredAt.Add(time.Second)) || all[2].Outcome != calls.Failed ||
		all[2].State != carillon.StateFailed || !all[2].EndedAt.Equal(r.now.Add(time.Minute)) || all[2].Mode != calls.Bridge ||
		all[3].Mode != calls.Refer || all[3].Outcome != calls.Failed {
		t.Errorf("%+v, %v", all, err)
	}
	if none, err := x.Transfers(t.Context(), theirs, talk); len(none) != 0 || err != nil {
		t.Error(none, err)
	}
	if n, err := r.Calls.UnderWay(t.Context(), r.sender.UID); n != 0 || err != nil {
		t.Error(n, err)
	}
	// A call that was placed ends its legs too, as when its node is dead.
	r.dial(t, f, 3, k)
	if err := r.Calls.SetTalk(t.Context(), carillon.MessageKey(k), 1, calls.Talk{ConversationID: talk}); err != nil {
		t.Fatal(err)
	}
	first, _ = leg(3)
	if err := x.TransferTaken(t.Context(), first, r.now); err != nil {
		t.Fatal(err)
	}
	r.callEnds(t, k, work.MoveDone, calls.Outcome{State: carillon.StateFailed, Reason: carillon.ReasonInterrupted})
	if err := x.EndTransfer(t.Context(), first, ended); err != nil {
		t.Fatal(err)
	}
	if all, err := x.Transfers(t.Context(), ours, talk); err != nil || all[4].Outcome != calls.Interrupted ||
		all[4].State != carillon.StateFailed {
		t.Errorf("a leg of a dead node: %+v, %v", all, err)
	}
	if n, err := r.Calls.UnderWay(t.Context(), r.sender.UID); n != 0 || err != nil {
		t.Error(n, err)
	}
}
