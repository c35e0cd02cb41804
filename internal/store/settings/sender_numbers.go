package settings

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"carillon"
	"carillon/internal/store/audit"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// NumberOwner returns the company to which the operator assigned a number, from the cache; "" if none.
func (s *Senders) NumberOwner(ctx context.Context, number string) (string, error) {
	return s.owners.Get(ctx, number, func(ctx context.Context) (string, string, error) {
		owner, err := NumberOwner(ctx, s.d, number)
		if err == nil && owner == "" {
			err = sql.ErrNoRows
		}
		return owner, "", err
	})
}

// NumberOwner is the store's method without its cache.
func NumberOwner(ctx context.Context, q db.Querier, number string) (owner string, err error) {
	err = q.Row(ctx, []any{&owner}, "SELECT company_id FROM number_owner WHERE number = $1", number)
	return owner, db.Wrap(db.Ignore(err), "look up whose a number is")
}

// LinesByNumber is the store's method without its cache.
func LinesByNumber(ctx context.Context, tx *configure.Tx, number string) ([]*carillon.Sender, error) {
	return db.Collect(ctx, tx, "lines", senderScanner(tx.Seal), senderSelect+`
		number = $1 AND channel = 'voice' AND NOT removed`, number)
}

// maxShared bounds the lines of shared numbers.
const maxShared = 1000

// SharedNumbers returns the lines of numbers that several companies have, by number, oldest first.
func (s *Senders) SharedNumbers(ctx context.Context) ([]*carillon.Sender, error) {
	return s.senders(ctx,
		`channel = 'voice' AND NOT removed AND number IN (SELECT number FROM sender WHERE channel = 'voice' AND NOT removed
		GROUP BY number HAVING MIN(company_id) <> MAX(company_id)) ORDER BY number, created_at, company_id, id LIMIT $1`, maxShared)
}

// AssignNumber assigns a number to a company, replacing a former assignment, and records the change; companyID ""
// removes it.
func AssignNumber(ctx context.Context, tx *configure.Tx, number, companyID string, now time.Time) error {
	before, err := NumberOwner(ctx, tx, number)
	if err != nil || before == companyID {
		return err
	}
	if companyID == "" {
		_, err = tx.Exec(ctx, "DELETE FROM number_owner WHERE number = $1", number)
	} else {
		_, err = tx.Exec(ctx, `INSERT INTO number_owner (number, company_id, assigned_at) VALUES ($1, $2, $3)
			ON CONFLICT (number) DO UPDATE SET company_id = excluded.company_id, assigned_at = excluded.assigned_at`,
			number, companyID, db.Millis(now))
	}
	if err != nil {
		return fmt.Errorf("give a number to a company: %w", err)
	}
	tx.Changes("") // the number's cache entries belong to no company
	lines, err := LinesByNumber(ctx, tx, number)
	if err != nil {
		return err
	}
	for _, x := range lines {
		had, has := x.CompanyID == before, x.CompanyID == companyID
		if had == has {
			continue
		}
		if err := audit.Record(ctx, tx.Tx, now, audit.Entry{
			CompanyID: x.CompanyID, Kind: audit.Sender, ID: x.ID, Name: nameOf(x), Action: audit.Changed,
			Before: map[string]any{"number_assigned": had}, After: map[string]any{"number_assigned": has},
		}); err != nil {
			return err
		}
	}
	return nil
}
