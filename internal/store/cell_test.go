package store_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/storetest"
)

func TestTheCellIsThatOfTheFirstStart(t *testing.T) {
	t.Parallel()
	for engine, options := range map[string]func(t *testing.T) store.Options{
		"sqlite":   func(t *testing.T) store.Options { return store.Options{Dir: storetest.Folder(t)} },
		"postgres": func(t *testing.T) store.Options { return store.Options{DatabaseURL: storetest.Postgres(t)} },
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			o := options(t)
			started := func(cell *int, want int, then ...func(s *store.Store)) {
				t.Helper()
				o.Cell = cell
				s, err := store.Open(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = s.Close() }()
				if got := carillon.SeqOf(s.Notifications.NewID(time.Now())).Cell(); got != want {
					t.Errorf("ids are of cell %d, want %d", got, want)
				}
				if got := carillon.SeqOf(s.Notifications.OtherID(time.Now())).Cell(); got != want {
					t.Errorf("ids instead of taken ones are of cell %d, want %d", got, want)
				}
				for _, fn := range then {
					fn(s)
				}
			}
			refused := func(cell int, with string) {
				t.Helper()
				o.Cell = &cell
				s, err := store.Open(t.Context(), o)
				if err == nil {
					_ = s.Close()
				}
				if err == nil || !strings.Contains(err.Error(), with) {
					t.Errorf("a start as cell %d: %v", cell, err)
				}
			}
			started(nil, 0)
			started(new(3), 3) // there is no company yet
			started(nil, 3)
			started(new(5), 5, func(s *store.Store) {
				err := s.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
					return accounts.PutCompany(ctx, tx, &carillon.Company{ID: ours, Name: "Ours"}, time.Now())
				})
				if err != nil {
					t.Fatal(err)
				}
			})
			refused(3, "is of cell 5, and the program was started with --cell 3")
			refused(0, "is of cell 5")
			refused(16, "from 0 to 15")
			refused(-1, "from 0 to 15")
			started(new(5), 5)
			started(nil, 5)
		})
	}
}

// A node that read the number before another node changed it must not join.
func TestNodesOfTwoCellsDoNotJoin(t *testing.T) {
	t.Parallel()
	o := store.Options{DatabaseURL: storetest.Postgres(t), Cell: new(1)}
	first, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Close() }()
	o.Cell = new(2)
	second, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = second.Close() }()
	if err := first.Nodes.Join(t.Context(), "first", "a"); err == nil || !strings.Contains(err.Error(), "cell 2") {
		t.Errorf("a node of cell 1 joins cell 2: %v", err)
	}
	if err := second.Nodes.Join(t.Context(), "second", "b"); err != nil {
		t.Fatal(err)
	}
	o.Cell = new(1)
	if third, err := store.Open(t.Context(), o); err == nil {
		_ = third.Close()
		t.Error("the number is changed while a node runs")
	}
}
