package store_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"carillon/internal/store/messages"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/rank"
	"carillon/internal/store/settings"
	"carillon/internal/store/stats"
	"carillon/internal/store/storetest"
	"carillon/internal/store/work"
)

func counting() []sentence {
	return []sentence{
		{"what became of recipients is counted exactly after any history, also of what was deleted", countsAfterAnyHistory},
		{"what a program did not count before it ended is counted by the next one", countsAfterAnEnd},
		{"calls are counted as dialed and answered", countsOfCalls},
		{"lateness is from due to sent, and estimated by classes", countsLateness},
		{"campaigns come by their last use, in pages, to their company alone", campaignsListed},
		{"a reply is counted once, at once, and stays whatever is counted again", repliesCounted},
		{"the first click of a recipient is counted once, at once, and stays whatever is counted again", clicksCounted},
		{"old counts are deleted", countsDropped},
		{"the use of each day, and whether anything was delivered, and to whom", firstSteps},
		{"suppressions say who added them, and are found by how they begin", suppressionsFound},
	}
}

// counted counts until nothing is left.
func (r *rig) counted(t *testing.T) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = r.Stats.Step(t.Context(), r.now); err != nil {
			t.Fatal(err)
		}
	}
}

// swept counts everything again where a program ended without counting.
func (r *rig) swept(t *testing.T) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = r.Stats.Sweep(t.Context(), r.now); err != nil {
			t.Fatal(err)
		}
	}
}

// history is a sequence of random changes of notifications, with the expected counts.
type history struct {
	*rig

	random *rand.Rand
	fence  work.Fence
	begun  time.Time // end of the last deletion: earlier ones are not deleted
	all    []*messages.Accept
	gone   map[string]stats.Counts // counts of deleted recipients, by campaign
}

func newHistory(t *testing.T, r *rig, seed uint64) *history {
	return &history{rig: r, random: rand.New(rand.NewPCG(seed, 1)), fence: r.fence(t), gone: map[string]stats.Counts{}}
}

func (h *history) pick() (*messages.Accept, int) {
	a := h.all[h.random.IntN(len(h.all))]
	return a, h.random.IntN(len(a.Messages))
}

// step changes something.
func (h *history) step(t *testing.T) {
	h.now = h.now.Add(time.Duration(h.random.IntN(3000)) * time.Millisecond)
	if len(h.all) == 0 || h.random.IntN(4) == 0 {
		h.all = append(h.all, h.accepted(t, 1+h.random.IntN(5), func(a *messages.Accept) {
			n := &a.Notification
			n.Campaign, n.Class = fmt.Sprint("campaign ", h.random.IntN(3)), carillon.Class(h.random.IntN(carillon.Classes))
			n.Labels = messages.Labels{TemplateName: fmt.Sprint("t", h.random.IntN(2)), Language: "es"}
			for i := range a.Messages {
				if h.random.IntN(6) == 0 {
					a.Messages[i].Skip = carillon.ReasonSuppressed
				}
			}
		}))
		return
	}
	a, n := h.pick()
	switch h.random.IntN(8) {
	case 0, 1, 2:
		h.attempt(t, a, n)
	case 3, 4, 5:
		states := []carillon.State{carillon.StateSent, carillon.StateDelivered, carillon.StateRead, carillon.StateFailed}
		h.receive(t, h.receipt(a, n, states[h.random.IntN(len(states))]))
	case 6:
		if h.random.IntN(3) == 0 {
			_, err := h.Notifications.Cancel(t.Context(), ours, a.Notification.ID, false, h.now)
			if err != nil && !carillon.IsCode(err, carillon.Conflict) {
				t.Fatal(err)
			}
		}
	case 7:
		if err := h.Notifications.CloseDone(t.Context(), []carillon.Seq{a.Notification.Seq()}, h.now); err != nil {
			t.Fatal(err)
		}
		if h.random.IntN(4) == 0 {
			h.delete(t)
		}
	}
}

