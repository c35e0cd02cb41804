package app

import (
	"context"
	"os"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/send/bulk"
	"carillon/internal/send/notify"
	"carillon/internal/send/request"
)

// newBulk builds the jobs that send to the people of files.
func newBulk(a *App) *bulk.Jobs {
	host, _ := os.Hostname()
	return bulk.New(bulk.Options{
		Shares: a.shares, Store: a.store, Notifications: accepting{a}, Node: host + "/" + strconv.Itoa(os.Getpid()),
		Observer: a.metrics.Files, Log: a.log,
	})
}

// accepting accepts batches of jobs as the panel accepts notifications.
type accepting struct{ *App }

const bulkRoute = "panel/bulk"

// Accept implements bulk.Notifications.
func (a accepting) Accept(ctx context.Context, c *carillon.Company, b bulk.Request) (string, error) {
	if err := notify.UnderMaintenance(ctx, a.store); err != nil {
		return "", err
	}
	if err := a.store.Full(); err != nil {
		return "", err
	}
	r, done, err := a.notify.Repeat(ctx, c.ID, bulkRoute, b.Key, b.Key)
	if err != nil {
		return "", err
	}
	defer done()
	if r.Replayed {
		return r.ID, nil
	}
	if _, err := a.limits.Allow(ctx, "send panel "+c.ID, c.Limits.SendsPerMinute, 1); err != nil {
		return "", err
	}
	req, err := request.New(b.Draft, time.Now())
	if err != nil {
		return "", err
	}
	r, err = a.notify.Accept(ctx, &notify.Submission{
		Company: c, Request: req, Route: bulkRoute, IdempotencyKey: b.Key, Hash: b.Key, Keep: b.Keep,
	})
	return r.ID, err
}

// Accepted implements bulk.Notifications.
func (a accepting) Accepted(ctx context.Context, companyID string, b bulk.Request) (string, error) {
	r, done, err := a.notify.Repeat(ctx, companyID, bulkRoute, b.Key, b.Key)
	if err != nil {
		return "", err
	}
	done()
	return r.ID, nil
}

// Cancel implements bulk.Notifications. Where a node was killed after a cancel the next one finds the same numbers.
func (a accepting) Cancel(ctx context.Context, companyID, id string) (canceled, sent int, err error) {
	if _, err := a.notify.Cancel(ctx, companyID, id); err != nil && !carillon.IsCode(err, carillon.Conflict) {
		return 0, 0, err
	}
	v, _, err := a.notify.Find(ctx, companyID, id, 0, 1)
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
