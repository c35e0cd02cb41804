package queue

import (
	"context"
	"time"

	"carillon/internal/store/work"
)

// maintenance is the upkeep of a shard besides sending: scans of its due index, in case a wake-up was lost;
// reconciliation of unknown outcomes after their wait; and recovery of starts whose commit had an uncertain result.
type maintenance struct{ d *dispatcher }

// orphan is a start that was committed without this node's knowledge, so that nothing was sent.
type orphan struct {
	attempt int
	wake    Wake // posted once the start is undone
}

const (
	scanAlone          = 30 * time.Second // between scans on one node
	minScan            = 5 * time.Second  // with several nodes, wake-ups may be lost, and other nodes accept messages
	scanShare          = 50               // minimum pause after a scan, as a multiple of its duration
	scanTimeout        = 10 * time.Second
	maintenanceAtOnce  = 2
	maintenanceRetries = 5 * time.Second // after a failure
)

// reconcileAt schedules the reconciliation of a shard's unknown outcomes.
func (m *maintenance) reconcileAt(k *kind, id int, at time.Time) {
	if s := k.in(id); s != nil && (s.reconcileAt.IsZero() || at.Before(s.reconcileAt)) {
		s.reconcileAt = at
	}
}

// start begins the scans and reconciliations that are due, a few at a time.
func (m *maintenance) start(now time.Time) {
	free := maintenanceAtOnce
	for _, s := range m.d.shards {
		for _, w := range s.work {
			if w.busy {
				free--
			}
		}
	}
	for _, s := range m.d.shards {
		for i, w := range s.work {
			if free <= 0 {
				return
			}
			if m.begin(m.d.kinds[i], s, w, now) {
				free--
			}
		}
	}
}

// begin begins the maintenance that a shard's work of one kind needs now, and reports whether any was needed.
func (m *maintenance) begin(k *kind, s *shard, w *shardWork, now time.Time) bool {
	switch {
	case w.busy, m.d.leaving && !w.audit: // a shard in hand-over only waits for its audit
		return false
	case !w.reconcileAt.IsZero() && !w.reconcileAt.After(now):
		w.busy, w.reconcileAt = true, time.Time{}
		go m.reconcile(k, s.id, now)
		return true
	case w.scanAt.After(now), w.audit && k.committing: // the audit follows the commit
		return false
	}
	w.busy = true
	audit := w.audit
	if audit {
		w.audit = false
		k.audits++
	}
	go m.scan(k, m.d.fence(s), audit)
	return true
}

// scanRest returns the pause after a scan of a shard's due index that took the given time. While a snapshot is held,
// ended rows stay in the index, and scans take longer the more there are.
func scanRest(alone bool, took time.Duration) time.Duration {
	if alone {
		return scanAlone
	}
	return min(max(minScan, scanShare*took), scanAlone)
}

// scanned is the event that a scan has ended.
type scanned struct {
	kind    *kind
	shard   int
	wakes   []Wake
	flights []work.Flight
	audit   bool // it looked for starts that were committed but never sent
	took    time.Duration
	err     error
}

func (*maintenance) scan(k *kind, f work.Fence, audit bool) {
	ctx, cancel := context.WithTimeout(context.Background(), scanTimeout)
	defer cancel()
	e := &scanned{kind: k, shard: f.Shard, audit: audit}
	begin := time.Now()
	lanes, err := k.Source.Lanes(ctx, f.Shard)
	e.took = time.Since(begin)
	for _, l := range lanes {
		e.wakes = append(e.wakes, Wake{Kind: k.Name, SenderUID: l.SenderUID, Class: l.Class, Due: l.Due})
	}
	if err == nil && audit {
		e.flights, err = k.Source.Flights(ctx, f)
	}
	e.err = err
	k.d.q.post(e)
}

// apply wakes the lanes that a scan found. Flights in the database that this node does not know were committed by a
// transaction with an uncertain result: they have not been sent, and return to their lanes. A result may have been
// written since the scan, hence MoveUnsent, which changes only a start. Knowledge about an earlier attempt says
// nothing about this one: its result may also have been written without this node noticing, and the message started
// again.
func (e *scanned) apply(d *dispatcher, now time.Time) {
	d.upkeepDue = true
	k := e.kind
	if e.audit {
		k.audits--
	}
	s := k.in(e.shard)
	if s == nil {
		return
	}
	s.busy = false
	s.scanAt = now.Add(scanRest(d.q.members.Alone(), e.took))
	if e.err != nil {
		d.q.o.Log.Warn("scan shard", "kind", k.Name, "shard", e.shard, "error", e.err)
		s.scanAt, s.audit = now.Add(maintenanceRetries), s.audit || e.audit
		return
	}
	woken(e.wakes).apply(d, now)
	for _, f := range e.flights {
		if x := k.flights[f.Key]; x != nil && x.job.Attempt >= f.Attempt || k.orphans[f.Key].attempt >= f.Attempt {
			continue
		}
		k.takeBack(f, now)
	}
}

// takeBack undoes a start that was not acted on, and then wakes its lane.
func (k *kind) takeBack(f work.Flight, now time.Time) {
	const why = "the database did not confirm its start"
	k.d.q.o.Log.Warn("queue again what was never sent", "kind", k.Name, "key", int64(f.Key), "reason", why)
	k.results = append(k.results, work.Result{
		Key: f.Key, Attempt: f.Attempt, Move: work.MoveUnsent, Due: now, At: now, Detail: "an attempt was not made: " + why,
	})
	k.orphans[f.Key] = orphan{f.Attempt, Wake{SenderUID: f.SenderUID, Class: f.Class, Due: now}}
}

// reconciled is the event that unknown outcomes of a shard were reconciled.
type reconciled struct {
	kind  *kind
	shard int
	done  Reconciled
	err   error
}

// reconcile lets the worker reconcile unknown outcomes of a shard.
func (*maintenance) reconcile(k *kind, shard int, now time.Time) {
	ctx, cancel := context.WithTimeout(context.Background(), scanTimeout)
	defer cancel()
	done, err := k.Worker.Reconcile(ctx, shard, now)
	k.d.q.post(&reconciled{k, shard, done, err})
}

func (e *reconciled) apply(d *dispatcher, now time.Time) {
	d.upkeepDue = true
	k := e.kind
	s := k.in(e.shard)
	if s == nil {
		return
	}
	s.busy = false
	if e.err != nil {
		d.q.o.Log.Warn("reconcile unknown outcomes", "kind", k.Name, "shard", e.shard, "error", e.err)
		d.maintenance.reconcileAt(k, e.shard, now.Add(maintenanceRetries))
		return
	}
	if !e.done.Next.IsZero() {
		d.maintenance.reconcileAt(k, e.shard, e.done.Next)
	}
	for _, l := range e.done.Retried {
		k.wake(Wake{SenderUID: l.SenderUID, Class: l.Class, Due: l.Due}, now)
	}
}
