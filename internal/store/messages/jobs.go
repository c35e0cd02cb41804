package messages

import (
	"context"
	"errors"
	"time"

	"carillon"
	"carillon/internal/store/audit"
	"carillon/internal/store/db"
)

// JobState is the state of a job.
type JobState string

// The states. Uploading jobs are not shown; discarded ones wait for deletion.
const (
	JobUploading JobState = "uploading"
	JobDraft     JobState = "draft"
	JobChecking  JobState = "checking"
	JobChecked   JobState = "checked"
	JobSending   JobState = "sending"
	JobPaused    JobState = "paused"
	JobCanceling JobState = "canceling"
	JobDone      JobState = "done"
	JobCanceled  JobState = "canceled"
	JobFailed    JobState = "failed"
	JobDiscarded JobState = "discarded"
)

// Job is a job without the rows of its file.
type Job struct {
	ID         string
	CompanyID  string
	Author     string // account id
	Rev        int64  // 0 if not stored yet
	State      JobState
	Reason     string // reason of its state, or the cause of waiting
	Detail     string
	File       string // file name
	Bytes      int64
	Total      int    // number of rows
	Settings   string // JSON
	Result     string // JSON
	Done       int    // batches checked or accepted, depending on the state
	Owner      string // node that works on it
	LeaseUntil time.Time
	CreatedAt  time.Time
	ChangedAt  time.Time
	BegunAt    time.Time // start of sending
	EndedAt    time.Time
	RestoredAt time.Time // set when a restore made it uncertain whether the job was sent after the backup; zero if certain
}

// JobCheck is the result of checking a batch.
type JobCheck struct {
	N              int
	Good, Faulty   int    // number of rows
	Faults         string // JSON; empty if none
	NotificationID string // empty until accepted
}

// ErrOvertaken means that the job has changed since it was read.
var ErrOvertaken = errors.New("somebody else has changed the job since")

// Jobs is the SQL of jobs that send a template to the recipients of a file: the jobs, the rows of their files, and the
// results. Every write of a job depends on the revision that was read, so one of two concurrent writers is refused. Its
// methods are safe for concurrent use.
type Jobs struct{ d *db.DB }

// NewJobs returns the store of a database.
func NewJobs(d *db.DB) *Jobs { return &Jobs{d} }

// SQLite reports whether this process is the only user of the database.
func (s *Jobs) SQLite() bool { return s.d.SQLite() }

const jobColumns = `id, company_id, author, rev, state, reason, detail, file, bytes, total, settings, result, done, owner, lease_until,
	created_at, changed_at,
	begun_at, ended_at, restored_at`

func scanJob(row db.Scan) (*Job, error) {
	var j Job
	var lease, created, changed, begun, ended, restored int64
	err := row(&j.ID, &j.CompanyID, &j.Author, &j.Rev, &j.State, &j.Reason, &j.Detail, &j.File, &j.Bytes, &j.Total, &j.Settings,
		&j.Result, &j.Done,
		&j.Owner, &lease, &created, &changed, &begun, &ended, &restored)
	j.LeaseUntil, j.CreatedAt, j.ChangedAt, j.BegunAt, j.EndedAt = db.Instant(lease), db.Instant(created), db.Instant(changed),
		db.Instant(begun), db.Instant(ended)
	j.RestoredAt = db.Instant(restored)
	return &j, err
}

// JobRoom is a company's quota: bytes of files, and jobs.
type JobRoom struct{ Bytes, Jobs int64 }

// jobsFull returns the error of a reached quota.
func jobsFull(message string, most, used int64) error {
	return &carillon.Error{
		Code: carillon.LimitExceeded, Message: message, Details: carillon.Details{{Key: "limit", Value: most}, {Key: "used", Value: used}},
	}
}

// JobUnderway returns the error for an upload that is being read already.
func JobUnderway() error {
	return &carillon.Error{Code: carillon.IdempotencyInProgress, Message: "The file is being read already", RetryAfter: 5}
}

