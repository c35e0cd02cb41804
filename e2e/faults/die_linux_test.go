package faults

import (
	"os/exec"
	"syscall"
)

// dieWithUs ends the process when the test ends, however that ends.
func dieWithUs(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
