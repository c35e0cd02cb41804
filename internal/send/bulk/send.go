package bulk

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/store/messages"
)

// errTurn means that a job's turn is over.
var errTurn = errors.New("the turn is over")

// send accepts batches of a job for one turn.
func (x *Jobs) send(ctx context.Context, v *View) error {
	if time.Since(v.ChangedAt) > goOnWithin {
		return x.pauses(ctx, v, TooOld, "")
	}
	for end := time.Now().Add(turn); time.Now().Before(end); {
		if err := ctx.Err(); err != nil {
			return err
		}
		if v.Done >= v.Batches {
			v.State, v.Reason, v.Owner, v.EndedAt = messages.JobDone, "", "", time.Now()
			v.ChangedAt = v.EndedAt
			return x.save(ctx, v)
		}
		switch err := x.sendBatch(ctx, v); {
		case errors.Is(err, errTurn):
			return nil
		case err != nil && !errors.Is(err, errAgain):
			return err
		}
	}
	x.yield(ctx, v, 0, "")
	return nil
}

// key returns the idempotency key of a batch's request.
func key(jobID string, n int) string { return "bulk:" + jobID + ":" + strconv.Itoa(n) }

// sendBatch accepts a job's next batch and records it.
func (x *Jobs) sendBatch(ctx context.Context, v *View) error {
	n := v.Done
	found, known, err := x.found(ctx, v, n)
	if err != nil {
		return err
	}
	if found.Good > 0 && found.NotificationID == "" {
		if found.NotificationID, err = x.accept(ctx, v, found, known); err != nil {
			return err
		}
	}
	return x.record(context.WithoutCancel(ctx), v, found)
}

// accept accepts the good rows of a batch.
func (x *Jobs) accept(ctx context.Context, v *View, found messages.JobCheck, known map[int]fault) (notificationID string, err error) {
	rows, err := x.batch(ctx, v, found.N)
	if err != nil {
		return "", err
	}
	company, err := x.o.Store.Accounts.Company(ctx, v.CompanyID)
	if err != nil {
		return "", err
	}
	if company.Move != "" { // the job continues where the company will be
		x.yield(ctx, v, 0, "")
		return "", errTurn
	}
	if company.Suspended {
		return "", x.ends(x.pauses(ctx, v, Suspension, ""))
	}
	due, err := v.Settings.due()
	if err != nil {
		return "", err
	}
	scheduled := due.After(time.Now().Add(time.Second)) // a time in the past means immediately
	batch := Request{key(v.ID, found.N), v.Settings.draft(without(rows, known), scheduled), keepKeys}
	if notificationID, err = x.o.Notifications.Accept(ctx, company, batch); err != nil {
		err = x.refused(ctx, v, found, rows, known, err)
	}
	return notificationID, err
}

// errAgain means that the batch must be tried again.
var errAgain = errors.New("the batch is tried again")

// without returns the rows without a fault.
func without(rows []row, bad map[int]fault) []row {
	good := make([]row, 0, len(rows)-len(bad))
	for i, r := range rows {
		if _, known := bad[i]; !known {
			good = append(good, r)
		}
	}
	return good
}

// record stores that a batch was accepted, even if the job was paused or canceled in the meantime.
func (x *Jobs) record(ctx context.Context, v *View, found messages.JobCheck) error {
	for {
		v.Done, v.ChangedAt = found.N+1, time.Now()
		if v.State == messages.JobSending {
			v.Reason = ""
		}
		v.Result.Accepted += found.Good
		err := x.hold(ctx, v, found)
		if err == nil {
			x.o.Observer.Accepted(found.Good)
		}
		if err == nil && v.State != messages.JobSending {
			return x.ends(x.release(ctx, v))
		}
		if !errors.Is(err, messages.ErrOvertaken) {
			return err
		}
		j, err := x.o.Store.Bulk.Find(ctx, v.CompanyID, v.ID)
		if err != nil {
			return err
		}
		if j == nil || j.Done != found.N {
			return messages.ErrOvertaken // another node recorded it
		}
		now, err := viewOf(j)
		if err != nil {
			return err
		}
		*v = *now
		if v.State == messages.JobCanceled && v.Detail == cancelAll {
			v.State = messages.JobCanceling // cancel the batch that was accepted in the meantime too
		}
	}
}

// release lets other nodes work on a job immediately.
func (x *Jobs) release(ctx context.Context, v *View) error {
	v.Owner, v.LeaseUntil = "", time.Now()
	return x.save(ctx, v)
}

// ends converts success to errTurn.
func (x *Jobs) ends(err error) error {
	if err == nil {
		return errTurn
	}
	return err
}

// pauses pauses a job that cannot continue without help.
func (x *Jobs) pauses(ctx context.Context, v *View, reason, detail string) error {
	v.State, v.Reason, v.Detail, v.Owner, v.LeaseUntil, v.ChangedAt = messages.JobPaused, reason, detail, "", time.Time{}, time.Now()
	return x.save(ctx, v)
}

