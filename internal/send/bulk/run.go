package bulk

import (
	"context"
	"errors"
	"sync"
	"time"

	"carillon"
	"carillon/internal/base/share"
	"carillon/internal/store/db"
	"carillon/internal/store/messages"
)

const (
	pollEvery = time.Second
	turn      = 3 * time.Second // a job's turn; then another job gets the place
	retryIn   = 2 * time.Second
)

// Run works on jobs until ctx ends.
func (x *Jobs) Run(ctx context.Context) error {
	if x.o.Store.Bulk.SQLite() {
		if err := x.o.Store.Bulk.Release(ctx, time.Now()); err != nil && ctx.Err() == nil {
			x.o.Log.WarnContext(ctx, "cannot release jobs", "error", err)
		}
	}
	var working sync.WaitGroup
	defer working.Wait()
	places := x.o.Shares.Of(share.ListJobs)
	for ctx.Err() == nil {
		x.claim(ctx, places, &working)
		select {
		case <-ctx.Done():
		case <-x.wake:
		case <-time.After(pollEvery):
		}
	}
	return nil
}

// claim starts work on due jobs, as far as there are places.
func (x *Jobs) claim(ctx context.Context, places *share.Share, working *sync.WaitGroup) {
	due, err := x.o.Store.Bulk.Due(ctx, time.Now(), int(share.ListJobs.Node), places.Full())
	if err != nil {
		if ctx.Err() == nil {
			x.o.Log.WarnContext(ctx, "cannot find jobs", "error", err)
		}
		return
	}
	for _, j := range due {
		place, ok := places.Try(share.Holder{Company: j.CompanyID})
		if !ok {
			continue
		}
		v, err := viewOf(j)
		if err == nil {
			v.Owner = x.o.Node
			err = x.hold(ctx, v)
		}
		if err != nil {
			place.Release()
			if !errors.Is(err, messages.ErrOvertaken) && ctx.Err() == nil {
				x.o.Log.WarnContext(ctx, "cannot begin a job", "job", j.ID, "error", err)
			}
			continue
		}
		working.Go(func() {
			defer x.waken()
			defer place.Release()
			x.work(ctx, v)
		})
	}
}

// hold renews the lease of a job and saves it, together with checks of its batches.
func (x *Jobs) hold(ctx context.Context, v *View, checks ...messages.JobCheck) error {
	v.LeaseUntil = time.Now().Add(x.o.Lease)
	return x.save(ctx, v, checks...)
}

// work works on a job for one turn.
func (x *Jobs) work(ctx context.Context, v *View) {
	var err error
	switch v.State {
	case messages.JobChecking:
		err = x.check(ctx, v)
	case messages.JobSending:
		err = x.send(ctx, v)
	case messages.JobCanceling:
		err = x.undo(ctx, v)
	default:
	}
	switch {
	case err == nil || errors.Is(err, messages.ErrOvertaken):
	case ctx.Err() != nil:
		x.drop(context.WithoutCancel(ctx), v, 0, v.Reason)
	case x.hopeless(v.ID, err):
		x.o.Log.ErrorContext(ctx, "pause a job that cannot go on", "job", v.ID, "error", err)
		x.stuck(ctx, v)
	default:
		x.o.Log.WarnContext(ctx, "cannot go on with a job", "job", v.ID, "error", err)
		x.drop(ctx, v, x.backoff(v.ID), Busy)
	}
	if err == nil {
		x.forget(v.ID)
	}
}

// maxJobTries is the number of consecutive internal failures after which a job is paused. Transient failures do not
// count.
const maxJobTries = 8

// hopeless counts a failure of a job, and reports whether there were too many in a row.
func (x *Jobs) hopeless(id string, err error) bool {
	if db.Transient(err) {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.failures[id]++
	return x.failures[id] >= maxJobTries
}

func (x *Jobs) backoff(id string) time.Duration {
	x.mu.Lock()
	defer x.mu.Unlock()
	return retryIn << max(0, x.failures[id]-1)
}

func (x *Jobs) forget(id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.failures, id)
}

// stuck pauses a job in its stored state, because it may be the state in v that cannot be stored.
func (x *Jobs) stuck(ctx context.Context, v *View) {
	x.forget(v.ID)
	j, err := x.o.Store.Bulk.Find(ctx, v.CompanyID, v.ID)
	if err != nil || j == nil || j.Owner != v.Owner {
		return // the lease will expire
	}
	now, err := viewOf(j)
	if err == nil {
		err = x.pauses(ctx, now, Problem, "It failed for a reason inside the program, each time it was tried; the log says more")
	}
	if err != nil && !errors.Is(err, messages.ErrOvertaken) && ctx.Err() == nil {
		x.o.Log.WarnContext(ctx, "cannot pause a job", "job", v.ID, "error", err)
	}
}

// drop releases a job after an error. It does not save v, because v may be the reason for the error.
func (x *Jobs) drop(ctx context.Context, v *View, after time.Duration, reason string) {
	err := x.o.Store.Bulk.Yield(ctx, v.Job, time.Now().Add(after), reason)
	if err != nil && !errors.Is(err, messages.ErrOvertaken) && ctx.Err() == nil {
		x.o.Log.WarnContext(ctx, "cannot give a job up", "job", v.ID, "error", err) // the lease will expire
	}
}

// yield releases a job until its next turn.
func (x *Jobs) yield(ctx context.Context, v *View, after time.Duration, reason string) {
	v.Owner, v.LeaseUntil, v.Reason = "", time.Now().Add(after), reason
	if err := x.save(ctx, v); err != nil && !errors.Is(err, messages.ErrOvertaken) && ctx.Err() == nil {
		x.o.Log.WarnContext(ctx, "cannot give a job up", "job", v.ID, "error", err) // the lease will expire
	}
}

// batch reads the rows of a batch.
func (x *Jobs) batch(ctx context.Context, v *View, n int) ([]row, error) {
	text, err := x.o.Store.Bulk.Cells(ctx, v.CompanyID, v.ID, n)
	if err != nil {
		return nil, err
	}
	return rowsOf(text)
}

// found returns the stored check of a batch and its bad rows.
func (x *Jobs) found(ctx context.Context, v *View, n int) (messages.JobCheck, map[int]fault, error) {
	checks, err := x.o.Store.Bulk.Checks(ctx, v.CompanyID, v.ID, n, 1)
	if err != nil {
		return messages.JobCheck{}, nil, err
	}
	if len(checks) == 0 || checks[0].N != n {
		return messages.JobCheck{}, nil, carillon.Absent("Check")
	}
	known, err := faultsOf(checks[0].Faults)
	return checks[0], known, err
}

func faultsOf(text string) (map[int]fault, error) {
	all := map[int]fault{}
	if text == "" {
		return all, nil
	}
	list, err := read[[]fault](text)
	for _, f := range list {
		all[f.I] = f
	}
	return all, err
}
