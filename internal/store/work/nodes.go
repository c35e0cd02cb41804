package work

import (
	"cmp"
	"context"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"carillon"
	"carillon/internal/store/db"
)

// Nodes are the tables of nodes and shards. Its methods are safe for concurrent use.
type Nodes struct {
	d   *db.DB
	ids *Sequence
	id  atomic.Value // string
}

// NewNodes returns the tables of a database. ids get the slot of this node when it joins.
func NewNodes(d *db.DB, ids *Sequence) *Nodes {
	s := &Nodes{d: d, ids: ids}
	s.id.Store("")
	return s
}

// ID returns this node's id, once it has joined the others.
func (s *Nodes) ID() string { return s.id.Load().(string) }

// `node.beat` is a counter, not a time: observers measure with their own clocks how long it was unchanged
// (docs/adr/0007).

// Node is one row of the nodes' table.
type Node struct {
	ID      string
	Name    string // its host name, for people
	Beat    int64
	Fit     Fitness
	Ahead   time.Duration // of the database's clock
	Events  bool          // it is set apart for events
	Session bool          // PostgreSQL: the node's process holds its session open (KeepSession)
}

// Fitness is the suitability of a node for shards, which only the fittest nodes get.
type Fitness int

// The values of Fitness.
const (
	Leaving  Fitness = iota // it hands its shards over and acquires none
	ClockOff                // its clock is ahead of the other nodes': it would start work early
	Fit
)

// Shard is one row of the shards table; a free one has no Owner.
type Shard struct {
	ID    int
	Owner string
	Epoch int64
}

// Join adds this node with a slot for the numbers of its notifications, and creates the shards' rows on an empty database.
func (s *Nodes) Join(ctx context.Context, id, name string) error {
	slot := 0
	err := s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if slot, err = pickSlot(ctx, tx, id); err != nil {
			return fmt.Errorf("pick a slot: %w", err)
		}
		cell := 0
		if err := tx.Row(ctx, []any{&cell}, "SELECT COALESCE(MAX(value), 0) FROM meta WHERE name = 'cell'"); err != nil {
			return fmt.Errorf("read the cell: %w", err)
		}
		if cell != s.ids.Cell() { // changed since this process read it
			return fmt.Errorf("the installation is cell %d by now, and this node was started for cell %d", cell, s.ids.Cell())
		}
		if _, err := tx.Exec(ctx, "INSERT INTO node (id, beat, name, fit, slot) VALUES ($1, 1, $2, $3, $4) ON CONFLICT (id) DO NOTHING",
			id, name, int(Fit), slot); err != nil {
			return fmt.Errorf("join: %w", err)
		}
		made := 0
		if err := tx.Row(ctx, []any{&made}, "SELECT COUNT(*) FROM shard"); err != nil || made == carillon.Shards {
			return err
		}
		for shard := range carillon.Shards {
			if _, err := tx.Exec(ctx, "INSERT INTO shard (id, owner, epoch, writes) VALUES ($1, NULL, 0, 0) ON CONFLICT (id) DO NOTHING",
				shard); err != nil {
				return fmt.Errorf("make shards: %w", err)
			}
		}
		return nil
	})
	if err == nil {
		s.ids.SetSlot(slot)
		s.id.Store(id)
	}
	return err
}

// pickSlot returns a random slot that no other node has, and locks out concurrently joining nodes. It is random
// because a node that was declared dead may still use the last freed one. More than NodeSlots nodes share slots; an
// accept whose number is taken then tries another id (docs/adr/0015).
func pickSlot(ctx context.Context, tx *db.Tx, id string) (int, error) {
	if tx.SQLite() {
		return 0, nil // there is one node
	}
	if _, err := tx.Exec(ctx, "UPDATE meta SET value = value WHERE name = 'generation'"); err != nil {
		return 0, err
	}
	own := -1
	var taken [carillon.NodeSlots]bool
	err := db.Each(ctx, tx, func(scan db.Scan) error {
		var other string
		var slot int
		err := scan(&other, &slot)
		if other == id { // it has joined before
			own = slot
		}
		taken[slot%carillon.NodeSlots] = true
		return err
	}, "SELECT id, slot FROM node")
	if err != nil || own >= 0 {
		return own, err
	}
	slots := mathrand.Perm(carillon.NodeSlots) //nolint:gosec // no secret
	for _, slot := range slots {
		if !taken[slot] {
			return slot, nil
		}
	}
	return slots[0], nil
}

// Beat increments the counter of a node and stores its state; false means that the node was declared dead.
func (s *Nodes) Beat(ctx context.Context, n Node) (alive bool, err error) {
	rows, err := s.d.Exec(ctx, "UPDATE node SET beat = beat + 1, fit = $2, ahead = $3, events_only = $4 WHERE id = $1", n.ID, int(n.Fit),
		n.Ahead.Milliseconds(), n.Events)
	return rows == 1, db.Wrap(err, "beat")
}

