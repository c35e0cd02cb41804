package notify_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/queue"
	"carillon/internal/send/notify"
	"carillon/internal/store"
	"carillon/internal/store/configure"
	"carillon/internal/store/messages"
	"carillon/internal/store/rank"
	"carillon/internal/store/settings"
	"carillon/internal/store/storetest"
	"carillon/internal/store/work"
)

func TestAcceptedMessageIsSentOnce(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		r := newRig(t, o, nil)
		defer r.start()()
		id := r.accept(body("", "34600111222", "34600111223"))
		await(t, "both sent", func() bool { return r.view(id).State == carillon.StateCompleted })
		if n := r.provider.count(); n != 2 {
			t.Errorf("sent %d messages, want 2", n)
		}
		v := r.view(id)
		for _, x := range v.Recipients {
			if x.State != carillon.StateSent || x.ProviderID == "" || x.Attempts != 1 {
				t.Errorf("recipient stands at %+v", x)
			}
		}
	})
}

func TestMessageDueIn26HoursIsSentOnItsMillisecond(t *testing.T) {
	dir := storetest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, store.Options{Dir: dir}, nil)
		due := time.Now().Add(26*time.Hour + 17*time.Millisecond).UTC()
		id := r.accept(body(`,"datetime_sending":"`+due.Format("2006-01-02T15:04:05.000")+`"`, "34600111222"))
		time.Sleep(24 * time.Hour) // a running node scans the database 50,000 times a day
		defer r.start()()
		time.Sleep(2*time.Hour + 16*time.Millisecond)
		if v := r.view(id); v.State != carillon.StateScheduled || r.provider.count() != 0 {
			t.Fatalf("a millisecond early it stands at %s, %d sent", v.State, r.provider.count())
		}
		time.Sleep(time.Second)
		synctest.Wait()
		sent := r.provider.all()
		if len(sent) != 1 {
			t.Fatalf("sent %d, want 1", len(sent))
		}
		if late := sent[0].at.Sub(due.Truncate(time.Millisecond)); late != 0 {
			t.Errorf("sent %s after its instant", late)
		}
	})
}

func TestPassingFaultsAreRetriedWithBackoffAndThenGivenUp(t *testing.T) {
	dir := storetest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, store.Options{Dir: dir}, nil)
		r.provider.always(provider.Outcome{Verdict: provider.RetryLater, Detail: "131016 service unavailable"})
		defer r.start()()
		id := r.accept(body("", "34600111222"))
		time.Sleep(5 * time.Hour)
		synctest.Wait()
		x := r.view(id).Recipients[0]
		if x.State != carillon.StateFailed || x.Reason != carillon.ReasonAttemptsExhausted || x.Attempts != 10 {
			t.Errorf("after hours of faults the message stands at %s, %s, %d attempts", x.State, x.Reason, x.Attempts)
		}
		sent := r.provider.all()
		for i := 1; i < len(sent); i++ {
			if gap := sent[i].at.Sub(sent[i-1].at); gap < time.Second {
				t.Errorf("attempt %d came %s after the one before", i+1, gap)
			}
		}
	})
}

func TestUnknownOutcomeWaitsForItsReceipt(t *testing.T) {
	dir := storetest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, store.Options{Dir: dir}, nil)
		r.provider.decide = func(m *provider.Outgoing) provider.Outcome {
			return provider.Outcome{Verdict: provider.Unknown, Detail: "no answer"}
		}
		defer r.start()()
		id := r.accept(body("", "34600111222"))
		time.Sleep(5 * time.Minute)
		if x := r.view(id).Recipients[0]; x.State != carillon.StateSending {
			t.Fatalf("while its outcome is unknown it stands at %s", x.State)
		}
		ref := r.provider.all()[0].Ref
		err := r.notify.Receive(t.Context(), r.sender, []provider.Receipt{
			{Ref: ref, State: carillon.StateDelivered, At: time.Now(), ProviderID: "w"},
			{Ref: ref, State: carillon.StateSent, At: time.Now(), ProviderID: "w"},
			{Ref: ref, State: carillon.StateDelivered, At: time.Now(), ProviderID: "w"},
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		x := r.view(id).Recipients[0]
		if x.State != carillon.StateDelivered || x.Attempts != 1 || r.provider.count() != 1 {
			t.Errorf("after its receipt it stands at %s, sent %d times", x.State, r.provider.count())
		}
	})
}

