package company

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// Remove deletes a company that is not in use here: one that was moved, or an imported one that was never taken into use.
// name is the company's, as a confirmation. It may be repeated after it was interrupted at any point.
func (m *Mover) Remove(ctx context.Context, id, name string, report func(Progress)) error {
	if report == nil {
		report = func(Progress) {}
	}
	err := m.change(ctx, id, func(ctx context.Context, tx *configure.Tx, r *row) error {
		switch {
		case r.name != name:
			return errors.New("the name is not the company's")
		case r.state == "" || r.state == Moving:
			return refusal(r.state)
		case r.state == Removing || r.state == Arriving:
			return nil
		}
		return put(ctx, tx, id, r, Removing, r.code)
	})
	if err == nil {
		err = m.erase(ctx, id, "", report)
	}
	return db.Wrap(err, "remove the company")
}

// erase deletes the rows of a company in steps, unless its state is another than `only`; "" allows every state.
func (m *Mover) erase(ctx context.Context, id string, only Move, report func(Progress)) error {
	r, err := find(ctx, m.store.DB, id)
	switch {
	case errors.Is(err, errUnknown):
		return nil
	case err != nil:
		return err
	case only != "" && r.state != only:
		return refusal(r.state)
	}
	tables, err := tablesOf(ctx, m.store.DB)
	if err != nil {
		return err
	}
	if err := m.eraseAccounts(ctx, id); err != nil {
		return fmt.Errorf("delete accounts: %w", err)
	}
	p := Progress{Phase: Deleting}
	if only == Arriving {
		p.Phase = Emptying
	}
	for _, t := range slices.Backward(tables) {
		p.Detail = t.Name
		if t.Found == ByID {
			continue // in the end, with the state
		}
		if err := m.eraseFrom(ctx, t, id, &p, report); err != nil {
			return fmt.Errorf("delete from %s: %w", t.Name, err)
		}
	}
	return m.store.Config.Change(ctx, func(ctx context.Context, tx *configure.Tx) error {
		tx.Everything()
		_, err := tx.Exec(ctx, "DELETE FROM company WHERE id = $1", id)
		return err
	})
}

// eraseAccounts deletes the accounts of members who belong to no other company, with their sessions.
func (m *Mover) eraseAccounts(ctx context.Context, id string) error {
	for n := int64(stepRows); n == stepRows; {
		var err error
		if n, err = m.store.DB.Exec(ctx, `DELETE FROM account WHERE id IN (SELECT m.account_id FROM membership AS m WHERE m.company_id = $1
			AND NOT EXISTS (SELECT 1 FROM membership AS o WHERE o.account_id = m.account_id AND o.company_id <> $1) LIMIT $2)`,
			id, stepRows); err != nil {
			return err
		}
	}
	return nil
}

// eraseFrom deletes the company's rows of a table.
func (m *Mover) eraseFrom(ctx context.Context, t *table, id string, p *Progress, report func(Progress)) error {
	if t.Found == InDocuments {
		return m.eraseDocuments(ctx, id)
	}
	if t.from() == "" {
		return nil
	}
	query := "DELETE FROM " + quoted(t.Name) + " WHERE (" + t.keys("") + ") IN (SELECT " + t.keys("t.") + t.from() + " LIMIT $2)"
	for n := int64(stepRows); n == stepRows; {
		var err error
		if n, err = m.store.DB.Exec(ctx, query, id, stepRows); err != nil {
			return err
		}
		if p.Rows += n; n > 0 {
			report(*p)
		}
	}
	return nil
}

func (m *Mover) eraseDocuments(ctx context.Context, id string) error {
	for last, n := int64(math.MinInt64), stepRows; n == stepRows; {
		type step struct {
			last int64
			n    int
		}
		done, err := db.Returning(ctx, m.store.DB, func(ctx context.Context, tx *db.Tx) (s step, err error) {
			s.last, s.n, err = removeDocuments(ctx, tx, id, last, stepRows)
			return s, err
		})
		if err != nil {
			return err
		}
		last, n = done.last, done.n
	}
	return nil
}
