package stats

import (
	"context"
	"math"
	"slices"
	"time"

	"carillon"
	"carillon/internal/store/db"
)

// pass holds the blocks taken for one round of counting, and those not counted yet.
type pass struct {
	blocks []Block
	since  time.Time // time when the blocks were taken: counting them includes all earlier changes
	whole  bool      // all touched blocks were taken
}

// sweep is the progress of a complete recount.
type sweep struct {
	on   bool
	at   Block
	gone []node // nodes that ended without counting their changes
	last time.Time
}

type node struct {
	id string
	at int64
}

const (
	// noteEvery is the interval at which a node notes that it has counted everything, while nothing changes.
	noteEvery = 10 * time.Second
	// goneAfter is the time without a note after which a node is considered dead.
	goneAfter = time.Minute
	// sweepEvery is the interval of complete recounts even if no node ended: an older program that shares the database
	// marks no changes.
	sweepEvery = 24 * time.Hour

	// pace bounds the additional delay of a note.
	pace = 5 * time.Second

	sweepNotifications = 500 // notifications examined in a step of a sweep to find blocks
	sweepBlocks        = 64
)

// enter writes the node's row, before its first change is counted.
func (s *Store) enter(ctx context.Context, now time.Time) error {
	if s.entered {
		return nil
	}
	err := s.note(ctx, now)
	if s.entered = err == nil; s.sweep.last.IsZero() {
		s.sweep.last = now
	}
	return err
}

// note notes that everything up to an instant has been counted.
func (s *Store) note(ctx context.Context, at time.Time) error {
	err := s.commit(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, "INSERT INTO stat_node (id, at) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET at = excluded.at",
			s.id, db.Millis(at))
		return err
	})
	if err == nil {
		s.noted = at
	}
	return db.Wrap(err, "note what was counted")
}

// Sweep counts some blocks of a complete recount if one is needed, and reports whether there is more. One of all nodes
// calls it.
func (s *Store) Sweep(ctx context.Context, now time.Time) (more bool, err error) {
	if importing, err := db.Importing(ctx, s.d, now); importing || err != nil {
		return false, err
	}
	if !s.sweep.on {
		if s.sweep.gone, err = s.goneNodes(ctx, now); err != nil {
			return false, err
		}
		if len(s.sweep.gone) == 0 && now.Sub(s.sweep.last) < sweepEvery {
			return false, nil
		}
		s.sweep.on, s.sweep.at = true, BlockOf(carillon.NoSeq)
	}
	blocks, err := s.blocksFrom(ctx, s.sweep.at)
	if err != nil {
		return false, err
	}
	if len(blocks) > 0 {
		done, err := s.count(ctx, blocks)
		if err == nil {
			s.sweep.at = blocks[done-1] + 1
		}
		return err == nil, err
	}
	if err := s.drop(ctx, s.sweep.gone); err != nil {
		return false, err
	}
	s.sweep = sweep{last: now}
	return false, nil
}

// goneNodes returns the nodes that ended without counting their changes. On SQLite these are all nodes but this one,
// because only one can run.
func (s *Store) goneNodes(ctx context.Context, now time.Time) ([]node, error) {
	before := now.Add(-goneAfter)
	if s.d.SQLite() {
		before = now.Add(goneAfter)
	}
	return db.Collect(ctx, s.d, "nodes that count", func(scan db.Scan) (n node, err error) {
		err = scan(&n.id, &n.at)
		return n, err
	}, "SELECT id, at FROM stat_node WHERE id <> $1 AND at < $2", s.id, db.Millis(before))
}

// blocksFrom returns the next blocks with notifications or counts.
func (s *Store) blocksFrom(ctx context.Context, from Block) ([]Block, error) {
	scan := func(scan db.Scan) (n int64, err error) {
		err = scan(&n)
		return n, err
	}
	seqs, err := db.Collect(ctx, s.d, "blocks to count", scan, "SELECT seq FROM notification WHERE seq >= $1 ORDER BY seq LIMIT $2",
		int64(from.first()), sweepNotifications)
	if err != nil {
		return nil, err
	}
	counted, err := db.Collect(ctx, s.d, "blocks to count", scan,
		"SELECT block FROM stat_block WHERE block >= $1 ORDER BY block LIMIT $2", int64(from), sweepBlocks)
	if err != nil {
		return nil, err
	}
	until := Block(math.MaxInt64) // beyond it, one of the two lists was not read
	var blocks []Block
	for _, seq := range seqs {
		blocks = append(blocks, BlockOf(carillon.Seq(seq)))
	}
	if len(seqs) == sweepNotifications {
		until = blocks[len(blocks)-1]
	}
	if len(counted) == sweepBlocks {
		until = min(until, Block(counted[len(counted)-1]))
	}
	for _, b := range counted {
		blocks = append(blocks, Block(b))
	}
	slices.Sort(blocks)
	blocks = slices.Compact(blocks)
	if past := slices.IndexFunc(blocks, func(b Block) bool { return b > until }); past >= 0 {
		blocks = blocks[:past]
	}
	return blocks[:min(len(blocks), sweepBlocks)], nil
}

// drop deletes the rows of nodes without a note since an instant.
func (s *Store) drop(ctx context.Context, nodes []node) error {
	if len(nodes) == 0 {
		return nil
	}
	err := s.commit(ctx, func(ctx context.Context, tx *db.Tx) error {
		for _, n := range nodes {
			if _, err := tx.Exec(ctx, "DELETE FROM stat_node WHERE id = $1 AND at = $2", n.id, n.at); err != nil {
				return err
			}
		}
		return nil
	})
	return db.Wrap(err, "forget nodes that have ended")
}

// Leave counts the remaining changes and deletes the node's row, on a clean stop.
func (s *Store) Leave(ctx context.Context, now time.Time) error {
	for more := true; more; {
		var err error
		if more, err = s.Step(ctx, now); err != nil {
			return err
		}
	}
	if !s.pass.whole {
		return nil // the row stays, and everything is counted again
	}
	return s.drop(ctx, []node{{s.id, db.Millis(s.noted)}})
}

// Distrust causes a complete recount by the next program that runs on the database.
func (s *Store) Distrust(ctx context.Context, now time.Time) error {
	_, err := s.d.Exec(ctx,
		"INSERT INTO stat_node (id, at) VALUES ('restored', $1) ON CONFLICT (id) DO UPDATE SET at = excluded.at", db.Millis(now))
	return db.Wrap(err, "have everything counted again")
}

// AsOf returns the time up to which all changes are counted. A node that has just started may not have a row: then it
// is the present.
func (s *Store) AsOf(ctx context.Context, now time.Time) (time.Time, error) {
	at := now.UnixMilli()
	err := s.d.Row(ctx, []any{&at}, "SELECT COALESCE(MIN(at), $1) FROM stat_node", at)
	return db.Instant(at), db.Wrap(err, "read until when recipients are counted")
}

// Lag returns the delay of the counts: zero while it is at its normal minimum.
func (s *Store) Lag(ctx context.Context, now time.Time) (time.Duration, error) {
	at, err := s.AsOf(ctx, now)
	if err != nil || now.Sub(at) <= noteEvery+pace {
		return 0, err
	}
	return now.Sub(at), nil
}
