//go:build !unix

package argon

import (
	"os"
	"os/exec"
)

func self() (string, error) { return os.Executable() }

func apart(*exec.Cmd) {}

// lower does nothing where there are no priorities that we know.
func lower() error { return nil }
