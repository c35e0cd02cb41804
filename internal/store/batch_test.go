package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"carillon/internal/store/messages"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/store"
	"carillon/internal/store/rank"
	"carillon/internal/store/work"
)

// keyed is a request of one recipient under an idempotency key, whose answer is its own id.
func keyed(sender *carillon.Sender, key, hash string, charge, limit int) *messages.Accept {
	now := time.UnixMilli(1_800_000_000_000).UTC()
	id := carillon.NewID(time.Now())
	return &messages.Accept{
		Notification: messages.Notification{
			ID: id, CompanyID: sender.CompanyID, Channel: carillon.Messaging, SenderUID: sender.UID, Total: 1, Open: 1,
			CreatedAt: now, DueAt: now,
		},
		Messages:    []messages.NewMessage{{Number: "34600111222"}},
		Quota:       messages.Quota{Day: "2027-01-15", Charge: charge, Limit: limit},
		Idempotency: &messages.Idempotency{Route: "notify", Key: key, Hash: hash, Answer: id, ExpiresAt: now.Add(time.Hour)},
	}
}

// ends returns the result of each request of a batch, and compares it with the stored one.
func ends(t *testing.T, st *store.Store, all []*messages.Accept, errs []error) string {
	t.Helper()
	var told []string
	for i, a := range all {
		end := "stored"
		switch {
		case errs[i] != nil:
			code, _, _ := strings.Cut(errs[i].Error(), ":")
			end = code
		case a.Replay != "":
			end = "replay"
			for j, b := range all {
				if a.Replay == b.Idempotency.Answer {
					end += fmt.Sprint(" of ", j)
				}
			}
		}
		told = append(told, end)
		_, err := st.Notifications.Load(t.Context(), a.Notification.Seq())
		if there := err == nil; there != (end == "stored") {
			t.Errorf("request %d: %s, its notification is there: %v", i, end, there)
		}
		messages, err := st.Messages.List(t.Context(), a.Notification.Seq(), 0, 10)
		if err != nil || len(messages) > 0 != (end == "stored") {
			t.Errorf("request %d: %s, %d messages, %v", i, end, len(messages), err)
		}
	}
	return strings.Join(told, ", ")
}

func TestABatchDecidesQuotaAndIdempotencyInOrder(t *testing.T) {
	type request struct {
		key, hash string
		charge    int
	}
	for name, tt := range map[string]struct {
		requests []request
		want     string
		used     int
	}{
		"each fits":              {[]request{{"a", "h", 4}, {"b", "h", 6}}, "stored, stored", 10},
		"what does not fit":      {[]request{{"a", "h", 6}, {"b", "h", 5}, {"c", "h", 4}}, "stored, quota_exceeded, stored", 10},
		"a repeat costs nothing": {[]request{{"a", "h", 6}, {"a", "h", 6}, {"b", "h", 4}}, "stored, replay of 0, stored", 10},
		"other content":          {[]request{{"a", "h", 6}, {"a", "x", 1}, {"b", "h", 4}}, "stored, idempotency_key_reused, stored", 10},
		"a repeat of what did not": {
			[]request{{"a", "h", 11}, {"a", "h", 11}, {"b", "h", 10}}, "quota_exceeded, quota_exceeded, stored", 10,
		},
		"sorted by key": {[]request{{"z", "h", 8}, {"a", "h", 8}, {"a", "h", 8}}, "stored, quota_exceeded, quota_exceeded", 8},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, st *store.Store, sender *carillon.Sender) {
				var all []*messages.Accept
				for _, r := range tt.requests {
					all = append(all, keyed(sender, r.key, r.hash, r.charge, 10))
				}
				var errs []error
				if st.DB.Engine() == "postgres" {
					errs = st.Notifications.Together(context.Background(), false, all...)
				} else {
					var err error
					if errs, err = st.Notifications.Apply(t.Context(), false, all...); err != nil {
						t.Fatal(err)
					}
				}
				if d := cmp.Diff(tt.want, ends(t, st, all, errs)); d != "" {
					t.Error(d)
				}
				if used, err := st.Notifications.Used(t.Context(), sender.CompanyID, "2027-01-15"); err != nil || used != tt.used {
					t.Errorf("%d charged, want %d; %v", used, tt.used, err)
				}
				for i, a := range all {
					answer, err := st.Notifications.LookupIdempotent(t.Context(), sender.CompanyID, "notify", a.Idempotency.Key,
						a.Idempotency.Hash, a.Notification.CreatedAt)
					if kept := answer == a.Idempotency.Answer; kept != (errs[i] == nil && a.Replay == "") {
						t.Errorf("request %d: its answer is kept: %v, %v", i, kept, err)
					}
				}
			})
		})
	}
}

