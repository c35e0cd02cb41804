package move

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"

	"carillon/internal/store"
	"carillon/internal/store/db"
	"carillon/internal/store/storetest"
)

// TestEveryTableIsCopied fails if a migration adds a table that can't be copied, or removes one that is named here.
func TestEveryTableIsCopied(t *testing.T) {
	t.Parallel()
	c, err := pgx.Connect(t.Context(), storetest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	tables, err := tablesOf(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	copied := map[string]bool{}
	for _, x := range tables {
		copied[x.name] = true
	}
	var all []string
	if err := c.QueryRow(t.Context(), `SELECT array_agg(relname::text) FROM pg_class
		WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace`).Scan(&all); err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if copied[name] == (notCopied[name] != "") {
			t.Errorf("table %s is neither copied nor named with a reason, or both", name)
		}
		delete(copied, name)
	}
	for name := range notCopied {
		if !strings.Contains(strings.Join(all, " "), name) {
			t.Errorf("there is no table %s", name)
		}
	}
	if len(copied) > 0 {
		t.Errorf("not in the database: %v", copied)
	}
	var sequences int
	if err := c.QueryRow(t.Context(), `SELECT COUNT(*) FROM pg_class WHERE relkind = 'S' AND relname <> 'goose_db_version_id_seq'
		AND relnamespace = current_schema()::regnamespace`).Scan(&sequences); err != nil || sequences > 0 {
		t.Errorf("%d sequences would have to go on after the last number: %v", sequences, err)
	}
	dir := storetest.Folder(t)
	s, err := openSource(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.has(t.Context(), tables), s.close()); err != nil {
		t.Error(err)
	}
}

// insertCompany is a statement for a database that is not empty.
const insertCompany = "INSERT INTO company (id, name, limits, created_at, updated_at) VALUES ('c', 'C', '{}', 1, 1)"

func TestAMoveToPostgreSQLIsRefused(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		prepare func(t *testing.T, o *Options)
		want    string
	}{
		"target with an installation": {func(t *testing.T, o *Options) {
			o.URL = storetest.Postgres(t)
			storetest.Exec(t, o.URL, insertCompany)
		}, "the target is not empty: it has an installation with 1 companies"},
		"target of another program": {func(t *testing.T, o *Options) {
			storetest.Exec(t, o.URL, "CREATE TABLE meta (x INTEGER)")
		}, "the target has tables of another program"},
		"newer target": {func(t *testing.T, o *Options) {
			o.URL = storetest.Postgres(t)
			storetest.Exec(t, o.URL, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, TRUE)")
			storetest.Exec(t, o.URL, "UPDATE meta SET value = 9999 WHERE name = 'schema'")
		}, store.ErrNewerSchema.Error()},
		"target with a node": {func(t *testing.T, o *Options) {
			o.URL = storetest.Postgres(t)
			keep(t, o.URL, "SELECT pg_advisory_lock_shared($1, 7)", nodeLocks)
		}, errInUse.Error()},
		"target of another command": {func(t *testing.T, o *Options) {
			keep(t, o.URL, "SELECT pg_advisory_lock($1)", moveLock)
		}, "another `carillon migrate`"},
		"target with another encoding": {func(t *testing.T, o *Options) {
			o.URL = latin(t, o.URL)
		}, "the target's encoding is LATIN1"},
		"user without rights": {func(t *testing.T, o *Options) {
			role := "carillon_test_" + strings.ToLower(rand.Text()[:16])
			storetest.Exec(t, o.URL, "CREATE ROLE "+role+" LOGIN")
			storetest.Exec(t, o.URL, "REVOKE CREATE ON SCHEMA public FROM PUBLIC") // as from PostgreSQL 15 on
			admin := o.URL
			t.Cleanup(func() { storetest.Exec(t, admin, "DROP ROLE "+role) })
			u, _ := url.Parse(o.URL)
			u.User = url.User(role)
			o.URL = u.String()
		}, "the database user may not do this"},
		"unreachable target": {func(_ *testing.T, o *Options) {
			o.URL = "postgres://carillon:very-secret@127.0.0.1:1/carillon?connect_timeout=60"
		}, "connect to PostgreSQL"},
		"no address": {func(_ *testing.T, o *Options) {
			o.URL = "postgres://carillon:very-secret@[/"
		}, "may hold a password"},
		"another master key": {func(_ *testing.T, o *Options) {
			o.MasterKey[0]++
		}, "the master key does not open what is stored"},
		"older source": {func(t *testing.T, o *Options) {
			execFile(t, o.Dir, "DELETE FROM goose_db_version WHERE version_id = (SELECT MAX(version_id) FROM goose_db_version)")
		}, "start this version of the program on it first"},
		"newer source": {func(t *testing.T, o *Options) {
			execFile(t, o.Dir, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)")
		}, store.ErrNewerSchema.Error()},
		"no source": {func(t *testing.T, o *Options) {
			o.Dir = t.TempDir()
		}, "there is no database"},
		"source in use": {func(t *testing.T, o *Options) {
			lock, err := db.LockFolder(o.Dir)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = lock.Close() })
		}, store.ErrFolderInUse.Error()},
		"full target": {func(t *testing.T, o *Options) {
			o.URL = storetest.Postgres(t)
			full(t, o.URL)
		}, "the server's disk is full"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := Options{Dir: t.TempDir(), URL: storetest.EmptyPostgres(t), MasterKey: masterKey}
			dir := o.Dir
			s, err := store.Open(t.Context(), store.Options{Dir: dir, MasterKey: masterKey})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			x.prepare(t, &o)
			if _, err = ToPostgres(t.Context(), o); err == nil || !strings.Contains(err.Error(), x.want) {
				t.Fatalf("%v, want %q", err, x.want)
			}
			if strings.Contains(err.Error(), "very-secret") {
				t.Errorf("the error has the password: %v", err)
			}
			m, err := markOf(t.Context(), filepath.Join(dir, db.FileName))
			if err != nil || m.State != "" {
				t.Errorf("the source is marked: %v, %v", m, err)
			}
		})
	}
}

