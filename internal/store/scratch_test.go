package store_test

import (
	"database/sql"
	"testing"

	"carillon/internal/store"
	"carillon/internal/store/storetest"
)

func TestScratchLeavesTheDatabaseAsItWas(t *testing.T) {
	address := storetest.Postgres(t)
	open := func(address string) {
		t.Helper()
		s, err := store.Open(t.Context(), store.Options{DatabaseURL: address})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	open(address) // an installation is there
	tables := func() (n int) {
		t.Helper()
		db, err := sql.Open("pgx", address)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		err = db.QueryRowContext(t.Context(), `SELECT (SELECT COUNT(*) FROM pg_namespace WHERE nspname LIKE 'carillon_bench_%') +
			(SELECT COUNT(*) FROM pg_class)`).Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := tables()
	s, err := store.MakeScratch(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(t.Context()); err != nil {
		t.Error(err)
	}
	open(s.Address)
	during := tables()
	if err := s.Drop(t.Context()); err != nil {
		t.Error(err)
	}
	if after := tables(); during <= before || after != before {
		t.Errorf("%d schemas and tables before, %d during, %d after", before, during, after)
	}
}