func TestUnknownOutcomeEndsByPolicy(t *testing.T) {
	for _, test := range []struct {
		class    string
		attempts int
		state    carillon.State
	}{{"utility", 2, carillon.StateSent}, {"transactional", 2, carillon.StateSent}, {"marketing", 1, carillon.StateFailed}} {
		t.Run(test.class, func(t *testing.T) {
			dir := storetest.Folder(t)
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, store.Options{Dir: dir}, nil)
				r.provider.decide = func(m *provider.Outgoing) provider.Outcome {
					if m.Ref.Attempt == 1 {
						return provider.Outcome{Verdict: provider.Unknown}
					}
					return provider.Outcome{Verdict: provider.Sent}
				}
				defer r.start()()
				b := body("", "34600111222")
				id := r.accept([]byte(replace(string(b), `"utility"`, `"`+test.class+`"`)))
				time.Sleep(11 * time.Minute)
				synctest.Wait()
				x := r.view(id).Recipients[0]
				if x.State != test.state || x.Attempts != test.attempts {
					t.Errorf("stands at %s after %d attempts, want %s after %d", x.State, x.Attempts, test.state, test.attempts)
				}
				if test.state != carillon.StateFailed {
					return
				}
				if x.Reason != carillon.ReasonOutcomeUnknown {
					t.Errorf("failed for %s", x.Reason)
				}
				late := []provider.Receipt{{Ref: r.provider.all()[0].Ref, State: carillon.StateRead, At: time.Now()}}
				if err := r.notify.Receive(t.Context(), r.sender, late); err != nil {
					t.Fatal(err)
				}
				if x := r.view(id).Recipients[0]; x.State != carillon.StateRead || x.Reason != "" {
					t.Errorf("a late receipt left it at %s, %q", x.State, x.Reason)
				}
			})
		})
	}
}

func TestPacedSenderNeverPassesItsRate(t *testing.T) {
	dir := storetest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, store.Options{Dir: dir}, func(r *rig) { r.sender.PerSecond = 20 })
		r.provider.decide = func(*provider.Outgoing) provider.Outcome {
			time.Sleep(30 * time.Millisecond)
			return provider.Outcome{Verdict: provider.Sent}
		}
		defer r.start()()
		for i := range 5 {
			numbers := make([]string, 60)
			for k := range numbers {
				numbers[k] = fmt.Sprintf("346001%05d", i*100+k)
			}
			r.accept(body("", numbers...))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		sent := r.provider.all()
		if len(sent) != 300 {
			t.Fatalf("sent %d, want 300", len(sent))
		}
		for i := 20; i < len(sent); i++ {
			if gap := sent[i].at.Sub(sent[i-20].at); gap < time.Second {
				t.Fatalf("21 messages within %s", gap)
			}
		}
		if took := sent[299].at.Sub(sent[0].at); took > 16*time.Second {
			t.Errorf("300 messages at 20 a second took %s", took)
		}
	})
}

func TestRecipientIntervalIsKeptAndBlocksNobodyElse(t *testing.T) {
	dir := storetest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, store.Options{Dir: dir}, func(r *rig) { r.sender.PerRecipient = 6 * time.Second })
		defer r.start()()
		for range 10 {
			r.accept(body("", "34600111222"))
		}
		r.accept(body("", "34600999999"))
		begin := time.Now()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		var same []time.Time
		for _, s := range r.provider.all() {
			if s.Number == "34600111222" {
				same = append(same, s.at)
			} else if wait := s.at.Sub(begin); wait > time.Second {
				t.Errorf("the other recipient waited %s", wait)
			}
		}
		if len(same) != 10 {
			t.Fatalf("sent %d to the one number, want 10", len(same))
		}
		for i := 1; i < len(same); i++ {
			if gap := same[i].Sub(same[i-1]); gap < 6*time.Second || gap > 7*time.Second {
				t.Errorf("messages %d and %d to one number are %s apart", i-1, i, gap)
			}
		}
	})
}

