package company

import (
	"path/filepath"
	"testing"
	"time"

	"carillon/internal/store"
	"carillon/internal/store/db"
)

// TestTheBackgroundLeavesAnImportAlone imports a company while the new installation fills its search and counts everything
// again, as it does after an earlier import. An import that was given up is no reason to wait for ever.
func TestTheBackgroundLeavesAnImportAlone(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, a *store.Store) {
		fillOnce(t, a)
		b, file, id := newStore(t, a.DB.Engine(), 2), filepath.Join(t.TempDir(), "file"), companies[0]
		if _, err := New(a, "test").Export(t.Context(), id, ExportOptions{To: file, Grace: time.Millisecond}); err != nil {
			t.Fatal(err)
		}
		// The search begins before the first row.
		if _, err := b.DB.Exec(t.Context(), "UPDATE meta SET value = -1 WHERE name = 'search'"); err != nil {
			t.Fatal(err)
		}
		background := func() {
			if err := b.Stats.Distrust(t.Context(), time.Now()); err != nil {
				t.Error(err)
			}
			for more := true; more; {
				filled, err := b.Search.Fill(t.Context(), time.Now())
				if err != nil {
					t.Error(err)
				}
				counted, err := b.Stats.Sweep(t.Context(), time.Now())
				if err != nil {
					t.Error(err)
				}
				more = filled || counted
			}
		}
		report := func(p Progress) {
			if p.Phase == Reading || p.Phase == Comparing {
				background()
			}
		}
		if _, err := New(b, "test").Import(t.Context(), ImportOptions{From: file, Key: file + KeySuffix, Report: report}); err != nil {
			t.Fatal(err)
		}
		background()
		for _, state := range []string{"arrived", "arriving"} {
			if _, err := b.DB.Exec(t.Context(), "UPDATE company_move SET state = $1, at = $2", state, db.Millis(time.Now())); err != nil {
				t.Fatal(err)
			}
			if importing, err := db.Importing(t.Context(), b.DB, time.Now()); err != nil || importing != (state == "arriving") {
				t.Errorf("%s: %v, %v", state, importing, err)
			}
		}
		if importing, err := db.Importing(t.Context(), b.DB, time.Now().Add(time.Hour)); err != nil || importing {
			t.Errorf("an import that was given up: %v, %v", importing, err)
		}
	})
}
