package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carillon/internal/store"
	"carillon/internal/store/db"
)

func TestDamageToATableThatNobodyReadsIsFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := store.Open(t.Context(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if at, fault := s.Integrity.Last(); !at.IsZero() || fault != "" {
		t.Error("before the first check:", at, fault)
	}
	if fault, err := s.Integrity.Check(t.Context()); fault != "" || err != nil {
		t.Fatal(fault, err)
	}
	var page, size int64
	if err := s.DB.Row(t.Context(), []any{&page}, "SELECT rootpage FROM sqlite_schema WHERE name = 'invalidation'"); err != nil {
		t.Fatal(err)
	}
	if err := s.DB.Row(t.Context(), []any{&size}, "SELECT page_size FROM pragma_page_size()"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil { // which moves the log into the file
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, db.FileName), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(strings.Repeat("\x7f", int(size))), (page-1)*size); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = store.Open(t.Context(), store.Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	fault, err := s.Integrity.Check(t.Context())
	if !strings.Contains(fault, "invalidation") || err != nil {
		t.Error(fault, err)
	}
	if at, last := s.Integrity.Last(); at.IsZero() || last != fault {
		t.Error(at, last)
	}
}