// attempt starts a message and writes one of the results.
func (h *history) attempt(t *testing.T, a *messages.Accept, n int) {
	attempt := h.start(t, h.fence, a, n)
	if attempt == 0 {
		return
	}
	x := work.Result{Key: work.Key(a.Notification.Seq().Message(n)), SenderUID: h.sender.UID, Attempt: attempt, At: h.now, Due: h.now}
	switch h.random.IntN(5) {
	case 0:
		x.Move = work.MoveRetry
	case 1:
		x.Move = work.MoveUnknown
	case 2:
		x.Outcome = messages.Outcome{Rank: rank.Failed, Reason: carillon.ReasonUndeliverable}
	default:
		x.Outcome = messages.Outcome{Rank: rank.Sent, ProviderID: "wamid"}
	}
	h.result(t, x)
	if x.Move == work.MoveUnknown && h.random.IntN(2) == 0 {
		u := messages.UnknownOutcome{Key: carillon.MessageKey(x.Key), SenderUID: h.sender.UID, Attempt: attempt}
		if err := h.Messages.Reconcile(t.Context(), nil, []messages.UnknownOutcome{u}, h.now); err != nil {
			t.Fatal(err)
		}
	}
}

// delete deletes everything that has closed so far.
func (h *history) delete(t *testing.T) {
	h.searchable(t)
	before := map[*messages.Accept]stats.Counts{}
	for _, a := range h.all {
		before[a] = h.of(t, a)
	}
	// or another node purges
	if _, err := h.Purges.Purge(t.Context(), ours, h.begun, h.now.Add(time.Millisecond), 1+h.random.IntN(100)); err != nil {
		t.Fatal(err)
	}
	var left []*messages.Accept
	for _, a := range h.all {
		if h.there(t, a) {
			left = append(left, a)
			continue
		}
		c := h.gone[a.Notification.Campaign]
		c.Add(before[a], 1)
		h.gone[a.Notification.Campaign] = c
	}
	h.all = left
}

