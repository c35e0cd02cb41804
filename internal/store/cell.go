package store

import (
	"context"
	"fmt"

	"carillon"
	"carillon/internal/store/db"
)

// setCell sets the cell in the ids of notifications: the stored one, which all nodes have. The first start stores it.
// It can be changed while there is no company and no node.
func (s *Store) setCell(ctx context.Context, want *int) error {
	cell := 0
	if want != nil {
		cell = *want
	}
	if cell < 0 || cell >= carillon.Cells {
		return fmt.Errorf("the cell is %d: must be from 0 to %d", cell, carillon.Cells-1)
	}
	stored := 0
	err := s.DB.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO meta (name, value) VALUES ('cell', $1) ON CONFLICT (name) DO NOTHING", cell); err != nil {
			return err
		}
		err := tx.Row(ctx, []any{&stored}, "SELECT value FROM meta WHERE name = 'cell'")
		if err != nil || want == nil || stored == cell {
			return err
		}
		if used, err := inUse(ctx, tx); err != nil || used {
			return err
		}
		stored = cell
		_, err = tx.Exec(ctx, "UPDATE meta SET value = $1 WHERE name = 'cell'", cell)
		return err
	})
	switch {
	case err != nil:
		return fmt.Errorf("set the cell: %w", err)
	case want != nil && stored != cell:
		return fmt.Errorf("this database is of cell %d, and the program was started with --cell %d: the number of a cell cannot "+
			"be changed once it has companies or nodes", stored, cell)
	}
	s.ids.SetCell(stored)
	return nil
}

// inUse reports whether there is a company or another node, and locks out new ones.
func inUse(ctx context.Context, tx *db.Tx) (bool, error) {
	if _, err := tx.Exec(ctx, "UPDATE meta SET value = value WHERE name = 'generation'"); err != nil {
		return false, err
	}
	companies, nodes := 0, 0
	err := tx.Row(ctx, []any{&companies, &nodes}, "SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM company LIMIT 1) AS c), "+
		"(SELECT COUNT(*) FROM node)")
	return companies > 0 || nodes > 0 && !tx.SQLite(), err
}
