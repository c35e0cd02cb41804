package notify_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/send/notify"
	"carillon/internal/store"
	"carillon/internal/store/messages"
)

// seeds returns the number of random rounds for a property.
func seeds(t *testing.T) int {
	if testing.Short() {
		return 3
	}
	return 12
}

func TestCancelAndMoveNeverWinTogetherWithDelivery(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		r := newRig(t, o, nil)
		defer r.start()()
		for seed := range seeds(t) {
			rng := rand.New(rand.NewPCG(1, uint64(seed)))
			const n = 40
			ids := make([]string, n)
			for i := range ids {
				numbers := []string{fmt.Sprintf("346%09d", seed*1000+i), fmt.Sprintf("347%09d", seed*1000+i)}
				ids[i] = r.acceptSoon(time.Duration(30+rng.IntN(60))*time.Millisecond, numbers...)
			}
			raceAgainstDelivery(t, r, rng, ids)
		}
	})
}

// acceptSoon accepts a request that is due a moment from now. On a busy machine that moment may pass before the
// request is read, which refuses it; then acceptSoon tries again.
func (r *rig) acceptSoon(in time.Duration, numbers ...string) string {
	r.t.Helper()
	for {
		extra := `,"datetime_sending":"` + time.Now().Add(in).UTC().Format("2006-01-02T15:04:05.000") + `"`
		a, err := r.submit(r.t.Context(), body(extra, numbers...))
		if carillon.IsCode(err, carillon.ValidationFailed) {
			continue
		}
		if err != nil {
			r.t.Fatal(err)
		}
		return notificationIn(r.t, a)
	}
}

// raceAgainstDelivery cancels or moves each notification around its due time, and then compares the responses with the
// sends that the provider received.
func raceAgainstDelivery(t *testing.T, r *rig, rng *rand.Rand, ids []string) {
	t.Helper()
	type response struct {
		canceled, sent int
		movedTo        time.Time
		err            error
	}
	outcomes := make([]response, len(ids))
	var all sync.WaitGroup
	for i, id := range ids {
		wait, cancel := time.Duration(rng.IntN(120))*time.Millisecond, rng.IntN(2) == 0
		all.Go(func() {
			timer := time.NewTimer(wait)
			<-timer.C
			x := &outcomes[i]
			if cancel {
				var c *notify.Canceled
				if c, x.err = r.notify.Cancel(context.Background(), r.company.ID, id, false); x.err == nil {
					x.canceled, x.sent = c.Canceled, c.Sent
				}
				return
			}
			to := time.Now().Add(400 * time.Millisecond)
			if _, x.err = r.notify.Move(context.Background(), r.company.ID, id, to); x.err == nil {
				x.movedTo = to.Truncate(time.Millisecond)
			}
		})
	}
	all.Wait()
	await(t, "every notification to end", func() bool {
		for _, id := range ids {
			if s := r.view(id).State; s != carillon.StateCompleted && s != carillon.StateCanceled {
				return false
			}
		}
		return true
	})
	sent := map[string]int{}
	first := map[string]time.Time{}
	for _, s := range r.provider.all() {
		sent[s.Ref.NotificationID]++
		if at, ok := first[s.Ref.NotificationID]; !ok || s.at.Before(at) {
			first[s.Ref.NotificationID] = s.at
		}
	}
	for i, id := range ids {
		x := outcomes[i]
		switch {
		case x.err != nil && !carillon.IsCode(x.err, carillon.Conflict):
			t.Errorf("%v", x.err)
		case x.err != nil && sent[id] != 2:
			t.Errorf("refused to change %s, and yet %d of 2 were sent", id, sent[id])
		case !x.movedTo.IsZero() && (sent[id] != 2 || first[id].Before(x.movedTo)):
			t.Errorf("moved %s to %s, and %d were sent from %s on", id, x.movedTo, sent[id], first[id])
		case x.canceled > 0 && (x.canceled+x.sent != 2 || sent[id] != x.sent):
			t.Errorf("told %d canceled and %d sent of %s; the provider saw %d", x.canceled, x.sent, id, sent[id])
		}
	}
}

