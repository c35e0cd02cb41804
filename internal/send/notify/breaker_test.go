package notify_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/send/notify"
	"carillon/internal/store"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"
	"carillon/internal/store/storetest"
	"carillon/internal/store/work"
)

// breakers returns the stored breakers of the rig's company.
func (r *rig) breakers() []work.Breaker {
	r.t.Helper()
	all, err := r.store.Breakers.OfCompany(context.Background(), r.company.ID)
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

func sentOf(v *notify.View) int {
	for _, d := range v.Counts {
		if d.Key == string(carillon.StateSent) {
			return d.Value.(int)
		}
	}
	return 0
}

// A channel with a fault asks to retry each attempt. Without a breaker a message is tried at most three times.
func TestOutageFailsNoMessageAndAsksSeldom(t *testing.T) {
	for _, fault := range provider.Faults() {
		if fault == provider.FaultUnknown {
			continue // here the unknown outcome decides about the message, not the breaker
		}
		t.Run(string(fault), func(t *testing.T) {
			dir := storetest.Folder(t)
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, store.Options{Dir: dir}, nil)
				begin := time.Now()
				r.provider.decide = func(*provider.Outgoing) provider.Outcome {
					if time.Since(begin) < 20*time.Minute {
						return provider.Outcome{
							Verdict: provider.RetryLater, Reason: carillon.ReasonAttemptsExhausted, Detail: "an outage",
							MaxTries: 3, Fault: fault,
						}
					}
					return provider.Outcome{Verdict: provider.Sent}
				}
				defer r.start()()
				ids := r.queued(300)
				time.Sleep(15 * time.Minute)
				synctest.Wait()
				open := r.breakers()
				if len(open) != 1 || open[0].State == work.BreakerClosed || open[0].Fault != fault || open[0].Detail != "an outage" ||
					open[0].SenderUID != r.sender.UID || open[0].Since.Sub(begin) > time.Minute {
					t.Errorf("the database tells of %+v", open)
				}
				time.Sleep(5 * time.Minute)
				if n := r.provider.count(); n > slots+20*60/15 {
					t.Errorf("%d requests in an outage", n)
				}
				time.Sleep(15 * time.Minute)
				synctest.Wait()
				for _, id := range ids {
					if v := r.view(id); v.State != carillon.StateCompleted || sentOf(v) != 100 {
						t.Errorf("after the outage the notification stands at %s: %v", v.State, v.Counts)
					}
				}
				if open := r.breakers(); len(open) != 0 {
					t.Errorf("after the outage the database tells of %+v", open)
				}
			})
		})
	}
}

// Each message with an unknown outcome waits ten minutes for a receipt, so there should be few of them.
func TestChannelThatDoesNotAnswerLeavesFewOutcomesUnknown(t *testing.T) {
	dir := storetest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, store.Options{Dir: dir}, func(r *rig) { r.sender.PerSecond = 10 })
		begin := time.Now()
		r.provider.decide = func(*provider.Outgoing) provider.Outcome {
			if time.Since(begin) < 5*time.Minute {
				return provider.Outcome{Verdict: provider.Unknown, Detail: "answer 502 without the channel's JSON"}
			}
			return provider.Outcome{Verdict: provider.Sent}
		}
		defer r.start()()
		numbers := make([]string, 100)
		for k := range numbers {
			numbers[k] = fmt.Sprintf("346001%05d", k)
		}
		id := r.accept(body("", numbers...))
		time.Sleep(5 * time.Minute)
		if n := r.provider.count(); n > 40 {
			t.Errorf("%d outcomes are not known", n)
		}
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		if v := r.view(id); v.State != carillon.StateCompleted || sentOf(v) != 100 {
			t.Errorf("at last the notification stands at %s: %v", v.State, v.Counts)
		}
	})
}

