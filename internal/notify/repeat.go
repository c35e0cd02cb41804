package notify

import (
	"context"
	"sync"
	"time"

	"carillon"
)

// keys are the idempotency keys of requests in progress on this node, whose repeats get a 409. Between nodes the store's
// transaction decides.
type keys struct {
	mu sync.Mutex
	m  map[string]bool
}

// Repeat returns the response of an earlier request with the same key, or reserves the key until done is called. Errors:
// idempotency_in_progress, idempotency_key_reused.
func (n *Notify) Repeat(ctx context.Context, companyID, route, key, hash string) (a Response, done func(), err error) {
	name := companyID + " " + route + " " + key
	n.running.mu.Lock()
	busy := n.running.m[name]
	if !busy {
		if n.running.m == nil {
			n.running.m = map[string]bool{}
		}
		n.running.m[name] = true
	}
	n.running.mu.Unlock()
	if busy {
		return Response{}, nil, &carillon.Error{
			Code: carillon.IdempotencyInProgress, Message: "A request with this idempotency key is still running", RetryAfter: 1,
			Details: carillon.Details{{Key: "field", Value: "Idempotency-Key"}, {Key: "reason", Value: "Wait for the first request to end, then repeat"}},
		}
	}
	done = func() {
		n.running.mu.Lock()
		delete(n.running.m, name)
		n.running.mu.Unlock()
	}
	answer, err := n.store.LookupIdempotent(ctx, companyID, route, key, hash, time.Now())
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
