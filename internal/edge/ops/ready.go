package ops

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"carillon"
	"carillon/internal/base/cache"
	"carillon/internal/queue"
	"carillon/internal/queue/membership"
	"carillon/internal/store"
)

// Requests to /readyz within a second share one run of the checks, and none blocks on a hanging database.
const (
	readyMaxAge  = time.Second     // maximum age of a cached result
	readyTimeout = 2 * time.Second // timeout of a run of the checks
	readyWait    = 3 * time.Second // maximum wait of a request
)

// check is the result of one readiness check. fault is a public text, empty if the check passed. err is only logged,
// because database errors contain hosts and users.
type check struct {
	name    string
	fault   string
	err     error
	warning string // a problem that does not prevent serving
}

// Readiness runs the checks. Concurrent requests share one run.
type Readiness struct {
	log      *slog.Logger
	check    func(ctx context.Context) []check
	stopping <-chan struct{}
	last     *cache.Cache[result] // single entry, under the key ""

	mu    sync.Mutex
	fault string // fault of the last run
}

type result struct {
	checks []check
	at     time.Time
}

// NewReadiness returns the readiness for these conditions.
func NewReadiness(log *slog.Logger, c Conditions) *Readiness {
	return newReadiness(log, c.check, c.Stopping)
}

func newReadiness(log *slog.Logger, run func(ctx context.Context) []check, stopping <-chan struct{}) *Readiness {
	return &Readiness{log: log, check: run, stopping: stopping, last: cache.New[result](1, readyTimeout)}
}

// checks returns the result of each check, and an error if any of them failed.
func (r *Readiness) checks(ctx context.Context) ([]check, error) {
	ctx, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	if last, ok := r.last.Peek(""); ok && time.Since(last.at) >= readyMaxAge {
		r.last.Remove("")
	}
	last, err := r.last.Get(ctx, "", func(ctx context.Context) (result, string, error) {
		checks := r.check(ctx)
		r.record(ctx, checks)
		return result{checks, time.Now()}, "", nil
	})
	if err != nil {
		return nil, unready("The checks do not end", nil, err)
	}
	for _, c := range last.checks {
		if c.fault != "" {
			return last.checks, unready(c.fault, last.checks, c.err)
		}
	}
	return last.checks, nil
}