// The message that always fails has the higher-priority class. It must not be the only one that tries the channel
// after an outage.
func TestAfterAnOutageAMessageThatAlwaysFailsDelaysNoOther(t *testing.T) {
	dir := storetest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, store.Options{Dir: dir}, nil)
		begin := time.Now()
		const outage = 20 * time.Second
		r.provider.decide = func(m *provider.Outgoing) provider.Outcome {
			if m.Number == "34600999999" || time.Since(begin) < outage {
				return provider.Outcome{
					Verdict: provider.RetryLater, Reason: carillon.ReasonAttemptsExhausted, MaxTries: 10, Fault: provider.FaultProvider,
				}
			}
			return provider.Outcome{Verdict: provider.Sent}
		}
		defer r.start()()
		r.accept([]byte(replace(string(body("", "34600999999")), `"utility"`, `"transactional"`)))
		numbers := make([]string, 10)
		for k := range numbers {
			numbers[k] = fmt.Sprintf("346001%05d", k)
		}
		good := r.accept(body("", numbers...))
		// The breaker is open for at most 37 s, and then tries each of the two classes.
		time.Sleep(outage + 80*time.Second)
		synctest.Wait()
		if v := r.view(good); sentOf(v) != len(numbers) {
			t.Errorf("80 s after the outage: %v", v.Counts)
		}
	})
}

func TestOpenBreakerOfOneSenderTouchesNoOther(t *testing.T) {
	dir := storetest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, store.Options{Dir: dir}, nil)
		other := *r.sender
		other.UID, other.ID, other.Number, other.Default = 0, "other", "15555550111", false
		tpl := *r.template
		tpl.ID = "100000000000002"
		err := r.store.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
			if err := settings.PutSender(ctx, tx, &other, time.Now()); err != nil {
				return err
			}
			tpl.SenderUID = other.UID
			return settings.PutTemplate(ctx, tx, &tpl, time.Now())
		})
		if err != nil {
			t.Fatal(err)
		}
		r.provider.decide = func(m *provider.Outgoing) provider.Outcome {
			if m.Template.SenderUID == r.sender.UID {
				return provider.Outcome{Verdict: provider.PauseSender, Detail: "190 token expired"}
			}
			return provider.Outcome{Verdict: provider.Sent}
		}
		defer r.start()()
		r.accept(body("", "34600111222"))
		time.Sleep(time.Second)
		id := r.accept([]byte(replace(string(body("", "34600111223")), `"main"`, `"other"`)))
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if v := r.view(id); sentOf(v) != 1 {
			t.Errorf("the other sender's message stands at %s: %v", v.State, v.Counts)
		}
		if open := r.breakers(); len(open) != 1 || open[0].SenderUID != r.sender.UID || open[0].State != work.BreakerOpen {
			t.Errorf("the database tells of %+v", open)
		}
	})
}

// The next owner of a shard continues with the stored breaker: after a restart nothing is sent to a channel that asked
// for a pause of ten minutes.
func TestBreakerOutlivesARestart(t *testing.T) {
	dir := storetest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, store.Options{Dir: dir}, nil)
		r.provider.always(provider.Outcome{
			Verdict: provider.PauseSender, Detail: "131048 spam rate limit", RetryAfter: 10 * time.Minute, Fault: provider.FaultThrottled,
		})
		stop := r.start()
		r.accept(body("", "34600111222"))
		time.Sleep(time.Second)
		stop()
		company, sender := r.company.ID, r.sender.UID
		again := newRig(t, store.Options{Dir: dir}, func(next *rig) {
			next.company.ID, next.company.Name = company, "Acme"
			next.sender.UID = sender
		})
		defer again.start()()
		time.Sleep(time.Minute)
		again.accept(body("", "34600111223"))
		time.Sleep(7 * time.Minute)
		if n := again.provider.count(); n != 0 {
			t.Errorf("%d requests went to a channel that wants to rest", n)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if n := again.provider.count(); n != 2 {
			t.Errorf("%d requests went out after its rest, want 2", n)
		}
	})
}
