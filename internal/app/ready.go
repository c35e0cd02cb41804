package app

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"carillon"
	"carillon/internal/queue/membership"
	"carillon/internal/store"
)

// /readyz tells the truth, cheaply: whoever asks within a second gets the same answer, and nobody waits for a database
// that hangs.
const (
	readyKeep = time.Second     // an answer is good for
	readyMost = 2 * time.Second // the checks take at most
	readyWait = 3 * time.Second // and whoever asks waits at most
)

// check is one of the things that must hold; fault is empty when it does, else a text that anyone may read. What the
// database said is for the log alone: it names hosts and users.
type check struct {
	name    string
	fault   string
	err     error
	warning string // what does not keep the program from serving, but should be mended
}

// readiness shares one look among all who ask.
type readiness struct {
	look func(ctx context.Context) []check

	mu      sync.Mutex
	at      time.Time
	last    []check
	looking chan struct{} // closed at the end of the look that is under way; nil: none is
}

// ask gives the checks, and the error to answer with when one of them does not hold.
func (r *readiness) ask(ctx context.Context) ([]check, error) {
	ctx, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	done := r.begin() //nolint:contextcheck // shared: whoever asked first may leave
	if done != nil {
		select {
		case <-done:
		case <-ctx.Done():
			return nil, unready("The checks do not end", nil, ctx.Err())
		}
	}
	r.mu.Lock()
	checks := r.last
	r.mu.Unlock()
	for _, c := range checks {
		if c.fault != "" {
			return checks, unready(c.fault, checks, c.err)
		}
	}
	return checks, nil
}

// begin gives the channel that tells the end of the look under way, starting one where the last is too old; nil: it is
// not.
func (r *readiness) begin() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.looking != nil {
		return r.looking
	}
	if time.Since(r.at) < readyKeep && r.last != nil {
		return nil
	}
	done := make(chan struct{})
	r.looking = done
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), readyMost)
		defer cancel()
		checks := r.look(ctx)
		r.mu.Lock()
		r.last, r.at, r.looking = checks, time.Now(), nil
		r.mu.Unlock()
		close(done)
	}()
	return done
}

// Ready tells the truth about whether requests should be sent here: each check and, when one does not hold, the error to
// answer with.
func (a *App) Ready(ctx context.Context) (carillon.Details, error) {
	select {
	case <-a.stopping: // at once, not a second later
		return nil, unready("The program is stopping", nil, nil)
	default:
	}
	checks, err := a.readiness.ask(ctx)
	return detailsOf(checks), err
}

// look makes the checks.
func (a *App) look(ctx context.Context) []check {
	checks := []check{a.checkDraining()}
	database := check{name: "database"}
	if database.err = a.store.Ping(ctx); database.err != nil {
		database.fault = "The database does not answer"
		return append(checks, database)
	}
	return append(checks, database, a.checkWrites(ctx), a.checkSchema(ctx), a.checkClock(ctx), a.checkLease(), a.checkFailover(ctx))
}

func (a *App) checkDraining() check {
	select {
	case <-a.stopping:
		return check{name: "running", fault: "The program is stopping"}
	default:
		return check{name: "running"}
	}
}

func (a *App) checkWrites(ctx context.Context) check {
	if err := a.store.Writable(ctx); err != nil {
		return check{name: "writes", fault: "The database takes no writes", err: err}
	}
	return check{name: "writes"}
}

func (a *App) checkSchema(ctx context.Context) check {
	err := a.store.Served(ctx)
	switch {
	case errors.Is(err, store.ErrNewerSchema):
		return check{name: "schema", fault: "The database was changed by a newer program; this one must be upgraded", err: err}
	case err != nil:
		return check{name: "schema", fault: "The database's schema cannot be read", err: err}
	}
	return check{name: "schema"}
}

func (a *App) checkClock(ctx context.Context) check {
	offset, err := a.store.ClockOffset(ctx)
	switch {
	case err != nil:
		return check{name: "clock", fault: "The database's clock cannot be read", err: err}
	case offset.Abs() > membership.ClockTolerance:
		return check{name: "clock", fault: "The clock of this node differs from the database's by " + offset.Round(time.Millisecond).String()}
	}
	return check{name: "clock"}
}

func (a *App) checkLease() check {
	if !a.queue.Holds() {
		return check{name: "lease", fault: "This node has not been able to tell the others that it is alive"}
	}
	return check{name: "lease"}
}

// checkFailover never keeps the program from serving: a server that cannot be asked says nothing about the others.
func (a *App) checkFailover(ctx context.Context) check {
	c := check{name: "failover"}
	warnings, err := a.store.FailoverWarnings(ctx)
	if err != nil {
		warnings = []string{"The database does not tell how it is replicated"}
	}
	c.warning = strings.Join(warnings, "; ")
	return c
}

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
