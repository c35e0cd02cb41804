// Package need says what a test cannot do without on this machine: the test is skipped where it is missing, and fails with CI set,
// where nothing may be missing. It is for tests alone.
package need

import (
	"os"
	"os/exec"
	"testing"
)

// Program returns the path of a program that a Debian package has.
func Program(t testing.TB, name, pkg string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	That(t, err == nil, name+" is missing: install Debian's package "+pkg)
	return path
}

// That ends the test unless it has what it needs.
func That(t testing.TB, ok bool, missing string) {
	t.Helper()
	switch {
	case ok:
	case os.Getenv("CI") != "":
		t.Fatal(missing)
	default:
		t.Skip("SKIPPED: " + missing)
	}
}
