package store_test

import (
	"strconv"
	"testing"
	"time"

	"carillon/internal/store/messages"
	"carillon/internal/store/purge"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/base/identity"
)

func purging() []sentence {
	return []sentence{
		{"a purge takes what closed before its time, with all that belongs to it, and nothing else", purgeTakesTheOld},
		{"a purge stops at what the search table has not been filled with", purgeWaitsForSearch},
		{"a purge goes on where its last step ended", purgeInSteps},
		{"companies with closed notifications come up in turn", closedCompanies},
		{"quotas of old days go, the others stay", oldQuotas},
	}
}

// closed is a notification of so many messages, canceled and so closed now.
func (r *rig) closed(t *testing.T, total int, change ...func(a *messages.Accept)) *messages.Accept {
	t.Helper()
	a := r.accepted(t, total, change...)
	if _, err := r.Notifications.Cancel(t.Context(), a.Notification.CompanyID, a.Notification.ID, false, r.now); err != nil {
		t.Fatal(err)
	}
	return a
}

// searchable fills the search table with all there is.
func (r *rig) searchable(t *testing.T) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = r.Search.Fill(t.Context(), r.now.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
}

func (r *rig) purge(t *testing.T, from, before time.Time, most int) purge.Purged {
	t.Helper()
	p, err := r.Purges.Purge(t.Context(), ours, from, before, most)
	if err != nil || p.Busy {
		t.Fatal(p, err)
	}
	return p
}

