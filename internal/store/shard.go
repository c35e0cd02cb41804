package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"carillon"
)

// Shards and nodes (engine.md, section 2). `node.beat` is a counter, never a time: who watches it measures with its own
// clock how long it stood still.

// Node is one row of the nodes' table.
type Node struct {
	ID   string
	Beat int64
}

// Shard is one row of the shards' table; Owner empty: free.
type Shard struct {
	ID    int
	Owner string
	Epoch int64
}

// Join adds this node and makes the shards' rows on an empty database.
func (s *Store) Join(ctx context.Context, id, name string) error {
	return s.Update(ctx, func(ctx context.Context, tx *Tx) error {
		if _, err := tx.exec(ctx, "INSERT INTO node (id, beat, name) VALUES ($1, 1, $2) ON CONFLICT (id) DO NOTHING", id, name); err != nil {
			return fmt.Errorf("join: %w", err)
		}
		for shard := range carillon.Shards {
			if _, err := tx.exec(ctx, "INSERT INTO shard (id, owner, epoch, writes) VALUES ($1, NULL, 0, 0) ON CONFLICT (id) DO NOTHING", shard); err != nil {
				return fmt.Errorf("make shards: %w", err)
			}
		}
		return nil
	})
}

// Beat raises the node's counter; false: the node was declared dead.
func (s *Store) Beat(ctx context.Context, id string) (alive bool, err error) {
	err = s.Update(ctx, func(ctx context.Context, tx *Tx) error {
		n, err := tx.exec(ctx, "UPDATE node SET beat = beat + 1 WHERE id = $1", id)
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
	rows, err := s.rows(ctx, "SELECT id, beat FROM node ORDER BY id")
	if err != nil {
		return nil, nil, fmt.Errorf("read nodes: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var n Node
		if err := rows.Scan(&n.ID, &n.Beat); err != nil {
			return nil, nil, fmt.Errorf("read nodes: %w", err)
		}
		nodes = append(nodes, n)
	}
	if err := rows.Err(); err != nil {
		return nil, nil, fmt.Errorf("read nodes: %w", err)
	}
	shards, err = s.shards(ctx)
	return nodes, shards, err
}

func (s *Store) shards(ctx context.Context) ([]Shard, error) {
	rows, err := s.rows(ctx, "SELECT id, COALESCE(owner, ''), epoch FROM shard ORDER BY id")
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
		n, err := tx.exec(ctx, "DELETE FROM node WHERE id = $1 AND beat = $2", id, beat)
		if deposed = n == 1; err != nil || !deposed {
			return err
		}
		_, err = tx.exec(ctx, "UPDATE shard SET owner = NULL, epoch = epoch + 1 WHERE owner = $1", id)
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
		if _, err := tx.exec(ctx, "UPDATE shard SET owner = NULL, epoch = epoch + 1 WHERE owner = $1", id); err != nil {
			return fmt.Errorf("leave: %w", err)
		}
		_, err := tx.exec(ctx, "DELETE FROM node WHERE id = $1", id)
		return err
	})
}

// Give frees one shard that this node owns, for another node to take.
func (s *Store) Give(ctx context.Context, shard int, owner string, epoch int64) error {
	return s.Update(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.exec(ctx, "UPDATE shard SET owner = NULL, epoch = epoch + 1 WHERE id = $1 AND owner = $2 AND epoch = $3", shard, owner, epoch)
		return err
	})
}

// TakeAll takes every shard from whoever had it: on SQLite one process owns the folder, so what was before is dead.
func (s *Store) TakeAll(ctx context.Context, owner string) error {
	return s.Update(ctx, func(ctx context.Context, tx *Tx) error {
		if _, err := tx.exec(ctx, "DELETE FROM node WHERE id <> $1", owner); err != nil {
			return err
		}
		_, err := tx.exec(ctx, "UPDATE shard SET owner = $1, epoch = epoch + 1", owner)
		return err
	})
}

// Take takes a free shard. False: another node was faster.
func (s *Store) Take(ctx context.Context, shard int, owner string) (epoch int64, taken bool, err error) {
	err = s.Update(ctx, func(ctx context.Context, tx *Tx) error {
		err := tx.one(ctx, []any{&epoch}, "UPDATE shard SET owner = $1, epoch = epoch + 1 WHERE id = $2 AND owner IS NULL RETURNING epoch", owner, shard)
		taken = err == nil
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	if err != nil {
		return 0, false, fmt.Errorf("take shard: %w", err)
	}
	return epoch, taken, nil
}

// Recover marks what earlier owners of a shard left in flight as unknown, and begins the wait of every unknown one anew,
// because receipts may have been missed: each waits its sender's time from now. It gives the number of messages.
func (s *Store) Recover(ctx context.Context, shard int, epoch int64, now time.Time, wait func(senderUID int64) time.Duration) (int64, error) {
	var total int64
	err := s.Update(ctx, func(ctx context.Context, tx *Tx) error {
		total = 0
		senders, err := tx.inFlight(ctx, shard)
		if err != nil {
			return err
		}
		for _, uid := range senders {
			n, err := tx.exec(ctx, `UPDATE message SET q = 3, due_at = $1
				WHERE shard = $2 AND sender = $3 AND q >= 2 AND (q = 3 OR epoch < $4)`, millis(now.Add(wait(uid))), shard, uid, epoch)
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

func (tx *Tx) inFlight(ctx context.Context, shard int) ([]int64, error) {
	rows, err := tx.query(ctx, "SELECT DISTINCT sender FROM message WHERE shard = $1 AND q >= 2", shard)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var uids []int64
	for rows.Next() {
		var uid int64
		if err := rows.Scan(&uid); err != nil {
			return nil, err
		}
		uids = append(uids, uid)
	}
	return uids, rows.Err()
}
