package faults

import (
	"os/exec"
	"syscall"
)

// dieWithUs kills the process when the test ends for any reason.
func dieWithUs(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
