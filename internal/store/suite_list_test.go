package store_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"carillon/internal/store/configure"
	"carillon/internal/store/messages"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/store/rank"
	"carillon/internal/store/work"
)

func listing() []sentence {
	return []sentence{
		{"every filter finds what it names, newest first, in pages", everyFilter},
		{"no row is missed or doubled while rows are added", pagesWhileRowsAreAdded},
		{"a search finds what is indexed and what is not yet", searchAcrossTheHorizon},
		{"the search table leaves out what may yet be committed", searchLags},
		{"a search finds a campaign with a name longer than an index takes", longCampaign},
		{"an entry that the search table refuses is left out", refusedEntry},
		{"recipients come in pages", recipientPages},
		{"a page that finds nothing among the rows it may look at ends early", sparsePages},
	}
}

// several are notifications that differ in all that a list filters by, oldest first.
func several(t *testing.T, r *rig) []*messages.Accept {
	t.Helper()
	var all []*messages.Accept
	for i := range 24 {
		all = append(all, r.accepted(t, 2, func(a *messages.Accept) {
			r.now = r.now.Add(time.Second)
			a.Notification.ID, a.Notification.CreatedAt = carillon.NewID(r.now), r.now
			a.Notification.Class = carillon.Class(i % 3)
			a.Notification.Campaign = []string{"spring", "autumn"}[i/2%2]
			a.Messages[1].Number = strconv.Itoa(34611000000 + i%5)
			if i%3 == 0 { // two forms of one number
				a.Messages[0].Number = []string{"525512345601", "5215512345601"}[i/3%2]
			}
			if i%4 == 1 {
				a.Notification.Channel = carillon.Voice
			}
			if i%6 == 1 {
				a.Notification.SenderUID = r.second.UID
			}
			if i%8 == 7 {
				a.Notification.CompanyID = theirs
			}
			a.Notification.DueAt, a.Notification.Scheduled = r.now, i%5 < 2
			if i%5 == 1 {
				a.Notification.DueAt = r.now.Add(time.Hour)
			}
		}))
	}
	for i, a := range all {
		switch {
		case i%6 == 2: // canceled
			if _, err := r.Notifications.Cancel(t.Context(), a.Notification.CompanyID, a.Notification.ID, false, r.now); err != nil {
				t.Fatal(err)
			}
		case i%6 == 4 && a.Notification.DueAt.Before(r.now): // completed
			f := work.Fence{Shard: int(a.Notification.SenderUID % carillon.Shards), Owner: "node"}
			r.join(t, "node")
			if _, err := r.Nodes.Take(t.Context(), []int{f.Shard}, f.Owner); err != nil {
				t.Fatal(err)
			}
			f.Epoch = r.shard(t, f.Shard).Epoch
			for n := range 2 {
				outcome := messages.Outcome{Rank: rank.Sent}
				if failing(i) && n == 1 {
					outcome = messages.Outcome{Rank: rank.Failed, Reason: carillon.ReasonUndeliverable}
				}
				r.start(t, f, a, n)
				r.result(t, work.Result{Key: work.Key(a.Notification.Seq().Message(n)), Attempt: 1, At: r.now, Outcome: outcome})
			}
			if err := r.Notifications.CloseDone(t.Context(), []carillon.Seq{a.Notification.Seq()}, r.now); err != nil {
				t.Fatal(err)
			}
		}
	}
	return all
}

// failing reports whether a message of a completed notification fails.
func failing(i int) bool { return i%4 == 0 }

// stateOf returns a notification's state in a list.
func stateOf(n *messages.Notification, now time.Time) carillon.State {
	switch {
	case n.Canceled:
		return carillon.StateCanceled
	case n.Open == 0:
		return carillon.StateCompleted
	case n.Scheduled && n.DueAt.After(now):
		return carillon.StateScheduled
	}
	return carillon.StateInProgress
}

