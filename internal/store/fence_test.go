package store_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"carillon/internal/store"
	"carillon/internal/store/storetest"
	"carillon/internal/store/work"
)

// fenced is a store whose node owns shard 1, with ten of its messages due, and a second session.
func fenced(t *testing.T) (*store.Store, work.Fence, *pgx.Conn) {
	t.Helper()
	dsn := storetest.Postgres(t)
	s := open(t, store.Options{DatabaseURL: dsn})
	if err := s.Nodes.Join(t.Context(), "node", "host"); err != nil {
		t.Fatal(err)
	}
	taken, err := s.Nodes.Take(t.Context(), []int{1}, "node")
	if err != nil || len(taken) != 1 {
		t.Fatal(taken, err)
	}
	fill(t, s.DB.Pool(), `INSERT INTO message (id, shard, sender, class, number, q, due_at)
		SELECT i, 1, 1, 1, '34600000000', 1, 0 FROM generate_series(0, 9) i`)
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return s, work.Fence{Shard: 1, Owner: "node", Epoch: taken[0].Epoch}, conn
}

func starting(f work.Fence, n int) *work.Batch {
	return &work.Batch{
		Fences: []work.Fence{f}, Starts: []*work.Start{{Key: work.Key(n), Shard: f.Shard}}, Now: time.Now(),
	}
}

func ask[T any](t *testing.T, conn *pgx.Conn, query string) (v T) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), query).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

func TestADeliveryWritesNoVersionOfItsShard(t *testing.T) {
	s, f, conn := fenced(t)
	const where = "SELECT ctid::text FROM shard WHERE id = 1"
	before := ask[string](t, conn, where)
	for n := range 10 {
		d := starting(f, n)
		if err := s.Messages.Commit(t.Context(), d); err != nil || d.Starts[0].Attempt != 1 {
			t.Fatal(d.Starts[0].Attempt, err)
		}
	}
	if after := ask[string](t, conn, where); after != before {
		t.Errorf("the row was at %s and is at %s", before, after)
	}
}

func TestAShardIsNotTakenWhileItStarts(t *testing.T) {
	s, f, conn := fenced(t)
	for what, steal := range map[string]string{
		"freed": "UPDATE shard SET owner = NULL, epoch = epoch + 1 WHERE owner = 'node'",
		"taken": "UPDATE shard SET owner = 'other', epoch = epoch + 1",
	} {
		start, err := s.DB.Pool().BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := start.ExecContext(t.Context(), "SET LOCAL idle_in_transaction_session_timeout = 0"); err != nil {
			t.Fatal(err)
		}
		if _, err := start.ExecContext(t.Context(), store.SharedFence, f.Shard, f.Owner, f.Epoch); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), "SET lock_timeout = '20ms'"); err != nil {
			t.Fatal(err)
		}
		var pe *pgconn.PgError
		if _, err := conn.Exec(t.Context(), steal); !errors.As(err, &pe) || pe.Code != "55P03" {
			t.Errorf("%s beside a start: %v", what, err)
		}
		if err := start.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAStartWaitsForATakeOverAndIsDropped(t *testing.T) {
	s, f, conn := fenced(t)
	take, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := take.Exec(t.Context(), "UPDATE shard SET owner = 'other', epoch = epoch + 1 WHERE id = 1"); err != nil {
		t.Fatal(err)
	}
	d, done := starting(f, 0), make(chan error, 1)
	deliver := func() { done <- s.Messages.Commit(context.WithoutCancel(t.Context()), d) }
	go deliver()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for ask[int](t, conn, "SELECT COUNT(*) FROM pg_locks WHERE NOT granted AND pg_blocking_pids(pid) @> ARRAY[pg_backend_pid()]") == 0 {
		select {
		case err := <-done:
			if err == nil {
				t.Fatalf("it did not wait: attempt %d", d.Starts[0].Attempt)
			}
			go deliver() // a slow machine: it waited for as long as it waits for a lock
		case <-tick.C:
		}
	}
	if err := take.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		if err := s.Messages.Commit(t.Context(), d); err != nil { // as above
			t.Fatal(err)
		}
	}
	if d.Starts[0].Attempt != 0 || !slices.Equal(d.Lost, []int{1}) {
		t.Errorf("attempt %d, lost %v", d.Starts[0].Attempt, d.Lost)
	}
	if q := ask[int](t, conn, "SELECT q FROM message WHERE id = 0"); q != 1 {
		t.Errorf("q is %d", q)
	}
}
