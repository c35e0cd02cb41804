package store_test

import (
	"testing"

	"carillon/internal/store"
)

func openSQLite(t testing.TB) *store.Store {
	t.Helper()
	return open(t, store.Options{Dir: t.TempDir()})
}
