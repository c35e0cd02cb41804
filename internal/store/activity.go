package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"carillon/internal/store/apicalls"
	"carillon/internal/store/db"
)

// APICalls are the tables of what is kept of calls of the interface.
func (s *Store) APICalls() *apicalls.Store { return s.apiCalls }

// DropChanges deletes recorded changes from before an instant, at most `most` of them.
func (s *Store) DropChanges(ctx context.Context, before time.Time, most int) (p Purged, err error) {
	err = s.chore(ctx, &p, func(ctx context.Context, tx *Tx) error {
		n, err := tx.Exec(ctx, "DELETE FROM audit WHERE (company_id, id) IN (SELECT company_id, id FROM audit WHERE at < $1 ORDER BY at LIMIT $2)", db.Millis(before), most)
		p.Rows, p.More = int(n), int(n) == most
		return err
	})
	return p, db.Wrap(err, "delete recorded changes")
}

// APICallsAfter returns the next company, by id, of whose calls of the interface something is kept; "": there is none.
func (s *Store) APICallsAfter(ctx context.Context, companyID string) (next string, err error) {
	for _, query := range []string{
		"SELECT company_id FROM api_call WHERE company_id > $1 ORDER BY company_id LIMIT 1",
		"SELECT company_id FROM api_accepted WHERE company_id > $1 ORDER BY company_id LIMIT 1",
	} {
		var id string
		if err := db.Ignore(s.Row(ctx, []any{&id}, query, companyID)); err != nil {
			return "", fmt.Errorf("find calls of the interface: %w", err)
		}
		if id != "" && (next == "" || id < next) {
			next = id
		}
	}
	return next, nil
}

// DropAPICalls deletes what is kept of a company's calls of the interface from before an instant, at most `most` rows of each table.
func (s *Store) DropAPICalls(ctx context.Context, companyID string, before time.Time, most int) (p Purged, err error) {
	err = s.chore(ctx, &p, func(ctx context.Context, tx *Tx) error {
		p.Rows, p.More = 0, false
		for _, statement := range []string{
			"DELETE FROM api_call WHERE company_id = $1 AND id IN (SELECT id FROM api_call WHERE company_id = $1 AND id < $2 ORDER BY id LIMIT $3)",
			"DELETE FROM api_accepted WHERE company_id = $1 AND id IN (SELECT id FROM api_accepted WHERE company_id = $1 AND at < $2 ORDER BY id LIMIT $3)",
		} {
			instant := any(db.FirstID(before))
			if strings.Contains(statement, "at < $2") { // a chunk counts as old as its newest reference
				instant = db.Millis(before)
			}
			n, err := tx.Exec(ctx, statement, companyID, instant, most)
			if err != nil {
				return err
			}
			p.Rows, p.More = p.Rows+int(n), p.More || int(n) == most
		}
		return nil
	})
	return p, db.Wrap(err, "delete calls of the interface")
}