func TestRefusedSenderRestsAndComesBack(t *testing.T) {
	dir := storetest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, store.Options{Dir: dir}, nil)
		healed := time.Now().Add(10 * time.Minute)
		r.provider.decide = func(*provider.Outgoing) provider.Outcome {
			if time.Now().Before(healed) {
				return provider.Outcome{Verdict: provider.PauseSender, Detail: "190 token expired"}
			}
			return provider.Outcome{Verdict: provider.Sent}
		}
		defer r.start()()
		ids := r.queued(300)
		time.Sleep(10 * time.Minute)
		if n := r.provider.count(); n > slots+20 {
			t.Errorf("%d requests went to an account that refuses them all", n)
		}
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		for _, id := range ids {
			if v := r.view(id); v.State != carillon.StateCompleted {
				t.Errorf("after the account was healed the notification stands at %s: %v", v.State, v.Counts)
			}
		}
	})
}

func TestRestartFindsWhatWasInFlightUnknownAndSendsTheRest(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		r := newRig(t, o, nil)
		id := r.accept(body("", "34600111222", "34600111223"))
		// A node starts one of the two messages and dies.
		if err := r.store.Nodes.Join(t.Context(), "dead", "dead"); err != nil {
			t.Fatal(err)
		}
		if err := r.store.Nodes.TakeAll(t.Context(), "dead"); err != nil {
			t.Fatal(err)
		}
		shard := r.sender.Shard()
		start := &work.Start{Key: work.Key(carillon.SeqOf(id).Message(0)), Shard: shard}
		d := &work.Batch{
			Fences: []work.Fence{{Shard: shard, Owner: "dead", Epoch: 1}}, Starts: []*work.Start{start}, Now: time.Now().Add(time.Second),
		}
		if err := r.store.Messages.Commit(t.Context(), d); err != nil || start.Attempt != 1 {
			t.Fatalf("start gave attempt %d, %v", start.Attempt, err)
		}
		if err := r.store.Nodes.Leave(t.Context(), "dead"); err != nil {
			t.Fatal(err)
		}
		defer r.start()()
		await(t, "the other one sent", func() bool { return r.provider.count() == 1 })
		v := r.view(id)
		if v.Recipients[0].State != carillon.StateSending {
			t.Errorf("the one in flight stands at %s", v.Recipients[0].State)
		}
		stale := &work.Start{Key: work.Key(carillon.SeqOf(id).Message(1)), Shard: shard}
		d = &work.Batch{Fences: d.Fences, Starts: []*work.Start{stale}, Now: time.Now()}
		if err := r.store.Messages.Commit(t.Context(), d); err != nil || stale.Attempt != 0 || len(d.Lost) != 1 {
			t.Errorf("a node without the shard started a message: attempt %d, lost %v, %v", stale.Attempt, d.Lost, err)
		}
	})
}

