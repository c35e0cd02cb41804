package queue

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/store"
)

// maintenance is what a shard needs besides sending: its due index scanned now and then, in case a wake-up was lost; unknown
// outcomes reconciled when their wait is over; starts found again whose commit ended in uncertainty.
type maintenance struct{ d *dispatcher }

// orphan is a start that was committed without this node's learning of it, so that nothing was sent.
type orphan struct {
	attempt int
	wake    Wake // once it is taken back
}

const (
	scanAlone          = 30 * time.Second // between scans on one node
	scanLeast          = 5 * time.Second  // with several nodes wake-ups may be lost, and those of other nodes come
	scanShare          = 50               // how many times as long as it took a scan rests, at least
	scanTimeout        = 10 * time.Second
	reconcileRows      = 500
	maintenanceAtOnce  = 2
	maintenanceRetries = 5 * time.Second // after a failure
)

// reconcileAt has a shard's unknown outcomes reconciled at an instant.
func (m *maintenance) reconcileAt(id int, at time.Time) {
	if s := m.d.shards[id]; s != nil && (s.reconcileAt.IsZero() || at.Before(s.reconcileAt)) {
		s.reconcileAt = at
	}
}

// start begins the scans and reconciliations that are due, a few at a time.
func (m *maintenance) start(now time.Time) {
	busy := 0
	for _, s := range m.d.shards {
		if s.busy {
			busy++
		}
	}
	for _, s := range m.d.shards {
		if busy >= maintenanceAtOnce {
			return
		}
		switch {
		case s.busy:
		case !s.reconcileAt.IsZero() && !s.reconcileAt.After(now):
			s.busy, s.reconcileAt = true, time.Time{}
			busy++
			go m.d.q.reconcile(s.id, now)
		case s.scanAt.After(now):
		case s.audit && m.d.committing: // after the commit
		default:
			s.busy = true
			busy++
			audit := s.audit
			if audit {
				s.audit = false
				m.d.audits++
			}
			go m.d.q.scan(store.Fence{Shard: s.id, Owner: m.d.q.members.ID(), Epoch: s.epoch}, audit)
		}
	}
}

// scanRest is how long a shard's due index is left alone after a scan that took so long. While a snapshot is held, what has
// ended stays in it, and scans take the longer the more there is.
func (m *maintenance) scanRest(took time.Duration) time.Duration {
	if m.d.q.members.Alone() {
		return scanAlone
	}
	return min(max(scanLeast, scanShare*took), scanAlone)
}

// scanned is a scan that ended.
type scanned struct {
	shard   int
	wakes   []Wake
	flights []store.Flight
	audit   bool // it looked for starts that were committed but never sent
	took    time.Duration
	err     error
}

func (q *Queue) scan(f store.Fence, audit bool) {
	ctx, cancel := context.WithTimeout(context.Background(), scanTimeout)
	defer cancel()
	e := &scanned{shard: f.Shard, audit: audit}
	begin := time.Now()
	lanes, err := q.store.Lanes(ctx, f.Shard)
	e.took = time.Since(begin)
	for _, l := range lanes {
		e.wakes = append(e.wakes, Wake{SenderUID: l.SenderUID, Class: l.Class, Due: l.Due})
	}
	if err == nil && audit {
		e.flights, err = q.store.Flights(ctx, f)
	}
	e.err = err
	q.post(e)
}

// apply wakes the lanes that a scan found. Flights that the database knows and this node does not were committed by a
// transaction whose end is not known: they have not been sent, and go back to their lanes. A result may have been written
// since the scan read, hence MoveUnsent, which touches nothing but a start. What is known of an earlier attempt says nothing
// of this one: its result too may have been written without this node's learning of it, and the message been started again.
func (e *scanned) apply(d *dispatcher, now time.Time) {
	d.upkeepDue = true
	if e.audit {
		d.audits--
	}
	s := d.shards[e.shard]
	if s == nil {
		return
	}
	s.busy = false
	s.scanAt = now.Add(d.maintenance.scanRest(e.took))
	if e.err != nil {
		d.q.o.Log.Warn("scan shard", "shard", e.shard, "error", e.err)
		s.scanAt, s.audit = now.Add(maintenanceRetries), s.audit || e.audit
		return
	}
	woken(e.wakes).apply(d, now)
	for _, f := range e.flights {
		if x := d.flights[f.Key]; x != nil && x.job.Attempt >= f.Attempt || d.orphans[f.Key].attempt >= f.Attempt {
			continue
		}
		d.maintenance.takeBack(f, now)
	}
}

// takeBack has a start taken back of which nothing was sent; then its lane is woken.
func (m *maintenance) takeBack(f store.Flight, now time.Time) {
	const why = "the database did not confirm its start"
	m.d.q.o.Log.Warn("queue again what was never sent", "message", int64(f.Key), "reason", why)
	m.d.results = append(m.d.results, store.Result{
		Key: f.Key, Attempt: f.Attempt, Move: store.MoveUnsent, Due: now, At: now, Detail: "an attempt was not made: " + why,
	})
	m.d.orphans[f.Key] = orphan{f.Attempt, Wake{SenderUID: f.SenderUID, Class: f.Class, Due: now}}
}

// reconciled are unknown outcomes of a shard that were reconciled.
type reconciled struct {
	shard int
	wakes []Wake
	ended []carillon.Seq
	next  time.Time
	err   error
}

// reconcile ends the wait of a shard's unknown outcomes by their senders' policies.
func (q *Queue) reconcile(shard int, now time.Time) {
	ctx, cancel := context.WithTimeout(context.Background(), scanTimeout)
	defer cancel()
	e := &reconciled{shard: shard}
	due, next, err := q.store.UnknownOutcomes(ctx, shard, now, reconcileRows)
	var retry, fail []store.UnknownOutcome
	for _, x := range due {
		sender, _, serr := q.o.Sender(ctx, x.SenderUID)
		if serr != nil {
			err = serr
			break
		}
		if sender.Unknown.Retry[x.Class] {
			retry = append(retry, x)
			e.wakes = append(e.wakes, Wake{SenderUID: x.SenderUID, Class: x.Class, Due: now})
		} else {
			fail = append(fail, x)
			e.ended = append(e.ended, x.Key.Seq())
		}
	}
	if err == nil && len(due) > 0 {
		err = q.store.Reconcile(ctx, retry, fail, now)
		if err == nil && q.o.Reconciled != nil {
			q.o.Reconciled(len(retry), len(fail))
		}
	}
	e.next, e.err = next, err
	q.post(e)
}

func (e *reconciled) apply(d *dispatcher, now time.Time) {
	d.upkeepDue = true
	if len(e.ended) > 0 && e.err == nil && d.q.o.Closed != nil {
		d.q.o.Closed(e.ended)
	}
	s := d.shards[e.shard]
	if s == nil {
		return
	}
	s.busy = false
	if e.err != nil {
		d.q.o.Log.Warn("reconcile unknown outcomes", "shard", e.shard, "error", e.err)
		d.maintenance.reconcileAt(e.shard, now.Add(maintenanceRetries))
		return
	}
	if !e.next.IsZero() {
		d.maintenance.reconcileAt(e.shard, e.next)
	}
	woken(e.wakes).apply(d, now)
}
