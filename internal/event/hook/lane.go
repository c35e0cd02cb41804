package hook

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"carillon/internal/store/db"
	"carillon/internal/store/events"
)

const (
	maxRound   = 100             // events per round
	maxRetries = 50              // retries per round
	width      = 8               // concurrent requests
	roundLong  = 2 * time.Second // after this a round sends no more, because its results are only stored at its end
	maxWaiting = 10_000
	maxLogged  = 20  // logged successful attempts per second
	trimEvery  = 200 // average number of logged attempts between trims
)

// lane serves one endpoint.
type lane struct {
	d       *Deliverer
	key     events.EndpointKey
	serving bool      // guarded by the deliverer
	rerun   bool      // new work arrived while it was served; guarded by the deliverer
	served  time.Time // when it was last served; guarded by the deliverer
	second  int64     // second of the last logged successful attempt
	logged  int       // successful attempts in that second
}

// run serves the endpoint until there is nothing left to do.
func (l *lane) run(ctx context.Context) error {
	for ctx.Err() == nil && l.owned() {
		more, err := l.round(ctx)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// owned reports whether this node still serves the endpoint. If another node does, it sends the same events.
func (l *lane) owned() bool { return l.d.o.Owns(shardOf(l.key)) }

// job is one delivery of a round.
type job struct {
	events.Delivery
	fresh   bool // it has no row yet
	wanted  bool
	ended   bool // it was delivered, or will have a row
	outcome outcome
	after   chan struct{} // closed when the previous job of the same subject has ended; may be nil
	done    chan struct{}
}

// round delivers some events, and reports whether there may be more to do immediately.
func (l *lane) round(ctx context.Context) (more bool, err error) {
	s := l.d.store.Hooks
	w, err := l.d.listed(ctx, l.key)
	if err != nil || w == nil || w.Paused {
		return false, err
	}
	if suspended, err := l.d.o.Suspended(ctx, l.key.CompanyID); err != nil || suspended {
		return false, err
	}
	now := l.d.o.Now()
	e, err := s.Endpoint(ctx, l.key)
	if err != nil || e == nil || stopped(e, now) {
		return false, err
	}
	down, since := e.Failures >= downAfter, e.FailingSince
	jobs, cursors, err := l.read(ctx, w, now, down)
	if err != nil {
		return false, err
	}
	if len(jobs) == 0 {
		if !e.WakeAt.IsZero() && !e.WakeAt.After(now) {
			err = s.Save(ctx, &events.Round{Endpoint: e, Since: since, Ordered: w.Ordered}) // the row that woke it is gone
		}
		return false, err
	}
	r := l.deliver(ctx, w, e, jobs)
	r.Since, r.Ordered = since, w.Ordered
	r.sort(cursors, l.d.o.Now())
	if e.Failures >= downAfter {
		r.Probe = e.PauseUntil
	}
	if err := l.save(ctx, &r.Round); err != nil {
		return false, err
	}
	l.alert(ctx, w, e, r.last)
	l.trim(ctx, len(r.Attempts))
	return !stopped(e, l.d.o.Now()), nil
}

const (
	saveWait    = 100 * time.Millisecond // after the first failure; doubled each time
	maxSaveWait = 5 * time.Second
)

// save stores the results of a round: events whose results are not stored are sent again. It retries while the
// database is unavailable, as long as this node owns the endpoint. If the log cannot be stored, the results are stored
// without it.
func (l *lane) save(ctx context.Context, r *events.Round) error {
	for wait := saveWait; ; wait = min(2*wait, maxSaveWait) {
		err := l.d.store.Hooks.Save(context.WithoutCancel(ctx), r)
		switch {
		case err == nil:
			return nil
		case db.Transient(err):
			select {
			case <-ctx.Done():
				return err
			case <-time.After(wait):
			}
			if !l.owned() {
				return err
			}
		case len(r.Attempts) > 0:
			l.d.o.Log.ErrorContext(ctx, "log attempts of deliveries", "webhook_id", l.key.WebhookID, "error", err)
			r.Attempts = nil
		default:
			return err
		}
	}
}

// read returns the deliveries of the next round: due retries, and events behind the cursors. For an endpoint that is
// down it returns a single delivery.
func (l *lane) read(ctx context.Context, w *Webhook, now time.Time, down bool) (jobs []*job, cursors []events.Cursor, err error) {
	s := l.d.store.Hooks
	until, limit := now, maxRetries
	if down {
		until, limit = now.AddDate(1, 0, 0), 1
	}
	retries, err := s.Retries(ctx, l.key, until, w.Ordered, limit)
	if err != nil {
		return nil, nil, err
	}
	for i := range retries {
		jobs = append(jobs, &job{Delivery: retries[i], wanted: true})
	}
	if down && len(jobs) > 0 || len(jobs) == maxRetries {
		return jobs, nil, nil
	}
	if waiting, _, err := s.Counts(ctx, l.key); err != nil || waiting > maxWaiting {
		return jobs, nil, err
	}
	if cursors, err = s.Cursors(ctx, l.key); err != nil {
		return nil, nil, err
	}
	fresh, limit := 0, l.d.mayRead()
	for _, c := range cursors {
		if fresh >= limit {
			break
		}
		behind, err := l.d.store.Topics.EventsAfter(ctx, l.key.CompanyID, c.Topic, c.Seq, limit)
		if err != nil {
			return nil, nil, err
		}
		for i := range behind {
			x := &job{Delivery: events.Delivery{Event: behind[i]}, fresh: true, wanted: w.wants(&behind[i])}
			jobs = append(jobs, x)
			fresh++
			if down && x.wanted { // one request suffices
				return jobs, cursors, nil
			}
		}
	}
	return jobs, cursors, l.block(ctx, w, jobs)
}

// block postpones new events about subjects with a waiting delivery, if the endpoint is ordered.
func (l *lane) block(ctx context.Context, w *Webhook, jobs []*job) error {
	if !w.Ordered {
		return nil
	}
	var subjects []string
	for _, x := range jobs {
		if x.fresh && x.wanted && !slices.Contains(subjects, x.Subject) {
			subjects = append(subjects, x.Subject)
		}
	}
	if len(subjects) == 0 {
		return nil
	}
	blocked, err := l.d.store.Hooks.Blocked(ctx, l.key, subjects)
	for _, x := range jobs {
		if x.fresh && blocked[x.Subject] {
			x.State, x.NextAt = events.DeliveryWaiting, l.d.o.Now()
		}
	}
	return err
}

// result is a round with its jobs.
type result struct {
	events.Round
	jobs []*job
	last string // error of the last failed attempt
}

// deliver sends the jobs, several concurrently, until all are sent or the round must end.
func (l *lane) deliver(ctx context.Context, w *Webhook, e *events.Endpoint, jobs []*job) *result {
	r := &result{Round: events.Round{Endpoint: e}, jobs: jobs}
	var mu sync.Mutex // guards r and e
	var all sync.WaitGroup
	slots := make(chan struct{}, width)
	began, sent := time.Now(), 0
	last := map[string]*job{}
	for _, x := range jobs {
		if !x.wanted || x.State == events.DeliveryWaiting && x.fresh {
			continue
		}
		x.done = make(chan struct{})
		if before := last[x.Subject]; before != nil && w.Ordered {
			x.after = before.done
		}
		last[x.Subject] = x
		slots <- struct{}{}
		end := sent > 0 && time.Since(began) > roundLong || l.d.pace.wait(ctx) != nil
		mu.Lock()
		end = end || stopped(e, l.d.o.Now()) || !l.owned()
		mu.Unlock()
		if end {
			<-slots
			close(x.done)
			break
		}
		sent++
		before := x.after
		all.Go(func() {
			defer func() { close(x.done); <-slots }()
			if before != nil {
				<-before
			}
			l.try(ctx, w, x, r, &mu)
		})
	}
	all.Wait()
	return r
}

// try sends one event and records the outcome.
func (l *lane) try(ctx context.Context, w *Webhook, x *job, r *result, mu *sync.Mutex) {
	mu.Lock()
	blocked := w.Ordered && slices.ContainsFunc(r.jobs, func(b *job) bool {
		return b != x && b.ended && !b.outcome.ok && b.Subject == x.Subject && b.Topic == x.Topic && b.Seq < x.Seq
	})
	if x.Gone || blocked {
		x.ended = true
		x.outcome.ok = x.Gone // there is nothing left to send
		x.State, x.NextAt = events.DeliveryWaiting, l.d.o.Now()
	}
	over := x.ended
	mu.Unlock()
	if over {
		return
	}
	b, err := BodyOf(&x.Event)
	if err != nil {
		l.d.o.Log.ErrorContext(ctx, "read an event", "topic", x.Topic, "error", err)
		mu.Lock()
		x.ended, x.outcome.ok = true, true
		mu.Unlock()
		return
	}
	// Finish a request that has begun, because the endpoint may act on a partial one.
	a, o := l.d.send(context.WithoutCancel(ctx), l.key.CompanyID, w, b, x.Subject, x.Attempt+1)
	a.Event = events.Key{Topic: x.Topic, Seq: x.Seq}
	now := l.d.o.Now()
	mu.Lock()
	defer mu.Unlock()
	down := r.Endpoint.Failures >= downAfter
	r.Recovered = record(r.Endpoint, o, now) || r.Recovered
	x.ended, x.outcome = true, o
	if !o.ok {
		r.last = a.Error
		failed(&x.Delivery, now, !down)
		if x.NextAt.Before(r.Endpoint.PauseUntil) && x.State == events.DeliveryWaiting {
			x.NextAt = r.Endpoint.PauseUntil
		}
	}
	if !o.ok || l.mayLog(now) {
		r.Attempts = append(r.Attempts, a)
	}
}

// sort divides the jobs into delivered and kept ones. It moves the cursor of each topic past the last event that was
// reached; the remaining events are read again.
func (r *result) sort(cursors []events.Cursor, now time.Time) {
	for _, c := range cursors {
		end := c.Seq
		for _, x := range r.jobs {
			if !x.fresh || x.Topic != c.Topic {
				continue
			}
			if x.wanted && !x.ended {
				if x.State != events.DeliveryWaiting {
					break
				}
				x.ended, x.NextAt = true, now // waits for an earlier event of its subject
			}
			end = x.Seq
		}
		if end > c.Seq {
			r.Cursors = append(r.Cursors, events.Cursor{Topic: c.Topic, Seq: end})
		}
	}
	for _, x := range r.jobs {
		switch {
		case !x.wanted || !x.ended:
		case !x.outcome.ok:
			r.Kept = append(r.Kept, x.Delivery)
		case !x.fresh:
			r.Delivered = append(r.Delivered, x.Delivery)
		}
	}
}

// mayLog reports whether a successful attempt is logged. For a busy endpoint only a sample is.
func (l *lane) mayLog(now time.Time) bool {
	if s := now.Unix(); s != l.second {
		l.second, l.logged = s, 0
	}
	l.logged++
	return l.logged <= maxLogged
}

// trim deletes old attempts occasionally, more often for endpoints that log more.
func (l *lane) trim(ctx context.Context, logged int) {
	if rand.IntN(trimEvery) >= logged { //nolint:gosec // not security-sensitive
		return
	}
	if _, err := l.d.store.Hooks.Trim(ctx, l.key, 10*trimEvery); err != nil && ctx.Err() == nil {
		l.d.o.Log.WarnContext(ctx, "delete old attempts", "webhook_id", l.key.WebhookID, "error", err)
	}
}

func (l *lane) alert(ctx context.Context, w *Webhook, e *events.Endpoint, last string) {
	if !alertDue(e, l.d.o.Now()) {
		return
	}
	// Saved before sending: one missing e-mail is better than one in each round.
	if err := l.d.store.Hooks.Save(ctx, &events.Round{
		Endpoint: e, Since: e.FailingSince, Ordered: w.Ordered, Probe: e.PauseUntil,
	}); err != nil {
		l.d.o.Log.WarnContext(ctx, "save endpoint", "webhook_id", w.ID, "error", err)
		return
	}
	l.d.o.Log.WarnContext(ctx, "an endpoint of events fails", "company_id", l.key.CompanyID, "webhook_id", w.ID, "since",
		e.FailingSince, "disabled", e.DisabledWhy, "reason", last)
	l.d.o.Alert(ctx, Alert{
		CompanyID: l.key.CompanyID, URL: w.URL, Since: e.FailingSince, Disabled: e.FailingSince.Add(disableAfter),
		Ended: !e.DisabledAt.IsZero(), Gone: e.DisabledWhy == "gone", Last: last,
	})
}
