package queue

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"carillon"
	"carillon/internal/store"
)

// The circuit breaker of a sender. A fault that concerns the whole sender opens it at once: the channel cannot be
// reached, the account is refused. One that may be the message's own counts: it opens the breaker when breakerTrip
// different messages met the same class of fault among the last breakerWindow answers, within breakerWithin.
//
//	closed ── trip ──▶ open ── until ──▶ half open ── a message is answered ──▶ closed
//	                     ▲                   │
//	                     └── twice as long ──┘ the message that was tried meets a fault
//
// One that has had nothing to try for a day is forgotten.
//
// While it is open nothing of the sender starts; no other sender notices. Attempts that opened it or tried it count for
// nothing: an outage of hours neither uses up a message's attempts nor fails it. Nor do those that a fault of our own side
// ended before they left. What is not closed stands in the
// database, so that every node can tell, and a shard's next owner goes on from there.

const (
	breakerWindow = 10
	breakerTrip   = 5
	breakerWithin = 30 * time.Second
	// breakerForgets is after how long without a try the breaker of a sender that has nothing to send is forgotten.
	breakerForgets = 24 * time.Hour
	sparedMost     = 1024 // messages a sender whose attempts are forgiven
)

// breaker is nil where nothing is wrong, nothing was of late, and no attempt is forgiven.
type breaker struct {
	fault   carillon.Fault
	detail  string
	since   time.Time // when it left closed
	until   time.Time // nothing starts before
	company string
	tripped bool          // not closed: open until then, half open from then on
	tried   bool          // half open, and a message has been tried
	wait    time.Duration // how long it was open the last time; the next is twice as long
	last    [breakerWindow]strike
	next    int
	spared  map[carillon.MessageKey]int // attempts that count for nothing
	sparing time.Time                   // when a message with such attempts was last put off: until that is written nobody waits for it
}

// strike is one answer; without a fault it was a good one.
type strike struct {
	fault carillon.Fault
	k     carillon.MessageKey
	at    time.Time
}

func (b *breaker) open(now time.Time) bool { return b != nil && b.tripped && now.Before(b.until) }

// probing tells that one message at a time may start, once it is not open any more.
func (b *breaker) probing() bool { return b != nil && b.tripped }

// waits bound how long a breaker is open: the first time, and the longest.
func waits(f carillon.Fault) (first, most time.Duration) {
	switch f {
	case carillon.FaultAccount: // somebody has to mend it
		return 5 * time.Second, 10 * time.Minute
	case carillon.FaultUnreachable:
		return 2 * time.Second, time.Minute
	case carillon.FaultThrottled, carillon.FaultProvider, carillon.FaultUnknown:
	}
	return time.Second, 30 * time.Second
}

// fail counts a fault and tells whether the breaker opened by it. whole: it concerns the whole sender. d is how long the
// channel itself wants to be left alone, 0: it does not say.
func (b *breaker) fail(k carillon.MessageKey, f carillon.Fault, whole bool, d time.Duration, now time.Time) bool {
	switch {
	case b.open(now): // it had started before
		if until := now.Add(d); whole && until.After(b.until) {
			b.until = until
		}
		return false
	case whole || b.tripped:
		b.trip(f, d, now)
		return true
	}
	b.note(strike{f, k, now})
	struck := b.struck(f, now)
	if len(struck) < breakerTrip {
		return false
	}
	for _, x := range struck {
		if x != k {
			b.spare(x, now)
		}
	}
	b.trip(f, d, now)
	return true
}

func (b *breaker) note(s strike) {
	b.last[b.next] = s
	b.next = (b.next + 1) % breakerWindow
}

// struck are the different messages that met a fault lately.
func (b *breaker) struck(f carillon.Fault, now time.Time) []carillon.MessageKey {
	var all []carillon.MessageKey
	for _, s := range b.last {
		if s.fault != f || now.Sub(s.at) > breakerWithin {
			continue
		}
		seen := false
		for _, k := range all {
			seen = seen || k == s.k
		}
		if !seen {
			all = append(all, s.k)
		}
	}
	return all
}

func (b *breaker) trip(f carillon.Fault, d time.Duration, now time.Time) {
	if !b.tripped {
		b.since = now
	}
	first, most := waits(f)
	b.wait = min(max(2*b.wait, first), most)
	pause := max(d, b.wait)
	pause += rand.N(min(pause/4, time.Minute)) //nolint:gosec // no secret
	b.fault, b.tripped, b.tried, b.until = f, true, false, now.Add(pause)
	b.last = [breakerWindow]strike{}
}

// answered takes a good answer and tells whether the breaker closed by it.
func (b *breaker) answered(now time.Time) bool {
	switch {
	case !b.tripped:
		b.note(strike{at: now})
		return false
	case b.open(now): // it had started before
		return false
	}
	b.tripped = false
	return true
}

func (b *breaker) spare(k carillon.MessageKey, now time.Time) {
	b.sparing = now
	if b.spared == nil {
		b.spared = map[carillon.MessageKey]int{}
	}
	if _, known := b.spared[k]; known || len(b.spared) < sparedMost {
		b.spared[k]++
	}
}

// quiet tells that nothing is wrong and nothing was of late, or what was is long past.
func (b *breaker) quiet(now time.Time) bool {
	if b == nil {
		return true
	}
	if b.tripped && now.Sub(b.until) > breakerForgets {
		return true
	}
	for _, s := range b.last {
		if s.fault != "" && now.Sub(s.at) <= breakerWithin {
			return false
		}
	}
	return !b.tripped && (len(b.spared) == 0 || now.Sub(b.sparing) > breakerWithin)
}