// record logs when the program becomes unready, with the details hidden from the response, and when it becomes ready
// again.
func (r *Readiness) record(ctx context.Context, checks []check) {
	var failed check
	for _, c := range checks {
		if c.fault != "" {
			failed = c
			break
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case failed.name == "running": // every stop is logged
	case failed.fault == r.fault:
	case failed.fault == "":
		r.log.InfoContext(ctx, "ready again")
	default:
		r.log.ErrorContext(ctx, "not ready", "check", failed.name, "reason", failed.fault, "error", failed.err)
	}
	r.fault = failed.fault
}

// Ready returns the result of each check, and an error if any of them failed.
func (r *Readiness) Ready(ctx context.Context) (carillon.Details, error) {
	select {
	case <-r.stopping: // immediately, without waiting for the cached result to expire
		return nil, unready("The program is stopping", nil, nil)
	default:
	}
	checks, err := r.checks(ctx)
	return detailsOf(checks), err
}

// Conditions are the inputs of the readiness checks.
type Conditions struct {
	Store    *store.Store
	Queue    *queue.Queue
	Stopping <-chan struct{} // closed when the program begins to stop
	KeyOpen  func() bool     // reports whether other users can read the master key; may be nil
}

// check runs all checks.
func (c Conditions) check(ctx context.Context) []check {
	checks := []check{c.running()}
	database := check{name: "database"}
	if database.err = c.Store.DB.Health.Ping(ctx); database.err != nil {
		database.fault = "The database does not answer"
		if reason := c.Store.DB.Health.Refused(); reason != "" {
			database.fault = reason
		}
		return append(checks, database)
	}
	return append(checks, database, c.writes(ctx), c.schema(ctx), c.clock(), c.lease(), c.search(ctx), c.failover(), c.integrity(),
		c.masterKey())
}

func (c Conditions) running() check {
	select {
	case <-c.Stopping:
		return check{name: "running", fault: "The program is stopping"}
	default:
		return check{name: "running"}
	}
}

func (c Conditions) writes(ctx context.Context) check {
	if err := c.Store.DB.Health.Writable(ctx); err != nil {
		return check{name: "writes", fault: "The database takes no writes", err: err}
	}
	return check{name: "writes"}
}

func (c Conditions) schema(ctx context.Context) check {
	err := c.Store.DB.Health.Served(ctx)
	switch {
	case errors.Is(err, store.ErrNewerSchema):
		return check{name: "schema", fault: "The database was changed by a newer program; this one must be upgraded", err: err}
	case err != nil:
		return check{name: "schema", fault: "The database's schema cannot be read", err: err}
	}
	return check{name: "schema"}
}

// clock only warns unless this node would start work early.
func (c Conditions) clock() check {
	ahead, early := c.Queue.Clock()
	text := ahead.Round(time.Millisecond).String()
	switch {
	case early:
		return check{name: "clock", fault: "The clock of this node is ahead of the other nodes': by " + text + " of the database's"}
	case ahead.Abs() > membership.ClockTolerance:
		return check{name: "clock", warning: "The clock of this node is ahead of the database's by " + text}
	}
	return check{name: "clock"}
}

func (c Conditions) lease() check {
	if !c.Queue.Holds() && c.Store.DB.Health.Confirms() == nil {
		return check{name: "lease", fault: "This node has not been able to tell the others that it is alive"}
	}
	return check{name: "lease"}
}

// maxSearchLag is the lag of the search table above which lists by number or campaign become slow.
const maxSearchLag = 10 * time.Minute

// search only warns, because rows missing from the search table are still found without it, just more slowly.
func (c Conditions) search(ctx context.Context) check {
	result := check{name: "search"}
	switch lag, err := c.Store.Search.Lag(ctx, time.Now()); {
	case err != nil:
		result.warning = "How far the search table is filled cannot be read"
	case lag > maxSearchLag:
		result.warning = "The search table is " + lag.Round(time.Second).String() + " behind"
	}
	return result
}

// failover only warns, unless synchronous standbys are required.
func (c Conditions) failover() check {
	result := check{name: "failover", warning: strings.Join(c.Store.DB.Health.FailoverWarnings(), "; ")}
	if err := c.Store.DB.Health.Confirms(); err != nil {
		result.fault = "No synchronous standby of the database confirms commits"
	}
	return result
}

// integrity only warns, because what is not damaged still serves.
func (c Conditions) integrity() check {
	result := check{name: "integrity"}
	if _, fault := c.Store.Integrity.Last(); fault != "" {
		result.warning = "The database's file is damaged: restore a backup"
	}
	return result
}

// masterKey only warns, because others may already have read the key.
func (c Conditions) masterKey() check {
	result := check{name: "master_key"}
	if c.KeyOpen != nil && c.KeyOpen() {
		result.warning = openKey
	}
	return result
}

const openKey = "Other users of the machine can read the master key: chmod 600 its file"

func detailsOf(checks []check) carillon.Details {
	d := make(carillon.Details, 0, len(checks))
	for _, c := range checks {
		text := "ok"
		switch {
		case c.fault != "":
			text = c.fault
		case c.warning != "":
			text = "warning: " + c.warning
		}
		d = append(d, carillon.Detail{Key: c.name, Value: text})
	}
	return d
}

func unready(reason string, checks []check, err error) error {
	d := carillon.Details{{Key: "reason", Value: reason}}
	if len(checks) > 0 {
		d = append(d, carillon.Detail{Key: "checks", Value: detailsOf(checks)})
	}
	return &carillon.Error{Code: carillon.ServiceUnavailable, Message: "Not ready", RetryAfter: 1, Details: d, Err: err}
}