// Begin stores a job whose rows follow. Errors: limit_exceeded if the quota is reached, idempotency_in_progress if the
// job exists.
func (s *Jobs) Begin(ctx context.Context, j *Job, most JobRoom) error {
	err := s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		var jobs, used int64
		if err := tx.Row(ctx, []any{&jobs, &used}, "SELECT COUNT(*), COALESCE(SUM(bytes), 0) FROM bulk_job WHERE company_id = $1",
			j.CompanyID); err != nil {
			return db.Wrap(err, "add up files")
		}
		switch {
		case used+j.Bytes > most.Bytes:
			return jobsFull("The company has no room for more files: remove old ones", most.Bytes, used)
		case jobs >= most.Jobs:
			return jobsFull("The company has too many files: remove old ones", most.Jobs, jobs)
		}
		n, err := tx.Exec(ctx, `INSERT INTO bulk_job (id, company_id, author, rev, state, file, bytes, settings, created_at, changed_at)
			VALUES ($1, $2, $3, 1, $4, $5, $6, $7, $8, $8) ON CONFLICT (id) DO NOTHING`, j.ID, j.CompanyID, j.Author,
			string(j.State), j.File, j.Bytes, j.Settings, db.Millis(j.CreatedAt))
		if err == nil && n == 0 {
			return JobUnderway()
		}
		return db.Wrap(err, "write job")
	})
	if err == nil {
		j.Rev = 1
	}
	return err
}

// Append stores consecutive batches of an uploading job, given the cells of each and the number of the first.
func (s *Jobs) Append(ctx context.Context, jobID string, first int, cells []string) error {
	return s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		b := db.NewBulk("bulk_batch", "", "job_id:text", "n:bigint", "cells:text")
		for i, text := range cells {
			b.Add(jobID, int64(first+i), text)
		}
		return b.Write(ctx, tx)
	})
}

// Save stores the changes of a job, and the results of some of its batches. Errors: ErrOvertaken.
func (s *Jobs) Save(ctx context.Context, j *Job, checks ...JobCheck) error {
	err := s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := recordJob(ctx, tx, j); err != nil {
			return err
		}
		n, err := tx.Exec(ctx,
			`UPDATE bulk_job SET rev = rev + 1, state = $1, reason = $2, detail = $3, bytes = $4, total = $5, settings = $6, result = $7,
			done = $8, owner = $9, lease_until = $10, changed_at = $11, begun_at = $12, ended_at = $13, restored_at = $14
			WHERE id = $15 AND company_id = $16 AND rev = $17`,
			string(j.State), j.Reason, j.Detail, j.Bytes, j.Total, j.Settings, j.Result, j.Done, j.Owner, db.Millis(j.LeaseUntil),
			db.Millis(j.ChangedAt),
			db.Millis(j.BegunAt), db.Millis(j.EndedAt), db.Millis(j.RestoredAt), j.ID, j.CompanyID, j.Rev)
		switch {
		case err != nil:
			return db.Wrap(err, "save job")
		case n == 0:
			return ErrOvertaken
		case len(checks) == 0:
			return nil
		}
		b := db.NewBulk("bulk_check",
			`ON CONFLICT (job_id, n) DO UPDATE SET good = excluded.good, faulty = excluded.faulty, faults = excluded.faults,
			notification_id = excluded.notification_id`, "job_id:text", "n:bigint", "good:bigint", "faulty:bigint", "faults:text",
			"notification_id:text")
		for _, c := range checks {
			b.Add(j.ID, int64(c.N), int64(c.Good), int64(c.Faulty), c.Faults, c.NotificationID)
		}
		return b.Write(ctx, tx)
	})
	if err == nil {
		j.Rev++
	}
	return err
}

// recordJob records a person's change of a job's state; automatic progress is not recorded.
func recordJob(ctx context.Context, tx *db.Tx, j *Job) error {
	if audit.AuthorOf(ctx).Kind == "" {
		return nil
	}
	var before JobState
	err := tx.Row(ctx, []any{&before}, "SELECT state FROM bulk_job WHERE id = $1 AND company_id = $2 AND rev = $3", j.ID,
		j.CompanyID, j.Rev)
	if err != nil || before == j.State {
		return db.Wrap(db.Ignore(err), "read job")
	}
	e := audit.Entry{
		CompanyID: j.CompanyID, Kind: audit.Job, ID: j.ID, Name: j.File, Before: map[string]JobState{"state": before},
		After: map[string]JobState{"state": j.State},
	}
	switch {
	case before == JobUploading && j.State == JobDraft:
		e.Action, e.Before, e.After = audit.Created, nil, map[string]int{"rows": j.Total}
	case before == JobPaused && j.State == JobSending:
		e.Action = audit.Resumed
	case j.State == JobSending:
		e.Action = audit.Started
	case j.State == JobPaused:
		e.Action = audit.Paused
	case j.State == JobCanceling, j.State == JobCanceled:
		e.Action = audit.Canceled
	case j.State == JobDiscarded && before != JobUploading:
		e.Action, e.After = audit.Deleted, nil
	default:
		return nil
	}
	return audit.Record(ctx, tx, time.Now(), e)
}

