package faults

import (
	"os"
	"testing"
)

// executable is the program and its arguments.
func executable(t *testing.T, args []string) (exe string, all, env []string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return self, args, append(os.Environ(), programEnv+"=1")
}
