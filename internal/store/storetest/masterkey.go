package storetest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// MasterKey returns a file with a master key for a program on PostgreSQL, where the setting is required.
func MasterKey(t testing.TB) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "master.key")
	if err := os.WriteFile(name, bytes.Repeat([]byte("k"), 32), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
