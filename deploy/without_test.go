package deploy_test

import (
	"os"
	"testing"
)

// without ends a test that lacks something on this machine: it skips, and fails with CI set, where nothing may.
func without(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}
