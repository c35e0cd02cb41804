package move

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"carillon/internal/store"
	"carillon/internal/store/db"
	"carillon/internal/store/storetest"
)

// many is the number of rows in a table that has several chunks.
const many = 3*maxBatchRows + 100

// addMany adds rows to tables with keys of one and of several columns, and a unique column.
func (i *installation) addMany(t *testing.T) {
	t.Helper()
	execFile(t, i.dir, fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO account (id, email, name, password_hash, confirmed_at, created_at, updated_at)
		SELECT printf('id %%06d', i), printf('mail %%d', i), 'Ana', '', 1, 1, 1 FROM n`, many))
	execFile(t, i.dir, fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO search (company_id, field, value, seq) SELECT 'one company', 'number', printf('%%d', i %% 7), i FROM n`, many))
}

const insertAccount = `INSERT INTO account (id, email, name, password_hash, confirmed_at, created_at, updated_at)
	VALUES ('%s %d', '%[1]s %[2]d', '', '', 1, 1, 1)`

// changes are the statements of a program that works while its rows are copied: in the first, the last and a middle range,
// with unique values that move to rows of another range, in both directions.
func (i *installation) changes(t *testing.T, round int) {
	t.Helper()
	for _, statement := range []string{
		fmt.Sprintf(insertAccount, "a", round),
		fmt.Sprintf(insertAccount, "z", round),
		fmt.Sprintf("INSERT INTO search (company_id, field, value, seq) VALUES ('one company', 'number', '3', %d)", 1_000_000+round),
		fmt.Sprintf("DELETE FROM search WHERE company_id = 'one company' AND value = '%d' AND seq %% 3 = 0", round),
		fmt.Sprintf("UPDATE account SET name = 'Eva' WHERE id LIKE 'id 002%%' AND id > 'id 00200%d'", round),
		fmt.Sprintf("DELETE FROM account WHERE id = 'id 00100%d'", round),
		// The values of a row near the beginning and one near the end change places.
		fmt.Sprintf("UPDATE account SET email = 'between' WHERE id = 'id 00011%d'", round),
		fmt.Sprintf("UPDATE account SET email = 'mail 11%d' WHERE id = 'id 00600%[1]d'", round),
		fmt.Sprintf("UPDATE account SET email = 'mail 600%d' WHERE id = 'id 00011%[1]d'", round),
	} {
		execFile(t, i.dir, statement)
	}
}

func TestWhatChangesWhileItIsCopiedIsMoved(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	i.addMany(t)
	running, err := db.LockFolder(i.dir) // as the program holds it
	if err != nil {
		t.Fatal(err)
	}
	o := i.options()
	o.Workers = 1
	changed := map[Phase]int{}
	var mu sync.Mutex
	o.Report = func(p Progress) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case changed[p.Phase] == 0 && p.Rows == 0 && p.Phase != Comparing && p.Phase != Finishing,
			changed[p.Phase] == 1 && p.Rows > maxBatchRows && p.Phase == Copying,
			changed[p.Phase] == 1 && p.Rows > maxBatchRows && p.Phase == CatchingUp:
			changed[p.Phase]++
			i.changes(t, len(changed)*2+changed[p.Phase])
		}
	}
	var ended []bool
	o.Stop = func(context.Context) (func(bool), error) {
		i.changes(t, 0)
		return func(moved bool) { ended = append(ended, moved) }, running.Close()
	}
	r, err := ToPostgres(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if changed[Copying] != 2 || changed[CatchingUp] != 2 || changed[Stopping] != 1 {
		t.Errorf("changes by phase: %v", changed)
	}
	if len(ended) != 1 || !ended[0] || r.Late == 0 || r.Late > 1000 {
		t.Errorf("ended with %v, %d rows in the pause", ended, r.Late)
	}
	i.same(t)
	i.keysAre(t)
}

// keysAre fails unless the target has the foreign keys of every database, all checked.
func (i *installation) keysAre(t *testing.T) {
	t.Helper()
	read := func(url string) (text string) {
		c, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close(context.Background()) }()
		if err := c.QueryRow(t.Context(), `SELECT string_agg(conrelid::regclass || conname || pg_get_constraintdef(oid), E'\n'
			ORDER BY conrelid::regclass::text, conname) FROM pg_constraint WHERE contype = 'f'`).Scan(&text); err != nil {
			t.Fatal(err)
		}
		return text
	}
	if have, want := read(i.url), read(storetest.Postgres(t)); have != want {
		t.Errorf("foreign keys\n%s\nwant\n%s", have, want)
	}
}

