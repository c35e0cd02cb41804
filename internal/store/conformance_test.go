package store_test

import (
	"testing"

	"carillon/internal/store"
	"carillon/internal/store/storetest"
)

// open opens a store until the end of the test.
func open(t testing.TB, o store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestConformance(t *testing.T) {
	for name, open := range map[string]func(t testing.TB) *store.Store{"sqlite": openSQLite, "postgres": openPostgres} {
		t.Run(name, func(t *testing.T) { storetest.Run(t, open) })
	}
}
