package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/fstest"
	"time"
)

// migrations of a program with one table.
var migrations = fstest.MapFS{"migrations/0001_start.sql": {Data: []byte(
	`CREATE TABLE meta (name TEXT PRIMARY KEY, value BIGINT NOT NULL DEFAULT 0, text TEXT NOT NULL DEFAULT '');
CREATE TABLE thing (id BIGINT PRIMARY KEY, kind TEXT NOT NULL);
`)}}

func openSQLite(t *testing.T) *DB {
	t.Helper()
	d, err := Open(t.Context(), Options{Dir: t.TempDir(), Migrations: migrations})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// things is a kind of operation that inserts rows; calls receives how many each transaction had of it.
func things(name string, place Place, background bool, calls *[]string) *Kind[int] {
	return &Kind[int]{Name: name, Place: place, Background: background, Apply: func(ctx context.Context, tx *Tx, ids []int, _ bool) error {
		*calls = append(*calls, fmt.Sprint(name, len(ids)))
		b := NewBulk("thing", "", "id:bigint", "kind:text")
		for _, id := range ids {
			b.Add(int64(id), name)
		}
		return b.Write(ctx, tx)
	}}
}

func (d *DB) count(t *testing.T) (n int) {
	t.Helper()
	if err := d.Row(t.Context(), []any{&n}, "SELECT COUNT(*) FROM thing"); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestKindsThatWaitShareATransactionInTheirOrder(t *testing.T) {
	var commits []int
	d, err := Open(t.Context(), Options{Dir: t.TempDir(), Migrations: migrations, Committed: func(rows int, _ time.Duration) {
		commits = append(commits, rows)
	}})
	if err != nil {
		t.Fatal(err)
	}
	var calls []string
	late, early := things("late", 2, false, &calls), things("early", 1, true, &calls)
	begun, release := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		if err := d.Update(t.Context(), func(context.Context, *Tx) error { close(begun); <-release; return nil }); err != nil {
			t.Error(err)
		}
	})
	<-begun
	for i := range 20 {
		k := late
		if i%2 == 0 {
			k = early
		}
		all.Go(func() {
			if err := k.Commit(t.Context(), d, i); err != nil {
				t.Error(err)
			}
		})
	}
	for d.Commits.Waiting() < 20 {
		<-time.After(time.Millisecond)
	}
	close(release)
	all.Wait()
	if want := []string{"early10", "late10"}; !slices.Equal(calls, want) {
		t.Errorf("applied %v, want %v", calls, want)
	}
	if n := d.count(t); n != 20 {
		t.Errorf("%d rows", n)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if want := []int{1, 20}; !slices.Equal(commits, want) {
		t.Errorf("commits of %v rows, want %v", commits, want)
	}
}

func TestABadOperationFailsAlone(t *testing.T) {
	d := openSQLite(t)
	var calls []string
	k := things("x", 1, false, &calls)
	errs := k.Together(t.Context(), d, false, 1, 2, 2, 3)
	failed := 0
	for _, err := range errs {
		if err != nil {
			failed++
			if !Duplicate(err) {
				t.Error(err)
			}
		}
	}
	if n := d.count(t); failed != 1 || n != 3 {
		t.Errorf("%d failed, %d rows; want 1 and 3", failed, n)
	}
}

func TestAnExclusiveWriteTakesItsTurn(t *testing.T) {
	b := batcher{leave: func(*write) {}, fore: make(chan *write, 9), back: make(chan *write, 9)}
	k := &Kind[int]{}
	exclusive := &write{exclusive: func(context.Context, *Tx) error { return nil }}
	b.fore <- &write{kind: k}
	b.back <- &write{kind: k}
	b.back <- exclusive
	b.back <- &write{kind: k}
	var sizes []int
	for range 3 {
		batch := b.next(nil)
		sizes = append(sizes, len(batch))
		if len(sizes) == 2 && batch[0] != exclusive {
			t.Error("the exclusive write shares a batch")
		}
	}
	close(b.fore)
	close(b.back)
	if want := []int{2, 1, 1}; !slices.Equal(sizes, want) || len(b.next(nil)) != 0 {
		t.Errorf("batches of %v, want %v and then none", sizes, want)
	}
}

// A committer may find its background queue closed before the other one.
func TestABatcherEndsInWhateverOrderItsQueuesClose(t *testing.T) {
	b := batcher{leave: func(*write) {}, fore: make(chan *write), back: nil}
	close(b.fore)
	if batch := b.next(nil); len(batch) != 0 {
		t.Error(batch)
	}
}

func TestAnUnrepeatableOperationIsNotRunAgainAfterALostCommit(t *testing.T) {
	d := openSQLite(t)
	var calls []string
	k := things("x", 1, false, &calls)
	k.Unrepeatable = true
	if err := k.Together(t.Context(), d, true, 1)[0]; !isOverloaded(err) || len(calls) != 0 {
		t.Error(err, calls)
	}
	k.Unrepeatable = false
	if err := k.Together(t.Context(), d, true, 1)[0]; err != nil || len(calls) != 1 {
		t.Error(err, calls)
	}
}

func TestAClosedDatabaseRefuses(t *testing.T) {
	d, err := Open(t.Context(), Options{Dir: t.TempDir(), Migrations: migrations})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	var calls []string
	if err := things("x", 1, false, &calls).Commit(t.Context(), d, 1); !isOverloaded(err) {
		t.Error(err)
	}
	if err := d.Update(t.Context(), func(context.Context, *Tx) error { return errors.New("never") }); !isOverloaded(err) {
		t.Error(err)
	}
}

func TestAnOverloadIsRefusedBeforeTheRequestIsRead(t *testing.T) {
	d, err := Open(t.Context(), Options{Dir: t.TempDir(), MaxWaiting: 4, Migrations: migrations})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	var release func()
	for range batchMax {
		if release, err = d.Commits.Admit(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Commits.Full(); err != nil {
		t.Errorf("nothing waits yet: %v", err)
	}
	begin := time.Now()
	_, err = d.Commits.Admit(t.Context(), 1)
	refusedWith(t, err, 1)
	if took := time.Since(begin); took < patience {
		t.Errorf("refused after %s, want %s", took, patience)
	}
	d.Commits.admission.waiting.Add(8)
	refusedWith(t, d.Commits.Full(), 1)
	d.Commits.admission.waiting.Add(-8)
	for range batchMax {
		release()
	}
}

func TestWhatIsRecordedIsWrittenOnceBeforeTheCommit(t *testing.T) {
	d := openSQLite(t)
	var written, committed [][]any
	d.OnRecorded(Recorder{Write: func(_ context.Context, tx *Tx, recorded []any) error {
		written = append(written, recorded)
		if slices.Contains(recorded, any("bad")) {
			return errors.New("refused")
		}
		return nil
	}, Committed: func(recorded []any) { committed = append(committed, recorded) }})
	record := func(all ...string) error {
		return d.Update(t.Context(), func(ctx context.Context, tx *Tx) error {
			for _, x := range all {
				tx.Record(x)
			}
			_, err := tx.Exec(ctx, "INSERT INTO thing (id, kind) VALUES ($1, 'x')", len(written))
			return err
		})
	}
	if err := record("a", "b"); err != nil {
		t.Fatal(err)
	}
	if err := record("bad"); err == nil {
		t.Error("it was committed without what it recorded")
	}
	if err := record(); err != nil {
		t.Fatal(err)
	}
	if len(written) != 2 || len(written[0]) != 2 || len(committed) != 1 || len(committed[0]) != 2 || d.count(t) != 2 {
		t.Errorf("written %v, committed %v, %d rows", written, committed, d.count(t))
	}
}

func TestRowsBeforeAFailureAreNotReturned(t *testing.T) {
	d := openSQLite(t)
	if n, err := d.Exec(t.Context(), "INSERT INTO thing (id, kind) VALUES (1, 'a'), (2, 'b')"); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	failure := errors.New("sealed under another key")
	rows, err := Collect(t.Context(), d, "things", func(scan Scan) (*int64, error) {
		id := new(int64)
		if err := scan(id); err != nil || *id == 2 {
			return nil, errors.Join(err, failure)
		}
		return id, nil
	}, "SELECT id FROM thing ORDER BY id")
	if !errors.Is(err, failure) || rows != nil {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

// On SQLite a statement continues after its caller has left. The race detector reports shared memory.
func TestAStatementWhoseCallerLeftHasNoCount(t *testing.T) {
	d := openSQLite(t)
	begun, release := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		if err := d.Update(t.Context(), func(context.Context, *Tx) error { close(begun); <-release; return nil }); err != nil {
			t.Error(err)
		}
	})
	<-begun
	ctx, leave := context.WithCancel(t.Context())
	all.Go(func() {
		if n, err := d.Exec(ctx, "INSERT INTO thing (id, kind) VALUES (1, 'a')"); n != 0 || !errors.Is(err, context.Canceled) {
			t.Error(n, err)
		}
	})
	for d.Commits.Waiting() < 1 {
		time.Sleep(time.Millisecond)
	}
	leave()
	time.Sleep(20 * time.Millisecond) // nothing that orders the caller's end before the statement
	close(release)
	all.Wait()
	for d.count(t) == 0 {
		time.Sleep(time.Millisecond)
	}
}
