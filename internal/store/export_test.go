package store

import (
	"context"
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

// SharedFence is the first statement of a delivery on PostgreSQL.
var SharedFence = work.Fence{}.Share().SQL

// ReceiveInOneBatch commits callbacks together and returns the order in which it asked for messages.
func (s *Store) ReceiveInOneBatch(ctx context.Context, callbacks ...[]provider.Receipt) (asked []carillon.MessageKey, err error) {
	s.DB.Watch(func(query string, args []any) {
		if strings.HasPrefix(query, "UPDATE message") {
			key, _ := args[0].(int64)
			asked = append(asked, carillon.MessageKey(key))
		}
	})
	defer s.DB.Watch(nil)
	return asked, s.Messages.ReceiveTogether(ctx, callbacks...)
}

// Queries gathers every distinct query that the stores it watches run, with the arguments it had the first time.
type Queries struct {
	mu  sync.Mutex
	all map[string][]any
}

// Watch makes a store tell its queries.
func (q *Queries) Watch(s *Store) {
	s.DB.Watch(func(query string, args []any) {
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
func (s *Store) EndCounting(now time.Time) { s.Stats = stats.New(s.DB, placeClose, now) }

// Stopping reports whether backups shall end.
func (s *Store) Stopping() bool { return s.backups.stopping.Load() }
