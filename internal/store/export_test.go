package store

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"carillon"
)

// SharedFence is what a delivery on PostgreSQL begins with.
const SharedFence = sharedFence

// AcceptInOneBatch commits accepts together; replay is how one is run again after a COMMIT without an answer.
func (s *Store) AcceptInOneBatch(ctx context.Context, replay bool, accepts ...*Accept) ([]error, error) {
	err := s.Update(ctx, func(ctx context.Context, tx *Tx) error { return acceptBatch(ctx, tx, accepts, replay) })
	errs := make([]error, len(accepts))
	for i, a := range accepts {
		errs[i] = a.err
	}
	return errs, err
}

// AcceptAsCommitted commits accepts together the way a committer does on PostgreSQL: in one flush where that can be.
func (s *Store) AcceptAsCommitted(accepts ...*Accept) []error {
	tx := &Tx{s: s}
	defer func() { tx.release() }()
	batch := make([]*work, len(accepts))
	for i, a := range accepts {
		batch[i] = &work{kind: workAccept, accept: a, done: make(chan error, 1)}
	}
	s.accepts.execute(tx, batch)
	errs := make([]error, len(accepts))
	for i, w := range batch {
		if errs[i] = <-w.done; errs[i] == nil {
			errs[i] = w.accept.err
		}
	}
	return errs
}

// AcceptAfterLostCommit runs an accept again by itself whose COMMIT gave no answer, on PostgreSQL.
func (s *Store) AcceptAfterLostCommit(ctx context.Context, a *Accept) error {
	tx := &Tx{s: s}
	defer func() { tx.release() }()
	lost := &connectionError{&commitError{errors.New("no answer")}}
	return s.accepts.alone(ctx, tx, &work{kind: workAccept, accept: a}, lost)
}

// ReceiveInOneBatch commits callbacks together and tells the order in which it asked for messages.
func (s *Store) ReceiveInOneBatch(ctx context.Context, callbacks ...[]carillon.Receipt) (asked []carillon.MessageKey, err error) {
	var batch []*work
	for _, rs := range callbacks {
		batch = append(batch, &work{kind: workReceipt, receipts: rs})
	}
	w := watcher(func(query string, args []any) {
		if strings.HasPrefix(query, "UPDATE message") {
			key, _ := args[0].(int64)
			asked = append(asked, carillon.MessageKey(key))
		}
	})
	s.watch.Store(&w)
	defer s.watch.Store(nil)
	err = s.Update(ctx, func(ctx context.Context, tx *Tx) error { return runBatch(ctx, tx, batch, false) })
	return asked, err
}

// Queries gathers every distinct query that the stores it watches run, with the arguments it had the first time.
type Queries struct {
	mu  sync.Mutex
	all map[string][]any
}

// Watch makes a store tell its queries.
func (q *Queries) Watch(s *Store) {
	w := watcher(func(query string, args []any) {
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
	s.watch.Store(&w)
}

// Texts are the queries, sorted.
func (q *Queries) Texts() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Sorted(maps.Keys(q.all))
}

// Args are the arguments that a query had.
func (q *Queries) Args(query string) []any { return q.all[query] }

// DB is the database itself.
func (s *Store) DB() *sql.DB { return s.read }

// Stopping tells whether backups have been told to end.
func (s *Store) Stopping() bool { return s.copyEnd.Load() }

// Exec runs a statement of a test's own.
func (t *Tx) Exec(ctx context.Context, query string) error {
	_, err := t.exec(ctx, query)
	return err
}
