package store_test

import (
	"testing"

	"carillon/internal/store"
	"carillon/internal/store/storetest"
)

func openPostgres(t testing.TB) *store.Store {
	t.Helper()
	return open(t, store.Options{DatabaseURL: storetest.Postgres(t)})
}