func TestAnOlderTargetWithoutCompaniesIsMigrated(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	older := fstest.MapFS{}
	names, err := fs.Glob(store.Migrations(), "migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names[:len(names)/2] {
		text, err := fs.ReadFile(store.Migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		older["migrations/"+path.Base(name)] = &fstest.MapFile{Data: text}
	}
	d, err := db.Open(t.Context(), db.Options{URL: i.url, Migrations: older})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := ToPostgres(t.Context(), i.options()); err != nil {
		t.Fatal(err)
	}
	i.same(t)
}

// keep executes a statement on a connection that is open until the end of the test.
func keep(t *testing.T, url, statement string, args ...any) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	if _, err := c.Exec(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

// full makes a migrated database refuse messages like a server without room.
func full(t *testing.T, url string) {
	t.Helper()
	storetest.Exec(t, url, `CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql
		AS 'BEGIN RAISE EXCEPTION ''no space left'' USING ERRCODE = ''disk_full''; END'`)
	storetest.Exec(t, url, `CREATE TRIGGER no_room BEFORE INSERT ON meta FOR EACH ROW WHEN (NEW.name = 'master-key')
		EXECUTE FUNCTION no_room()`)
}

// latin returns the address of a new database with another encoding.
func latin(t *testing.T, dsn string) string {
	t.Helper()
	name := "carillon_test_" + strings.ToLower(rand.Text()[:16])
	storetest.Exec(t, dsn, "CREATE DATABASE "+name+" ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
	t.Cleanup(func() { storetest.Exec(t, dsn, "DROP DATABASE "+name+" WITH (FORCE)") })
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

// execFile executes a statement on the database of a data folder.
func execFile(t *testing.T, dir, statement string) {
	t.Helper()
	storetest.Exec(t, filepath.Join(dir, db.FileName), statement)
}