// of counts a notification's recipients one by one.
func (r *rig) of(t *testing.T, a *messages.Accept) (c stats.Counts) {
	t.Helper()
	all, err := r.Messages.List(t.Context(), a.Notification.Seq(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	count := func(n *int64, fits bool) {
		if fits {
			*n++
		}
	}
	for _, m := range all {
		c.Accepted++
		count(&c.Waiting, m.Q > 0)
		count(&c.Read, m.Rank == rank.Read)
		count(&c.Delivered, m.Rank == rank.Delivered || m.Rank == rank.Read || !m.DeliveredAt.IsZero())
		count(&c.Sent, m.Rank >= rank.Delivered || m.Rank == rank.Sent || !m.SentAt.IsZero() || !m.DeliveredAt.IsZero())
		count(&c.Failed, m.Rank == rank.Failed || m.Rank == rank.FailedUnknown)
		count(&c.Skipped, m.Rank == rank.Skipped)
		count(&c.Canceled, m.Rank == rank.Canceled)
		if !m.SentAt.IsZero() {
			late := max(0, m.SentAt.Sub(a.Notification.DueAt))
			c.LateMillis += late.Milliseconds()
			class := 0
			for _, bound := range stats.Bounds {
				step1(&class, late > bound)
			}
			c.Late[class]++
		}
	}
	return c
}

func step1(n *int, fits bool) {
	if fits {
		*n++
	}
}

// check compares every count with the messages plus the deleted ones.
func (h *history) check(t *testing.T) {
	t.Helper()
	campaigns, total := map[string]stats.Counts{}, stats.Counts{}
	for name, c := range h.gone {
		campaigns[name] = c
		total.Add(c, 1)
	}
	for _, a := range h.all {
		c, in := h.of(t, a), campaigns[a.Notification.Campaign]
		in.Add(c, 1)
		campaigns[a.Notification.Campaign] = in
		total.Add(c, 1)
	}
	var hours, groups stats.Counts
	byHour, byGroup, err := h.Stats.Figures(t.Context(), ours, stats.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range byHour {
		hours.Add(x.Counts, 1)
	}
	for _, x := range byGroup {
		groups.Add(x.Counts, 1)
	}
	if diff := cmp.Diff(total, hours) + cmp.Diff(total, groups); diff != "" {
		t.Error(diff)
	}
	for name, want := range campaigns {
		if diff := cmp.Diff(want, h.figures(t, stats.Filter{Campaign: &name})); diff != "" {
			t.Error(name, diff)
		}
		if c, err := h.Stats.Total(t.Context(), ours, stats.Filter{Campaign: &name}); c.Accepted != want.Accepted ||
			c.Canceled != want.Canceled || err != nil {
			t.Error(name, c, err)
		}
		one, err := h.Stats.Campaign(t.Context(), ours, name)
		if err != nil || one == nil || one.Accepted != want.Accepted || one.Read != want.Read || one.Failed != want.Failed {
			t.Error(name, one, err)
		}
	}
	if all, _, err := h.Stats.Figures(t.Context(), theirs, stats.Filter{}); len(all) > 0 || err != nil {
		t.Error("another company has", all, err)
	}
}

// figures are the counts of our company that a filter leaves.
func (r *rig) figures(t *testing.T, f stats.Filter) (c stats.Counts) {
	t.Helper()
	_, groups, err := r.Stats.Figures(t.Context(), ours, f)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups {
		c.Add(g.Counts, 1)
	}
	return c
}

func countsAfterAnyHistory(t *testing.T, r *rig) {
	h := newHistory(t, r, 7)
	for i := range 300 {
		h.step(t)
		if h.random.IntN(20) == 0 {
			h.counted(t)
		}
		if i%100 == 99 {
			h.counted(t)
			h.check(t)
		}
	}
	if len(h.gone) == 0 {
		t.Error("nothing was deleted")
	}
	if at, err := r.Stats.AsOf(t.Context(), r.now.Add(time.Hour)); !at.Equal(r.now) || err != nil {
		t.Errorf("counted until %s, want %s; %v", at, r.now, err)
	}
}

func countsAfterAnEnd(t *testing.T, r *rig) {
	h := newHistory(t, r, 11)
	for range 60 {
		h.step(t)
	}
	h.counted(t)
	counted := h.now
	for range 60 {
		h.step(t)
	}
	r.EndCounting(h.now)
	h.now = h.now.Add(2 * time.Minute)
	for range 60 {
		h.step(t)
	}
	h.counted(t)
	if at, err := r.Stats.AsOf(t.Context(), h.now); !at.Equal(counted) || err != nil {
		t.Errorf("before the sweep it was counted until %s, want %s; %v", at, counted, err)
	}
	h.swept(t)
	h.check(t)
	if at, err := r.Stats.AsOf(t.Context(), h.now.Add(time.Hour)); at.Before(counted.Add(time.Minute)) || err != nil {
		t.Errorf("after the sweep it was counted until %s; %v", at, err)
	}
	if err := r.Stats.Leave(t.Context(), h.now); err != nil {
		t.Fatal(err)
	}
	later := h.now.Add(time.Hour)
	if at, err := r.Stats.AsOf(t.Context(), later); !at.Equal(later) || err != nil {
		t.Errorf("nobody is left who counts, and it was counted until %s; %v", at, err)
	}
	if err := r.Stats.Distrust(t.Context(), h.now.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	h.swept(t)
	h.check(t)
}

func countsOfCalls(t *testing.T, r *rig) {
	f := r.fence(t)
	a, key := r.called(t)
	_, waiting := r.called(t)
	skipped, _ := r.called(t, func(a *messages.Accept) { a.Messages[0].Skip = carillon.ReasonSuppressed })
	_ = skipped
	_ = waiting
	r.dial(t, f, 0, key)
	if err := r.Calls.Progress(t.Context(), carillon.MessageKey(key), 1, carillon.StateInProgress, r.now); err != nil {
		t.Fatal(err)
	}
	r.counted(t)
	c, err := r.Stats.Total(t.Context(), ours, stats.Filter{Channel: carillon.Voice, SenderUID: r.sender.UID, Class: &a.Notification.Class})
	want := stats.Counts{Accepted: 3, Waiting: 2, Sent: 1, Delivered: 1, Answered: 1, Skipped: 1}
	if diff := cmp.Diff(want, c); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if diff := cmp.Diff(want, r.figures(t, stats.Filter{Channel: carillon.Voice})); diff != "" {
		t.Error(diff)
	}
	campaign, err := r.Stats.Campaign(t.Context(), ours, a.Notification.Campaign)
	if err != nil || campaign == nil {
		t.Fatal(campaign, err)
	}
	if diff := cmp.Diff(want, campaign.Counts); diff != "" {
		t.Error(diff)
	}
	if c, err := r.Stats.Total(t.Context(), ours,
		stats.Filter{Channel: carillon.Messaging, Template: "t", Language: "es"}); c.Accepted > 0 || err != nil {
		t.Error(c, err)
	}
}

func countsLateness(t *testing.T, r *rig) {
	f := r.fence(t)
	a := r.accepted(t, 100)
	for n := range 100 {
		r.now = a.Notification.DueAt.Add(time.Duration(n) * time.Second)
		attempt := r.start(t, f, a, n)
		r.result(t, work.Result{
			Key: work.Key(a.Notification.Seq().Message(n)), Attempt: attempt, At: r.now, Outcome: messages.Outcome{Rank: rank.Sent},
		})
	}
	r.counted(t)
	c := r.figures(t, stats.Filter{})
	if c.Timed() != 100 || c.LateMillis != 4950*1000 {
		t.Error(c)
	}
	for share, want := range map[float64]time.Duration{0.5: 50 * time.Second, 0.95: 95 * time.Second, 0.99: 99 * time.Second} {
		// The last class that has any goes on to five minutes.
		if p := c.Lateness(share); p < want*8/10 || p > 5*time.Minute {
			t.Errorf("p%v: %s, want about %s", share, p, want)
		}
	}
	if p := c.Lateness(0.5); p < 45*time.Second || p > 55*time.Second {
		t.Error(p)
	}
}

func campaignsListed(t *testing.T, r *rig) {
	for _, name := range []string{"old", "new", "old", "newest"} {
		r.now = r.now.Add(time.Minute)
		r.accepted(t, 2, func(a *messages.Accept) { a.Notification.Campaign = name })
	}
	r.accepted(t, 1, func(a *messages.Accept) {
		a.Notification.CompanyID, a.Notification.SenderUID, a.Notification.Campaign = theirs, r.foreign.UID, "foreign"
	})
	r.counted(t)
	var names []string
	from, pages := stats.Cursor{}, 0
	for more := true; more; pages++ {
		all, next, err := r.Stats.Campaigns(t.Context(), ours, from, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			names = append(names, fmt.Sprint(c.Name, " ", c.Accepted, " ", c.LastAt.Sub(c.FirstAt).Round(time.Minute)))
		}
		if more = next != nil; more {
			from = *next
		}
	}
	if diff := cmp.Diff([]string{"newest 2 0s", "old 4 2m0s", "new 2 0s"}, names); diff != "" || pages != 2 {
		t.Error(diff, pages)
	}
	if c, err := r.Stats.Campaign(t.Context(), ours, "foreign"); c != nil || err != nil {
		t.Error(c, err)
	}
}

func repliesCounted(t *testing.T, r *rig) {
	a := r.accepted(t, 2, func(a *messages.Accept) { a.Notification.Campaign = "asked" })
	seq := carillon.SeqOf(a.Notification.ID)
	replied := func(company string, n int) {
		t.Helper()
		if err := r.Stats.Replied(t.Context(), company, seq.Message(n), r.now); err != nil {
			t.Fatal(err)
		}
	}
	check := func(replied int64) {
		t.Helper()
		c, err := r.Stats.Campaign(t.Context(), ours, "asked")
		if err != nil || c == nil || c.Replied != replied || !c.FirstAt.Equal(a.Notification.CreatedAt.Truncate(time.Millisecond)) {
			t.Fatal(c, err)
		}
		campaign := "asked"
		for _, f := range []stats.Filter{{}, {Campaign: &campaign}} {
			total, err := r.Stats.Total(t.Context(), ours, f)
			if err != nil || total.Replied != replied {
				t.Errorf("%+v: %d, %v", f, total.Replied, err)
			}
			hours, groups, err := r.Stats.Figures(t.Context(), ours, f)
			if err != nil || len(hours) != 1 || len(groups) != 1 || hours[0].Replied != replied || groups[0].Replied != replied {
				t.Error(hours, groups, err)
			}
		}
	}
	replied(ours, 0) // before anything is counted
	check(1)
	replied(ours, 0)
	replied(theirs, 1) // another company's message
	check(1)
	r.counted(t)
	replied(ours, 1)
	check(2)
	r.Stats.Touch(seq, nil)
	r.counted(t)
	check(2)
	if c, err := r.Stats.Campaign(t.Context(), ours, "asked"); err != nil || c.Accepted != 2 {
		t.Error(c, err)
	}
}

func clicksCounted(t *testing.T, r *rig) {
	a := r.accepted(t, 2, func(a *messages.Accept) { a.Notification.Campaign = "linked" })
	seq := carillon.SeqOf(a.Notification.ID)
	click := func(company string, n int) {
		t.Helper()
		if err := r.Stats.Clicked(t.Context(), company, seq.Message(n), r.now, true); err != nil {
			t.Fatal(err)
		}
	}
	check := func(clicked int64, clicks ...int) {
		t.Helper()
		campaign := "linked"
		c, err := r.Stats.Campaign(t.Context(), ours, campaign)
		if err != nil || c == nil || c.Clicked != clicked || c.Replied != 0 {
			t.Fatal(c, err)
		}
		total, err := r.Stats.Total(t.Context(), ours, stats.Filter{Campaign: &campaign})
		if err != nil || total.Clicked != clicked {
			t.Error(total, err)
		}
		hours, groups, err := r.Stats.Figures(t.Context(), ours, stats.Filter{})
		if err != nil || len(hours) != 1 || len(groups) != 1 || hours[0].Clicked != clicked || groups[0].Clicked != clicked {
			t.Error(hours, groups, err)
		}
		for n, want := range clicks {
			if m := r.message(t, a, n); m.Clicks != want || m.ClickedAt.IsZero() == (want > 0) {
				t.Errorf("%d: %d at %v, want %d", n, m.Clicks, m.ClickedAt, want)
			}
		}
	}
	click(ours, 0) // before anything is counted
	check(1, 1, 0)
	first := r.message(t, a, 0).ClickedAt
	r.now = r.now.Add(time.Minute)
	for range stats.MaxClicks {
		click(ours, 0)
	}
	if m := r.message(t, a, 0); !m.ClickedAt.Equal(first) {
		t.Errorf("first at %v, then at %v", first, m.ClickedAt)
	}
	click(theirs, 1) // another company's message
	click(ours, 5)   // of nobody
	check(1, stats.MaxClicks, 0)
	r.counted(t)
	click(ours, 1)
	check(2, stats.MaxClicks, 1)
	r.Stats.Touch(seq, nil)
	r.counted(t)
	check(2, stats.MaxClicks, 1)
}

func countsDropped(t *testing.T, r *rig) {
	r.accepted(t, 1, func(a *messages.Accept) { a.Notification.Campaign = "old" })
	r.now = r.now.Add(48 * time.Hour)
	r.accepted(t, 1)
	r.counted(t)
	if p, err := r.Purges.DropStats(t.Context(), r.now.Add(-24*time.Hour), 100); p.Rows != 3 || p.More || err != nil {
		t.Error(p, err)
	}
	if c, err := r.Stats.Total(t.Context(), ours, stats.Filter{}); c.Accepted != 1 || err != nil {
		t.Error(c, err)
	}
	if c, err := r.Stats.Campaign(t.Context(), ours, "old"); c != nil || err != nil {
		t.Error(c, err)
	}
}

// Two nodes change, delete and count at once, and one of them ends without counting.
func TestTwoNodesCountExactly(t *testing.T) {
	o := store.Options{DatabaseURL: storetest.PatientPostgres(t)}
	one := newRig(t, open(t, o))
	other := &rig{Store: open(t, o), sender: one.sender, second: one.second, foreign: one.foreign, now: one.now.Add(15 * time.Minute)}
	a := newHistory(t, one, 1)
	b := &history{rig: other, begun: other.now, random: rand.New(rand.NewPCG(2, 1)), fence: a.fence, gone: map[string]stats.Counts{}}
	var done sync.WaitGroup
	for _, h := range []*history{a, b} {
		done.Go(func() {
			for range 200 {
				h.step(t)
				if h.random.IntN(10) == 0 {
					h.counted(t)
				}
			}
		})
	}
	done.Wait()
	for _, x := range a.all { // changes on the other node
		b.receive(t, b.receipt(x, 0, carillon.StateRead))
	}
	other.EndCounting(other.now)
	one.now = other.now.Add(time.Hour)
	a.counted(t)
	a.swept(t)
	for name, c := range b.gone {
		in := a.gone[name]
		in.Add(c, 1)
		a.gone[name] = in
	}
	a.all = append(a.all, b.all...)
	a.check(t)
}

func firstSteps(t *testing.T, r *rig) {
	f := r.fence(t)
	a := r.accepted(t, 2)
	r.now = r.now.Add(24 * time.Hour)
	r.accepted(t, 3, func(a *messages.Accept) { a.Quota.Day = r.now.Format(time.DateOnly) })
	days, err := r.Notifications.UsedSince(t.Context(), ours, a.Quota.Day)
	if diff := cmp.Diff([]messages.DayUse{{Date: a.Quota.Day, Used: 2}, {Date: r.now.Format(time.DateOnly), Used: 3}},
		days); diff != "" || err != nil {
		t.Error(diff, err)
	}
	r.counted(t)
	if some, err := r.Stats.AnyDelivered(t.Context(), ours); some || err != nil {
		t.Error(some, err)
	}
	r.start(t, f, a, 0)
	r.receive(t, r.receipt(a, 0, carillon.StateDelivered))
	r.counted(t)
	for company, want := range map[string]bool{ours: true, theirs: false} {
		if some, err := r.Stats.AnyDelivered(t.Context(), company); some != want || err != nil {
			t.Error(company, some, err)
		}
	}
	if some, err := r.Chats.AnyVisitor(t.Context(), ours); some || err != nil {
		t.Error(some, err)
	}
}

func suppressionsFound(t *testing.T, r *rig) {
	by := settings.Suppression{Type: settings.SuppressMarketing, Reason: "asked on the phone", Author: "ana@ours.test", CreatedAt: r.now}
	for i, want := range []int{3, 0} { // the first numbers of a company, and numbers that are on the list
		if n, err := r.Suppressions.AddSuppressions(t.Context(), ours, by, "34600000001", "34600000002",
			"51900000001"); n != want || err != nil {
			t.Errorf("%d: %d were added, want %d; %v", i, n, want, err)
		}
	}
	by.Type = settings.SuppressAll
	if n, err := r.Suppressions.AddSuppressions(t.Context(), ours, by, "34600000001", "34600000003"); n != 2 || err != nil {
		t.Error("one is widened, one is new:", n, err)
	}
	for begin, want := range map[string]int{"": 4, "346": 3, "3460000000": 3, "51": 1, "6": 0} {
		found, err := r.Suppressions.SuppressionsFrom(t.Context(), ours, begin, "", 10)
		if len(found) != want || err != nil {
			t.Errorf("%q finds %d, want %d; %v", begin, len(found), want, err)
		}
		for _, x := range found {
			if x.Author != "ana@ours.test" {
				t.Error(x)
			}
		}
	}
	if found, err := r.Suppressions.SuppressionsFrom(t.Context(), ours, "346", "34600000001", 1); len(found) != 1 ||
		found[0].Number != "34600000002" || err != nil {
		t.Error("the next page:", found, err)
	}
	if found, err := r.Suppressions.SuppressionsFrom(t.Context(), theirs, "", "", 10); len(found) > 0 || err != nil {
		t.Error("another company finds", found, err)
	}
}
