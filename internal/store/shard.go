package store

import (
	"cmp"
	"context"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"time"

	"carillon"
	"carillon/internal/store/db"
	"carillon/internal/store/work"
)

// Shards and nodes. `node.beat` is a counter, not a time: an observer measures with its own clock how long it was unchanged
// (docs/adr/0007).

// Node is one row of the nodes' table.
type Node struct {
	ID      string
	Name    string // its host, for people
	Beat    int64
	Fit     Fitness
	Session bool // PostgreSQL: the node's process holds its session open (KeepSession)
}

// Fitness is how suitable a node is for shards, which only the fittest nodes get.
type Fitness int

// The values of Fitness.
const (
	Leaving  Fitness = iota // it hands its shards over and acquires none
	ClockOff                // its clock is wrong: it gets shards only if every node's is
	Fit
)

// Shard is one row of the shards' table; a free one has no Owner.
type Shard struct {
	ID    int
	Owner string
	Epoch int64
}

// Join adds this node with a slot for the numbers of its notifications, and creates the shards' rows on an empty database.
func (s *Store) Join(ctx context.Context, id, name string) error {
	slot := 0
	err := s.Update(ctx, func(ctx context.Context, tx *Tx) (err error) {
		if slot, err = tx.pickSlot(ctx, id); err != nil {
			return fmt.Errorf("pick a slot: %w", err)
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
			if _, err := tx.Exec(ctx, "INSERT INTO shard (id, owner, epoch, writes) VALUES ($1, NULL, 0, 0) ON CONFLICT (id) DO NOTHING", shard); err != nil {
				return fmt.Errorf("make shards: %w", err)
			}
		}
		return nil
	})
	if err == nil {
		s.ids.SetSlot(slot)
		s.nodeID.Store(id)
	}
	return err
}

