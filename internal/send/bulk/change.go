package bulk

import (
	"context"
	"fmt"
	"slices"
	"time"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/store/messages"
)

// Edit is a change of a job's settings. Nil fields are unchanged.
type Edit struct {
	Version int // version that the caller saw
	Number  *int
	Fields  map[string]int
	Values  map[string]Value

	Template, Language, Sender, Campaign, Type, Event, At, Timezone *string
}

// editable are the states in which settings may be changed. A change discards the result of a check.
//
//nolint:gochecknoglobals // a constant table
var editable = []messages.JobState{messages.JobDraft, messages.JobChecking, messages.JobChecked}

// Change changes a job's settings, which turns the job into a draft. Errors: not_found, conflict, validation_failed.
func (x *Jobs) Change(ctx context.Context, companyID, id string, e Edit) (*View, error) {
	return x.change(ctx, companyID, id, func(v *View) error {
		if !slices.Contains(editable, v.State) {
			return carillon.InConflict("The job is being sent: its settings do not change any more")
		}
		if e.Version != v.Settings.Version {
			return carillon.InConflict("Somebody else has changed the job meanwhile: load it again")
		}
		s := &v.Settings
		s.Version++
		for _, text := range []struct{ to, from *string }{
			{&s.Template, e.Template},
			{&s.Language, e.Language},
			{&s.Sender, e.Sender},
			{&s.Campaign, e.Campaign},
			{&s.Type, e.Type},
			{&s.Event, e.Event},
			{&s.At, e.At},
			{&s.Timezone, e.Timezone},
		} {
			if text.from != nil {
				*text.to = *text.from
			}
		}
		if err := s.remap(e); err != nil {
			return err
		}
		if s.At != "" {
			if _, err := s.due(); err != nil {
				return err
			}
		}
		if s.Template != "" && s.Sender != "" {
			t, err := x.template(ctx, companyID, s)
			if err != nil {
				return err
			}
			if e.Values == nil {
				s.mapValues(t)
			}
		}
		v.State, v.Done, v.Result, v.Reason, v.Detail = messages.JobDraft, 0, Result{}, "", ""
		v.Owner, v.LeaseUntil = "", time.Time{}
		return nil
	})
}

// remap changes the mapping of the columns.
func (s *Settings) remap(e Edit) error {
	last := len(s.Columns) - 1
	if e.Number != nil {
		if s.Number = *e.Number; s.Number < -1 || s.Number > last {
			return carillon.Invalid("number", "Must be one of the columns")
		}
	}
	if e.Fields != nil {
		for field, i := range e.Fields {
			if !slices.Contains(contactFields, field) || i < 0 || i > last {
				return carillon.Invalid("fields."+carillon.Shorten(field), "Must be a field of contacts, and one of the columns")
			}
		}
		s.Fields = e.Fields
		s.nameColumns()
	}
	if e.Values != nil {
		for key, v := range e.Values {
			if v.Column != nil && (*v.Column < 0 || *v.Column > last) {
				return carillon.Invalid("values."+carillon.Shorten(key), "Must be one of the columns")
			}
		}
		s.Values = e.Values
	}
	return nil
}

// template finds the template of a job, which must be approved. Errors: template_not_found, template_not_approved,
// validation_failed.
func (x *Jobs) template(ctx context.Context, companyID string, s *Settings) (*carillon.Template, error) {
	named, err := x.o.Store.Senders.SendersNamed(ctx, companyID, s.Sender)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(named, func(n *carillon.Sender) bool { return n.ID == s.Sender && n.Channel == carillon.Messaging })
	if i < 0 {
		return nil, carillon.Invalid("sender", "Must be a messaging sender of the company")
	}
	all, err := x.o.Store.Templates.Templates(ctx, named[i].UID)
	if err != nil {
		return nil, err
	}
	t, err := content.FindTemplate(all, s.Template, s.Language)
	if err == nil && content.Secret(t) { // a file is kept longer than a code may be
		return nil, carillon.Invalid("template", "One-time codes are not sent from files: send each with a request of its own")
	}
	return t, err
}

// Check starts the check of a job's rows. Errors: not_found, conflict, validation_failed for the first missing field.
func (x *Jobs) Check(ctx context.Context, companyID, id string) (*View, error) {
	return x.change(ctx, companyID, id, func(v *View) error {
		if !slices.Contains(editable, v.State) {
			return carillon.InConflict("The job is being sent already")
		}
		if v.Settings.Template == "" {
			return carillon.Missing("template")
		}
		t, err := x.template(ctx, companyID, &v.Settings)
		if err != nil {
			return err
		}
		if v.Settings.Campaign == "" {
			v.Settings.Campaign = t.Name + " " + v.CreatedAt.UTC().Format(time.DateOnly)
		}
		if err := v.Settings.check(t, content.Keys(t.Shape)); err != nil {
			return err
		}
		v.State, v.Done, v.Result, v.Reason, v.Detail = messages.JobChecking, 0, Result{}, "", ""
		v.Owner, v.LeaseUntil = "", time.Time{}
		return nil
	})
}

