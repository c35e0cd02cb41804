// Package need declares the requirements of a test on this machine. A test is skipped if a requirement is missing, but
// fails if CI is set, because CI must have everything. The package is for tests only.
package need

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
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

// Unprivileged returns a user for programs that refuse to run as root; nil if this process does not.
func Unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err, err2)
}
