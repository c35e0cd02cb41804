package queue

import (
	"cmp"
	"context"
	"time"

	"carillon/internal/base/provider"
	"carillon/internal/queue/lane"
	"carillon/internal/store/work"
)

// breakers feeds the lanes' circuit breakers and writes those that are not closed to the database, so that every node
// can show them and a shard's next owner continues with them.
type breakers struct{ kind *kind }

// allow records the start of a message.
func (b *breakers) allow(l *lane.Lane, k work.Key, now time.Time) (forgiven int, probe bool) {
	forgiven, probe, first := l.Breaker.Allow(k)
	if first {
		b.changed(l, work.BreakerHalfOpen, now)
	}
	return forgiven, probe
}

// record applies the part of a response that concerns the whole sender. Work that failed in an outage is not due
// before the breaker allows it.
func (b *breakers) record(l *lane.Lane, c *completion, now time.Time) {
	done, k := &c.done, c.f.job.Key
	if done.Pause && done.Fault == "" {
		done.Fault = provider.FaultAccount
	}
	if l.Breaker == nil && (done.Ours || done.Fault != "") {
		l.Breaker = &lane.Breaker{}
	}
	x, retry := l.Breaker, done.Result.Move == work.MoveRetry
	switch {
	case x == nil:
		return
	case done.Ours:
		x.Forgive(k, now)
		return
	case done.Fault == "":
		x.Ended(k, retry, now)
		if done.Answered {
			b.recordSuccess(l, now)
		}
		if x.Blank(now) {
			l.Breaker = nil
		}
		return
	}
	if x.RecordFault(k, done.Fault, done.Pause, done.PauseFor, now) {
		x.Detail = done.Result.Detail
		b.changed(l, work.BreakerOpen, now)
	}
	switch {
	case !retry:
		x.Ended(k, false, now)
	case x.Open(now):
		x.Forgive(k, now)
		if done.Result.Due.Before(x.Until) {
			done.Result.Due = x.Until
		}
	}
}

func (b *breakers) recordSuccess(l *lane.Lane, now time.Time) {
	before := *l.Breaker
	if l.Breaker.RecordSuccess(now) {
		b.publish(l, b.view(l, &before, now), work.BreakerClosed)
	}
}

// changed logs, counts and writes a change of state.
func (b *breakers) changed(l *lane.Lane, to work.BreakerState, now time.Time) {
	b.publish(l, b.view(l, l.Breaker, now), to)
}

func (b *breakers) publish(l *lane.Lane, x work.Breaker, to work.BreakerState) {
	x.State = to
	d := b.kind.d
	d.counts.change(x)
	level := d.q.o.Log.Info
	if to == work.BreakerOpen {
		level = d.q.o.Log.Warn
	}
	level("circuit breaker", "state", string(to), "company", x.CompanyID, "sender", l.Settings.Sender, "class", string(x.Fault),
		"until", x.Until,
		"detail", x.Detail)
	d.changed[x.SenderUID] = x
}

// view returns the stored form of a lane's breaker.
func (b *breakers) view(l *lane.Lane, x *lane.Breaker, now time.Time) work.Breaker {
	return work.Breaker{
		SenderUID: l.UID, CompanyID: cmp.Or(l.Settings.CompanyID, x.Company), Kind: b.kind.Name, State: x.State(now), Fault: x.Fault,
		Detail: x.Detail, Since: x.Since, Until: x.Until,
	}
}

const recallTimeout = 5 * time.Second

// recallBreakers reads the breakers stored by earlier owners of shards. If that fails, the faults are detected again:
// an open breaker only saves attempts.
func (d *dispatcher) recallBreakers() {
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), recallTimeout)
		defer cancel()
		all, err := d.q.store.Breakers.All(ctx)
		if err != nil {
			d.q.o.Log.Warn("read the states of breakers", "error", err)
			return
		}
		if len(all) > 0 {
			d.q.post(recalled(all))
		}
	}()
}

// recalled are the breakers stored by the last owners of shards.
type recalled []work.Breaker

func (e recalled) apply(d *dispatcher, now time.Time) {
	for i := range e {
		s := d.shards[shardOf(e[i].SenderUID)]
		if s == nil {
			continue
		}
		for _, k := range d.kinds {
			if k.Name != e[i].Kind {
				continue
			}
			if l := k.laneOf(e[i].SenderUID, s); l.Breaker == nil {
				l.Breaker = lane.Restore(&e[i], now)
				k.attend(l, now)
			}
		}
	}
}

const breakerWriteTimeout = 5 * time.Second

// writeBreakers writes changed breakers in the background, the last change of each sender. A failed write is dropped:
// nothing depends on it.
func (d *dispatcher) writeBreakers() {
	if d.writing || len(d.changed) == 0 {
		return
	}
	changes := d.changed
	d.changed, d.writing = map[int64]work.Breaker{}, true
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), breakerWriteTimeout)
		defer cancel()
		for _, b := range changes {
			if err := d.q.store.Breakers.Keep(ctx, b); err != nil {
				d.q.o.Log.Warn("write the state of a breaker", "company", b.CompanyID, "error", err)
			}
		}
		d.q.post(breakersWritten{})
	}()
}

// breakersWritten is the event that a write has ended.
type breakersWritten struct{}

func (breakersWritten) apply(d *dispatcher, _ time.Time) { d.writing = false }
