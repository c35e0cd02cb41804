package company

import (
	"errors"
	"testing"
	"time"

	"carillon/internal/store"
)

// TestOneCommandRunsAtATime runs commands during another one, of the same program and, on PostgreSQL, of another.
func TestOneCommandRunsAtATime(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, s *store.Store) {
		first := New(s, "test")
		others := []*Mover{first}
		if !s.DB.SQLite() {
			others = append(others, New(s, "test"))
		}
		release, err := first.alone(t.Context(), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range others {
			if _, err := m.alone(t.Context(), 0); !errors.Is(err, errElsewhere) {
				t.Errorf("during another command: %v", err)
			}
			if _, err := m.Do(t.Context(), Request{Do: DoList}, nil); err != nil {
				t.Errorf("a list during another command: %v", err)
			}
		}
		release()
		for _, m := range others {
			free, err := m.alone(t.Context(), time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			free()
		}
	})
}
