package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/db"
	"carillon/internal/store/work"
)

// Shards and nodes. `node.beat` is a counter, never a time: who watches it measures with its own
// clock how long it stood still.

// Node is one row of the nodes' table.
type Node struct {
	ID      string
	Beat    int64
	Fit     Fitness
	Session bool // PostgreSQL: the node's process holds its session open (KeepSession)
}

// Fitness tells how far a node is to be given shards: they go to the fittest alone.
type Fitness int

// How fit a node is.
const (
	Leaving  Fitness = iota // it gives back what it has, and takes nothing
	ClockOff                // its clock is wrong: only where every node's is
	Fit
)

// Shard is one row of the shards' table; Owner empty: free.
type Shard struct {
	ID    int
	Owner string
	Epoch int64
}

// Join adds this node, with a slot for the numbers of its notifications, and makes the shards' rows on an empty database.
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

// pickSlot finds a slot that no other node has, and locks out others that join meanwhile. It is one of the free ones at
// random: the last that was freed may be in use still, by a node that does not know yet that it was declared dead. Where
// two nodes have one, as more than NodeSlots of them must, an accept whose number is taken takes another.
func (tx *Tx) pickSlot(ctx context.Context, id string) (int, error) {
	if tx.SQLite() {
		return 0, nil // there is one node
	}
	if _, err := tx.Exec(ctx, "UPDATE meta SET value = value WHERE name = 'generation'"); err != nil {
		return 0, err
	}
	rows, err := tx.Query(ctx, "SELECT id, slot FROM node")
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }()
	var taken [carillon.NodeSlots]bool
	for rows.Next() {
		var other string
		var slot int
		if err := rows.Scan(&other, &slot); err != nil {
			return 0, err
		}
		if other == id { // it has joined before
			return slot, nil
		}
		taken[slot%carillon.NodeSlots] = true
	}
	slots := mathrand.Perm(carillon.NodeSlots) //nolint:gosec // no secret
	for _, slot := range slots {
		if !taken[slot] {
			return slot, rows.Err()
		}
	}
	return slots[0], rows.Err()
}

