package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// timed is execute with a look at the clock, once a transaction.
func (c *committer) timed(tx *Tx, batch []*work) {
	if c.s.heard == nil {
		c.execute(tx, batch)
		return
	}
	begin, writes := time.Now(), 0
	for _, w := range batch {
		writes += max(1, w.rows)
	}
	c.execute(tx, batch)
	c.s.heard(writes, time.Since(begin))
}

// Pools are the figures of the connection pools, by name: on SQLite its writer and its readers, on PostgreSQL the one.
func (s *Store) Pools() map[string]sql.DBStats {
	if s.read == s.write {
		return map[string]sql.DBStats{"postgres": s.write.Stats()}
	}
	return map[string]sql.DBStats{"read": s.read.Stats(), "write": s.write.Stats()}
}

// Waiting is how many writes wait for their group commit, and requests to be admitted to it.
func (s *Store) Waiting() int {
	n := len(s.accepts.in) + len(s.accepts.behind) + int(s.accepts.admission.waiting.Load())
	if s.starts != s.accepts {
		n += len(s.starts.in) + len(s.starts.behind)
	}
	return n
}

// wroteLately is how long a commit vouches for the next one.
const wroteLately = 5 * time.Second

// Writable tells whether the database takes writes: something was committed of late, or a write that changes nothing
// else goes through. ctx bounds the wait.
func (s *Store) Writable(ctx context.Context) error {
	if time.Since(time.UnixMilli(s.wroteAt.Load())) < wroteLately {
		return nil
	}
	return s.Probe(ctx)
}

// Probe makes a small write of its own.
func (s *Store) Probe(ctx context.Context) error {
	return s.Update(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.exec(ctx, `INSERT INTO meta (name, value) VALUES ('probe', 1) ON CONFLICT (name) DO UPDATE
			SET value = meta.value + 1 WHERE meta.name = 'probe'`)
		if err != nil {
			return fmt.Errorf("write a probe: %w", err)
		}
		return nil
	})
}
