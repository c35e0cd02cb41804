package document

import (
	"fmt"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// alone starts the command in a new process group, which is killed as a whole. The command also ends when Carillon
// does.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// limit bounds the memory and the processor time of a process, and keeps it from writing files.
func limit(pid int, memory uint64) error {
	for resource, limit := range map[int]uint64{
		unix.RLIMIT_AS: memory, unix.RLIMIT_CPU: uint64(pdfTime.Seconds()), unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: 0,
	} {
		if err := unix.Prlimit(pid, resource, &unix.Rlimit{Cur: limit, Max: limit}, nil); err != nil {
			return fmt.Errorf("limit pdftotext: %w", err)
		}
	}
	return nil
}
