package accounts

import (
	"context"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/store/audit"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// Maintenance is a window in which the interface responds with 503; the zero value means none.
type Maintenance struct{ From, Until time.Time }

// On reports whether now is in the window.
func (m Maintenance) On(now time.Time) bool {
	return !m.Until.IsZero() && !now.Before(m.From) && now.Before(m.Until)
}

// Maintenance returns the window, from the cache.
func (s *Store) Maintenance(ctx context.Context) (Maintenance, error) {
	return s.window.Get(ctx, "", func(ctx context.Context) (Maintenance, string, error) {
		var until int64
		var from string
		err := s.d.Row(ctx, []any{&until, &from}, "SELECT value, text FROM meta WHERE name = 'maintenance'")
		if err != nil {
			return Maintenance{}, "", db.Wrap(db.Ignore(err), "read maintenance")
		}
		ms, err := strconv.ParseInt(from, 10, 64)
		return Maintenance{db.Instant(ms), db.Instant(until)}, "", db.Wrap(err, "read maintenance")
	})
}

// SetMaintenance sets the window; the zero window ends it.
func (s *Store) SetMaintenance(ctx context.Context, m Maintenance) error {
	first, err := s.OldestCompany(ctx)
	if err != nil {
		return err
	}
	return s.config.Change(ctx, func(ctx context.Context, tx *configure.Tx) error {
		tx.Changes("") // no company's data changes
		var err error
		if m.Until.IsZero() {
			_, err = tx.Exec(ctx, "DELETE FROM meta WHERE name = 'maintenance'")
		} else {
			_, err = tx.Exec(ctx, "INSERT INTO meta (name, value, text) VALUES ('maintenance', $1, $2) ON CONFLICT (name) DO UPDATE "+
				"SET value = excluded.value, text = excluded.text",
				db.Millis(m.Until), strconv.FormatInt(db.Millis(m.From), 10))
		}
		if err != nil || first == "" {
			return err
		}
		e := audit.Entry{CompanyID: first, Kind: audit.Maintenance, Action: audit.Ended} // its owners administer the installation
		if !m.Until.IsZero() {
			e.Action, e.After = audit.Started, map[string]string{"from": carillon.FormatTime(m.From), "until": carillon.FormatTime(m.Until)}
		}
		return audit.Record(ctx, tx.Tx, time.Now(), e)
	})
}

// OldestCompany returns the company that was created first, whose owners administer the installation; "" when there is
// none.
func (s *Store) OldestCompany(ctx context.Context) (string, error) {
	var id string
	err := s.d.Row(ctx, []any{&id}, "SELECT id FROM company ORDER BY created_at, id LIMIT 1")
	return id, db.Ignore(err)
}
