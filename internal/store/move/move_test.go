package move

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"carillon/internal/store"
	"carillon/internal/store/db"
	"carillon/internal/store/storetest"
)

var masterKey = [32]byte([]byte(strings.Repeat("k", 32)))

// installation is a data folder with rows in every table, and an empty PostgreSQL database.
type installation struct {
	dir, url string
	tables   []*table
}

func newInstallation(t *testing.T) *installation {
	t.Helper()
	i := &installation{dir: t.TempDir(), url: storetest.EmptyPostgres(t)}
	s, err := store.Open(t.Context(), store.Options{Dir: i.dir, MasterKey: masterKey})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := pgx.Connect(t.Context(), storetest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	if i.tables, err = tablesOf(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	i.onSource(t, func(source *sqlite) { fill(t.Context(), t, c, source, i.tables) })
	return i
}

// onSource calls do with the SQLite database.
func (i *installation) onSource(t *testing.T, do func(s *sqlite)) {
	t.Helper()
	s, err := openSource(t.Context(), i.dir)
	if err != nil {
		t.Fatal(err)
	}
	do(s)
	if err := s.close(); err != nil {
		t.Error(err)
	}
}

func (i *installation) options() Options {
	return Options{Dir: i.dir, URL: i.url, MasterKey: masterKey}
}

// free fails unless the target has no node, and every shard is free.
func (i *installation) free(t *testing.T) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), i.url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	var nodes, owned int
	err = c.QueryRow(t.Context(), "SELECT (SELECT COUNT(*) FROM node), (SELECT COUNT(owner) FROM shard)").Scan(&nodes, &owned)
	if err != nil || nodes > 0 || owned > 0 {
		t.Errorf("%d nodes and %d owned shards in the target: %v", nodes, owned, err)
	}
}

// same fails unless both databases have the same rows in all tables.
func (i *installation) same(t *testing.T) {
	t.Helper()
	p, err := openPostgres(t.Context(), i.url, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.close() }()
	i.onSource(t, func(s *sqlite) {
		for _, x := range i.tables {
			one, err := digestOf(t.Context(), s, x, span{})
			if err != nil {
				t.Fatal(err)
			}
			other, err := digestOf(t.Context(), p, x, span{})
			if err != nil {
				t.Fatal(err)
			}
			if one != other || one.rows < fillRows {
				t.Errorf("table %s: %d and %d rows, or other contents", x.name, one.rows, other.rows)
			}
		}
	})
}

func TestAnInstallationMovesToPostgreSQLAndBackWithEveryTable(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	// As after a crash: a node that is no more owns shards.
	execFile(t, i.dir, "INSERT INTO node (id, beat, name, fit, slot) VALUES ('dead', 1, '', 2, 0)")
	execFile(t, i.dir, "UPDATE shard SET owner = 'dead'")
	r, err := ToPostgres(t.Context(), i.options())
	if err != nil {
		t.Fatal(err)
	}
	if r.Tables != len(i.tables) || r.Rows < int64(fillRows*len(i.tables)) || r.Already {
		t.Errorf("%+v", r)
	}
	i.same(t)
	i.free(t)
	if _, err := store.Open(t.Context(), store.Options{Dir: i.dir, MasterKey: masterKey}); !errors.Is(err, store.ErrMoved) {
		t.Errorf("the former database opens: %v", err)
	}
	s, err := store.Open(t.Context(), store.Options{DatabaseURL: i.url, MasterKey: masterKey})
	if err != nil {
		t.Fatal(err)
	}
	away := s // a node that is away while its database is moved
	t.Cleanup(func() { _ = away.Close() })
	if err := away.DB.Health.Served(t.Context()); err != nil {
		t.Error(err)
	}

	// Again: it was moved already. Back: into a new folder, then into the former one.
	if r, err := ToPostgres(t.Context(), i.options()); err != nil || !r.Already {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err = ToSQLite(t.Context(), i.options()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(r.Former); err != nil || !strings.Contains(r.Former, db.FileName+".moved-") {
		t.Errorf("the former database is at %q: %v", r.Former, err)
	}
	if r, err := ToSQLite(t.Context(), i.options()); err != nil || !r.Already {
		t.Errorf("%+v, %v", r, err)
	}
	i.same(t)
	if err := away.DB.Health.Served(t.Context()); !errors.Is(err, store.ErrNewerSchema) {
		t.Errorf("a node goes on with a database that was moved: %v", err)
	}
	if _, err := store.Open(t.Context(), store.Options{DatabaseURL: i.url, MasterKey: masterKey}); !errors.Is(err, store.ErrMoved) {
		t.Errorf("the database opens after the way back: %v", err)
	}
	s, err = store.Open(t.Context(), store.Options{Dir: i.dir, MasterKey: masterKey})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(i.dir, stageName)); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
