package notify

import (
	"context"
	"time"

	"carillon"
)

// Repeat returns the response of an earlier request with the same key, or reserves the key until done is called. A repeat of a
// request in progress on this node gets a 409; between nodes the store's transaction decides. Errors:
// idempotency_in_progress, idempotency_key_reused.
func (n *Notify) Repeat(ctx context.Context, companyID, route, key, hash string) (a Response, done func(), err error) {
	name := companyID + " " + route + " " + key
	if _, busy := n.running.LoadOrStore(name, true); busy {
		return Response{}, nil, &carillon.Error{
			Code: carillon.IdempotencyInProgress, Message: "A request with this idempotency key is still running", RetryAfter: 1,
			Details: carillon.Details{{Key: "field", Value: "Idempotency-Key"}, {Key: "reason", Value: "Wait for the first request to end, then repeat"}},
		}
	}
	done = func() { n.running.Delete(name) }
	answer, err := n.store.Notifications.LookupIdempotent(ctx, companyID, route, key, hash, time.Now())
	if err != nil {
		done()
		return Response{}, nil, err
	}
	if answer != "" {
		done()
		return Response{JSON: []byte(answer), Replayed: true}, func() {}, nil
	}
	return Response{}, done, nil
}
