package store

import (
	"context"
	"fmt"
	"time"

	"carillon/internal/store/bulk"
	"carillon/internal/store/db"
)

// Bulk are the jobs that send to the people of a file.
func (s *Store) Bulk() *bulk.Store { return s.bulk }

// markJobs marks the jobs that may have been sent since the backup, whole or in part, and pauses those that are being sent: what they have
// accepted since this database does not know.
func (s *Store) markJobs(ctx context.Context, now time.Time) error {
	if _, err := s.Exec(ctx, `UPDATE bulk_job SET restored_at = $1, rev = rev + 1, owner = '', lease_until = 0,
		reason = CASE WHEN state IN ('sending', 'paused') THEN 'restored' ELSE reason END, state = CASE WHEN state = 'sending' THEN 'paused' ELSE state END,
		changed_at = CASE WHEN state = 'sending' THEN $1 ELSE changed_at END
		WHERE company_id > '' AND state IN ('draft', 'checking', 'checked', 'sending', 'paused')`, db.Millis(now)); err != nil {
		return fmt.Errorf("mark jobs: %w", err)
	}
	return nil
}

// BulkAfter returns the next company, by id, that has jobs; "": there is none.
func (s *Store) BulkAfter(ctx context.Context, companyID string) (id string, err error) {
	err = s.Row(ctx, []any{&id}, "SELECT company_id FROM bulk_job WHERE company_id > $1 ORDER BY company_id LIMIT 1", companyID)
	return id, db.Wrap(db.Ignore(err), "find jobs")
}

// DropBulk deletes jobs of a company that were made before an instant, with the rows of their files, about `most` batches a step. Jobs
// that are being worked at stay.
func (s *Store) DropBulk(ctx context.Context, companyID string, before time.Time, most int) (Purged, error) {
	return s.dropJob(ctx, `SELECT id FROM bulk_job WHERE company_id = $1 AND created_at < $2
		AND state NOT IN ('checking', 'sending', 'canceling') ORDER BY created_at LIMIT 1`, most, companyID, db.Millis(before))
}

// DropGone deletes jobs that were discarded, and those whose upload broke off before an instant.
func (s *Store) DropGone(ctx context.Context, before time.Time, most int) (Purged, error) {
	p, err := s.dropJob(ctx, "SELECT id FROM bulk_job WHERE state IN ('uploading', 'discarded') AND state = 'discarded' AND changed_at > 0 ORDER BY changed_at LIMIT 1", most)
	if err != nil || p.Busy || p.Rows > 0 {
		return p, err
	}
	return s.dropJob(ctx, `SELECT id FROM bulk_job WHERE state IN ('uploading', 'discarded') AND changed_at < $1 ORDER BY changed_at LIMIT 1`,
		most, db.Millis(before))
}

// batchRows is how many rows of other tables a batch counts for: it may have a hundred thousand bytes.
const batchRows = 20

// dropJob deletes batches of the job that a query finds, and once there are none the job.
func (s *Store) dropJob(ctx context.Context, query string, most int, args ...any) (p Purged, err error) {
	var id string
	if err := s.Row(ctx, []any{&id}, query, args...); err != nil {
		return Purged{}, db.Wrap(db.Ignore(err), "find jobs to delete")
	}
	step := max(most/batchRows, 1)
	err = s.chore(ctx, &p, func(ctx context.Context, tx *Tx) error {
		n, err := tx.Exec(ctx, "DELETE FROM bulk_batch WHERE job_id = $1 AND n IN (SELECT n FROM bulk_batch WHERE job_id = $1 ORDER BY n LIMIT $2)", id, step)
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
