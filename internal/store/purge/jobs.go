package purge

import (
	"context"
	"strings"
	"time"

	"carillon/internal/store/db"
)

// DropBulk deletes a company's jobs that were created before an instant, with the rows of their files, about `most`
// batches in a step. Jobs in progress are kept.
func (s *Store) DropBulk(ctx context.Context, companyID string, before time.Time, most int) (Purged, error) {
	return s.dropJob(ctx, `SELECT id FROM bulk_job WHERE company_id = $1 AND created_at < $2
		AND state NOT IN ('checking', 'sending', 'canceling') ORDER BY created_at LIMIT 1`, most, companyID, db.Millis(before))
}

// DropGone deletes discarded jobs, and those whose upload was abandoned before an instant.
func (s *Store) DropGone(ctx context.Context, before time.Time, most int) (Purged, error) {
	p, err := s.dropJob(ctx, "SELECT id FROM bulk_job WHERE state IN ('uploading', 'discarded') AND state = 'discarded' AND "+
		"changed_at > 0 ORDER BY changed_at LIMIT 1", most)
	if err != nil || p.Busy || p.Rows > 0 {
		return p, err
	}
	return s.dropJob(ctx, `SELECT id FROM bulk_job WHERE state IN ('uploading', 'discarded') AND changed_at < $1 ORDER BY `+
		`changed_at LIMIT 1`,
		most, db.Millis(before))
}

// batchRows is the number of ordinary rows that a batch counts for: it may have a hundred thousand bytes.
const batchRows = 20

// dropJob deletes the batches of the job that a query finds, and finally the job.
func (s *Store) dropJob(ctx context.Context, query string, most int, args ...any) (p Purged, err error) {
	var id string
	if err := s.d.Row(ctx, []any{&id}, query, args...); err != nil {
		return Purged{}, db.Wrap(db.Ignore(err), "find jobs to delete")
	}
	step := max(most/batchRows, 1)
	err = s.step(ctx, &p, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, "DELETE FROM bulk_batch WHERE job_id = $1 AND n IN (SELECT n FROM bulk_batch WHERE job_id = $1 ORDER "+
			"BY n LIMIT $2)", id, step)
		if err != nil {
			return err
		}
		p.Rows, p.More = int(n), true
		if int(n) == step {
			return nil
		}
		n, err = tx.Exec(ctx, "DELETE FROM bulk_job WHERE id = $1", id)
		p.Rows += int(n)
		return err
	})
	return p, db.Wrap(err, "delete jobs")
}

// DropAPICalls deletes a company's API calls from before an instant, at most `most` rows of each table.
func (s *Store) DropAPICalls(ctx context.Context, companyID string, before time.Time, most int) (p Purged, err error) {
	err = s.step(ctx, &p, func(ctx context.Context, tx *db.Tx) error {
		p.Rows, p.More = 0, false
		for _, statement := range []string{
			"DELETE FROM api_call WHERE company_id = $1 AND id IN (SELECT id FROM api_call WHERE company_id = $1 AND id < $2 ORDER " +
				"BY id LIMIT $3)",
			"DELETE FROM api_accepted WHERE company_id = $1 AND id IN (SELECT id FROM api_accepted WHERE company_id = $1 AND at < " +
				"$2 ORDER BY id LIMIT $3)",
		} {
			instant := any(db.FirstID(before))
			if strings.Contains(statement, "at < $2") { // a chunk is as old as its newest reference
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
