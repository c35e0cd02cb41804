package app

import (
	"context"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/storetest"
	"carillon/internal/store/suppressions"
)

// onStores runs a test on a store of each engine.
func onStores(t *testing.T, test func(t *testing.T, s *store.Store)) {
	t.Helper()
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			o := store.Options{Dir: storetest.Folder(t)}
			if engine == "postgres" {
				o = store.Options{DatabaseURL: storetest.Postgres(t)}
			}
			s, err := store.Open(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			test(t, s)
		})
	}
}

const alpha = "5f0c1d9e-2b7a-4c51-9f0e-3a2b1c0d9e01"

func TestAWishInACallHoldsAsFarAsItIsProved(t *testing.T) {
	onStores(t, func(t *testing.T, s *store.Store) {
		if err := s.Configure(t.Context(), func(ctx context.Context, tx *store.Tx) error {
			return tx.PutCompany(ctx, &carillon.Company{ID: alpha, Name: "Alpha"}, time.Now())
		}); err != nil {
			t.Fatal(err)
		}
		ask := askedInCall(s)
		for _, x := range []struct {
			caller bool
			of     suppressions.Type
			why    string
		}{
			{true, suppressions.Marketing, suppressions.AskedByCaller}, {false, suppressions.All, "asked in a call"},
			{true, suppressions.All, "asked in a call"},
		} {
			const number = "34600110077"
			if err := ask(t.Context(), alpha, number, x.caller); err != nil {
				t.Fatal(err)
			}
			for _, class := range []carillon.Class{carillon.Transactional, carillon.Utility, carillon.Marketing} {
				hit, err := s.Suppressed(t.Context(), alpha, class, []string{number})
				if want := class == carillon.Marketing || x.of == suppressions.All; hit[number] != want || err != nil {
					t.Errorf("%+v: of %s: %v, %v", x, class, hit, err)
				}
			}
			if kept, err := s.Suppression(t.Context(), alpha, number); err != nil || kept.Type != x.of || kept.Reason != x.why {
				t.Errorf("%+v: %+v, %v", x, kept, err)
			}
		}
	})
}