// Send starts sending the checked rows. recipients is the number that the caller was shown. again confirms that the
// job is sent although it may have been sent before the database was restored. Errors: not_found, conflict,
// quota_exceeded, validation_failed for a time in the past.
func (x *Jobs) Send(ctx context.Context, companyID, id string, recipients int, again bool) (*View, error) {
	q, err := x.Quota(ctx, companyID)
	if err != nil {
		return nil, err
	}
	return x.change(ctx, companyID, id, func(v *View) error {
		switch {
		case v.State == messages.JobSending:
			return nil // already started, for example by a second click
		case v.State != messages.JobChecked:
			return carillon.InConflict("The rows have to be checked before they are sent")
		case !v.RestoredAt.IsZero() && !again:
			return carillon.InConflict("The database was restored, and the job may have been sent since the backup was made: " +
				"confirm with `again` that it is to be sent")
		case v.Result.Good == 0:
			return carillon.InConflict("No row can be sent")
		case recipients != v.Result.Good:
			const text = "The job has %d recipients, and %d were confirmed: load it again"
			return carillon.InConflict(fmt.Sprintf(text, v.Result.Good, recipients))
		case q.Limit > 0 && v.Result.Good > q.Left():
			return &carillon.Error{
				Code: carillon.QuotaExceeded, Message: "The recipients do not fit into today's quota",
				Details: carillon.Details{
					{Key: "quota", Value: q.Limit},
					{Key: "used", Value: q.Used},
					{Key: "reset_time", Value: carillon.FormatTime(q.Reset)},
					{Key: "reason", Value: fmt.Sprintf("%d recipients, of which %d can be sent today", v.Result.Good, q.Left())},
				},
			}
		}
		due, err := v.Settings.due()
		if err != nil {
			return err
		}
		now := time.Now()
		if !due.IsZero() && !due.After(now) {
			return carillon.InvalidValue("datetime_sending", "The time has passed", v.Settings.At)
		}
		if _, err := x.template(ctx, companyID, &v.Settings); err != nil {
			return err
		}
		v.State, v.Done, v.BegunAt, v.Reason, v.Detail, v.LeaseUntil, v.RestoredAt = messages.JobSending, 0, now, "", "", time.Time{},
			time.Time{}
		return nil
	})
}

// Pause stops a job from accepting more batches. Batches that are already accepted are sent.
func (x *Jobs) Pause(ctx context.Context, companyID, id string) (*View, error) {
	return x.change(ctx, companyID, id, func(v *View) error {
		if v.State != messages.JobSending && v.State != messages.JobPaused {
			return carillon.InConflict("The job is not being sent")
		}
		if v.State == messages.JobSending {
			v.State, v.Reason, v.Detail = messages.JobPaused, ByTeammate, ""
		}
		return nil
	})
}

// Resume continues a paused job.
func (x *Jobs) Resume(ctx context.Context, companyID, id string) (*View, error) {
	return x.change(ctx, companyID, id, func(v *View) error {
		switch {
		case v.State == messages.JobSending:
			return nil
		case v.State != messages.JobPaused:
			return carillon.InConflict("The job is not paused")
		case time.Since(v.ChangedAt) > goOnWithin:
			return carillon.InConflict("The job was paused for more than 30 days: cancel it, and upload what is left again")
		}
		v.State, v.Reason, v.Detail, v.LeaseUntil, v.RestoredAt = messages.JobSending, "", "", time.Time{}, time.Time{}
		return nil
	})
}

// Cancel ends a job. If accepted is true, it also cancels accepted messages that have not been sent.
func (x *Jobs) Cancel(ctx context.Context, companyID, id string, accepted bool) (*View, error) {
	return x.change(ctx, companyID, id, func(v *View) error {
		switch v.State {
		case messages.JobCanceling, messages.JobCanceled:
			if accepted && v.Detail == cancelOnly {
				v.State, v.Detail = messages.JobCanceling, cancelAll
				if v.Owner == "" {
					v.LeaseUntil = time.Time{}
				}
			}
			return nil
		case messages.JobDraft, messages.JobChecking, messages.JobChecked:
			v.State, v.EndedAt = messages.JobCanceled, time.Now()
			return nil
		case messages.JobSending, messages.JobPaused, messages.JobDone:
			if v.Owner == "" {
				// Take effect immediately. An owner first records the batch that it is accepting, then releases the
				// job.
				v.LeaseUntil = time.Time{}
			}
			v.State, v.Reason, v.Detail = messages.JobCanceling, "", cancelOnly
			if accepted {
				v.Detail = cancelAll
			}
			return nil
		default:
			return carillon.InConflict("The job is over")
		}
	})
}

// The scope of a cancel, kept in Job.Detail.
const (
	cancelOnly = "rest"
	cancelAll  = "accepted"
)

// Discard removes a job that is not being sent, including the rows of its file.
func (x *Jobs) Discard(ctx context.Context, companyID, id string) error {
	_, err := x.change(ctx, companyID, id, func(v *View) error {
		if v.State == messages.JobSending || v.State == messages.JobCanceling {
			return carillon.InConflict("The job is being sent: cancel it first")
		}
		v.State = messages.JobDiscarded
		return nil
	})
	return err
}

// Allowance is a company's daily quota. A limit of 0 means no limit.
type Allowance struct {
	Limit, Used int
	Reset       time.Time
}

// Left returns the number of recipients that can still be accepted today.
func (a Allowance) Left() int { return max(0, a.Limit-a.Used) }

// Quota returns a company's quota and its use today.
func (x *Jobs) Quota(ctx context.Context, companyID string) (Allowance, error) {
	c, err := x.o.Store.Accounts.Company(ctx, companyID)
	if err != nil {
		return Allowance{}, err
	}
	now := time.Now().UTC()
	used, err := x.o.Store.Notifications.Used(ctx, companyID, now.Format(time.DateOnly))
	return Allowance{c.Limits.DailyRecipients, used, now.Truncate(24 * time.Hour).Add(24 * time.Hour)}, err
}
