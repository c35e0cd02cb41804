package bulk

import (
	"context"
	"encoding/json"

	"carillon"
	"carillon/internal/account/limit"
	"carillon/internal/send/notify"
	"carillon/internal/store"
)

// Accepting accepts batches of jobs as the panel accepts notifications.
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
	if err := a.Store.Full(); err != nil {
		return "", err
	}
	sub := &notify.Submission{
		Company: c, Channel: carillon.Messaging, Body: b.Body, Route: route, IdempotencyKey: b.Key, Hash: b.Key, Keep: b.Keep,
	}
	r, done, err := a.Notify.Repeat(ctx, c.ID, sub.Route, sub.IdempotencyKey, sub.Hash)
	if err != nil {
		return "", err
	}
	defer done()
	if !r.Replayed {
		if _, err := a.Limits.Allow(ctx, "send panel "+c.ID, c.Limits.SendsPerMinute, 1); err != nil {
			return "", err
		}
		if r, err = a.Notify.Accept(ctx, sub); err != nil {
			return "", err
		}
	}
	return notificationOf(r)
}

// Accepted implements Notifications.
func (a Accepting) Accepted(ctx context.Context, companyID string, b Request) (string, error) {
	r, done, err := a.Notify.Repeat(ctx, companyID, route, b.Key, b.Key)
	if err != nil {
		return "", err
	}
	defer done()
	if !r.Replayed {
		return "", nil
	}
	return notificationOf(r)
}

func notificationOf(r notify.Response) (string, error) {
	var made struct {
		ID string `json:"notification_id"`
	}
	err := json.Unmarshal(r.JSON, &made)
	return made.ID, err
}

// Cancel implements Notifications. Where a node was killed after a cancel the next one finds the same numbers.
func (a Accepting) Cancel(ctx context.Context, companyID, id string) (canceled, sent int, err error) {
	if _, err := a.Notify.Cancel(ctx, companyID, id); err != nil && !carillon.IsCode(err, carillon.Conflict) {
		return 0, 0, err
	}
	v, _, err := a.Notify.Find(ctx, companyID, id, 0, 1)
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
