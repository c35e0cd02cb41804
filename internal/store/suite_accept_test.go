package store_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/store/messages"
	"carillon/internal/store/purge"
	"carillon/internal/store/rank"
)

func accepting() []sentence {
	return []sentence{
		{"what is accepted is read as it was given", acceptedIsReadBack},
		{"the messages of a page of notifications are counted", messagesAreCounted},
		{"who reads notifications at once gets each his own", readersShareQueries},
		{"requests that share a commit are all stored", requestsShareACommit},
		{"one poisoned request in a hundred fails alone", poisonedRequestFailsAlone},
		{"a request whose caller left is stored all the same", callersThatLeftAreStored},
		{"64 senders at once never pass the quota", quotaIsNeverPassed},
		{"64 senders at once never pass the quota of bytes", bytesAreNeverPassed},
		{"64 senders at once never pass the quota of calls", callsAreNeverPassed},
		{"a quota that comes during the day counts what was used without one", quotaComesDuringTheDay},
		{"a request that the quota refuses stores nothing", refusedRequestStoresNothing},
		{"of two notifications with one number one is stored", numberIsTaken},
		{"64 repeats of one key store one notification", repeatsStoreOnce},
		{"an idempotency key with other content is refused", reusedKeyIsRefused},
		{"an idempotency key is free again once it has expired", keyExpires},
	}
}