// found are the notifications that a search by number or campaign finds, long after the search table was filled.
func (r *rig) found(t *testing.T, f messages.Filter) int {
	t.Helper()
	f.Limit = 100
	all, _, err := r.Notifications.List(t.Context(), ours, f, r.now)
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

func purgeTakesTheOld(t *testing.T, r *rig) {
	old := []*messages.Accept{r.closed(t, 3), r.closed(t, 1), r.closed(t, 2)}
	open := r.accepted(t, 1)
	foreign := r.closed(t, 1, func(a *messages.Accept) { a.Notification.CompanyID, a.Notification.SenderUID = theirs, r.foreign.UID })
	used := r.used(t, old[0])
	r.now = r.now.Add(time.Minute)
	before := r.now
	young := r.closed(t, 2)
	r.searchable(t)
	p := r.purge(t, time.Time{}, before, 1000)
	// Itself, its messages, its campaign and its numbers: 8, 4 and 6.
	if p.Notifications != 3 || p.Rows != 18 || p.More || p.Took <= 0 {
		t.Errorf("%+v", p)
	}
	for i, a := range old {
		if r.there(t, a) {
			t.Errorf("old %d is there", i)
		}
		if all, err := r.Messages.List(t.Context(), a.Notification.Seq(), 0, 10); len(all) > 0 || err != nil {
			t.Errorf("messages of old %d are there: %v", i, err)
		}
	}
	for name, a := range map[string]*messages.Accept{"an open one": open, "another company's": foreign, "a young one": young} {
		if all, err := r.Messages.List(t.Context(), a.Notification.Seq(), 0, 10); !r.there(t, a) || len(all) != len(a.Messages) ||
			err != nil {
			t.Errorf("%s lost something: %v", name, err)
		}
	}
	if n := r.used(t, old[0]); n != used+2 {
		t.Errorf("%d are charged, want %d", n, used+2)
	}
	if byCampaign, byNumber := r.found(t, messages.Filter{Campaign: "spring"}),
		r.found(t, messages.Filter{Lines: identity.Numbers("34600000000")}); byCampaign != 2 || byNumber != 2 {
		t.Errorf("a search finds %d by campaign and %d by number, want 2", byCampaign, byNumber)
	}
	if p := r.purge(t, time.Time{}, before, 1000); p.Notifications != 0 || p.Rows != 0 || p.More {
		t.Errorf("again: %+v", p)
	}
	r.purge(t, time.Time{}, r.now.Add(time.Hour), 1000)
	if !r.there(t, open) || r.there(t, young) {
		t.Error("an hour later the open one is gone or the closed one there")
	}
}

func purgeWaitsForSearch(t *testing.T, r *rig) {
	first := r.closed(t, 1)
	r.searchable(t)
	second := r.closed(t, 1)
	if p := r.purge(t, time.Time{}, r.now.Add(time.Hour), 1000); p.Notifications != 1 || p.More || !p.Unsearched ||
		r.there(t, first) || !r.there(t, second) {
		t.Errorf("%+v", p)
	}
	r.searchable(t)
	if p := r.purge(t, time.Time{}, r.now.Add(time.Hour), 1000); p.Notifications != 1 || p.Unsearched || r.there(t, second) {
		t.Errorf("%+v", p)
	}
	if n := r.found(t, messages.Filter{Lines: identity.Numbers("34600000000")}); n != 0 {
		t.Errorf("a search finds %d", n)
	}
}

func purgeInSteps(t *testing.T, r *rig) {
	for i := range 10 {
		r.closed(t, 1+i%2*3) // of 4 and of 10 rows
	}
	r.searchable(t)
	var got []int
	var next time.Time
	for more := true; more; {
		p := r.purge(t, next, r.now.Add(time.Hour), 16)
		got = append(got, p.Notifications)
		if p.Next.Before(next) {
			t.Errorf("it goes back from %s to %s", next, p.Next)
		}
		next, more = p.Next, p.More
	}
	if d := cmp.Diff([]int{2, 2, 2, 2, 2}, got); d != "" {
		t.Error(d)
	}
	if r.closed(t, 5); r.found(t, messages.Filter{}) != 1 {
		t.Error("something is left")
	}
	r.searchable(t)
	if p := r.purge(t, next, r.now.Add(time.Hour), 1); p.Notifications != 1 {
		t.Errorf("one that is larger than a step: %+v", p)
	}
}

func closedCompanies(t *testing.T, r *rig) {
	var want, got []purge.Closed
	for _, company := range []string{theirs, ours} {
		for range 2 {
			r.closed(t, 1, func(a *messages.Accept) { a.Notification.CompanyID = company })
			if len(want) == 0 || want[0].CompanyID != company {
				want = append([]purge.Closed{{CompanyID: company, Oldest: r.now}}, want...)
			}
		}
	}
	r.accepted(t, 1, func(a *messages.Accept) { a.Notification.CompanyID = "open" })
	for id := ""; ; {
		c, err := r.Purges.ClosedAfter(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if id = c.CompanyID; id == "" {
			break
		}
		got = append(got, c)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func oldQuotas(t *testing.T, r *rig) {
	day := func(i int) func(a *messages.Accept) {
		return func(a *messages.Accept) { a.Quota.Day = "2027-01-0" + strconv.Itoa(i) }
	}
	var last *messages.Accept
	for i := range 5 {
		last = r.accepted(t, 2, day(i+1), func(a *messages.Accept) { a.Quota.Limit = 100 })
	}
	r.accepted(t, 1, day(1), func(a *messages.Accept) { a.Notification.CompanyID = theirs })
	for i := range 2 { // without a quota, at instants that may be counted apart
		last = r.accepted(t, 3, day(5), func(a *messages.Accept) {
			a.Notification.CreatedAt, a.Quota.Limit = r.now.Add(time.Duration(i)*time.Minute), 0
		})
	}
	company, first, err := r.Purges.QuotaAfter(t.Context(), "")
	if company != ours || first != "2027-01-01" || err != nil {
		t.Error(company, first, err)
	}
	if p, err := r.Purges.DropQuotas(t.Context(), ours, "2027-01-05"); p.Rows != 4 || err != nil {
		t.Error(p, err)
	}
	folded := 0
	for more := true; more; {
		if p, err := r.Purges.FoldQuotas(t.Context(), ours, "2027-01-05"); p != (purge.Purged{}) || err != nil {
			t.Error("a day that is not over:", p, err)
		}
		p, err := r.Purges.FoldQuotas(t.Context(), ours, "2027-01-06")
		if err != nil {
			t.Fatal(err)
		}
		folded, more = folded+p.Rows, p.More
	}
	if parts := map[string]int{"postgres": 2}[r.DB.Engine()]; folded != parts {
		t.Errorf("%d rows were made one, want %d", folded, parts)
	}
	if n := r.used(t, last); n != 8 {
		t.Errorf("the last day's is %d", n)
	}
	if company, _, err := r.Purges.QuotaAfter(t.Context(), ours); company != theirs || err != nil {
		t.Error(company, err)
	}
	if company, _, err := r.Purges.QuotaAfter(t.Context(), theirs); company != "" || err != nil {
		t.Error(company, err)
	}
}