// matches is the filter of the SQL in Go.
func matches(f messages.Filter, i int, n *messages.Notification, a *messages.Accept, now time.Time) bool {
	if f.Failed && (!failing(i) || stateOf(n, now) != carillon.StateCompleted) {
		return false
	}
	numbers := []string{a.Messages[0].Number, a.Messages[1].Number}
	return n.CompanyID == ours && (f.Campaign == "" || f.Campaign == n.Campaign) &&
		(len(f.Lines) == 0 || slices.ContainsFunc(numbers, func(s string) bool {
			return identity.Has(f.Lines, s)
		})) &&
		(f.Class == nil || *f.Class == n.Class) && (f.Channel == "" || f.Channel == n.Channel) &&
		(f.State == "" || f.State == stateOf(n, now)) && (f.SenderUID == 0 || f.SenderUID == n.SenderUID) &&
		(f.From.IsZero() || !n.CreatedAt.Before(f.From)) && (f.To.IsZero() || n.CreatedAt.Before(f.To))
}

func filters(r *rig, all []*messages.Accept) []messages.Filter {
	utility := carillon.Utility
	single := []messages.Filter{
		{},
		{Campaign: "autumn"},
		{Campaign: "winter"},
		{Lines: identity.Numbers("34611000003")},
		{Lines: identity.Numbers("34600000000")},
		{Lines: identity.Numbers("34699999999")},
		{Lines: identity.Numbers("5215512345601")},
		{Lines: identity.Numbers("525512345601", "34611000003")},
		{Class: &utility},
		{Channel: carillon.Voice},
		{Channel: carillon.Messaging},
		{State: carillon.StateScheduled},
		{State: carillon.StateInProgress},
		{State: carillon.StateCompleted},
		{State: carillon.StateCanceled},
		{Failed: true},
		{SenderUID: r.second.UID},
		{SenderUID: r.foreign.UID},
		{From: all[5].Notification.CreatedAt},
		{To: all[20].Notification.CreatedAt},
	}
	from, to := all[3].Notification.CreatedAt, all[20].Notification.CreatedAt
	var both []messages.Filter
	for _, f := range single { // each with every other that can be joined to it
		f.From, f.To = from, to
		both = append(both, f)
		f.Channel, f.Class = carillon.Messaging, &utility
		both = append(both, f)
		f.Campaign = "spring"
		both = append(both, f)
		f.Lines = identity.Numbers("34600000000")
		both = append(both, f)
		f.State, f.SenderUID = carillon.StateInProgress, r.sender.UID
		both = append(both, f)
		f.State, f.Failed, f.Lines = "", true, nil
		both = append(both, f)
	}
	return append(single, both...)
}

// list reads all pages.
func (r *rig) list(t *testing.T, f messages.Filter, page int, between func()) []string {
	t.Helper()
	var ids []string
	for f.Limit = page; ; {
		rows, next, err := r.Notifications.List(t.Context(), ours, f, r.now)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range rows {
			ids = append(ids, n.ID)
		}
		if next == "" {
			return ids
		}
		f.Before = next
		if between != nil {
			between()
		}
	}
}

func everyFilter(t *testing.T, r *rig) {
	all := several(t, r)
	check := func(when string) {
		t.Helper()
		found := 0
		for _, f := range filters(r, all) {
			var want []string
			for i, a := range slices.Backward(all) {
				n, err := r.Notifications.Load(t.Context(), a.Notification.Seq())
				if err != nil {
					t.Fatal(err)
				}
				if matches(f, i, n, a, r.now) {
					want = append(want, n.ID)
				}
			}
			found += len(want)
			for _, page := range []int{2, 100} {
				if d := cmp.Diff(want, r.list(t, f, page, nil)); d != "" {
					t.Errorf("%s, %+v in pages of %d\n%s", when, f, page, d)
				}
			}
		}
		if found < 100 {
			t.Errorf("only %d rows matched", found)
		}
	}
	check("before the search table is filled")
	r.fillSearch(t, r.now.Add(-2*time.Second))
	check("while it is being filled")
	r.fillSearch(t, r.now.Add(time.Minute))
	check("after it is filled")
}

