package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/store/stats"
	"carillon/internal/store/work"
)

// SharedFence is what a delivery on PostgreSQL begins with.
var SharedFence = work.Fence{}.Share().SQL

// AcceptInOneBatch commits accepts together; replay is how one is run again after a COMMIT without a response.
func (s *Store) AcceptInOneBatch(ctx context.Context, replay bool, accepts ...*Accept) ([]error, error) {
	err := s.Update(ctx, func(ctx context.Context, tx *Tx) error { return applyAccepts(ctx, tx.Tx, accepts, replay) })
	errs := make([]error, len(accepts))
	for i, a := range accepts {
		errs[i] = a.err
	}
	return errs, err
}

// AcceptAsCommitted commits accepts together the way a committer does: in one flush where that can be.
func (s *Store) AcceptAsCommitted(accepts ...*Accept) []error {
	errs := s.accepts.Together(context.Background(), s.DB, false, accepts...)
	for i, a := range accepts {
		if errs[i] == nil {
			errs[i] = a.err
		}
	}
	return errs
}

// AcceptAfterLostCommit runs an accept again by itself whose COMMIT got no response.
func (s *Store) AcceptAfterLostCommit(ctx context.Context, a *Accept) error {
	return s.accepts.Together(ctx, s.DB, true, a)[0]
}

// ReceiveInOneBatch commits callbacks together and returns the order in which it asked for messages.
func (s *Store) ReceiveInOneBatch(ctx context.Context, callbacks ...[]provider.Receipt) (asked []carillon.MessageKey, err error) {
	s.Watch(func(query string, args []any) {
		if strings.HasPrefix(query, "UPDATE message") {
			key, _ := args[0].(int64)
			asked = append(asked, carillon.MessageKey(key))
		}
	})
	defer s.Watch(nil)
	ops := make([][]receipt, len(callbacks))
	for i, c := range callbacks {
		for _, r := range c {
			ops[i] = append(ops[i], receipt{Receipt: r})
		}
	}
	return asked, errors.Join(s.receipts.Together(ctx, s.DB, false, ops...)...)
}

// Queries gathers every distinct query that the stores it watches run, with the arguments it had the first time.
type Queries struct {
	mu  sync.Mutex
	all map[string][]any
}

// Watch makes a store tell its queries.
func (q *Queries) Watch(s *Store) {
	s.Watch(func(query string, args []any) {
		verb, _, _ := strings.Cut(strings.TrimSpace(query), " ")
		if !slices.Contains([]string{"SELECT", "WITH", "INSERT", "UPDATE", "DELETE"}, verb) {
			return
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.all == nil {
			q.all = map[string][]any{}
		}
		if _, seen := q.all[query]; !seen {
			q.all[query] = slices.Clone(args)
		}
	})
}

// Add takes over the queries of another one that are new here.
func (q *Queries) Add(more *Queries) {
	if q == more {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.all == nil {
		q.all = map[string][]any{}
	}
	for query, args := range more.all {
		if _, seen := q.all[query]; !seen {
			q.all[query] = args
		}
	}
}

// Texts are the queries, sorted.
func (q *Queries) Texts() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Sorted(maps.Keys(q.all))
}

// Args are the arguments that a query had.
func (q *Queries) Args(query string) []any { return q.all[query] }

// EndCounting forgets which recipients were to be counted, as the end of a program does; another one goes on.
func (s *Store) EndCounting(now time.Time) { s.stats = stats.New(s.DB, placeClose, now) }

// Stopping reports whether backups shall end.
func (s *Store) Stopping() bool { return s.backups.stopping.Load() }
