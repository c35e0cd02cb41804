package membership

import (
	"context"
	"errors"
	"time"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/work"
)

// Keep keeps the beat and this node's part of the shards until ctx ends, and after that only the beat until drained is
// closed: if the node were declared dead meanwhile, others would mark its sends in flight as unknown. It returns an
// error if a newer program migrated the database in a way that this one cannot work with.
func (m *Membership) Keep(ctx context.Context, drained <-chan struct{}) error {
	if m.Alone() {
		return nil
	}
	k := keeper{m: m, lapse: time.AfterFunc(LeaseTime, m.lapsed)}
	defer k.lapse.Stop()
	tick := time.NewTimer(0)
	defer tick.Stop()
	for {
		select {
		case <-drained:
			return nil
		case <-m.look:
		case <-tick.C:
		}
		err := k.turn(context.WithoutCancel(ctx), ctx.Err() != nil)
		if errors.Is(err, store.ErrNewerSchema) {
			return err
		}
		if err != nil {
			m.o.Log.WarnContext(ctx, "keep the beat", "error", err)
		}
		if k.suspicious {
			tick.Reset(beatHurry)
		} else {
			tick.Reset(beatEvery)
		}
	}
}

// keeper is the state of Keep between turns.
type keeper struct {
	m          *Membership
	watch      watch
	witness    witness
	suspicious bool        // another node may be dead: check more often
	lapse      *time.Timer // fires when this node may no longer start work
	nodes      []work.Node // as of the last turn
}

// turn beats once, checks the other nodes, and takes or gives shards; a leaving node only beats.
func (k *keeper) turn(ctx context.Context, leaving bool) error {
	m := k.m
	ctx, cancel := context.WithTimeout(ctx, LeaseTime)
	defer cancel()
	m.forgetGiven()
	if err := m.store.DB.Health.Served(ctx); err != nil {
		return err
	}
	if err := m.store.Adopt(ctx); err != nil {
		return err
	}
	if err := m.store.Lost(ctx); errors.Is(err, store.ErrLostCommits) {
		return k.distrust(ctx, "another node found it")
	} else if err != nil {
		return err
	}
	if k.nodes == nil { // a clock is compared with theirs before the first shard is taken
		var err error
		if k.nodes, _, err = m.store.Nodes.Cluster(ctx); err != nil {
			return err
		}
	}
	ahead, err := m.clock.read(ctx, m, k.nodes)
	if err != nil {
		return err
	}
	fit := work.Fit
	switch {
	case leaving:
		fit = work.Leaving
	case !m.clock.fit():
		fit = work.ClockOff
	}
	begin := bootTime()
	alive, err := m.store.Nodes.Beat(ctx, work.Node{ID: m.id, Fit: fit, Ahead: ahead, Events: m.o.Events})
	switch {
	case err != nil:
		return err
	case !alive:
		k.witness.beat = 0
		return m.rejoin(ctx)
	}
	k.renew(begin)
	if leaving {
		return nil
	}
	nodes, shards, err := m.store.Nodes.Cluster(ctx)
	if err != nil {
		return err
	}
	if evidence := k.witness.look(nodes, shards, m.id); evidence != "" {
		return k.distrust(ctx, evidence)
	}
	k.nodes = nodes
	deposed, err := k.depose(ctx, nodes)
	if err != nil {
		return err
	}
	if deposed {
		if nodes, shards, err = m.store.Nodes.Cluster(ctx); err != nil {
			return err
		}
	}
	m.event.set(nodes)
	if err := m.rebalance(ctx, part(nodes, m.id), shards); err != nil {
		return err
	}
	m.joined()
	return nil
}

// distrust ends all work on a database that lost commits.
func (k *keeper) distrust(ctx context.Context, evidence string) error {
	k.m.Stop()
	return k.m.store.Distrust(ctx, evidence)
}

// renew extends the lease after a successful beat that began at the given time. If the lease had expired before, for
// example on a suspended machine, whose timers stand still, it first reports that.
func (k *keeper) renew(begin int64) {
	l := &k.m.lease
	if l.last.Load() != 0 && !l.valid() {
		k.m.lapsed()
	}
	l.last.Store(begin)
	k.lapse.Reset(max(0, LeaseTime-time.Duration(bootTime()-begin)))
}