func TestRepeatsOfOneKeyGiveOneNotificationAndOneAnswer(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		r := newRig(t, o, nil)
		defer r.start()()
		for seed := range seeds(t) {
			key := fmt.Sprintf("key-%d", seed)
			answers := make([]string, 64)
			errs := make([]error, 64)
			var all sync.WaitGroup
			for i := range answers {
				all.Go(func() {
					b := body("", fmt.Sprintf("346%09d", seed))
					for {
						var a notify.Response
						a, errs[i] = repeatOnce(r, key, b)
						answers[i] = string(a.JSON)
						if !carillon.IsCode(errs[i], carillon.IdempotencyInProgress) {
							return
						}
					}
				})
			}
			all.Wait()
			for i := range answers {
				if errs[i] != nil {
					t.Fatalf("repeat %d: %v", i, errs[i])
				}
				if answers[i] != answers[0] {
					t.Fatalf("two answers to one key: %s and %s", answers[0], answers[i])
				}
			}
			await(t, "the message", func() bool { return r.provider.count() > seed })
		}
		list, _, err := notify.Sent{Store: r.store}.Views(t.Context(), r.company.ID, messages.Filter{Limit: 100})
		if err != nil || len(list) != seeds(t) || r.provider.count() != seeds(t) {
			t.Errorf("%d keys made %d notifications and %d messages, %v", seeds(t), len(list), r.provider.count(), err)
		}
	})
}

// repeatOnce makes one request with an idempotency key, like the endpoint. Half of the requests skip the lookup, like
// concurrent requests to another node.
func repeatOnce(r *rig, key string, b []byte) (notify.Response, error) {
	ctx := context.Background()
	sub := &notify.Submission{Company: r.company, Route: "notify", IdempotencyKey: key, Hash: string(b[:40])}
	if rand.IntN(2) == 0 {
		return r.notify.AcceptBody(ctx, sub, carillon.Messaging, b, false)
	}
	a, done, err := r.notify.Repeat(ctx, r.company.ID, "notify", key, sub.Hash)
	if err != nil || a.Replayed {
		return a, err
	}
	defer done()
	return r.notify.AcceptBody(ctx, sub, carillon.Messaging, b, false)
}

func today() string { return time.Now().UTC().Format(time.DateOnly) }

func TestSendersTogetherNeverPassTheQuota(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		for seed := range seeds(t) {
			limit, day := 20+seed*7, today()
			r := newRig(t, o, func(r *rig) {
				r.company.Name = fmt.Sprintf("Quota %d", seed)
				r.company.Limits.DailyRecipients = limit
			})
			rng := rand.New(rand.NewPCG(2, uint64(seed)))
			accepted, smallest := 0, 1000
			var mu sync.Mutex
			var all sync.WaitGroup
			for i := range 64 {
				size := 1 + rng.IntN(4)
				all.Go(func() {
					numbers := make([]string, size)
					for k := range numbers {
						numbers[k] = fmt.Sprintf("346%06d%03d", i, k)
					}
					_, err := r.submit(t.Context(), body("", numbers...))
					mu.Lock()
					defer mu.Unlock()
					switch {
					case err == nil:
						accepted += size
					case carillon.IsCode(err, carillon.QuotaExceeded):
						smallest = min(smallest, size)
					default:
						t.Error(err)
					}
				})
			}
			all.Wait()
			used, err := r.store.Notifications.Used(t.Context(), r.company.ID, day)
			switch {
			case today() != day: // the run crossed midnight
			case err != nil || used != accepted:
				t.Errorf("charged %d for %d accepted, %v", used, accepted, err)
			case accepted > limit:
				t.Errorf("accepted %d of a quota of %d", accepted, limit)
			case smallest == 1 && limit > accepted:
				t.Errorf("refused one recipient with %d of %d used", accepted, limit)
			}
			if err := r.store.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}