// Cluster reads all nodes and all shards, by id.
func (s *Nodes) Cluster(ctx context.Context) (nodes []Node, shards []Shard, err error) {
	if nodes, err = s.nodes(ctx); err != nil {
		return nil, nil, fmt.Errorf("read nodes: %w", err)
	}
	sessions, err := s.sessions(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("read the nodes' sessions: %w", err)
	}
	for i := range nodes {
		nodes[i].Session = sessions[sessionKey(nodes[i].ID)]
	}
	shards, err = s.shards(ctx)
	return nodes, shards, err
}

func (s *Nodes) nodes(ctx context.Context) ([]Node, error) {
	return db.Collect(ctx, s.d, "nodes", func(scan db.Scan) (n Node, err error) {
		var ahead int64
		err = scan(&n.ID, &n.Name, &n.Beat, &n.Fit, &ahead, &n.Events)
		n.Ahead = time.Duration(ahead) * time.Millisecond
		return n, err
	}, "SELECT id, name, beat, fit, ahead, events_only FROM node ORDER BY id")
}

func (s *Nodes) shards(ctx context.Context) ([]Shard, error) {
	return db.Collect(ctx, s.d, "shards", func(scan db.Scan) (x Shard, err error) {
		err = scan(&x.ID, &x.Owner, &x.Epoch)
		return x, err
	}, "SELECT id, COALESCE(owner, ''), epoch FROM shard ORDER BY id")
}

// Depose declares a node dead if its beat still has the observed value, frees its shards, and reports whether it did.
func (s *Nodes) Depose(ctx context.Context, id string, beat int64) (deposed bool, err error) {
	deposed, err = db.Returning(ctx, s.d, func(ctx context.Context, tx *db.Tx) (bool, error) {
		n, err := tx.Exec(ctx, "DELETE FROM node WHERE id = $1 AND beat = $2", id, beat)
		if err != nil || n != 1 {
			return false, err
		}
		_, err = tx.Exec(ctx, "UPDATE shard SET owner = NULL, epoch = epoch + 1 WHERE owner = $1", id)
		return true, err
	})
	return deposed, db.Wrap(err, "depose")
}

// Leave frees the node's shards and removes the node, on a clean stop.
func (s *Nodes) Leave(ctx context.Context, id string) error {
	return s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, "UPDATE shard SET owner = NULL, epoch = epoch + 1 WHERE owner = $1", id); err != nil {
			return fmt.Errorf("leave: %w", err)
		}
		_, err := tx.Exec(ctx, "DELETE FROM node WHERE id = $1", id)
		return err
	})
}

// Give frees shards that this node owns at these epochs, sorted by shard, so that other nodes can acquire them.
func (s *Nodes) Give(ctx context.Context, fences []Fence) error {
	slices.SortFunc(fences, func(a, b Fence) int { return cmp.Compare(a.Shard, b.Shard) })
	return s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		for _, f := range fences {
			if _, err := tx.Exec(ctx, "UPDATE shard SET owner = NULL, epoch = epoch + 1 WHERE id = $1 AND owner = $2 AND epoch = $3",
				f.Shard, f.Owner, f.Epoch); err != nil {
				return fmt.Errorf("give shard: %w", err)
			}
		}
		return nil
	})
}

// TakeAll acquires every shard, on SQLite, where one process owns the folder and so earlier owners are dead.
func (s *Nodes) TakeAll(ctx context.Context, owner string) error {
	return s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, "DELETE FROM node WHERE id <> $1", owner); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "UPDATE shard SET owner = $1, epoch = epoch + 1", owner)
		return err
	})
}

// Take acquires those of the sorted shards that are still free, and returns them.
func (s *Nodes) Take(ctx context.Context, shards []int, owner string) (taken []Shard, err error) {
	if len(shards) == 0 {
		return nil, nil
	}
	order := ""
	if !s.d.SQLite() {
		order = " ORDER BY id FOR UPDATE" // the lock order
	}
	taken, err = db.Returning(ctx, s.d, func(ctx context.Context, tx *db.Tx) ([]Shard, error) {
		return db.Collect(ctx, tx, "shards", func(scan db.Scan) (Shard, error) {
			x := Shard{Owner: owner}
			err := scan(&x.ID, &x.Epoch)
			return x, err
		}, "UPDATE shard SET owner = $1, epoch = epoch + 1 WHERE id IN (SELECT id FROM shard WHERE owner IS NULL AND id "+s.d.In(2)+order+
			") RETURNING id, epoch", owner, s.d.List(shards))
	})
	slices.SortFunc(taken, func(a, b Shard) int { return cmp.Compare(a.ID, b.ID) })
	return taken, db.Wrap(err, "take shards")
}
