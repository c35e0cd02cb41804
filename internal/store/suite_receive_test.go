package store_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"carillon/internal/store/messages"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/store/rank"
	"carillon/internal/store/stats"
	"carillon/internal/store/work"
)

func receiving() []sentence {
	return []sentence{
		{"receipts of every order and repetition give the same end", receiptsInAnyOrder},
		{"a receipt lifts a failure of unknown outcome", receiptLiftsUnknown},
		{"a receipt of the first attempt takes the second out of the queue", receiptEndsARetry},
		{"a failure of an earlier attempt leaves the present one alone", failureOfAnEarlierAttempt},
		{"another sender's receipt changes nothing", foreignReceipt},
		{"a message that was never started takes no receipt", receiptOfNothing},
		{"a charge is counted once for each delivered message", chargesOnce},
		{"who asked for no more is found by the sender's own receipt", optOuts},
	}
}

// receipt is the channel's word on the first attempt; each state has its own instant.
func (r *rig) receipt(a *messages.Accept, n int, state carillon.State) provider.Receipt {
	x := provider.Receipt{
		Ref: provider.Ref{NotificationID: a.Notification.ID, N: n, Attempt: 1}, SenderUID: a.Notification.SenderUID,
		ProviderID: "wamid", State: state, At: a.Notification.CreatedAt.Add(time.Duration(rank.Of(state)) * time.Second),
	}
	if state == carillon.StateFailed {
		x.Reason, x.Detail = carillon.ReasonUndeliverable, "131026"
	}
	return x
}

func (r *rig) receive(t *testing.T, all ...provider.Receipt) {
	t.Helper()
	if err := r.Messages.Receive(t.Context(), all); err != nil {
		t.Fatal(err)
	}
}

// afterReceipts returns a message after receipts in this order.
func afterReceipts(a *messages.Accept, states []carillon.State, r *rig) messages.Message {
	m := messages.Message{ProviderID: "wamid", Attempts: 1}
	for _, s := range states {
		x := r.receipt(a, 0, s)
		m.Rank = max(m.Rank, rank.Of(s))
		switch s {
		case carillon.StateSent:
			m.SentAt = x.At
		case carillon.StateDelivered:
			m.DeliveredAt = x.At
		case carillon.StateRead:
			m.ReadAt = x.At
		}
	}
	if m.Rank == rank.Failed {
		x := r.receipt(a, 0, carillon.StateFailed)
		m.Reason, m.Detail, m.EndedAt = x.Reason, x.Detail, x.At
	}
	return m
}

func receiptsInAnyOrder(t *testing.T, r *rig) {
	f := r.fence(t)
	states := rapid.SampledFrom([]carillon.State{carillon.StateSent, carillon.StateDelivered, carillon.StateRead, carillon.StateFailed})
	begins := rapid.SampledFrom([]string{"in flight", "unknown", "failed unknown", "queued again"})
	rapid.Check(t, func(rt *rapid.T) {
		a := r.accepted(t, 1)
		r.start(t, f, a, 0)
		r.begin(t, a, begins.Draw(rt, "begin"))
		all := rapid.SliceOfN(states, 1, 8).Draw(rt, "states")
		own := rapid.IntRange(-1, len(all)-1).Draw(rt, "our own result") // in the place of that receipt
		var batch []provider.Receipt
		for i, s := range all {
			if i == own {
				all[i] = carillon.StateSent
				r.receive(t, batch...)
				batch = nil
				r.result(t, work.Result{
					Key: work.Key(a.Notification.Seq().Message(0)), Attempt: 1, At: r.receipt(a, 0, carillon.StateSent).At,
					Outcome: messages.Outcome{Rank: rank.Sent, ProviderID: "wamid"},
				})
				continue
			}
			batch = append(batch, r.receipt(a, 0, s))
			if rapid.Bool().Draw(rt, "cut") {
				r.receive(t, batch...)
				batch = nil
			}
		}
		r.receive(t, batch...)
		got := r.message(t, a, 0)
		want := afterReceipts(a, all, r)
		want.Number, want.Due, want.StartedAt = got.Number, got.Due, got.StartedAt
		if d := cmp.Diff(want, got); d != "" {
			rt.Fatal(d)
		}
	})
}

