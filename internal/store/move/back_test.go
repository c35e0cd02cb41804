package move

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carillon/internal/store"
	"carillon/internal/store/db"
	"carillon/internal/store/storetest"
)

// rename moves a database into a folder.
func rename(t *testing.T, name, dir string) {
	t.Helper()
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = os.Rename(name, filepath.Join(dir, filepath.Base(name)))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestAMoveToSQLiteIsRefused(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		prepare func(t *testing.T, o *Options)
		want    string
	}{
		"a node": {func(t *testing.T, o *Options) {
			keep(t, o.URL, "SELECT pg_advisory_lock_shared($1, 7)", nodeLocks)
		}, errInUse.Error()},
		"writes in progress": {func(t *testing.T, o *Options) {
			keep(t, o.URL, "BEGIN; INSERT INTO meta (name, value) VALUES ('written', 1)")
		}, "lock the tables"},
		"an empty database": {func(t *testing.T, o *Options) {
			o.URL = storetest.EmptyPostgres(t)
		}, "has no installation"},
		"an incomplete database": {func(t *testing.T, o *Options) {
			storetest.Exec(t, o.URL, `INSERT INTO meta (name, text) VALUES ('moved', '{"id": "x", "state": "copying"}')`)
		}, store.ErrMoving.Error()},
		"another master key": {func(_ *testing.T, o *Options) {
			o.MasterKey[0]++
		}, "the master key does not open what is stored"},
		"an older schema": {func(t *testing.T, o *Options) {
			storetest.Exec(t, o.URL, "DELETE FROM goose_db_version WHERE version_id = (SELECT MAX(version_id) FROM goose_db_version)")
		}, "start this version of the program on it first"},
		"a folder with an installation": {func(t *testing.T, o *Options) {
			storetest.Fill(t, o.Dir)
		}, "has an installation"},
		"a folder in use": {func(t *testing.T, o *Options) {
			lock, err := db.LockFolder(o.Dir)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = lock.Close() })
		}, store.ErrFolderInUse.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := Options{Dir: t.TempDir(), URL: storetest.Postgres(t), MasterKey: masterKey}
			s, err := store.Open(t.Context(), store.Options{DatabaseURL: o.URL, MasterKey: masterKey})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			x.prepare(t, &o)
			if _, err := ToSQLite(t.Context(), o); err == nil || !strings.Contains(err.Error(), x.want) {
				t.Fatalf("%v, want %q", err, x.want)
			}
			if _, err := os.Stat(filepath.Join(o.Dir, stageName)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("left in the folder: %v", err)
			}
		})
	}
}
