package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

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
