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
	"carillon/internal/store/bulk"
)

// Notifications accepts and cancels what jobs send.
type Notifications interface {
	// Accept accepts a request, or returns the notification of the earlier one with its key.
	Accept(ctx context.Context, c *carillon.Company, b Request) (notificationID string, err error)
	// Accepted returns the notification of an earlier request; "": there is none.
	Accepted(ctx context.Context, companyID string, b Request) (notificationID string, err error)
	// Cancel cancels what has not been started of a notification.
	Cancel(ctx context.Context, companyID, notificationID string) (canceled, sent int, err error)
}

// Request is a batch as it is accepted. Requests with the same key are the same.
type Request struct {
	Key   string
	Draft *request.Draft
	Keep  time.Duration // for how long its key is known
}

// Observer counts what becomes of rows.
type Observer interface {
	// Checked counts rows of a batch that can be sent, and those that are not.
	Checked(good, bad int)
	// Accepted counts rows that were accepted.
	Accepted(rows int)
}

type nobody struct{}

func (nobody) Checked(int, int) {}
func (nobody) Accepted(int)     {}

// Options wire a Jobs. Store and Notifications are required.
type Options struct {
	Store         *store.Store
	Notifications Notifications
	Node          string        // a name of this node, for logs
	Lease         time.Duration // how long a node that was killed holds a job; default 20 s
	Observer      Observer      // optional
	Shares        *share.Set    // nil: shares of its own
	Log           *slog.Logger
}

// Jobs are the jobs of all companies. Make it with New; Run works at them.
type Jobs struct {
	o    Options
	wake chan struct{}

	mu       sync.Mutex
	failures map[string]int // of jobs in a row, by id
}

// New builds a Jobs.
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

// Reasons why a job is paused, or waits.
const (
	ByTeammate = "teammate"       // somebody paused it
	Restored   = "restored"       // the database was restored
	Quota      = "quota_exceeded" // today's quota is used up
	TooOld     = "too_old"        // it was not gone on with for a month
	Problem    = "problem"        // Detail says which
	Busy       = "busy"           // it waits for a moment
	Suspension = "suspended"      // the company is suspended
	Template   = "template_gone"  // the template is not approved any more
	NoSender   = "sender_gone"    // the sender was removed
	Limited    = "rate_limited"   // it waits for the company's rate of requests
	Standstill = "maintenance"    // it waits for the end of the window
	interrupt  = "upload_broken"  // the file was not uploaded to its end
	storageOf  = int64(1) << 30   // bytes of a company's files
	jobsMost   = 5000             // of a company
	keepKeys   = 40 * 24 * time.Hour
	goOnWithin = 30 * 24 * time.Hour // after it was last gone on with
)

// Find returns a job of a company with its settings and its result. Errors: not_found.
func (x *Jobs) Find(ctx context.Context, companyID, id string) (*View, error) {
	j, err := x.job(ctx, companyID, id)
	if err != nil {
		return nil, err
	}
	return viewOf(j)
}

func (x *Jobs) job(ctx context.Context, companyID, id string) (*bulk.Job, error) {
	j, err := x.o.Store.Bulk.Find(ctx, companyID, id)
	if err != nil {
		return nil, err
	}
	if j == nil || j.State == bulk.Uploading || j.State == bulk.Discarded {
		return nil, carillon.Absent("Job")
	}
	return j, nil
}

// View is a job as it is read.
type View struct {
	*bulk.Job
	Settings Settings
	Result   Result
	Batches  int
}

func viewOf(j *bulk.Job) (*View, error) {
	v := &View{Job: j, Batches: batches(j.Total)}
	var err error
	if v.Settings, err = read[Settings](j.Settings); err == nil {
		v.Result, err = read[Result](j.Result)
	}
	return v, err
}

// Due is when a job's messages are to leave; zero: at once.
func (v *View) Due() time.Time {
	at, err := v.Settings.due()
	if err != nil {
		return time.Time{}
	}
	return at
}

// List returns jobs of a company, the newest first.
func (x *Jobs) List(ctx context.Context, companyID string, after *bulk.Page, limit int) ([]*View, error) {
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

// saveTries is how often a change is tried again that somebody overtook.
const saveTries = 20

// change changes a job of a company. edit may be called again with what somebody else stored meanwhile.
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
		if errors.Is(err, bulk.ErrOvertaken) && try < saveTries {
			continue
		}
		if errors.Is(err, bulk.ErrOvertaken) {
			err = carillon.InConflict("Somebody else is changing the job")
		}
		if err == nil {
			x.waken()
		}
		return v, err
	}
}

func (x *Jobs) save(ctx context.Context, v *View, checks ...bulk.Check) error {
	v.Job.Settings, v.Job.Result = write(v.Settings), write(v.Result)
	return x.o.Store.Bulk.Save(ctx, v.Job, checks...)
}

func (x *Jobs) waken() {
	select {
	case x.wake <- struct{}{}:
	default:
	}
}
