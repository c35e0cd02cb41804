package argon

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// self names the file that this program was started from, also when an upgrade has put another in its place.
func self() (string, error) { return "/proc/self/exe", nil }

// apart keeps a terminal's Ctrl-C away from the process. It stays in the session: the kernel weighs sessions against each
// other first, and priorities only within one.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// lower gives this process the lowest priority, for good: whoever else has something to do comes first.
func lower() error {
	// Priority is a thread's. One that starts meanwhile may come from one that was not seen yet, so look again.
	done := map[string]bool{}
	for {
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		before := len(done)
		for _, t := range tasks {
			if done[t.Name()] {
				continue
			}
			id, err := strconv.Atoi(t.Name())
			if err != nil {
				return err
			}
			if err := lowerThread(id); err != nil && !errors.Is(err, unix.ESRCH) {
				return err
			}
			done[t.Name()] = true
		}
		if len(done) == before {
			return nil
		}
	}
}

// lowerThread makes it nice first: that is always allowed, and does where a sandbox forbids the policy.
func lowerThread(id int) error {
	if err := unix.Setpriority(unix.PRIO_PROCESS, id, 19); err != nil {
		return err
	}
	_ = unix.SchedSetAttr(id, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE, Nice: 19}, 0)
	return nil
}
