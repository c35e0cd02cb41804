package queue

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"carillon"
	"carillon/internal/store"
)

// Who owns which shard (engine.md, section 2). On SQLite this process owns them all. On PostgreSQL nodes beat: a counter
// that stands still for deadAfter of an observer's own clock is a dead node, and its shards are free. No two clocks are
// ever compared. The owner itself starts nothing later than startFor after the start of its last successful beat.

const (
	beatEvery = time.Second
	deadAfter = 6 * time.Second
	startFor  = 4 * time.Second
)

// beat tells whether this node may start sends. It counts on a clock that runs on while the machine sleeps.
type beat struct {
	forever atomic.Bool
	last    atomic.Int64 // bootTime at the start of the last successful beat; 0: none
}

func (b *beat) valid() bool {
	if b.forever.Load() {
		return true
	}
	last := b.last.Load()
	return last != 0 && bootTime()-last < int64(startFor)
}

// Holds tells whether this node may start sends now.
func (q *Queue) Holds() bool { return q.beat.valid() }

// ID is this node's id in the nodes' table.
func (q *Queue) ID() string { return q.id }

func (q *Queue) alone() bool { return q.store.Engine() == "sqlite" }

// join takes the node's place among the nodes.
func (q *Queue) join(ctx context.Context) error {
	if err := q.store.Join(ctx, q.id, q.o.Name); err != nil {
		return err
	}
	if !q.alone() {
		return nil
	}
	q.beat.forever.Store(true)
	if err := q.store.TakeAll(ctx, q.id); err != nil {
		return fmt.Errorf("take the shards: %w", err)
	}
	_, shards, err := q.store.Cluster(ctx)
	if err != nil {
		return err
	}
	for _, s := range shards {
		if err := q.hold(ctx, s); err != nil {
			return err
		}
	}
	q.settled()
	return nil
}

func (q *Queue) settled() { q.once.Do(func() { close(q.ready) }) }

// hold recovers a shard that is ours now and hands it to the pump.
func (q *Queue) hold(ctx context.Context, s store.Shard) error {
	n, err := q.store.Recover(ctx, s.ID, s.Epoch, time.Now(), func(uid int64) time.Duration {
		sender, _, err := q.o.Sender(ctx, uid)
		if err != nil {
			return carillon.DefaultUnknownPolicy().After
		}
		return sender.Unknown.After
	})
	if err != nil {
		return err
	}
	if n > 0 {
		q.o.Log.WarnContext(ctx, "found messages in flight whose outcome is unknown", "shard", s.ID, "messages", n)
	}
	q.mu.Lock()
	q.owned[s.ID] = s.Epoch
	q.in.gained = append(q.in.gained, s)
	q.mu.Unlock()
	q.poke()
	return nil
}

func (q *Queue) disown(shard int) {
	q.mu.Lock()
	delete(q.owned, shard)
	q.mu.Unlock()
}

// own keeps the beat and this node's share of the shards until ctx ends, and from then on the beat alone until it is
// drained: were it declared dead meanwhile, others would take its sends in flight for unknown.
func (q *Queue) own(ctx context.Context, drained <-chan struct{}) {
	if q.alone() {
		return
	}
	w := watch{seen: map[string]sighting{}}
	tick := time.NewTimer(0)
	defer tick.Stop()
	for {
		select {
		case <-drained:
			return
		case <-tick.C:
		}
		if err := q.turn(context.WithoutCancel(ctx), &w, ctx.Err() != nil); err != nil {
			q.o.Log.WarnContext(ctx, "keep the beat", "error", err)
		}
		tick.Reset(beatEvery)
	}
}

// watch is what this node remembers of the others' beats.
type watch struct{ seen map[string]sighting }

type sighting struct {
	beat int64
	at   time.Time
}