func acceptedIsReadBack(t *testing.T, r *rig) {
	a := r.request("34600000001", "34600000002")
	n := &a.Notification
	n.Labels = messages.Labels{RecipientID: "main", TemplateName: "greeting", Language: "es_ES", AgentID: "a", Event: "e"}
	n.Flat, n.Notes, n.Scheduled, n.DueAt, n.Open = true, "note", true, r.now.Add(26*time.Hour), 1
	a.Messages[1].Skip = carillon.ReasonSuppressed
	if err := r.Notifications.Accept(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	got, err := r.Notifications.Load(t.Context(), n.Seq())
	if d := cmp.Diff(n, got); err != nil || d != "" {
		t.Error(err, d)
	}
	listed, _, err := r.Notifications.List(t.Context(), ours, messages.Filter{Limit: 1}, r.now)
	shown, showErr := r.Notifications.Find(t.Context(), ours, n.ID)
	for _, without := range append(listed, shown) {
		if got.Body = ""; !cmp.Equal(got, without) {
			t.Errorf("without its body\n%s", cmp.Diff(got, without))
		}
	}
	if err != nil || showErr != nil || len(listed) != 1 {
		t.Error(err, showErr, len(listed))
	}
	if _, err := r.Notifications.Find(t.Context(), theirs, n.ID); !carillon.IsCode(err, carillon.NotFound) {
		t.Errorf("another company was told %v", err)
	}
	stored, err := r.Messages.List(t.Context(), n.Seq(), 0, 100)
	if d := cmp.Diff([]messages.Message{
		{N: 0, Number: "34600000001", Q: 1, Due: n.DueAt},
		{N: 1, Number: "34600000002", Rank: rank.Skipped, Reason: carillon.ReasonSuppressed, Due: n.DueAt, EndedAt: n.CreatedAt},
	}, stored); err != nil || d != "" {
		t.Error(err, d)
	}
}

// readersShareQueries runs concurrent reads, some with canceled callers and one of a missing row.
func readersShareQueries(t *testing.T, r *rig) {
	var all []*messages.Accept
	for range 100 {
		all = append(all, r.request("34600000001"))
	}
	for _, err := range together(t, r, all) {
		if err != nil {
			t.Fatal(err)
		}
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	var readers sync.WaitGroup
	for i := range 400 {
		readers.Go(func() {
			want := &all[i%len(all)].Notification
			switch i % 4 {
			case 0:
				if n, err := r.Notifications.Load(left, want.Seq()); err == nil && n.ID != want.ID {
					t.Errorf("who left got %s, want %s", n.ID, want.ID)
				}
			case 1:
				if n, err := r.Notifications.Load(t.Context(), want.Seq()+1<<40); !carillon.IsCode(err, carillon.NotFound) {
					t.Errorf("got %v, %v; want not_found", n, err)
				}
			default:
				n, err := r.Notifications.Load(t.Context(), want.Seq())
				if err != nil || n.ID != want.ID {
					t.Errorf("got %v, %v; want %s", n, err, want.ID)
				}
			}
		})
	}
	readers.Wait()
}

// messagesAreCounted asks for pages of every size that the query is made for.
func messagesAreCounted(t *testing.T, r *rig) {
	var seqs []carillon.Seq
	want := map[carillon.Seq][]messages.Standing{}
	for i := range 30 {
		a := r.request("34600000001", "34600000002", "34600000003")
		queued := 3 - i%3
		for j := queued; j < 3; j++ {
			a.Messages[j].Skip = carillon.ReasonSuppressed
		}
		if err := r.Notifications.Accept(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		seq := a.Notification.Seq()
		seqs, want[seq] = append(seqs, seq), []messages.Standing{{Q: 1, Count: queued}}
		if queued < 3 {
			want[seq] = append(want[seq], messages.Standing{Rank: rank.Skipped, Count: 3 - queued})
		}
	}
	for _, size := range []int{0, 1, 2, 25, 26, 30} {
		got, err := r.Messages.Standings(t.Context(), seqs[:size]...)
		if err != nil {
			t.Fatal(err)
		}
		for _, seq := range seqs[:size] {
			slices.SortFunc(got[seq], func(a, b messages.Standing) int { return int(a.Rank) - int(b.Rank) })
			if d := cmp.Diff(want[seq], got[seq]); d != "" {
				t.Errorf("of %d: %s", size, d)
			}
		}
		if len(got) != size {
			t.Errorf("%d of %d were counted", len(got), size)
		}
	}
}

// numberIsTaken tests two notifications with the same number, as from two nodes that share a slot or from a node
// restarted with its clock set back.
func numberIsTaken(t *testing.T, r *rig) {
	first, second := r.request("34600000001", "34600000002"), r.request("34600000003")
	last := "0"
	if strings.HasSuffix(first.Notification.ID, last) {
		last = "1"
	}
	second.Notification.ID = first.Notification.ID[:35] + last
	for _, a := range []*messages.Accept{first, second, first} {
		a.Notification.Campaign = a.Notification.ID
		want := error(nil)
		if r.there(t, first) {
			want = messages.ErrIDTaken
		}
		if err := r.Notifications.Accept(t.Context(), a); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", a.Notification.ID, err, want)
		}
	}
	if _, err := r.Notifications.Find(t.Context(), ours, second.Notification.ID); !carillon.IsCode(err, carillon.NotFound) {
		t.Errorf("another notification was found: %v", err)
	}
	if _, err := r.Notifications.Cancel(t.Context(), ours, second.Notification.ID, false, r.now); !carillon.IsCode(err, carillon.NotFound) {
		t.Errorf("another notification was canceled: %v", err)
	}
	if _, err := r.Notifications.Move(t.Context(), ours, second.Notification.ID, r.now.Add(time.Hour), r.now); !carillon.IsCode(err,
		carillon.NotFound) {
		t.Errorf("another notification was moved: %v", err)
	}
	if n, err := r.Notifications.Find(t.Context(), ours, first.Notification.ID); err != nil || n.Total != 2 {
		t.Error(n, err)
	}
	if used := r.used(t, first); used != 2 {
		t.Errorf("%d charged", used)
	}
	third := r.request("34600000004")
	third.Notification.ID = r.Notifications.NewID(r.now)
	if errs := together(t, r, []*messages.Accept{second, third}); !errors.Is(errs[0], messages.ErrIDTaken) || errs[1] != nil {
		t.Error(errs)
	}
}

// together accepts requests from as many callers at once and gives their errors.
func together(t *testing.T, r *rig, all []*messages.Accept) []error {
	t.Helper()
	errs := make([]error, len(all))
	begin := make(chan struct{})
	var callers sync.WaitGroup
	for i, a := range all {
		callers.Go(func() {
			<-begin
			errs[i] = r.Notifications.Accept(t.Context(), a)
		})
	}
	close(begin)
	callers.Wait()
	return errs
}

func requests(r *rig, n int, change func(i int, a *messages.Accept)) []*messages.Accept {
	all := make([]*messages.Accept, n)
	for i := range all {
		all[i] = r.request(strconv.Itoa(34600000000 + i))
		if change != nil {
			change(i, all[i])
		}
	}
	return all
}

func requestsShareACommit(t *testing.T, r *rig) {
	all := requests(r, 300, nil)
	for i, err := range together(t, r, all) {
		if err != nil || !r.there(t, all[i]) {
			t.Fatal(i, err)
		}
	}
	if n := r.used(t, all[0]); n != 300 {
		t.Errorf("300 recipients charged %d", n)
	}
}

func poisonedRequestFailsAlone(t *testing.T, r *rig) {
	all := requests(r, 100, func(i int, a *messages.Accept) {
		if i == 50 {
			a.Notification.Channel = "pigeon" // the schema refuses it
		}
	})
	for i, err := range together(t, r, all) {
		if (err != nil) != (i == 50) || r.there(t, all[i]) == (i == 50) {
			t.Errorf("request %d: %v", i, err)
		}
	}
	if n := r.used(t, all[0]); n != 99 {
		t.Errorf("99 recipients charged %d", n)
	}
}

func callersThatLeftAreStored(t *testing.T, r *rig) {
	all := requests(r, 50, nil)
	ctx, leave := context.WithCancel(t.Context())
	leave()
	var callers sync.WaitGroup
	for _, a := range all {
		callers.Go(func() { _ = r.Notifications.Accept(ctx, a) }) // it may have heard of the commit or not
	}
	callers.Wait()
	for _, a := range all {
		eventually(t, func() bool { return r.there(t, a) })
		r.message(t, a, 0)
	}
}

func quotaIsNeverPassed(t *testing.T, r *rig) {
	all := requests(r, 64, func(_ int, a *messages.Accept) { a.Quota.Charge, a.Quota.Limit = 3, 100 })
	stored := 0
	for i, err := range together(t, r, all) {
		switch {
		case err == nil:
			stored++
		case !carillon.IsCode(err, carillon.QuotaExceeded):
			t.Error(err)
		case r.there(t, all[i]):
			t.Error("a refused request was stored")
		}
	}
	if n := r.used(t, all[0]); stored != 33 || n != 99 {
		t.Errorf("of 100, %d requests of 3 were stored and %d charged", stored, n)
	}
}

func bytesAreNeverPassed(t *testing.T, r *rig) {
	all := requests(r, 64, func(_ int, a *messages.Accept) { a.Quota.Bytes, a.Quota.BytesLimit = 300, 10_000 })
	stored := 0
	for i, err := range together(t, r, all) {
		var e *carillon.Error
		switch {
		case err == nil:
			stored++
		case !errors.As(err, &e) || e.Code != carillon.QuotaExceeded || e.Details.Find("quota") != 10_000 ||
			e.Details.Find("used") != 9_900:
			t.Error(err)
		case r.there(t, all[i]):
			t.Error("a refused request was stored")
		}
	}
	if n := r.used(t, all[0]); stored != 33 || n != 33 {
		t.Errorf("of 10,000 bytes, %d requests of 300 were stored and %d recipients charged", stored, n)
	}
}

// callsAreNeverPassed has every second request place a call, in a day whose messages have no limit.
func callsAreNeverPassed(t *testing.T, r *rig) {
	all := requests(r, 64, func(i int, a *messages.Accept) {
		if a.Quota.Charge = 1; i%2 == 0 {
			a.Quota.Calls, a.Quota.CallsLimit = 1, 10
		}
	})
	stored := 0
	for i, err := range together(t, r, all) {
		var e *carillon.Error
		switch {
		case err == nil:
			stored++
		case !errors.As(err, &e) || e.Code != carillon.QuotaExceeded || e.Message != "Daily quota of calls used up" ||
			e.Details.Find("quota") != 10 || e.Details.Find("used") != 10 || i%2 == 1:
			t.Error(i, err)
		case r.there(t, all[i]):
			t.Error("a refused request was stored")
		}
	}
	if n := r.used(t, all[0]); stored != 42 || n != 42 {
		t.Errorf("of 10 calls and 32 messages %d were stored and %d charged", stored, n)
	}
}

func quotaComesDuringTheDay(t *testing.T, r *rig) {
	if used := comesDuringTheDay(t, r, "recipients"); used != 106 {
		t.Errorf("%d are told to be used, want 106", used)
	}
	r.now = r.now.Add(24 * time.Hour)
	if used := comesDuringTheDay(t, r, "bytes"); used != 7 {
		t.Errorf("%d are told to be used, want 7", used)
	}
	r.now = r.now.Add(24 * time.Hour)
	if used := comesDuringTheDay(t, r, "calls"); used != 7 {
		t.Errorf("%d are told to be used, want 7", used)
	}
}

// comesDuringTheDay charges amounts of recipients, bytes or calls without and with a limit, and returns how many recipients are used.
func comesDuringTheDay(t *testing.T, r *rig, of string) int {
	t.Helper()
	charged := func(at time.Duration, charge, limit int) error {
		a := r.request("34600000001")
		a.Notification.CreatedAt = r.now.Add(at)
		a.Quota.Charge, a.Quota.Limit = charge, limit
		switch of {
		case "bytes":
			a.Quota.Charge, a.Quota.Limit, a.Quota.Bytes, a.Quota.BytesLimit = 1, 0, charge, limit
		case "calls":
			a.Quota.Charge, a.Quota.Limit, a.Quota.Calls, a.Quota.CallsLimit = 1, 0, charge, limit
		}
		err := r.Notifications.Accept(t.Context(), a)
		if (err == nil) != r.there(t, a) {
			t.Errorf("%v, stored: %v", err, r.there(t, a))
		}
		return err
	}
	for i := range 3 { // at instants that are counted apart
		if err := charged(time.Duration(i)*time.Minute, 20, 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		charge, limit int
		refused       bool
	}{
		{41, 100, true},
		{30, 100, false},
		{11, 100, true},
		{10, 100, false},
		{1, 100, true},
		{5, 0, false},
		{1, 106, false},
		{1, 106, true},
	} {
		if err := charged(0, c.charge, c.limit); carillon.IsCode(err, carillon.QuotaExceeded) != c.refused || (err != nil) != c.refused {
			t.Errorf("%d more %s of %d: %v, want refused: %v", c.charge, of, c.limit, err, c.refused)
		}
	}
	return r.used(t, r.request("34600000001"))
}

func refusedRequestStoresNothing(t *testing.T, r *rig) {
	keyed := func(key string, charge int) *messages.Accept {
		a := r.request("34600000001")
		a.Quota.Charge, a.Quota.Limit = charge, 10
		a.Idempotency = &messages.Idempotency{Route: "notify", Key: key, Hash: "h", Answer: key, ExpiresAt: r.now.Add(time.Hour)}
		return a
	}
	large, small := keyed("large", 11), keyed("small", 10)
	if err := r.Notifications.Accept(t.Context(), large); !carillon.IsCode(err, carillon.QuotaExceeded) {
		t.Fatal(err)
	}
	if answer, err := r.Notifications.LookupIdempotent(t.Context(), ours, "notify", "large", "h", r.now); answer != "" ||
		err != nil || r.there(t, large) {
		t.Errorf("kept %q, %v", answer, err)
	}
	if err := r.Notifications.Accept(t.Context(), small); err != nil {
		t.Error("what was refused was charged:", err)
	}
	if answer, err := r.Notifications.LookupIdempotent(t.Context(), ours, "notify", "small", "h", r.now); answer != "small" || err != nil {
		t.Errorf("kept %q, %v", answer, err)
	}
	for key, want := range map[string]string{"small": "small", "large": ""} {
		if answer, err := r.Notifications.AcceptedAs(t.Context(), ours, "notify", key, r.now); answer != want || err != nil {
			t.Errorf("%s was accepted as %q, %v", key, answer, err)
		}
	}
	again := keyed("large", 0)
	if err := r.Notifications.Accept(t.Context(), again); err != nil || again.Replay != "" {
		t.Errorf("the refused key's next use: %v, %q", err, again.Replay)
	}
}

func repeatsStoreOnce(t *testing.T, r *rig) {
	all := requests(r, 64, func(i int, a *messages.Accept) {
		a.Idempotency = &messages.Idempotency{
			Route: "notify", Key: "k", Hash: "h", Answer: strconv.Itoa(i), ExpiresAt: r.now.Add(time.Hour),
		}
	})
	var first *messages.Accept
	for i, err := range together(t, r, all) {
		if err != nil {
			t.Fatal(err)
		}
		if all[i].Replay == "" {
			if first != nil {
				t.Error("two requests were the first")
			}
			first = all[i]
		}
	}
	if first == nil {
		t.Fatal("no request was the first")
	}
	for _, a := range all {
		if a != first && (a.Replay != first.Idempotency.Answer || r.there(t, a)) {
			t.Errorf("repeat %q was stored: %v", a.Replay, r.there(t, a))
		}
	}
	if n := r.used(t, first); n != 1 || !r.there(t, first) {
		t.Errorf("charged %d", n)
	}
}

func reusedKeyIsRefused(t *testing.T, r *rig) {
	keyed := func(company, route, hash string) error {
		a := r.request("34600000001")
		a.Notification.CompanyID = company
		a.Idempotency = &messages.Idempotency{Route: route, Key: "k", Hash: hash, Answer: "{}", ExpiresAt: r.now.Add(time.Hour)}
		err := r.Notifications.Accept(t.Context(), a)
		if (err == nil) != r.there(t, a) {
			t.Errorf("%s %s %s: %v, stored: %v", company, route, hash, err, r.there(t, a))
		}
		return err
	}
	for _, free := range [][2]string{{ours, "notify"}, {ours, "notify/voice"}, {theirs, "notify"}} { // per company and route
		if err := keyed(free[0], free[1], "h"); err != nil {
			t.Error(free, err)
		}
	}
	if err := keyed(ours, "notify", "other"); !carillon.IsCode(err, carillon.IdempotencyKeyReused) {
		t.Error(err)
	}
	if _, err := r.Notifications.LookupIdempotent(t.Context(), ours, "notify", "k", "other", r.now); !carillon.IsCode(err,
		carillon.IdempotencyKeyReused) {
		t.Error(err)
	}
}

func keyExpires(t *testing.T, r *rig) {
	accept := func(hash string) *messages.Accept {
		return r.accepted(t, 1, func(a *messages.Accept) {
			a.Idempotency = &messages.Idempotency{Route: "notify", Key: "k", Hash: hash, Answer: hash, ExpiresAt: r.now.Add(time.Hour)}
		})
	}
	accept("first")
	r.now = r.now.Add(2 * time.Hour)
	if answer, err := r.Notifications.LookupIdempotent(t.Context(), ours, "notify", "k", "second", r.now); answer != "" || err != nil {
		t.Error(answer, err)
	}
	if a := accept("second"); a.Replay != "" || !r.there(t, a) {
		t.Error("an expired key was held against a new request")
	}
	for range 3 {
		if p, err := r.Purges.Drop(t.Context(), purge.Keys, r.now, 100); err != nil || p.Rows != 0 || p.More {
			t.Fatal(p, err)
		}
	}
	if answer, err := r.Notifications.LookupIdempotent(t.Context(), ours, "notify", "k", "second", r.now); answer != "second" ||
		err != nil {
		t.Error("the sweep took a living key:", answer, err)
	}
	if p, err := r.Purges.Drop(t.Context(), purge.Keys, r.now.Add(2*time.Hour), 1); err != nil || p.Rows != 1 || !p.More {
		t.Fatal(p, err)
	}
	if answer, err := r.Notifications.LookupIdempotent(t.Context(), ours, "notify", "k", "second", r.now); answer != "" || err != nil {
		t.Error("the sweep left an expired key:", answer, err)
	}
}
