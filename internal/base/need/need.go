// Package need declares the requirements of a test on this machine. A test is skipped if a requirement is missing, but
// fails if CI is set, because CI must have everything. The package is for tests only.
package need

import (
	"os"
	"os/exec"
	"testing"
)

// Program returns the path of a program that is part of a Debian package.
func Program(t testing.TB, name, pkg string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	That(t, err == nil, name+" is missing: install Debian's package "+pkg)
	return path
}

// That ends the test unless ok.
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
