//go:build unix

package storetest

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"carillon/internal/store"
	"carillon/internal/store/db"
)

// file is a migrated SQLite database. Copying it takes an eighth of the time of creating one.
var file = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "carillon-template-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	d, err := db.Open(context.Background(), db.Options{Dir: dir, Migrations: store.Migrations()})
	if err != nil {
		return nil, err
	}
	if err := d.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, db.FileName))
})

// Folder returns a new data folder with a fresh, migrated database of SQLite, removed at the end of the test. It has no master key.
func Folder(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	Fill(t, dir)
	return dir
}

// Fill puts a fresh, migrated database of SQLite into a data folder.
func Fill(t testing.TB, dir string) {
	t.Helper()
	migrated, err := file()
	if err != nil {
		t.Fatalf("make the database that others are copies of: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, db.FileName), migrated, 0o600); err != nil {
		t.Fatal(err)
	}
}