// TestAMessageThatWasTriedExpires delivers a single message at different times after its due time and its template's
// last change. A message held for its template has been started, but does not count as tried.
func TestAMessageThatWasTriedExpires(t *testing.T) {
	o := sqlite(t)
	file := filepath.Join(o.Dir, "carillon.db")
	r := newRig(t, o, nil)
	defer func() {
		if err := r.store.Close(); err != nil {
			t.Error(err)
		}
	}()
	seq := carillon.SeqOf(r.accept(body("", "34600111222")))
	for name, c := range map[string]struct {
		due, approved time.Duration // how long ago
		attempt       int
		expires       bool
	}{
		"just now":                      {time.Minute, 240 * time.Hour, 2, false},
		"days ago, but never tried":     {49 * time.Hour, 240 * time.Hour, 1, false},
		"days ago":                      {49 * time.Hour, 240 * time.Hour, 2, true},
		"days ago, approved yesterday":  {49 * time.Hour, 23 * time.Hour, 2, false},
		"days ago, approved a day ago":  {49 * time.Hour, 25 * time.Hour, 2, true},
		"yesterday, approved since":     {23 * time.Hour, time.Hour, 5, false},
		"approved before it was due":    {25 * time.Hour, 26 * time.Hour, 2, true},
		"long ago, approved yesterday ": {2400 * time.Hour, 23 * time.Hour, 9, false},
	} {
		now := time.Now()
		storetest.Exec(t, file, fmt.Sprintf("UPDATE notification SET due_at = %d", now.Add(-c.due).UnixMilli()))
		storetest.Exec(t, file, fmt.Sprintf("UPDATE template SET updated_at = %d", now.Add(-c.approved).UnixMilli()))
		// Invalidate the cached template.
		if err := r.store.Config.Change(t.Context(), func(context.Context, *configure.Tx) error { return nil }); err != nil {
			t.Fatal(err)
		}
		n := notify.New(r.store, queue.New(r.store, queue.Options{}), notify.Options{ // has not cached the notification
			Senders: map[string]notify.Sender{"test": r.provider}, Log: slog.New(slog.DiscardHandler),
		})
		d := n.Deliver(t.Context(), &queue.Job{
			Queued: work.Queued{Key: work.Key(seq.Message(0)), Number: "34600111222"}, SenderUID: r.sender.UID, Class: carillon.Utility,
			Shard: r.sender.Shard(), Attempt: c.attempt, Valid: func() bool { return true },
		})
		o := messages.OutcomeOf(&d.Result)
		if expired := o.Reason == carillon.ReasonExpired; expired != c.expires || expired == (o.Rank == rank.Sent) {
			t.Errorf("%s: %+v", name, d.Result)
		}
	}
}

func TestAnOptOutInTheChannelsResponseSuppressesMarketingAlone(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		r := newRig(t, o, nil)
		defer r.start()()
		const number = "34600111222"
		send := func(class string, want carillon.State, reason carillon.Reason) {
			t.Helper()
			id := r.accept([]byte(replace(string(body("", number)), `"utility"`, `"`+class+`"`)))
			await(t, class+" ended", func() bool { return r.view(id).State == carillon.StateCompleted })
			if x := r.view(id).Recipients[0]; x.State != want || x.Reason != reason {
				t.Errorf("%s: %s %s, want %s %s", class, x.State, x.Reason, want, reason)
			}
		}
		r.provider.decide = func(m *provider.Outgoing) provider.Outcome {
			if m.Class == carillon.Marketing {
				return provider.Outcome{Verdict: provider.Refused, Reason: carillon.ReasonRecipientOptedOut, Detail: "131050"}
			}
			return provider.Outcome{Verdict: provider.Sent, ProviderID: "wamid." + m.Ref.String()}
		}
		send("marketing", carillon.StateFailed, carillon.ReasonRecipientOptedOut)
		if x, err := r.store.Suppressions.Suppression(t.Context(), r.company.ID, identity.Number(number)); err != nil ||
			x.Type != settings.SuppressMarketing || x.Reason != settings.OptedOut {
			t.Fatalf("%+v, %v", x, err)
		}
		send("marketing", carillon.StateSkipped, carillon.ReasonSuppressed) // detected when it is due
		r.company.Suppresses = true                                         // detected when it is accepted
		send("marketing", carillon.StateSkipped, carillon.ReasonSuppressed)
		send("utility", carillon.StateSent, "")
		send("transactional", carillon.StateSent, "")
		if n := r.provider.count(); n != 3 {
			t.Errorf("the channel got %d messages", n)
		}
	})
}
