package queue

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"carillon"
	"carillon/internal/store"
)

// Who owns which shard (engine.md, section 2). On SQLite this process owns them all. On PostgreSQL nodes beat, and watch
// each other's beats (watch.go). No two clocks are ever compared to decide what may start. The owner itself starts
// nothing later than startFor after the start of its last successful beat.

const (
	beatEvery = time.Second
	hurry     = 250 * time.Millisecond // between looks while a node may be dead
	startFor  = 4 * time.Second

	sessionRetry = 250 * time.Millisecond
)

// ClockTolerance is the difference between a node's clock and the database's past which the node is not ready and leaves
// its shards to others: a check, never a source of time (engine.md, section 2).
const ClockTolerance = 500 * time.Millisecond

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

// shardOf is the shard that a sender belongs to.
func shardOf(senderUID int64) int { return int(senderUID % carillon.Shards) }

// Holds tells whether this node may start sends now.
func (q *Queue) Holds() bool { return q.beat.valid() }

// Owns tells whether this node holds a shard, as far as it knows: what one node should do and two may.
func (q *Queue) Owns(shard int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, mine := q.owned[shard]
	return mine
}

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
	if err := q.hold(ctx, shards); err != nil {
		return err
	}
	q.settled()
	return nil
}

func (q *Queue) settled() { q.once.Do(func() { close(q.ready) }) }

// hold recovers shards that are ours now and hands them to the pump.
func (q *Queue) hold(ctx context.Context, shards []store.Shard) error {
	if len(shards) == 0 {
		return nil
	}
	ids := make([]int, len(shards))
	for i, s := range shards {
		ids[i] = s.ID
	}
	inFlight, err := q.store.InFlight(ctx, ids)
	if err != nil {
		return err
	}
	for _, s := range shards {
		if err := q.recover(ctx, s, inFlight[s.ID]); err != nil {
			return err
		}
		q.mu.Lock()
		q.owned[s.ID] = s.Epoch
		q.events = append(q.events, gained(s)) // before any wake-up of it
		q.mu.Unlock()
		q.post()
	}
	return nil
}

// recover takes what earlier owners of a shard left in flight, of these senders, for unknown.
func (q *Queue) recover(ctx context.Context, s store.Shard, senders []int64) error {
	if len(senders) == 0 {
		return nil
	}
	n, err := q.store.Recover(ctx, s.ID, s.Epoch, time.Now(), senders, func(uid int64) time.Duration {
		sender, _, err := q.o.Sender(ctx, uid)
		if err != nil {
			return carillon.DefaultUnknownPolicy().After
		}
		return sender.Unknown.After
	})
	if n > 0 {
		q.o.Log.WarnContext(ctx, "found messages in flight whose outcome is unknown", "shard", s.ID, "messages", n)
	}
	return err
}

func (q *Queue) disown(shard int, epoch int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.owned[shard] == epoch {
		delete(q.owned, shard)
	}
}

// validity tells a message that starts in a shard whether it may still be sent: this node may start sends, and has not lost
// the shard since. A node that was declared dead and came back may send nothing that it started before.
func (q *Queue) validity(shard int, epoch int64) func() bool {
	if q.beat.forever.Load() {
		return q.beat.valid
	}
	return func() bool { return q.ownsAt(shard, epoch) && q.beat.valid() }
}

// ownsAt tells whether this node holds a shard in an epoch.
func (q *Queue) ownsAt(shard int, epoch int64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	owned, mine := q.owned[shard]
	return mine && owned == epoch
}

// own keeps the beat and this node's share of the shards until ctx ends, and from then on the beat alone until it is
// drained: were it declared dead meanwhile, others would take its sends in flight for unknown.
// Its error ends the queue: a newer program migrated the database in a way that this one cannot work with.
func (q *Queue) own(ctx context.Context, drained <-chan struct{}) error {
	if q.alone() {
		return nil
	}
	c := caretaker{q: q, lapse: time.AfterFunc(startFor, q.lapsed)}
	defer c.lapse.Stop()
	tick := time.NewTimer(0)
	defer tick.Stop()
	for {
		select {
		case <-drained:
			return nil
		case <-q.look:
		case <-tick.C:
		}
		err := c.turn(context.WithoutCancel(ctx), ctx.Err() != nil)
		if errors.Is(err, store.ErrNewerSchema) {
			return err
		}
		if err != nil {
			q.o.Log.WarnContext(ctx, "keep the beat", "error", err)
		}
		if c.suspicious {
			tick.Reset(hurry)
		} else {
			tick.Reset(beatEvery)
		}
	}
}

// caretaker is what own remembers from turn to turn.
type caretaker struct {
	q          *Queue
	watch      watch
	suspicious bool        // another node may be dead: look more often
	lapse      *time.Timer // fires when this node may not start anything any more
	off        bool        // the clock was wrong at the last turn
}

// turn beats once, looks at the others, and takes or gives shards; one that is leaving only beats.
func (c *caretaker) turn(ctx context.Context, leaving bool) error {
	q := c.q
	ctx, cancel := context.WithTimeout(ctx, startFor)
	defer cancel()
	q.forgetGiven()
	if err := q.store.Served(ctx); err != nil {
		return err
	}
	fit, err := c.fitness(ctx, leaving)
	if err != nil {
		return err
	}
	begin := bootTime()
	alive, err := q.store.Beat(ctx, q.id, fit)
	if err != nil {
		return err
	}
	switch {
	case !alive && leaving:
		return nil
	case !alive:
		return q.rejoin(ctx)
	}
	c.beaten(begin)
	if leaving {
		return nil
	}
	nodes, shards, err := q.store.Cluster(ctx)
	if err != nil {
		return err
	}
	deposed, err := c.depose(ctx, nodes)
	if err != nil {
		return err
	}
	if deposed {
		if nodes, shards, err = q.store.Cluster(ctx); err != nil {
			return err
		}
	}
	if err := q.share(ctx, part(nodes, q.id), shards); err != nil {
		return err
	}
	q.settled()
	return nil
}

