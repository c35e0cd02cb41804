package store

import (
	"context"
	"strings"

	"carillon/internal/store/db"
)

// Holds returns the names of templates under which messages are held. It jumps in the index from one name to the next, past
// what is held after a restore.
func (s *Store) Holds(ctx context.Context) ([]string, error) {
	var all []string
	for name := ""; ; {
		var err error
		if name, err = s.holdAfter(ctx, "message", name); err != nil || name == "" {
			return all, err
		}
		if strings.HasPrefix(name, restoredPrefix) {
			name = restoredPast
			continue
		}
		all = append(all, name)
	}
}

// holdAfter returns the next name under which rows of a table are held, "" when there is none.
func (s *Store) holdAfter(ctx context.Context, table, name string) (next string, err error) {
	err = s.Row(ctx, []any{&next}, "SELECT hold FROM "+table+" WHERE q = 1 AND hold <> '' AND hold > $1 ORDER BY hold LIMIT 1", name)
	return next, db.Wrap(db.Ignore(err), "read holds")
}
