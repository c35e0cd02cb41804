package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

const sweepRows = 1000

// Sweep deletes what has expired: idempotency keys, in small steps so that accepting never waits for it.
func (s *Store) Sweep(ctx context.Context, now time.Time) error {
	for {
		var n int64
		err := s.Update(ctx, func(ctx context.Context, tx *Tx) error {
			var err error
			n, err = tx.exec(ctx, `DELETE FROM idempotency WHERE (company_id, route, key) IN (
				SELECT company_id, route, key FROM idempotency WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)`, millis(now), sweepRows)
			return err
		})
		if err != nil {
			return fmt.Errorf("sweep idempotency keys: %w", err)
		}
		if n < sweepRows {
			return nil
		}
	}
}

// Holds are the names under which messages are held. It hops over the index from one to the next.
func (s *Store) Holds(ctx context.Context) ([]string, error) {
	var all []string
	name := ""
	for {
		err := s.row(ctx, []any{&name}, "SELECT hold FROM message WHERE q = 1 AND hold <> '' AND hold > $1 ORDER BY hold LIMIT 1", name)
		if errors.Is(err, sql.ErrNoRows) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read holds: %w", err)
		}
		all = append(all, name)
	}
}