// Beat raises the node's counter and says how fit it is; false: the node was declared dead.
func (s *Store) Beat(ctx context.Context, id string, fit Fitness) (alive bool, err error) {
	err = s.Update(ctx, func(ctx context.Context, tx *Tx) error {
		n, err := tx.Exec(ctx, "UPDATE node SET beat = beat + 1, fit = $2 WHERE id = $1", id, int(fit))
		alive = n == 1
		return err
	})
	if err != nil {
		return false, fmt.Errorf("beat: %w", err)
	}
	return alive, nil
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
	rows, err := s.Query(ctx, "SELECT id, beat, fit FROM node ORDER BY id")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var nodes []Node
	for rows.Next() {
		var n Node
		if err := rows.Scan(&n.ID, &n.Beat, &n.Fit); err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return nodes, rows.Err()
}

func (s *Store) shards(ctx context.Context) ([]Shard, error) {
	rows, err := s.Query(ctx, "SELECT id, COALESCE(owner, ''), epoch FROM shard ORDER BY id")
	if err != nil {
		return nil, fmt.Errorf("read shards: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var all []Shard
	for rows.Next() {
		var x Shard
		if err := rows.Scan(&x.ID, &x.Owner, &x.Epoch); err != nil {
			return nil, fmt.Errorf("read shards: %w", err)
		}
		all = append(all, x)
	}
	return all, rows.Err()
}

// Depose declares a node dead whose beat stood still at the value seen, and frees its shards. False: it was alive.
func (s *Store) Depose(ctx context.Context, id string, beat int64) (deposed bool, err error) {
	err = s.Update(ctx, func(ctx context.Context, tx *Tx) error {
		n, err := tx.Exec(ctx, "DELETE FROM node WHERE id = $1 AND beat = $2", id, beat)
		if deposed = n == 1; err != nil || !deposed {
			return err
		}
		_, err = tx.Exec(ctx, "UPDATE shard SET owner = NULL, epoch = epoch + 1 WHERE owner = $1", id)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("depose: %w", err)
	}
	return deposed, nil
}

// Leave gives back the node's shards and takes it off the list: the clean way to stop.
func (s *Store) Leave(ctx context.Context, id string) error {
	return s.Update(ctx, func(ctx context.Context, tx *Tx) error {
		if _, err := tx.Exec(ctx, "UPDATE shard SET owner = NULL, epoch = epoch + 1 WHERE owner = $1", id); err != nil {
			return fmt.Errorf("leave: %w", err)
		}
		_, err := tx.Exec(ctx, "DELETE FROM node WHERE id = $1", id)
		return err
	})
}

// Give frees shards that this node owns at these epochs, for other nodes to take. They are sorted by shard.
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

// TakeAll takes every shard from whoever had it: on SQLite one process owns the folder, so what was before is dead.
func (s *Store) TakeAll(ctx context.Context, owner string) error {
	return s.Update(ctx, func(ctx context.Context, tx *Tx) error {
		if _, err := tx.Exec(ctx, "DELETE FROM node WHERE id <> $1", owner); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "UPDATE shard SET owner = $1, epoch = epoch + 1", owner)
		return err
	})
}

// Take takes those of the shards, sorted, that are free still; where another node was faster it is not among the taken.
func (s *Store) Take(ctx context.Context, shards []int, owner string) (taken []Shard, err error) {
	if len(shards) == 0 {
		return nil, nil
	}
	err = s.Update(ctx, func(ctx context.Context, tx *Tx) error {
		taken = nil
		order := ""
		if !s.SQLite() {
			order = " ORDER BY id FOR UPDATE" // the order of locks
		}
		rows, err := tx.Query(ctx, "UPDATE shard SET owner = $1, epoch = epoch + 1 WHERE id IN (SELECT id FROM shard WHERE owner IS NULL AND id IN ("+
			listed(shards)+")"+order+") RETURNING id, epoch", owner)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			x := Shard{Owner: owner}
			if err := rows.Scan(&x.ID, &x.Epoch); err != nil {
				return err
			}
			taken = append(taken, x)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("take shards: %w", err)
	}
	slices.SortFunc(taken, func(a, b Shard) int { return cmp.Compare(a.ID, b.ID) })
	return taken, nil
}

// listed are the shards' numbers as a query names them.
func listed(shards []int) string {
	var b []byte
	for i, id := range shards {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(id), 10)
	}
	return string(b)
}

// InFlight finds the senders of which shards have messages in flight or of unknown outcome, by shard.
func (s *Store) InFlight(ctx context.Context, shards []int) (map[int][]int64, error) {
	rows, err := s.Query(ctx, "SELECT DISTINCT shard, sender FROM message WHERE q >= 2 AND shard IN ("+listed(shards)+")")
	if err != nil {
		return nil, fmt.Errorf("look for messages in flight: %w", err)
	}
	defer func() { _ = rows.Close() }()
	senders := map[int][]int64{}
	for rows.Next() {
		var shard int
		var uid int64
		if err := rows.Scan(&shard, &uid); err != nil {
			return nil, fmt.Errorf("look for messages in flight: %w", err)
		}
		senders[shard] = append(senders[shard], uid)
	}
	return senders, rows.Err()
}

const (
	recoverAll      = "UPDATE message SET q = 3, due_at = $1 WHERE shard = $2 AND q >= 2 AND (q = 3 OR epoch < $3) AND sender "
	recoverPostgres = recoverAll + "= ANY($4)"
	recoverSQLite   = recoverAll + "IN (SELECT value FROM json_each($4))"
)

// Recover marks what earlier owners of a shard left in flight as unknown, and begins the wait of every unknown one anew,
// because receipts may have been missed: each waits its sender's time from now. The senders are those that InFlight finds
// once the shard is taken: from then on no earlier owner starts anything. It gives the number of messages.
func (s *Store) Recover(ctx context.Context, shard int, epoch int64, now time.Time, senders []int64, wait func(senderUID int64) time.Duration) (int64, error) {
	waits := map[time.Duration][]int64{} // looked up before: a transaction does not wait for another connection
	for _, uid := range senders {
		w := wait(uid)
		waits[w] = append(waits[w], uid)
	}
	var total int64
	err := s.Update(ctx, func(ctx context.Context, tx *Tx) error {
		total = 0
		for w, uids := range waits { // one pass for all that wait as long: a pass goes through all of the shard that is in flight
			query, list := recoverPostgres, any(uids)
			if s.SQLite() {
				text, err := json.Marshal(uids)
				if err != nil {
					return err
				}
				query, list = recoverSQLite, string(text)
			}
			n, err := tx.Exec(ctx, query, db.Millis(now.Add(w)), shard, epoch, list)
			if err != nil {
				return err
			}
			total += n
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("recover shard: %w", err)
	}
	return total, nil
}
