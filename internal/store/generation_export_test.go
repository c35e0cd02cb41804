package store

import "testing"

// StoredGeneration is the generation number as the database has it: it rises with every Configure, whenever this node
// notices.
func (s *Store) StoredGeneration(t testing.TB) (n int64) {
	t.Helper()
	if err := s.DB.Row(t.Context(), []any{&n}, "SELECT value FROM meta WHERE name = 'generation'"); err != nil {
		t.Fatal(err)
	}
	return n
}
