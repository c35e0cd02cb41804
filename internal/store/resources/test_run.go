package resources

import (
	"context"
	"encoding/json"
	"time"

	"carillon"
	"carillon/internal/store/db"
)

// MaxTestRuns bounds the runs that are kept of an agent.
const MaxTestRuns = 20

// TestRun is a run of an agent's tests.
type TestRun struct {
	ID      string
	AgentID string
	BegunAt time.Time
	Author  string // name of the member
	Origin  string // panel, draft or command
	Passed  int
	Failed  int
	Skipped int
	Took    time.Duration
	Cases   json.RawMessage // short results
	Doc     json.RawMessage // complete results; empty in a list
}

// TestRuns is the SQL of the runs.
type TestRuns struct{ d *db.DB }

// NewTestRuns returns the runs in a database.
func NewTestRuns(d *db.DB) *TestRuns { return &TestRuns{d} }

// Add stores a run, sets its id, and deletes the oldest runs beyond MaxTestRuns.
func (s *TestRuns) Add(ctx context.Context, companyID string, x *TestRun, now time.Time) error {
	x.ID = carillon.NewID(now)
	return s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `INSERT INTO test_run
			(company_id, agent_id, id, begun_at, author, origin, passed, failed, skipped, took_ms, cases, doc)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`, companyID, x.AgentID, x.ID, db.Millis(x.BegunAt), x.Author,
			x.Origin, x.Passed, x.Failed, x.Skipped, x.Took.Milliseconds(), string(x.Cases), string(x.Doc)); err != nil {
			return db.Wrap(err, "write a run of tests")
		}
		var oldest string
		err := tx.Row(ctx, []any{&oldest}, `SELECT id FROM test_run WHERE company_id = $1 AND agent_id = $2 ORDER BY id DESC
			LIMIT 1 OFFSET $3`, companyID, x.AgentID, MaxTestRuns-1)
		if err != nil { // fewer runs
			return db.Wrap(db.Ignore(err), "count the runs of tests")
		}
		_, err = tx.Exec(ctx, "DELETE FROM test_run WHERE company_id = $1 AND agent_id = $2 AND id < $3", companyID, x.AgentID, oldest)
		return db.Wrap(err, "delete old runs of tests")
	})
}

const testRunColumns = "id, agent_id, begun_at, author, origin, passed, failed, skipped, took_ms, cases"

func scanTestRun(scan db.Scan, more ...any) (x TestRun, err error) {
	var begun, took int64
	var cases string
	err = scan(append([]any{
		&x.ID, &x.AgentID, &begun, &x.Author, &x.Origin, &x.Passed, &x.Failed, &x.Skipped, &took, &cases,
	}, more...)...)
	x.BegunAt, x.Took, x.Cases = db.Instant(begun), time.Duration(took)*time.Millisecond, json.RawMessage(cases)
	return x, err
}

// List returns an agent's runs, newest first, without their complete results.
func (s *TestRuns) List(ctx context.Context, companyID, agentID string) ([]TestRun, error) {
	return db.Collect(ctx, s.d, "runs of tests", func(scan db.Scan) (TestRun, error) {
		return scanTestRun(scan)
	}, "SELECT "+testRunColumns+" FROM test_run WHERE company_id = $1 AND agent_id = $2 ORDER BY id DESC LIMIT $3", companyID, agentID,
		MaxTestRuns)
}

// Find returns a run. Errors: not_found.
func (s *TestRuns) Find(ctx context.Context, companyID, agentID, id string) (*TestRun, error) {
	var doc string
	all, err := db.Collect(ctx, s.d, "a run of tests", func(scan db.Scan) (TestRun, error) {
		x, err := scanTestRun(scan, &doc)
		x.Doc = json.RawMessage(doc)
		return x, err
	}, "SELECT "+testRunColumns+", doc FROM test_run WHERE company_id = $1 AND agent_id = $2 AND id = $3", companyID, agentID, id)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, carillon.Absent("Run")
	}
	return &all[0], nil
}