// pickSlot returns a random slot that no other node has, and locks out nodes that join meanwhile. It is random because a node
// that was declared dead may still use the last freed one. More than NodeSlots nodes share slots; an accept whose number is
// used then tries another id (docs/adr/0015).
func (tx *Tx) pickSlot(ctx context.Context, id string) (int, error) {
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

// Beat increments the node's counter and stores its fitness; false means that the node was declared dead.
func (s *Store) Beat(ctx context.Context, id string, fit Fitness) (alive bool, err error) {
	n, err := s.Exec(ctx, "UPDATE node SET beat = beat + 1, fit = $2 WHERE id = $1", id, int(fit))
	return n == 1, db.Wrap(err, "beat")
}

// Cluster reads all nodes and all shards, by id.
func (s *Store) Cluster(ctx context.Context) (nodes []Node, shards []Shard, err error) {
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

func (s *Store) nodes(ctx context.Context) ([]Node, error) {
	return db.Collect(ctx, s, "nodes", func(scan db.Scan) (n Node, err error) {
		err = scan(&n.ID, &n.Name, &n.Beat, &n.Fit)
		return n, err
	}, "SELECT id, name, beat, fit FROM node ORDER BY id")
}

func (s *Store) shards(ctx context.Context) ([]Shard, error) {
	return db.Collect(ctx, s, "shards", func(scan db.Scan) (x Shard, err error) {
		err = scan(&x.ID, &x.Owner, &x.Epoch)
		return x, err
	}, "SELECT id, COALESCE(owner, ''), epoch FROM shard ORDER BY id")
}

// Depose declares a node dead if its beat still has the observed value, frees its shards, and reports whether it did.
func (s *Store) Depose(ctx context.Context, id string, beat int64) (deposed bool, err error) {
	deposed, err = returning(ctx, s, func(ctx context.Context, tx *Tx) (bool, error) {
		n, err := tx.Exec(ctx, "DELETE FROM node WHERE id = $1 AND beat = $2", id, beat)
		if err != nil || n != 1 {
			return false, err
		}
		_, err = tx.Exec(ctx, "UPDATE shard SET owner = NULL, epoch = epoch + 1 WHERE owner = $1", id)
		return true, err
	})
	return deposed, db.Wrap(err, "depose")
}

// Leave frees the node's shards and removes the node, when it stops in order.
func (s *Store) Leave(ctx context.Context, id string) error {
	return s.Update(ctx, func(ctx context.Context, tx *Tx) error {
		if _, err := tx.Exec(ctx, "UPDATE shard SET owner = NULL, epoch = epoch + 1 WHERE owner = $1", id); err != nil {
			return fmt.Errorf("leave: %w", err)
		}
		_, err := tx.Exec(ctx, "DELETE FROM node WHERE id = $1", id)
		return err
	})
}

// Give frees shards that this node owns at these epochs, sorted by shard, so that other nodes can acquire them.
func (s *Store) Give(ctx context.Context, fences []work.Fence) error {
	slices.SortFunc(fences, func(a, b work.Fence) int { return cmp.Compare(a.Shard, b.Shard) })
	return s.Update(ctx, func(ctx context.Context, tx *Tx) error {
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
func (s *Store) TakeAll(ctx context.Context, owner string) error {
	return s.Update(ctx, func(ctx context.Context, tx *Tx) error {
		if _, err := tx.Exec(ctx, "DELETE FROM node WHERE id <> $1", owner); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "UPDATE shard SET owner = $1, epoch = epoch + 1", owner)
		return err
	})
}

// Take acquires those of the sorted shards that are still free, and returns them.
func (s *Store) Take(ctx context.Context, shards []int, owner string) (taken []Shard, err error) {
	if len(shards) == 0 {
		return nil, nil
	}
	order := ""
	if !s.SQLite() {
		order = " ORDER BY id FOR UPDATE" // the lock order
	}
	taken, err = returning(ctx, s, func(ctx context.Context, tx *Tx) ([]Shard, error) {
		return db.Collect(ctx, tx, "shards", func(scan db.Scan) (Shard, error) {
			x := Shard{Owner: owner}
			err := scan(&x.ID, &x.Epoch)
			return x, err
		}, "UPDATE shard SET owner = $1, epoch = epoch + 1 WHERE id IN (SELECT id FROM shard WHERE owner IS NULL AND id "+s.In(2)+order+
			") RETURNING id, epoch", owner, s.List(shards))
	})
	slices.SortFunc(taken, func(a, b Shard) int { return cmp.Compare(a.ID, b.ID) })
	return taken, db.Wrap(err, "take shards")
}

// InFlight returns, by shard, the senders with messages in flight or of unknown outcome.
func (s *Store) InFlight(ctx context.Context, shards []int) (map[int][]int64, error) {
	senders := map[int][]int64{}
	err := db.Each(ctx, s, func(scan db.Scan) error {
		var shard int
		var uid int64
		err := scan(&shard, &uid)
		senders[shard] = append(senders[shard], uid)
		return err
	}, "SELECT DISTINCT shard, sender FROM message WHERE q >= 2 AND shard "+s.In(1), s.List(shards))
	return senders, db.Wrap(err, "find messages in flight")
}

// Recover marks messages that earlier owners of a shard left in flight as unknown, and restarts the wait of all unknown ones,
// because receipts may have been missed. The senders are those that InFlight returns once the shard is acquired: from then on
// no earlier owner starts anything. It returns the number of messages.
func (s *Store) Recover(ctx context.Context, shard int, epoch int64, now time.Time, senders []int64, wait func(senderUID int64) time.Duration) (int64, error) {
	waits := map[time.Duration][]int64{} // computed first, because a transaction must not wait for another connection
	for _, uid := range senders {
		w := wait(uid)
		waits[w] = append(waits[w], uid)
	}
	total, err := returning(ctx, s, func(ctx context.Context, tx *Tx) (total int64, err error) {
		for w, uids := range waits { // one statement for all with the same wait, since each scans the shard's rows in flight
			n, err := tx.Exec(ctx, "UPDATE message SET q = 3, due_at = $1 WHERE shard = $2 AND q >= 2 AND (q = 3 OR epoch < $3) AND sender "+s.In(4),
				db.Millis(now.Add(w)), shard, epoch, s.List(uids))
			if err != nil {
				return 0, err
			}
			total += n
		}
		return total, nil
	})
	return total, db.Wrap(err, "recover shard")
}
