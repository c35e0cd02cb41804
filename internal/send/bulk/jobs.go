// Package bulk sends a template to the people in a CSV file. A job belongs to a company and runs in the background:
//
//	upload: bytes ─▶ text ─▶ rows, 100 in a batch ─▶ database; columns are mapped by their names
//	check: batch by batch, in the background: numbers, variables, texts, media, suppressed, duplicates
//	send: batch by batch: notify.Accept with the key `bulk:<job>:<batch>` ─▶ progress
//
// A lease ensures that only one node at a time works on a job. If a node is killed between accepting a batch and
// recording it, the next node repeats the request and gets the first response: nothing is sent twice, and nothing is
// lost.
package bulk

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"carillon"
	"carillon/internal/base/share"
	"carillon/internal/send/request"
	"carillon/internal/store"
	"carillon/internal/store/messages"
)

// Notifications accepts and cancels the notifications of jobs.
type Notifications interface {
	// Accept accepts a request, or returns the notification of an earlier request with the same key.
	Accept(ctx context.Context, c *carillon.Company, b Request) (notificationID string, err error)
	// Accepted returns the notification of an earlier request with the same key, or "" if there is none.
	Accepted(ctx context.Context, companyID string, b Request) (notificationID string, err error)
	// Cancel cancels the messages of a notification that have not been started.
	Cancel(ctx context.Context, companyID, notificationID string) (canceled, sent int, err error)
}

// Request is one batch of a job. Requests with the same key are accepted only once.
type Request struct {
	Key   string
	Draft *request.Draft
	Keep  time.Duration // retention of the key
}

// Observer counts checked and accepted rows.
type Observer interface {
	// Checked counts the good and bad rows of a checked batch.
	Checked(good, bad int)
	// Accepted counts accepted rows.
	Accepted(rows int)
}

type nobody struct{}

func (nobody) Checked(int, int) {}
func (nobody) Accepted(int)     {}

// Options configure a Jobs. Store and Notifications are required.
type Options struct {
	Store         *store.Store
	Notifications Notifications
	Node          string        // name of this node, for logs
	Lease         time.Duration // how long a killed node keeps a job; default 20 s
	Observer      Observer      // optional
	Shares        *share.Set    // nil: separate shares
	Log           *slog.Logger
}

// Jobs manages the jobs of all companies. Create it with New. Run works on them.
type Jobs struct {
	o    Options
	wake chan struct{}

	mu       sync.Mutex
	failures map[string]int // consecutive failures by job id
}

// New returns a Jobs.
func New(o Options) *Jobs {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Observer == nil {
		o.Observer = nobody{}
	}
	if o.Lease <= 0 {
		o.Lease = 20 * time.Second
	}
	return &Jobs{o: o, wake: make(chan struct{}, 1), failures: map[string]int{}}
}

// Reasons why a job is paused or waits.
const (
	ByTeammate = "teammate"       // paused by a teammate
	Restored   = "restored"       // the database was restored
	Quota      = "quota_exceeded" // today's quota is used up
	TooOld     = "too_old"        // not continued for a month
	Problem    = "problem"        // see Detail
	Busy       = "busy"           // waits for a moment
	Suspension = "suspended"      // the company is suspended
	Template   = "template_gone"  // the template is no longer approved
	NoSender   = "sender_gone"    // the sender was removed
	Limited    = "rate_limited"   // waits for the company's rate limit
	Standstill = "maintenance"    // waits for the end of the maintenance window
	interrupt  = "upload_broken"  // the upload was not completed
	storageOf  = int64(1) << 30   // bytes of files per company
	maxJobs    = 5000             // per company
	keepKeys   = 40 * 24 * time.Hour
	goOnWithin = 30 * 24 * time.Hour // after the last progress or change
)

// Find returns a job of a company with its settings and its result. Errors: not_found.
func (x *Jobs) Find(ctx context.Context, companyID, id string) (*View, error) {
	j, err := x.job(ctx, companyID, id)
	if err != nil {
		return nil, err
	}
	return viewOf(j)
}

func (x *Jobs) job(ctx context.Context, companyID, id string) (*messages.Job, error) {
	j, err := x.o.Store.Bulk.Find(ctx, companyID, id)
	if err != nil {
		return nil, err
	}
	if j == nil || j.State == messages.JobUploading || j.State == messages.JobDiscarded {
		return nil, carillon.Absent("Job")
	}
	return j, nil
}

// View is a job with its decoded settings and result.
type View struct {
	*messages.Job
	Settings Settings
	Result   Result
	Batches  int
}

func viewOf(j *messages.Job) (*View, error) {
	v := &View{Job: j, Batches: batches(j.Total)}
	var err error
	if v.Settings, err = read[Settings](j.Settings); err == nil {
		v.Result, err = read[Result](j.Result)
	}
	return v, err
}

// Due returns the time at which a job's messages are due. The zero time means immediately.
func (v *View) Due() time.Time {
	at, err := v.Settings.due()
	if err != nil {
		return time.Time{}
	}
	return at
}

// List returns jobs of a company, newest first.
func (x *Jobs) List(ctx context.Context, companyID string, after *messages.JobPage, limit int) ([]*View, error) {
	all, err := x.o.Store.Bulk.List(ctx, companyID, after, limit)
	if err != nil {
		return nil, err
	}
	views := make([]*View, len(all))
	for i, j := range all {
		if views[i], err = viewOf(j); err != nil {
			return nil, err
		}
	}
	return views, nil
}

// saveTries bounds the retries of a change after concurrent changes.
const saveTries = 20

// change changes a job of a company. After a concurrent change, edit is called again with the new state.
func (x *Jobs) change(ctx context.Context, companyID, id string, edit func(v *View) error) (*View, error) {
	for try := 1; ; try++ {
		v, err := x.Find(ctx, companyID, id)
		if err != nil {
			return nil, err
		}
		if err := edit(v); err != nil {
			return nil, err
		}
		v.ChangedAt = time.Now()
		err = x.save(ctx, v)
		if errors.Is(err, messages.ErrOvertaken) && try < saveTries {
			continue
		}
		if errors.Is(err, messages.ErrOvertaken) {
			err = carillon.InConflict("Somebody else is changing the job")
		}
		if err == nil {
			x.waken()
		}
		return v, err
	}
}

func (x *Jobs) save(ctx context.Context, v *View, checks ...messages.JobCheck) error {
	v.Job.Settings, v.Job.Result = write(v.Settings), write(v.Result)
	return x.o.Store.Bulk.Save(ctx, v.Job, checks...)
}

func (x *Jobs) waken() {
	select {
	case x.wake <- struct{}{}:
	default:
	}
}
