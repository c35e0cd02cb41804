package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"carillon/internal/store"
	"carillon/internal/store/db"
)

// TestADataFolderMayHaveAnyName opens a database in a folder whose name has characters that mean something in a URI.
func TestADataFolderMayHaveAnyName(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "a?mode=memory#b%41;c d")
	s, err := store.Open(t.Context(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(filepath.Join(dir, db.FileName))
	if err != nil || info.Size() == 0 || info.Mode().Perm() != 0o600 {
		t.Errorf("the database: %v, %v", info, err)
	}
	if found, err := os.ReadDir(parent); err != nil || len(found) != 1 {
		t.Errorf("next to the folder: %v, %v", found, err)
	}
}
