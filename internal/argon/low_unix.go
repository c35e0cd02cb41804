//go:build unix && !linux

package argon

import (
	"os"
	"os/exec"
	"syscall"
)

func self() (string, error) { return os.Executable() }

func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// lower gives this process the lowest priority, for good. Here it is the process's, whatever its threads.
func lower() error { return syscall.Setpriority(syscall.PRIO_PROCESS, 0, 19) }
