package bulk

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/account/limit"
	"carillon/internal/send/notify"
	"carillon/internal/send/request"
	"carillon/internal/store"
)

// Accepting implements Notifications. It accepts batches of jobs in the same way as the panel accepts notifications.
type Accepting struct {
	Store  *store.Store
	Notify *notify.Notify
	Limits *limit.Limits
}

const route = "panel/bulk"

// Accept implements Notifications.
func (a Accepting) Accept(ctx context.Context, c *carillon.Company, b Request) (string, error) {
	if err := notify.UnderMaintenance(ctx, a.Store); err != nil {
		return "", err
	}
	if err := a.Store.DB.Commits.Full(); err != nil {
		return "", err
	}
	r, done, err := a.Notify.Repeat(ctx, c.ID, route, b.Key, b.Key)
	if err != nil {
		return "", err
	}
	defer done()
	if r.Replayed {
		return r.ID, nil
	}
	if _, err := a.Limits.Allow(ctx, "send panel "+c.ID, c.Limits.SendsPerMinute, 1); err != nil {
		return "", err
	}
	req, err := request.New(b.Draft, time.Now())
	if err != nil {
		return "", err
	}
	r, err = a.Notify.Accept(ctx, &notify.Submission{
		Company: c, Request: req, Route: route, IdempotencyKey: b.Key, Hash: b.Key, Keep: b.Keep,
	})
	return r.ID, err
}

// Accepted implements Notifications.
func (a Accepting) Accepted(ctx context.Context, companyID string, b Request) (string, error) {
	r, done, err := a.Notify.Repeat(ctx, companyID, route, b.Key, b.Key)
	if err != nil {
		return "", err
	}
	done()
	return r.ID, nil
}

// Cancel implements Notifications. If a node was killed after a cancel, the next node gets the same counts.
func (a Accepting) Cancel(ctx context.Context, companyID, id string) (canceled, sent int, err error) {
	if _, err := a.Notify.Cancel(ctx, companyID, id, false); err != nil && !carillon.IsCode(err, carillon.Conflict) {
		return 0, 0, err
	}
	v, _, err := notify.Sent{Store: a.Store}.Find(ctx, companyID, id, 0, 1)
	if err != nil {
		return 0, 0, err
	}
	for _, c := range v.Counts {
		n, _ := c.Value.(int)
		switch carillon.State(c.Key) {
		case carillon.StateCanceled:
			canceled += n
		case carillon.StateSkipped:
		default:
			sent += n
		}
	}
	return canceled, sent, nil
}