// lapsed runs at the end of the lease and closes connections that were opened under it.
func (m *Membership) lapsed() {
	m.o.Log.Warn("could not show the other nodes that this one is alive; it starts nothing")
	if m.o.Lapsed != nil {
		m.o.Lapsed()
	}
}

// part returns the number of shards that a node should own: the fittest nodes share them, and of these, nodes for events
// own some only if there is no other.
func part(nodes []work.Node, id string) int {
	type rank struct {
		fit   work.Fitness
		other bool // than a node for events
	}
	above := func(a, b rank) bool { return a.fit > b.fit || a.fit == b.fit && a.other && !b.other }
	var most, mine rank
	n := 0
	for _, x := range nodes {
		r := rank{x.Fit, !x.Events}
		if above(r, most) {
			most, n = r, 0
		}
		if r == most {
			n++
		}
		if x.ID == id {
			mine = r
		}
	}
	if mine != most || mine.fit == work.Leaving {
		return 0
	}
	return (carillon.Shards + n - 1) / n
}

// rejoin joins again without shards after this node was declared dead.
func (m *Membership) rejoin(ctx context.Context) error {
	m.o.Log.WarnContext(ctx, "was declared dead by another node; joining again", "node", m.id)
	m.lease.last.Store(0)
	m.mu.Lock()
	owned := m.owned
	m.owned = map[int]int64{}
	m.mu.Unlock()
	for id, epoch := range owned {
		m.sub.Lost(work.Shard{ID: id, Epoch: epoch})
	}
	return m.store.Nodes.Join(ctx, m.id, m.o.Name)
}

// depose declares dead nodes dead, and reports whether there were any.
func (k *keeper) depose(ctx context.Context, nodes []work.Node) (any bool, err error) {
	m := k.m
	dead, suspicious := k.watch.look(nodes, m.id, time.Now())
	k.suspicious = suspicious
	for _, n := range dead {
		deposed, err := m.store.Nodes.Depose(ctx, n.ID, n.Beat)
		if err != nil {
			return any, err
		}
		if !deposed {
			continue
		}
		any = true
		m.o.Log.WarnContext(ctx, "declared a node dead", "node", n.ID, "host", n.Name, "session", n.Session)
		if m.o.Deposed != nil {
			m.o.Deposed()
		}
	}
	return any, nil
}

// rebalance takes free shards up to this node's part, and reports the number of surplus shards.
func (m *Membership) rebalance(ctx context.Context, part int, shards []work.Shard) error {
	mine := 0
	var unheld, gone []work.Shard
	m.mu.Lock()
	for _, s := range shards {
		epoch, held := m.owned[s.ID]
		_, giving := m.giving[s.ID]
		switch {
		case giving:
		case s.Owner == m.id && held && epoch == s.Epoch:
			mine++
		case s.Owner == m.id: // taken, but not yet recovered
			unheld = append(unheld, s)
			mine++
		case held:
			delete(m.owned, s.ID)
			gone = append(gone, work.Shard{ID: s.ID, Epoch: epoch})
		}
	}
	m.mu.Unlock()
	for _, s := range gone {
		m.sub.Lost(s)
	}
	free := make([]int, 0, len(shards))
	for _, s := range shards {
		if s.Owner == "" && mine+len(free) < part {
			free = append(free, s.ID)
		}
	}
	taken, err := m.store.Nodes.Take(ctx, free, m.id)
	if err != nil {
		return err
	}
	if err := m.hold(ctx, append(unheld, taken...)); err != nil {
		return err
	}
	m.sub.Rebalance(max(0, mine+len(taken)-part))
	return nil
}

// forgetGiven removes completed hand-overs; from then on the database decides.
func (m *Membership) forgetGiven() {
	m.mu.Lock()
	for id, under := range m.giving {
		if !under {
			delete(m.giving, id)
		}
	}
	m.mu.Unlock()
}