// chargesOnce delivers messages with receipts in any order, repeated and split over transactions. The counts add up to the
// delivered messages.
func chargesOnce(t *testing.T, r *rig) {
	f := r.fence(t)
	a := r.accepted(t, 40)
	var all []provider.Receipt
	want := map[string]int64{}
	for n := range 40 {
		r.start(t, f, a, n)
		states := []carillon.State{carillon.StateSent, carillon.StateDelivered, carillon.StateRead}
		charge := provider.Charge{Type: "regular", Category: "marketing"}
		switch n % 4 {
		case 0:
			charge.Type = "free_customer_service"
		case 1:
			states = []carillon.State{carillon.StateSent, carillon.StateFailed}
		case 2:
			states = []carillon.State{carillon.StateSent, carillon.StateRead} // the delivery is not reported
		}
		for _, s := range states {
			x := r.receipt(a, n, s)
			if s != carillon.StateFailed {
				x.Charge = charge
			}
			all = append(all, x, x)
		}
		if n%4 != 1 {
			want[charge.Type]++
		}
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for part := range slices.Chunk(all, 37) {
		r.receive(t, part...)
	}
	r.receive(t, all...)
	got := map[string]int64{}
	charges, err := r.Stats.Charges(t.Context(), ours, "2000-01-01", "2100-01-01")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range charges {
		got[x.Type] += x.Messages
		if x.Category != "marketing" || x.Campaign != a.Notification.Campaign || x.Template != a.Notification.Labels.TemplateName ||
			x.Code != identity.CallingCode(a.Messages[0].Number) || x.Day != a.Notification.CreatedAt.Format(time.DateOnly) {
			t.Errorf("%+v", x)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	price := stats.Price{Code: "34", Category: "marketing", Micros: 61_500, Currency: "EUR"}
	for _, prices := range [][]stats.Price{{price, {Code: "52", Category: "utility", Micros: 1, Currency: "EUR"}}, {price}} {
		if err := r.Stats.PutPrices(t.Context(), ours, prices); err != nil {
			t.Fatal(err)
		}
	}
	for company, want := range map[string][]stats.Price{ours: {price}, theirs: nil} {
		if found, err := r.Stats.Prices(t.Context(), company); err != nil || !slices.Equal(found, want) {
			t.Errorf("the prices of %s are %v, %v", company, found, err)
		}
	}
	if others, err := r.Stats.Charges(t.Context(), "theirs", "2000-01-01", "2100-01-01"); err != nil || len(others) != 0 {
		t.Error("another company has charges:", others, err)
	}
}

// begin brings a started message into the state in which the receipts find it.
func (r *rig) begin(t *testing.T, a *messages.Accept, state string) {
	t.Helper()
	id := a.Notification.ID
	switch state {
	case "unknown", "failed unknown":
		r.result(t, work.Result{
			Key: work.Key(carillon.SeqOf(id).Message(0)), Attempt: 1, Move: work.MoveUnknown, Due: r.now, Detail: "cut",
		})
	case "queued again":
		r.result(t, work.Result{Key: work.Key(carillon.SeqOf(id).Message(0)), Attempt: 1, Move: work.MoveRetry, Due: r.now, Detail: "500"})
	}
	if state == "failed unknown" {
		if err := r.Messages.Reconcile(t.Context(), nil,
			[]messages.UnknownOutcome{{Key: carillon.SeqOf(id).Message(0), Attempt: 1}}, r.now); err != nil {
			t.Fatal(err)
		}
	}
}

func receiptLiftsUnknown(t *testing.T, r *rig) {
	f := r.fence(t)
	for _, s := range []carillon.State{carillon.StateSent, carillon.StateFailed, carillon.StateDelivered, carillon.StateRead} {
		a := r.accepted(t, 1)
		r.start(t, f, a, 0)
		r.begin(t, a, "failed unknown")
		if m := r.message(t, a, 0); m.Rank != rank.FailedUnknown || m.Reason != carillon.ReasonOutcomeUnknown ||
			m.EndedAt.IsZero() || m.Q != 0 {
			t.Errorf("settled: %+v", m)
		}
		r.receive(t, r.receipt(a, 0, s))
		if m := r.message(t, a, 0); m.Rank.State() != s || m.Reason == carillon.ReasonOutcomeUnknown {
			t.Errorf("%s: %+v", s, m)
		}
	}
}

func receiptEndsARetry(t *testing.T, r *rig) {
	f, a := r.fence(t), r.accepted(t, 1)
	r.start(t, f, a, 0)
	r.begin(t, a, "queued again")
	r.receive(t, r.receipt(a, 0, carillon.StateSent))
	if n := r.start(t, f, a, 0); n != 0 {
		t.Errorf("attempt %d was started although the first had arrived", n)
	}
}

func failureOfAnEarlierAttempt(t *testing.T, r *rig) {
	f, a := r.fence(t), r.accepted(t, 1)
	r.start(t, f, a, 0)
	r.begin(t, a, "queued again")
	if n := r.start(t, f, a, 0); n != 2 {
		t.Fatal(n)
	}
	r.receive(t, r.receipt(a, 0, carillon.StateFailed))
	if m := r.message(t, a, 0); m.Q != 2 || m.Rank != rank.None {
		t.Errorf("the second attempt was ended by the first's failure: %+v", m)
	}
	any := r.receipt(a, 0, carillon.StateFailed)
	any.Ref.Attempt = 0
	r.receive(t, any)
	if m := r.message(t, a, 0); m.Q != 0 || m.Rank != rank.Failed {
		t.Errorf("a failure of whichever attempt: %+v", m)
	}
}

func foreignReceipt(t *testing.T, r *rig) {
	f, a := r.fence(t), r.accepted(t, 1)
	r.start(t, f, a, 0)
	before := r.message(t, a, 0)
	for _, uid := range []int64{r.foreign.UID, r.second.UID, 0} {
		for _, s := range []carillon.State{carillon.StateSent, carillon.StateDelivered, carillon.StateRead, carillon.StateFailed} {
			x := r.receipt(a, 0, s)
			x.SenderUID = uid
			r.receive(t, x)
		}
	}
	if d := cmp.Diff(before, r.message(t, a, 0)); d != "" {
		t.Error(d)
	}
}

func receiptOfNothing(t *testing.T, r *rig) {
	queued := r.accepted(t, 1)
	skipped := r.accepted(t, 1, func(a *messages.Accept) { a.Messages[0].Skip = carillon.ReasonDuplicate })
	canceled := r.accepted(t, 1)
	if _, err := r.Notifications.Cancel(t.Context(), ours, canceled.Notification.ID, false, r.now); err != nil {
		t.Fatal(err)
	}
	for _, a := range []*messages.Accept{queued, skipped, canceled} {
		before := r.message(t, a, 0)
		for _, s := range []carillon.State{carillon.StateSent, carillon.StateDelivered, carillon.StateRead, carillon.StateFailed} {
			x := r.receipt(a, 0, s)
			r.receive(t, x)
			x.Ref.Attempt, x.Ref.N = 0, 7
			r.receive(t, x)
		}
		if d := cmp.Diff(before, r.message(t, a, 0)); d != "" {
			t.Error(d)
		}
	}
}

func optOuts(t *testing.T, r *rig) {
	f, a := r.fence(t), r.accepted(t, 2)
	r.start(t, f, a, 0)
	out := r.receipt(a, 0, carillon.StateFailed)
	out.OptOut = true
	numbers, err := r.Suppressions.OptOuts(t.Context(), r.sender.UID, []provider.Receipt{out, r.receipt(a, 1, carillon.StateFailed)})
	if d := cmp.Diff([]string{"34600000000"}, numbers); err != nil || d != "" {
		t.Error(err, d)
	}
	if numbers, err := r.Suppressions.OptOuts(t.Context(), r.foreign.UID, []provider.Receipt{out}); err != nil || len(numbers) > 0 {
		t.Errorf("another sender learned %d numbers, %v", len(numbers), err)
	}
}
