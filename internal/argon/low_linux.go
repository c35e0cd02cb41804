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

// apart gives the process a session of its own. It keeps a terminal's Ctrl-C away, and the kernel weighs sessions against
// each other before it looks at priorities: beside the program the process would count as the program does, against a
// database of another session. lower gives its session the lowest weight.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// lower gives this process and its session the lowest priority, for good: whoever else has something to do comes first.
func lower() error {
	// See sched(7), "The autogroup feature"; a kernel without it has no such file and only knows priorities.
	_ = os.WriteFile("/proc/self/autogroup", []byte("19"), 0)
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