// heed takes what an answer says about the sender as a whole.
func (p *pump) heed(l *lane, r *landed, now time.Time) {
	d := &r.done
	k := r.f.job.Key
	if d.Pause && d.Fault == "" {
		d.Fault = carillon.FaultAccount
	}
	if d.Ours {
		if l.breaker == nil {
			l.breaker = &breaker{}
		}
		l.breaker.spare(k, now)
		return
	}
	if d.Fault == "" {
		if l.breaker == nil {
			return
		}
		switch {
		case d.Result.Move != store.MoveRetry:
			delete(l.breaker.spared, k)
		case l.breaker.spared[k] > 0:
			l.breaker.sparing = now
		}
		if d.Answered && l.breaker.answered(now) {
			p.changed(l, carillon.BreakerClosed, now)
			l.breaker = &breaker{spared: l.breaker.spared}
		}
		if !l.breaker.tripped && l.breaker.quiet(now) && len(l.breaker.spared) == 0 {
			l.breaker = nil
		}
		return
	}
	if l.breaker == nil {
		l.breaker = &breaker{}
	}
	b := l.breaker
	if b.fail(k, d.Fault, d.Pause, d.PauseFor, now) {
		b.detail = d.Result.Detail
		p.changed(l, carillon.BreakerOpen, now)
	}
	switch {
	case d.Result.Move != store.MoveRetry:
		delete(b.spared, k)
	case b.open(now):
		b.spare(k, now)
		if d.Result.Due.Before(b.until) {
			d.Result.Due = b.until
		}
	}
}

// tried tells a start what the breaker has to do with it.
func (p *pump) tried(l *lane, m store.Queued, now time.Time) (spared int, probe bool) {
	b := l.breaker
	if b == nil {
		return 0, false
	}
	if b.tripped && !b.tried {
		b.tried = true
		p.changed(l, carillon.BreakerHalfOpen, now)
	}
	return b.spared[m.Key], b.tripped
}

// changed tells of a change: the log, the metrics, the database.
func (p *pump) changed(l *lane, to carillon.BreakerState, now time.Time) {
	x := l.breaker.told(l, now)
	x.State = to
	p.change(x)
	level := p.q.o.Log.Info
	if to == carillon.BreakerOpen {
		level = p.q.o.Log.Warn
	}
	level("circuit breaker", "state", string(to), "company", x.CompanyID, "sender", l.uid, "class", string(x.Fault), "until", x.Until,
		"detail", x.Detail)
	p.breakers.put(x)
}

// told is the breaker as others see it.
func (b *breaker) told(l *lane, now time.Time) carillon.Breaker {
	x := carillon.Breaker{
		SenderUID: l.uid, CompanyID: b.company, State: carillon.BreakerClosed, Fault: b.fault, Detail: b.detail, Since: b.since, Until: b.until,
	}
	if l.sender != nil {
		x.CompanyID = l.sender.CompanyID
	}
	if b.tripped {
		x.State = carillon.BreakerHalfOpen
		if b.open(now) {
			x.State = carillon.BreakerOpen
		}
	}
	return x
}

// recalled are the breakers that the last owners of shards left.
type recalled []carillon.Breaker

// recall reads them. What cannot be read is found out anew: an open breaker spares attempts, and nothing depends on it.
func (p *pump) recall() {
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		all, err := p.q.store.Breakers(ctx)
		if err != nil {
			p.q.o.Log.Warn("read the states of breakers", "error", err)
			return
		}
		if len(all) > 0 {
			p.q.post(func(in *inbox) { in.recalls = append(in.recalls, all) })
		}
	}()
}

func (p *pump) recalled(r recalled, now time.Time) {
	for _, x := range r {
		s := p.shards[shardOf(x.SenderUID)]
		if s == nil {
			continue
		}
		l := p.laneOf(x.SenderUID, s)
		if l.breaker != nil {
			continue
		}
		_, most := waits(x.Fault)
		l.breaker = &breaker{
			fault: x.Fault, detail: x.Detail, since: x.Since, tripped: true,
			until:   latest(x.Until, now.Add(-breakerForgets)), // not forgotten before it is known what waits
			company: x.CompanyID, wait: min(max(x.Until.Sub(x.Since), 0), most/2),
		}
		p.attend(l, now)
	}
}

// breakerWriter writes changes of breakers in the background, of each sender the last one alone.
type breakerWriter struct {
	mu      sync.Mutex
	waiting map[int64]carillon.Breaker
	write   func(ctx context.Context, b carillon.Breaker) error
	running bool
	done    sync.WaitGroup
	log     *slog.Logger
}

const breakerWriteTimeout = 5 * time.Second

// put has a change written soon. What cannot be written is dropped: nothing depends on it.
func (w *breakerWriter) put(b carillon.Breaker) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting == nil {
		w.waiting = map[int64]carillon.Breaker{}
	}
	w.waiting[b.SenderUID] = b
	if !w.running {
		w.running = true
		w.done.Go(w.run)
	}
}

func (w *breakerWriter) run() {
	for {
		w.mu.Lock()
		changes := w.waiting
		w.waiting, w.running = nil, len(changes) > 0
		w.mu.Unlock()
		if len(changes) == 0 {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), breakerWriteTimeout)
		for _, b := range changes {
			if err := w.write(ctx, b); err != nil {
				w.log.Warn("write the state of a breaker", "sender", b.SenderUID, "error", err)
			}
		}
		cancel()
	}
}

// wait waits until everything is written, for at most a while.
func (w *breakerWriter) wait(most time.Duration) {
	written := make(chan struct{})
	go func() {
		w.done.Wait()
		close(written)
	}()
	select {
	case <-written:
	case <-time.After(most):
	}
}