// fillSearch fills the search table with everything older than now minus the lag.
func (r *rig) fillSearch(t *testing.T, now time.Time) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = r.Search.Fill(t.Context(), now); err != nil {
			t.Fatal(err)
		}
	}
}

func pagesWhileRowsAreAdded(t *testing.T, r *rig) {
	for _, f := range []messages.Filter{{}, {Campaign: "spring"}, {Lines: identity.Numbers("34600000000")}} {
		var want []string
		for range 20 {
			want = append(want, r.accepted(t, 1).Notification.ID)
		}
		slices.Reverse(want)
		f.From = time.UnixMilli(0)
		got := r.list(t, f, 3, func() {
			r.accepted(t, 1)
			r.fillSearch(t, r.now.Add(10*time.Second)) // the horizon moves between the pages too
		})
		if d := cmp.Diff(want, got[:min(len(got), len(want))]); d != "" {
			t.Errorf("%+v\n%s", f, d)
		}
		if once := slices.Compact(slices.Clone(got)); len(once) != len(got) {
			t.Errorf("%+v: %d rows were doubled", f, len(got)-len(once))
		}
	}
}

func searchAcrossTheHorizon(t *testing.T, r *rig) {
	var want []string
	for i := range 30 {
		want = append(want, r.accepted(t, 100).Notification.ID)
		if i == 24 {
			r.now = r.now.Add(time.Minute)
			r.fillSearch(t, r.now) // 25 notifications of 100: more than a step takes
		}
	}
	slices.Reverse(want)
	for _, number := range []string{"34600000000", "34600000099"} {
		if d := cmp.Diff(want, r.list(t, messages.Filter{Lines: identity.Numbers(number)}, 7, nil)); d != "" {
			t.Error(number, d)
		}
	}
	if n := len(r.list(t, messages.Filter{Lines: identity.Numbers("34600000100")}, 100, nil)); n != 0 {
		t.Errorf("%d found of a number that nobody has", n)
	}
}