// Yield ends the lease of a job that could not be saved, and changes nothing else. Errors: ErrOvertaken.
func (s *Jobs) Yield(ctx context.Context, j *Job, until time.Time, reason string) error {
	n, err := s.d.Exec(ctx, "UPDATE bulk_job SET rev = rev + 1, owner = '', lease_until = $1, reason = $2 WHERE id = $3 AND "+
		"company_id = $4 AND rev = $5",
		db.Millis(until), reason, j.ID, j.CompanyID, j.Rev)
	if err == nil && n == 0 {
		return ErrOvertaken
	}
	return db.Wrap(err, "give a job up")
}

// Find returns a job of a company; nil if there is none.
func (s *Jobs) Find(ctx context.Context, companyID, id string) (*Job, error) {
	return db.Find(ctx, s.d, "job", scanJob, "SELECT "+jobColumns+" FROM bulk_job WHERE id = $1 AND company_id = $2", id, companyID)
}

// JobPage is the position of a list: the last job of the previous page.
type JobPage struct {
	CreatedAt time.Time
	ID        string
}

// List returns jobs of a company, newest first, without uploading and discarded ones.
func (s *Jobs) List(ctx context.Context, companyID string, after *JobPage, limit int) ([]*Job, error) {
	where, args := "company_id = $1 AND state NOT IN ('uploading', 'discarded')", []any{companyID, limit}
	if after != nil {
		where += " AND (created_at, id) < ($3, $4)"
		args = append(args, db.Millis(after.CreatedAt), after.ID)
	}
	return db.Collect(ctx, s.d, "jobs", scanJob, "SELECT "+jobColumns+" FROM bulk_job WHERE "+where+
		" ORDER BY created_at DESC, id DESC LIMIT $2", args...)
}

// Due returns unleased jobs of any company that need work, except those in `without`, longest waiting first.
func (s *Jobs) Due(ctx context.Context, now time.Time, most int, without []string) ([]*Job, error) {
	others, args := db.NotIn("company_id", without, []any{db.Millis(now), most})
	return db.Collect(ctx, s.d, "due jobs", scanJob,
		"SELECT "+jobColumns+" FROM bulk_job WHERE state IN ('checking', 'sending', 'canceling') AND lease_until <= $1"+
			db.Here+others+" ORDER BY lease_until LIMIT $2", args...)
}

// Running counts the jobs of all companies in progress or due, by state.
func (s *Jobs) Running(ctx context.Context) (map[JobState]int, error) {
	states := map[JobState]int{}
	err := db.Each(ctx, s.d, func(scan db.Scan) error {
		var state JobState
		err := scan(&state)
		states[state]++
		return err
	}, "SELECT state FROM bulk_job WHERE state IN ('checking', 'sending', 'canceling') AND lease_until >= 0")
	return states, db.Wrap(err, "count jobs")
}

// Release makes leased jobs due: their workers have stopped, and no other process uses this database.
func (s *Jobs) Release(ctx context.Context, now time.Time) error {
	_, err := s.d.Exec(ctx, "UPDATE bulk_job SET lease_until = $1, owner = '' WHERE state IN ('checking', 'sending', 'canceling') "+
		"AND lease_until > $1", db.Millis(now))
	return db.Wrap(err, "release jobs")
}

// Cells returns the rows of a batch; "" if there is none.
func (s *Jobs) Cells(ctx context.Context, companyID, jobID string, n int) (string, error) {
	text, err := db.Find(ctx, s.d, "rows", func(row db.Scan) (*string, error) {
		var text string
		err := row(&text)
		return &text, err
	}, "SELECT b.cells FROM bulk_batch b JOIN bulk_job j ON j.id = b.job_id WHERE b.job_id = $1 AND b.n = $2 AND j.company_id = $3",
		jobID, n, companyID)
	if err != nil || text == nil {
		return "", err
	}
	return *text, nil
}

// Checks returns the results of a job's batches in order, from the given number on.
func (s *Jobs) Checks(ctx context.Context, companyID, jobID string, from, most int) ([]JobCheck, error) {
	return db.Collect(ctx, s.d, "checks", func(row db.Scan) (c JobCheck, err error) {
		err = row(&c.N, &c.Good, &c.Faulty, &c.Faults, &c.NotificationID)
		return c, err
	}, `SELECT c.n, c.good, c.faulty, c.faults, c.notification_id FROM bulk_check c JOIN bulk_job j ON j.id = c.job_id
		WHERE c.job_id = $1 AND c.n >= $2 AND j.company_id = $3 ORDER BY c.n LIMIT $4`, jobID, from, companyID, most)
}
