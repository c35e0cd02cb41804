package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Maintenance is a window in which the interface answers 503; zero: none.
type Maintenance struct{ From, Until time.Time }

// On tells whether the window is open.
func (m Maintenance) On(now time.Time) bool {
	return !m.Until.IsZero() && !now.Before(m.From) && now.Before(m.Until)
}

type maintenanceKey struct{}

// Maintenance is the window that is set, from the cache.
func (s *Store) Maintenance(ctx context.Context) (Maintenance, error) {
	return cached(ctx, &s.dir, maintenanceKey{}, func(ctx context.Context) (Maintenance, error) {
		var until int64
		var from string
		err := s.row(ctx, []any{&until, &from}, "SELECT value, text FROM meta WHERE name = 'maintenance'")
		if errors.Is(err, sql.ErrNoRows) {
			return Maintenance{}, nil
		}
		if err != nil {
			return Maintenance{}, fmt.Errorf("read maintenance: %w", err)
		}
		ms, err := strconv.ParseInt(from, 10, 64)
		if err != nil {
			return Maintenance{}, fmt.Errorf("read maintenance: %w", err)
		}
		return Maintenance{instant(ms), instant(until)}, nil
	})
}

// SetMaintenance sets the window, or takes it off when it is zero.
func (s *Store) SetMaintenance(ctx context.Context, m Maintenance) error {
	return s.Configure(ctx, func(ctx context.Context, tx *Tx) error {
		var err error
		if m.Until.IsZero() {
			_, err = tx.exec(ctx, "DELETE FROM meta WHERE name = 'maintenance'")
		} else {
			_, err = tx.exec(ctx, "INSERT INTO meta (name, value, text) VALUES ('maintenance', $1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value, text = excluded.text",
				millis(m.Until), strconv.FormatInt(millis(m.From), 10))
		}
		return err
	})
}

// OldestCompany is the company that was made first; its owners speak for the whole installation. "" when there is none.
func (s *Store) OldestCompany(ctx context.Context) (string, error) {
	var id string
	err := s.row(ctx, []any{&id}, "SELECT id FROM company ORDER BY created_at, id LIMIT 1")
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, err
}