func TestAFailureInThePauseLetsTheProgramGoOn(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	o := i.options()
	for _, x := range []struct {
		name string
		stop func() error
		want string
	}{
		{"the program does not stop", func() error { return errors.New("it plays chess") }, "it plays chess"},
		{"the target is full", func() error {
			full(t, i.url)
			execFile(t, i.dir, "UPDATE meta SET value = 7 WHERE name = 'master-key'")
			return nil
		}, "the server's disk is full"},
		{"a table is written by another", func() error {
			storetest.Exec(t, i.url, "DELETE FROM question")
			return nil
		}, errDiffers.Error()},
	} {
		running, err := db.LockFolder(i.dir)
		if err != nil {
			t.Fatal(err)
		}
		var ended []bool
		o.Stop = func(context.Context) (func(bool), error) {
			if err := x.stop(); err != nil {
				return nil, err
			}
			return func(moved bool) { ended = append(ended, moved) }, running.Close()
		}
		if _, err := ToPostgres(t.Context(), o); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Fatalf("%s: %v", x.name, err)
		}
		if len(ended) > 1 || len(ended) == 1 && ended[0] {
			t.Errorf("%s: the program ends with %v", x.name, ended)
		}
		_ = running.Close()
		storetest.Exec(t, i.url, "DROP TRIGGER IF EXISTS no_room ON meta")
		if _, err := store.Open(t.Context(), store.Options{DatabaseURL: i.url, MasterKey: masterKey}); !errors.Is(err, store.ErrMoving) {
			t.Errorf("%s: the target opens: %v", x.name, err)
		}
		s, err := store.Open(t.Context(), store.Options{Dir: i.dir, MasterKey: masterKey})
		if err != nil {
			t.Fatalf("%s: %v", x.name, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := ToPostgres(t.Context(), i.options()); err != nil {
		t.Fatal(err)
	}
	i.same(t)
	i.keysAre(t)
}

// TestTwoCommandsMoveAnInstallationOnce has a second command move the installation while the first one waits for the stop.
func TestTwoCommandsMoveAnInstallationOnce(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	running, err := db.LockFolder(i.dir)
	if err != nil {
		t.Fatal(err)
	}
	first := i.options()
	first.URL = storetest.EmptyPostgres(t)
	first.Stop = func(context.Context) (func(bool), error) {
		if err := running.Close(); err != nil {
			return nil, err
		}
		_, err := ToPostgres(t.Context(), i.options())
		return func(bool) {}, err
	}
	if _, err := ToPostgres(t.Context(), first); !errors.Is(err, store.ErrMoved) {
		t.Errorf("the first command: %v", err)
	}
	i.open(t, store.Options{DatabaseURL: i.url, MasterKey: masterKey})
	if _, err := store.Open(t.Context(), store.Options{DatabaseURL: first.URL, MasterKey: masterKey}); !errors.Is(err, store.ErrMoving) {
		t.Errorf("the target of the first command opens: %v", err)
	}
}

// TestAnInterruptedMoveIsFinished continues after the moment at which the source was marked, with the states that a
// command leaves when it is killed between two steps.
func TestAnInterruptedMoveIsFinished(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	if _, err := ToPostgres(t.Context(), i.options()); err != nil {
		t.Fatal(err)
	}
	storetest.Exec(t, i.url, `UPDATE meta SET text = REPLACE(text, '"arrived"', '"copied"') WHERE name = 'moved'`)
	if _, err := store.Open(t.Context(), store.Options{DatabaseURL: i.url, MasterKey: masterKey}); !errors.Is(err, store.ErrMoving) {
		t.Errorf("the target opens before it is free: %v", err)
	}
	other := i.options()
	other.URL = storetest.EmptyPostgres(t)
	if _, err := ToPostgres(t.Context(), other); !errors.Is(err, store.ErrMoved) {
		t.Errorf("the source is moved to a second target: %v", err)
	}
	if r, err := ToPostgres(t.Context(), i.options()); err != nil || !r.Already {
		t.Errorf("%+v, %v", r, err)
	}
	i.open(t, store.Options{DatabaseURL: i.url, MasterKey: masterKey})

	// Back: killed after the commit of the source's mark, and between the two renames.
	if _, err := ToSQLite(t.Context(), i.options()); err != nil {
		t.Fatal(err)
	}
	name, stage := filepath.Join(i.dir, db.FileName), filepath.Join(i.dir, stageName)
	rename(t, name, stage)
	if r, err := ToSQLite(t.Context(), i.options()); err != nil || !r.Already {
		t.Errorf("%+v, %v", r, err)
	}
	i.open(t, store.Options{Dir: i.dir, MasterKey: masterKey})
	other = i.options()
	other.Dir = t.TempDir()
	if _, err := ToSQLite(t.Context(), other); !errors.Is(err, store.ErrMoved) {
		t.Errorf("the source is moved to a second folder: %v", err)
	}
}

// open opens and closes a database.
func (*installation) open(t *testing.T, o store.Options) {
	t.Helper()
	s, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
