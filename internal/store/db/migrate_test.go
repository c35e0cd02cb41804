package db

import (
	"maps"
	"testing"
	"testing/fstest"
)

// A step may be released after a later one.
func TestAStepBelowTheNewestIsMadeUp(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	steps := maps.Clone(migrations)
	steps["migrations/0003_late.sql"] = &fstest.MapFile{Data: []byte("CREATE TABLE late (id BIGINT PRIMARY KEY);\n")}
	for range 2 {
		d, err := Open(t.Context(), Options{Dir: folder, Migrations: steps})
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		steps["migrations/0002_early.sql"] = &fstest.MapFile{Data: []byte("CREATE TABLE early (id BIGINT PRIMARY KEY);\n")}
	}
	d, err := Open(t.Context(), Options{Dir: folder, Migrations: steps})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Exec(t.Context(), "INSERT INTO early (id) SELECT id FROM late"); err != nil {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