func TestAReplayAfterAnUncertainCommitStoresOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, st *store.Store, sender *carillon.Sender) {
		run := func(replay bool, a *messages.Accept, want string) {
			t.Helper()
			errs, err := st.Notifications.Apply(t.Context(), replay, a)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, ends(t, st, []*messages.Accept{a}, errs)); d != "" {
				t.Error(d)
			}
		}
		first, second := keyed(sender, "a", "h", 6, 10), keyed(sender, "b", "h", 4, 10)
		run(false, first, "stored")
		run(true, first, "stored") // it had been committed
		run(true, second, "stored")
		run(true, second, "stored")
		if used, err := st.Notifications.Used(t.Context(), sender.CompanyID, "2027-01-15"); err != nil || used != 10 {
			t.Errorf("%d charged, %v", used, err)
		}
		twin := keyed(sender, "d", "h", 0, 10) // with a number that is taken
		twin.Notification.ID = first.Notification.ID[:24] + second.Notification.ID[24:]
		if _, err := st.Notifications.Apply(t.Context(), true, twin); !errors.Is(err, messages.ErrIDTaken) {
			t.Error(err)
		}
		run(true, keyed(sender, "c", "h", 1, 10), "quota_exceeded") // it had not, and there is no room any more
		run(true, keyed(sender, "a", "h", 1, 10), "replay")
		run(true, keyed(sender, "a", "x", 1, 10), "idempotency_key_reused")
	})
}

func TestADefiniteErrorEndsAReplay(t *testing.T) {
	onBoth(t, func(t *testing.T, st *store.Store, sender *carillon.Sender) {
		first, second := keyed(sender, "a", "h", 1, 0), keyed(sender, "b", "h", 1, 0)
		for _, a := range []*messages.Accept{first, second} {
			if err := st.Notifications.Accept(t.Context(), a); err != nil {
				t.Fatal(err)
			}
		}
		twin := keyed(sender, "c", "h", 1, 0) // with a number that is taken
		twin.Notification.ID = first.Notification.ID[:24] + second.Notification.ID[24:]
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // a replay that goes on counts as hung
		defer cancel()
		if err := st.Notifications.Together(ctx, true, twin)[0]; !errors.Is(err, messages.ErrIDTaken) {
			t.Error(err)
		}
	})
}