// beaten notes a successful beat that began at an instant. Where the lease had run out before it, as on a machine that
// slept, on which timers stand still, that is told first.
func (c *caretaker) beaten(begin int64) {
	b := &c.q.beat
	if b.last.Load() != 0 && !b.valid() {
		c.q.lapsed()
	}
	b.last.Store(begin)
	c.lapse.Reset(max(0, startFor-time.Duration(bootTime()-begin)))
}

// lapsed runs when the lease is over: connections that were opened under it carry nothing any more.
func (q *Queue) lapsed() {
	q.o.Log.Warn("could not tell the other nodes that this one is alive; it starts nothing")
	if q.o.Lapsed != nil {
		q.o.Lapsed()
	}
}

// fitness tells how far this node is to be given shards.
func (c *caretaker) fitness(ctx context.Context, leaving bool) (store.Fitness, error) {
	if leaving {
		return store.Leaving, nil
	}
	offset, err := c.q.store.ClockOffset(ctx)
	if err != nil {
		return 0, err
	}
	off := offset.Abs() > ClockTolerance
	if off && !c.off {
		c.q.o.Log.ErrorContext(ctx, "the clock of this node differs from the database's; other nodes shall deliver", "offset", offset)
	}
	if c.off = off; off {
		return store.ClockOff, nil
	}
	return store.Fit, nil
}

// part is the number of shards that a node is to own: they are divided among the fittest.
func part(nodes []store.Node, id string) int {
	var most, mine store.Fitness
	n := 0
	for _, x := range nodes {
		if x.Fit > most {
			most, n = x.Fit, 0
		}
		if x.Fit == most {
			n++
		}
		if x.ID == id {
			mine = x.Fit
		}
	}
	if mine < most || mine == store.Leaving {
		return 0
	}
	return (carillon.Shards + n - 1) / n
}

// keepSession holds the session open by which the database knows that this process lives, until ctx ends.
func (q *Queue) keepSession(ctx context.Context) {
	for ctx.Err() == nil {
		err := q.store.KeepSession(ctx, q.ID())
		if ctx.Err() != nil {
			return
		}
		q.o.Log.WarnContext(ctx, "keep this node's session", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(sessionRetry):
		}
	}
}

// rejoin comes back after having been declared dead: with nothing.
func (q *Queue) rejoin(ctx context.Context) error {
	q.o.Log.WarnContext(ctx, "was declared dead by another node; joining anew")
	q.beat.last.Store(0)
	q.mu.Lock()
	owned := q.owned
	q.owned = map[int]int64{}
	q.mu.Unlock()
	for id, epoch := range owned {
		q.post(lost{ID: id, Epoch: epoch})
	}
	return q.store.Join(ctx, q.id, q.o.Name)
}

func (c *caretaker) depose(ctx context.Context, nodes []store.Node) (any bool, err error) {
	q := c.q
	dead, suspicious := c.watch.look(nodes, q.id, time.Now())
	c.suspicious = suspicious
	for _, n := range dead {
		deposed, err := q.store.Depose(ctx, n.ID, n.Beat)
		if err != nil {
			return any, err
		}
		if !deposed {
			continue
		}
		any = true
		q.o.Log.WarnContext(ctx, "declared a node dead", "node", n.ID, "session", n.Session)
		if q.o.Deposed != nil {
			q.o.Deposed()
		}
	}
	return any, nil
}

// share takes free shards up to this node's part of them, and hands over what it holds beyond.
func (q *Queue) share(ctx context.Context, part int, shards []store.Shard) error {
	mine := 0
	var unheld []store.Shard
	for _, s := range shards {
		q.mu.Lock()
		epoch, held := q.owned[s.ID]
		_, giving := q.giving[s.ID]
		q.mu.Unlock()
		switch {
		case giving:
		case s.Owner == q.id && held && epoch == s.Epoch:
			mine++
		case s.Owner == q.id: // taken, but not yet recovered
			unheld = append(unheld, s)
			mine++
		case held:
			q.giveUp(s.ID, epoch)
		}
	}
	free := make([]int, 0, len(shards))
	for _, s := range shards {
		if s.Owner == "" && mine+len(free) < part {
			free = append(free, s.ID)
		}
	}
	taken, err := q.store.Take(ctx, free, q.id)
	if err != nil {
		return err
	}
	if err := q.hold(ctx, append(unheld, taken...)); err != nil {
		return err
	}
	excess := max(0, mine+len(taken)-part)
	q.post(rebalance(excess))
	return nil
}

// giveUp tells the pump that a shard is not ours any more.
func (q *Queue) giveUp(shard int, epoch int64) {
	q.mu.Lock()
	delete(q.owned, shard)
	q.mu.Unlock()
	q.post(lost{ID: shard, Epoch: epoch})
}

// leave gives everything back, so that another node or the next start need not wait.
func (q *Queue) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	q.beat.last.Store(0)
	// What is accepted from now on, and was since the pump ended, is for the others.
	q.mu.Lock()
	q.owned = map[int]int64{}
	q.mu.Unlock()
	var late []Wake
	for _, e := range q.takeEvents() {
		if ws, ok := e.(woken); ok {
			late = append(late, ws...)
		}
	}
	if err := q.store.Leave(ctx, q.id); err != nil {
		q.o.Log.WarnContext(ctx, "leave the nodes", "error", err)
		return
	}
	q.moved()
	if len(late) > 0 && q.o.Publish != nil {
		q.o.Publish(late)
	}
}