// refused handles the refusal of a job's batch: the job waits, skips rows, or is paused.
func (x *Jobs) refused(ctx context.Context, v *View, found messages.JobCheck, rows []row, known map[int]fault, err error) error {
	e, ok := errors.AsType[*carillon.Error](err)
	if !ok {
		return err
	}
	wait := max(time.Duration(e.RetryAfter)*time.Second, retryIn)
	switch e.Code {
	case carillon.ServiceUnavailable, carillon.IdempotencyInProgress:
		reason := Busy
		if e.Details.Find("maintenance_window") != nil {
			reason = Standstill
		}
		x.yield(ctx, v, min(wait, time.Minute), reason)
		return errTurn
	case carillon.RateLimitExceeded:
		x.yield(ctx, v, wait, Limited)
		return errTurn
	case carillon.ValidationFailed, carillon.VariableMismatch:
		if e.Details.Find("current_time") != nil { // the scheduled time passed while the job waited
			x.yield(ctx, v, 0, Busy)
			return errTurn
		}
		t, terr := x.template(ctx, v.CompanyID, &v.Settings)
		if terr != nil {
			return x.stops(ctx, v, terr)
		}
		more := v.Settings.unfit(t, rows, known)
		if len(more) == 0 {
			return x.stops(ctx, v, err)
		}
		return x.leaveOut(ctx, v, found, known, more)
	default:
		return x.stops(ctx, v, err)
	}
}

// leaveOut records rows that were good when they were checked but no longer are. The batch is tried again without
// them.
func (x *Jobs) leaveOut(ctx context.Context, v *View, found messages.JobCheck, known map[int]fault, more []fault) error {
	all := maps.Clone(known)
	for _, f := range more {
		all[f.I] = f
		v.Result.Faults[f.Reason]++
	}
	v.Result.Good -= len(more)
	found.Good, found.Faulty, found.Faults = found.Good-len(more), len(all), faultsText(all)
	if err := x.hold(ctx, v, found); err != nil {
		return err
	}
	return errAgain
}

// stops pauses a job after an error that a person must resolve.
func (x *Jobs) stops(ctx context.Context, v *View, err error) error {
	reason, detail, ours := reasonOf(err)
	if !ours {
		return err
	}
	return x.ends(x.pauses(ctx, v, reason, detail))
}

// reasonOf returns the reason why a job cannot continue. ours is false for errors that people cannot resolve.
func reasonOf(err error) (reason, detail string, ours bool) {
	e, ok := errors.AsType[*carillon.Error](err)
	if !ok {
		return "", "", false
	}
	if detail, _ = e.Details.Find("reason").(string); detail == "" {
		detail = e.Message
	}
	switch e.Code {
	case carillon.QuotaExceeded:
		return Quota, detail, true
	case carillon.TemplateNotFound, carillon.TemplateNotApproved:
		return Template, e.Message, true
	case carillon.Forbidden:
		return NoSender, detail, true
	case carillon.InternalError, carillon.ServiceUnavailable:
		return "", "", false
	default:
		if field, _ := e.Details.Find("field").(string); field == "sender" || field == "recipient_id" {
			return NoSender, detail, true
		}
		return Problem, detail, true
	}
}

// undo completes the cancellation of a job. If requested, it also cancels what the job has accepted.
func (x *Jobs) undo(ctx context.Context, v *View) error {
	if v.Done < v.Batches && v.Result.Good > 0 {
		if err := x.catchUp(ctx, v); err != nil {
			return err
		}
	}
	for end := time.Now().Add(turn); v.Detail == cancelAll && v.Result.Undone < v.Done; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if time.Now().After(end) {
			x.yield(ctx, v, 0, "")
			return nil
		}
		found, _, err := x.found(ctx, v, v.Result.Undone)
		if err != nil {
			return err
		}
		if found.NotificationID != "" {
			canceled, sent, err := x.o.Notifications.Cancel(ctx, v.CompanyID, found.NotificationID)
			if err != nil && !carillon.IsCode(err, carillon.NotFound) {
				return err
			}
			v.Result.Canceled += canceled
			v.Result.Left += sent
		}
		v.Result.Undone++
		if err := x.hold(ctx, v); err != nil {
			return err
		}
	}
	v.State, v.Owner, v.Reason, v.EndedAt = messages.JobCanceled, "", "", time.Now()
	v.ChangedAt = v.EndedAt
	return x.save(ctx, v)
}

// catchUp records a batch that a node accepted just before it was killed, if there is one.
func (x *Jobs) catchUp(ctx context.Context, v *View) error {
	found, _, err := x.found(ctx, v, v.Done)
	if err != nil || found.Good == 0 {
		return err
	}
	found.NotificationID, err = x.o.Notifications.Accepted(ctx, v.CompanyID, Request{Key: key(v.ID, v.Done)})
	if err != nil || found.NotificationID == "" {
		return err
	}
	v.Done++
	v.Result.Accepted += found.Good
	x.o.Observer.Accepted(found.Good)
	return x.hold(ctx, v, found)
}