// PostgreSQL takes no zero byte and nothing that is not UTF-8: refused, a result would come again with each commit.
func TestWhatAProviderSaysIsStoredWhateverItIs(t *testing.T) {
	onBoth(t, func(t *testing.T, st *store.Store, sender *carillon.Sender) {
		a := keyed(sender, "a", "h", 5, 0)
		a.Notification.Total, a.Notification.Open, a.Messages = 5, 5, make([]messages.NewMessage, 5)
		for i := range a.Messages {
			a.Messages[i].Number = "3460011122" + strconv.Itoa(i)
		}
		if err := st.Notifications.Accept(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if err := st.Nodes.Join(t.Context(), "node", "host"); err != nil {
			t.Fatal(err)
		}
		taken, err := st.Nodes.Take(t.Context(), []int{sender.Shard()}, "node")
		if err != nil || len(taken) != 1 {
			t.Fatal(taken, err)
		}
		begin := work.Batch{Fences: []work.Fence{{Shard: sender.Shard(), Owner: "node", Epoch: taken[0].Epoch}}, Now: a.Notification.DueAt}
		var results work.Batch
		for i := range 5 {
			k := work.Key(a.Notification.Seq().Message(i))
			begin.Starts = append(begin.Starts, &work.Start{Key: k, Shard: sender.Shard()})
			r := work.Result{
				Key: k, Attempt: 1, At: time.Now(),
				Outcome: messages.Outcome{Rank: rank.Sent, ProviderID: "wamid.\x00\xff" + strconv.Itoa(i)},
			}
			if i == 4 {
				r = work.Result{
					Key: k, Attempt: 1, Detail: "no\x00\xff", At: time.Now(),
					Outcome: messages.Outcome{Rank: rank.Failed, Reason: carillon.ReasonProviderRefused},
				}
			}
			results.Results = append(results.Results, r)
		}
		for _, d := range []*work.Batch{&begin, &results} {
			if err := st.Messages.Commit(t.Context(), d); err != nil {
				t.Fatal(err)
			}
		}
		all, err := st.Messages.List(t.Context(), a.Notification.Seq(), 0, 5)
		if err != nil || len(all) != 5 || all[1].ProviderID != "wamid.\uFFFD\uFFFD1" || all[4].Detail != "no\uFFFD\uFFFD" {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

func TestOneFlushStoresWhatStatementsOneByOneWould(t *testing.T) {
	onBoth(t, func(t *testing.T, st *store.Store, sender *carillon.Sender) {
		if st.DB.Engine() != "postgres" {
			return // SQLite has no round trips to save
		}
		var flushed store.Queries
		flushed.Watch(st)
		var all []*messages.Accept
		for i := range 40 {
			all = append(all, keyed(sender, fmt.Sprint("k", i), "h", 1, 100))
		}
		told := ends(t, st, all, st.Notifications.Together(context.Background(), false, all...))
		if want := strings.TrimSuffix(strings.Repeat("stored, ", 40), ", "); told != want {
			t.Error(told)
		}
		quick := func() bool {
			return slices.ContainsFunc(flushed.Texts(), func(q string) bool { return strings.Contains(q, "/ CASE WHEN") })
		}
		slow := func() bool {
			return slices.ContainsFunc(flushed.Texts(), func(q string) bool { return strings.Contains(q, "RETURNING used") })
		}
		if !quick() || slow() {
			t.Errorf("the batch went in one flush: %v, statement by statement: %v", quick(), slow())
		}
		late := keyed(sender, "k1", "h", 1, 100) // its key has expired by then
		late.Notification.CreatedAt = late.Notification.CreatedAt.Add(2 * time.Hour)
		if told := ends(t, st, []*messages.Accept{late},
			st.Notifications.Together(context.Background(), false, late)); told != "stored" || slow() {
			t.Errorf("a key that has expired: %s, statement by statement: %v", told, slow())
		}
		taken := []*messages.Accept{keyed(sender, "k2", "h", 1, 100), keyed(sender, "new", "h", 1, 100)}
		if told := ends(t, st, taken, st.Notifications.Together(context.Background(), false, taken...)); told != "replay, stored" ||
			!slow() {
			t.Errorf("a key that is taken: %s, statement by statement: %v", told, slow())
		}
		if used, err := st.Notifications.Used(t.Context(), sender.CompanyID, "2027-01-15"); err != nil || used != 42 {
			t.Errorf("%d charged, want 42; %v", used, err)
		}
	})
}

// Two concurrent callbacks name the same messages in different orders: if each callback were applied alone, two
// batches could deadlock.
func TestReceiptsOfABatchAreWrittenInTheOrderOfLocks(t *testing.T) {
	onBoth(t, func(t *testing.T, st *store.Store, sender *carillon.Sender) {
		var ids [4]string
		var keys [4]carillon.MessageKey
		for i := range ids {
			ids[i] = st.Notifications.NewID(time.Now())
			keys[i] = carillon.SeqOf(ids[i]).Message(0)
		}
		told := func(which ...int) (rs []provider.Receipt) {
			for _, i := range which {
				rs = append(rs, provider.Receipt{
					Ref: provider.Ref{NotificationID: ids[i], Attempt: 1}, SenderUID: sender.UID, State: carillon.StateSent,
				})
			}
			return rs
		}
		asked, err := st.ReceiveInOneBatch(t.Context(), told(1, 3), told(0, 1), told(2))
		if d := cmp.Diff([]carillon.MessageKey{keys[0], keys[1], keys[1], keys[2], keys[3]}, asked); d != "" || err != nil {
			t.Errorf("%s, %v", d, err)
		}
	})
}