func searchLags(t *testing.T, r *rig) {
	old := r.accepted(t, 1)
	r.now = r.now.Add(time.Minute)
	late := r.accepted(t, 1) // its commit comes after those that follow
	r.fillSearch(t, r.now)
	before := r.request("34600000000")
	before.Notification.ID = carillon.NewID(late.Notification.CreatedAt.Add(-time.Second))
	if err := r.Notifications.Accept(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	r.fillSearch(t, r.now.Add(time.Minute))
	want := []string{late.Notification.ID, before.Notification.ID, old.Notification.ID}
	if d := cmp.Diff(want, r.list(t, messages.Filter{Lines: identity.Numbers("34600000000")}, 10, nil)); d != "" {
		t.Error(d)
	}
}

func recipientPages(t *testing.T, r *rig) {
	a := r.accepted(t, 100)
	var got []int
	for n := 0; ; {
		rows, err := r.Messages.List(t.Context(), a.Notification.Seq(), n, 7)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range rows {
			got = append(got, m.N)
		}
		if len(rows) < 7 {
			break
		}
		n = rows[6].N + 1
	}
	for i, n := range got {
		if i != n {
			t.Fatal(got)
		}
	}
	if len(got) != 100 {
		t.Errorf("%d of 100 recipients", len(got))
	}
}

func sparsePages(t *testing.T, r *rig) {
	var oldest *messages.Accept
	for range 6 { // more than a page may look at
		accepts := make([]*messages.Accept, 1000)
		for i := range accepts {
			accepts[i] = r.request("34600000000")
		}
		if oldest == nil {
			oldest = accepts[0]
			oldest.Notification.Campaign, oldest.Notification.Class, oldest.Messages[0].Number = "rare", carillon.Marketing, "34600000001"
		}
		for _, err := range r.Notifications.Together(context.Background(), false, accepts...) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	marketing := carillon.Marketing
	for when, fill := range map[string]func(){
		"before the search table is filled": func() {},
		"after":                             func() { r.fillSearch(t, r.now.Add(time.Minute)) },
	} {
		fill()
		for _, f := range []messages.Filter{
			{Class: &marketing}, {Campaign: "spring", Class: &marketing}, {Lines: identity.Numbers("34600000000"), Class: &marketing},
		} {
			f.Limit = 10
			rows, next, err := r.Notifications.List(t.Context(), ours, f, r.now)
			if err != nil || len(rows) > 0 || next == "" {
				t.Errorf("%s, %+v: %d rows, cursor %q, %v", when, f, len(rows), next, err)
			}
			found := r.list(t, f, 10, nil)
			if f.Campaign == "" && len(f.Lines) == 0 && !slices.Equal(found, []string{oldest.Notification.ID}) {
				t.Errorf("%s, %+v: all pages have %v", when, f, found)
			}
		}
	}
	if found := r.list(t, messages.Filter{Lines: identity.Numbers("34600000001")}, 10, nil); !slices.Equal(found,
		[]string{oldest.Notification.ID}) {
		t.Error(found)
	}
}

func longCampaign(t *testing.T, r *rig) {
	var name strings.Builder
	for i := range 20_000 { // PostgreSQL compresses repetitive text
		name.WriteString(strconv.FormatInt(int64(i)*7919%10007, 36))
	}
	long := r.accepted(t, 1, func(a *messages.Accept) { a.Notification.Campaign = name.String() })
	next := r.accepted(t, 1, func(a *messages.Accept) { a.Notification.Campaign = "next" })
	if lag, err := r.Search.Lag(t.Context(), r.now.Add(time.Hour)); lag < 59*time.Minute || err != nil {
		t.Errorf("nothing is filled for an hour: %s behind, %v", lag, err)
	}
	r.fillSearch(t, r.now.Add(time.Minute))
	for _, a := range []*messages.Accept{long, next} {
		if d := cmp.Diff([]string{a.Notification.ID}, r.list(t, messages.Filter{Campaign: a.Notification.Campaign}, 10, nil)); d != "" {
			t.Error(d)
		}
	}
	if lag, err := r.Search.Lag(t.Context(), r.now.Add(time.Hour)); lag != 0 || err != nil {
		t.Errorf("all is filled: %s behind, %v", lag, err)
	}
}

func refusedEntry(t *testing.T, r *rig) {
	const number = "34600000777"
	guard := []string{
		"CREATE TRIGGER guard BEFORE INSERT ON search WHEN NEW.value = '" + number + "' BEGIN SELECT RAISE(ABORT, 'refused'); END",
		"DROP TRIGGER guard",
	}
	if !r.DB.SQLite() {
		guard = []string{
			"ALTER TABLE search ADD CONSTRAINT guard CHECK (value <> '" + number + "')", "ALTER TABLE search DROP CONSTRAINT guard",
		}
	}
	change := func(query string) {
		if err := r.Config.Update(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
			_, err := tx.Exec(ctx, query)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	change(guard[0])
	defer change(guard[1])
	before := r.Search.Unsearchable()
	for _, n := range []string{"34600000776", number, "34600000778"} {
		r.accepted(t, 1, func(a *messages.Accept) { a.Messages[0].Number = n })
	}
	r.fillSearch(t, r.now.Add(time.Minute))
	for _, n := range []string{"34600000776", "34600000778"} {
		if found := r.list(t, messages.Filter{Lines: identity.Numbers(n)}, 10, nil); len(found) != 1 {
			t.Errorf("%s: %d found", n, len(found))
		}
	}
	if n := r.Search.Unsearchable() - before; n != 1 {
		t.Errorf("%d entries are counted as refused", n)
	}
}