// turn beats once, looks at the others, and takes or gives shards; one that is leaving only beats.
func (q *Queue) turn(ctx context.Context, w *watch, leaving bool) error {
	ctx, cancel := context.WithTimeout(ctx, startFor)
	defer cancel()
	begin := bootTime()
	alive, err := q.store.Beat(ctx, q.id)
	if err != nil {
		return err
	}
	switch {
	case !alive && leaving:
		return nil
	case !alive:
		return q.rejoin(ctx)
	}
	q.beat.last.Store(begin)
	if leaving {
		return nil
	}
	nodes, shards, err := q.store.Cluster(ctx)
	if err != nil {
		return err
	}
	if err := q.deposeDead(ctx, w, nodes); err != nil {
		return err
	}
	if err := q.share(ctx, len(nodes), shards); err != nil {
		return err
	}
	q.settled()
	return nil
}

// rejoin comes back after having been declared dead: under a new id, with nothing.
func (q *Queue) rejoin(ctx context.Context) error {
	q.o.Log.WarnContext(ctx, "was declared dead by another node; joining anew")
	q.beat.last.Store(0)
	q.mu.Lock()
	for id := range q.owned {
		q.in.lost = append(q.in.lost, id)
	}
	q.owned = map[int]int64{}
	q.mu.Unlock()
	q.poke()
	return q.store.Join(ctx, q.id, q.o.Name)
}

func (q *Queue) deposeDead(ctx context.Context, w *watch, nodes []store.Node) error {
	now := time.Now()
	seen := map[string]sighting{}
	for _, n := range nodes {
		s, known := w.seen[n.ID]
		if !known || s.beat != n.Beat {
			s = sighting{n.Beat, now}
		}
		seen[n.ID] = s
		if n.ID == q.id || now.Sub(s.at) < deadAfter {
			continue
		}
		deposed, err := q.store.Depose(ctx, n.ID, n.Beat)
		if err != nil {
			return err
		}
		if deposed {
			q.o.Log.WarnContext(ctx, "declared a node dead", "node", n.ID, "silent", now.Sub(s.at))
			if q.o.Deposed != nil {
				q.o.Deposed()
			}
		}
	}
	w.seen = seen
	return nil
}

// share takes free shards up to this node's part of them, and gives away what it holds beyond.
func (q *Queue) share(ctx context.Context, nodes int, shards []store.Shard) error {
	part := (carillon.Shards + nodes - 1) / max(nodes, 1)
	mine := 0
	for _, s := range shards {
		q.mu.Lock()
		epoch, held := q.owned[s.ID]
		q.mu.Unlock()
		switch {
		case s.Owner == q.id && held && epoch == s.Epoch:
			mine++
		case s.Owner == q.id: // taken, but not yet recovered
			if err := q.hold(ctx, s); err != nil {
				return err
			}
			mine++
		case held:
			q.giveUp(s.ID)
		}
	}
	for _, s := range shards {
		if s.Owner != "" || mine >= part {
			continue
		}
		epoch, taken, err := q.store.Take(ctx, s.ID, q.id)
		if err != nil {
			return err
		}
		if taken {
			mine++
			if err := q.hold(ctx, store.Shard{ID: s.ID, Owner: q.id, Epoch: epoch}); err != nil {
				return err
			}
		}
	}
	return q.giveExcess(ctx, mine-part, shards)
}

func (q *Queue) giveExcess(ctx context.Context, excess int, shards []store.Shard) error {
	for _, s := range shards {
		if excess <= 0 {
			return nil
		}
		q.mu.Lock()
		epoch, held := q.owned[s.ID]
		q.mu.Unlock()
		if !held || s.Owner != q.id {
			continue
		}
		q.giveUp(s.ID)
		if err := q.store.Give(ctx, s.ID, q.id, epoch); err != nil {
			return err
		}
		excess--
	}
	return nil
}

// giveUp tells the pump that a shard is not ours any more.
func (q *Queue) giveUp(shard int) {
	q.mu.Lock()
	delete(q.owned, shard)
	q.in.lost = append(q.in.lost, shard)
	q.mu.Unlock()
	q.poke()
}

// leave gives everything back, so that another node or the next start need not wait.
func (q *Queue) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	q.beat.last.Store(0)
	if err := q.store.Leave(ctx, q.id); err != nil {
		q.o.Log.WarnContext(ctx, "leave the nodes", "error", err)
	}
}
