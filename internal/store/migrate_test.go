package store_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"carillon/internal/store"
	"carillon/internal/store/storetest"
)

// Two releases to come: one that adds a column, and one past it that takes another away.
func upgrades() (expand, contract store.Migration) {
	return store.Migration{Name: "9001_greeting.sql", Text: "ALTER TABLE company ADD COLUMN greeting TEXT NOT NULL DEFAULT '';\n"},
		store.Migration{Name: "9002_no_name.sql", Text: "-- serves: 9001\nALTER TABLE node DROP COLUMN name;\n"}
}

func onEngines(t *testing.T, test func(t *testing.T, o store.Options)) {
	t.Run("sqlite", func(t *testing.T) { test(t, store.Options{Dir: t.TempDir()}) })
	t.Run("postgres", func(t *testing.T) { test(t, store.Options{DatabaseURL: storetest.EmptyPostgres(t)}) })
}

func TestOlderProgramGoesOnWithASchemaThatServesItAndRefusesAnother(t *testing.T) {
	onEngines(t, func(t *testing.T, o store.Options) {
		var log bytes.Buffer
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		running, err := store.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		alone := running.DB.SQLite() // nobody else can start
		if !alone {
			defer func() {
				if err := running.Close(); err != nil {
					t.Error(err)
				}
			}()
		} else if err := running.Close(); err != nil {
			t.Fatal(err)
		}
		expand, contract := upgrades()
		if err := store.StartAs(t.Context(), o, expand); err != nil {
			t.Fatal(err)
		}
		// The old program keeps running, and can also be restarted.
		if !alone {
			if err := running.DB.Health.Served(t.Context()); err != nil {
				t.Errorf("the running node: %v", err)
			}
			if err := running.Nodes.Join(t.Context(), "old", "host"); err != nil {
				t.Errorf("the running node cannot write: %v", err)
			}
		}
		if err := store.StartAs(t.Context(), o); err != nil {
			t.Errorf("a start on a newer schema that serves it: %v", err)
		}
		if !strings.Contains(log.String(), "newer program") {
			t.Error("the log does not say that the database is newer")
		}
		// Its second migration removes a table of the old program.
		for range 2 { // again: nothing is done twice
			if err := store.StartAs(t.Context(), o, expand, contract); err != nil {
				t.Fatal(err)
			}
		}
		if !alone {
			if err := running.DB.Health.Served(t.Context()); !errors.Is(err, store.ErrNewerSchema) {
				t.Errorf("the running node: got %v", err)
			}
		}
		err = store.StartAs(t.Context(), o)
		if !errors.Is(err, store.ErrNewerSchema) || !strings.Contains(err.Error(), "serves programs from schema 9001 on") {
			t.Errorf("a start: got %v", err)
		}
		if err := store.StartAs(t.Context(), o, expand); err != nil {
			t.Errorf("a start of the release between: got %v", err)
		}
	})
}

func TestNodesThatStartTogetherMigrateOnce(t *testing.T) {
	o := store.Options{DatabaseURL: storetest.EmptyPostgres(t)}
	var nodes sync.WaitGroup
	for range 4 {
		nodes.Go(func() {
			s, err := store.Open(t.Context(), o)
			if err != nil {
				t.Error(err)
				return
			}
			expand, contract := upgrades()
			if err := store.StartAs(t.Context(), o, expand, contract); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	nodes.Wait()
}

// PostgreSQL reads the whole result of the query for each row where it does not fit into memory: with 300,000 contacts that
// took nine minutes, in which no node starts.
func TestNoMigrationComparesEachRowWithAllOthers(t *testing.T) {
	names, err := filepath.Glob("migrations/*.sql")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(strings.Join(strings.Fields(string(text)), " "), "NOT IN (SELECT") {
			t.Errorf("%s has NOT IN (SELECT …): NOT EXISTS is a join", name)
		}
	}
}
