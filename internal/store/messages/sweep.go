package messages

import (
	"context"
	"strings"

	"carillon/internal/store/db"
)

// Prefixes of the names under which a restore holds a company's messages.
const (
	RestoredPrefix = "restored/"
	RestoredPast   = "restored0" // the first text after all of them
)

// Holds returns the names of templates under which messages are held. It jumps from name to name in the index,
// skipping messages held after a restore.
func (s *Messages) Holds(ctx context.Context) ([]string, error) {
	var all []string
	for name := ""; ; {
		var err error
		if name, err = HoldAfter(ctx, s.DB, "message", name); err != nil || name == "" {
			return all, err
		}
		if strings.HasPrefix(name, RestoredPrefix) {
			name = RestoredPast
			continue
		}
		all = append(all, name)
	}
}

// HoldAfter returns the next name under which rows of a table are held; "" if there is none.
func HoldAfter(ctx context.Context, d *db.DB, table, name string) (next string, err error) {
	err = d.Row(ctx, []any{&next}, "SELECT hold FROM "+table+" WHERE q = 1 AND hold <> '' AND hold > $1 ORDER BY hold LIMIT 1", name)
	return next, db.Wrap(db.Ignore(err), "read holds")
}
