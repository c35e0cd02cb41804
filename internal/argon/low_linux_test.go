package argon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestEveryThreadOfTheChildHasTheLowestPriority(t *testing.T) {
	c := newChild(t, "worker", Options{Patience: time.Minute})
	c.want(t, job(1, Params{Memory: 1 << 10, Passes: 1, Threads: 4}))
	pid := c.process(t).Pid
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil || len(tasks) < 2 {
		t.Fatalf("%d threads, %v", len(tasks), err)
	}
	for _, task := range tasks {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/stat", pid, task.Name()))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		f := strings.Fields(rest) // from the third field of proc_pid_stat(5) on
		if nice, policy := f[19-3], f[41-3]; nice != "19" || policy != "5" {
			t.Errorf("thread %s has nice %s, policy %s; want 19 and 5, SCHED_IDLE", task.Name(), nice, policy)
		}
	}
	group, err := syscall.Getpgid(pid)
	if err != nil || group != pid {
		t.Errorf("it is in the group %d of %d, %v", group, pid, err)
	}
	weight, err := os.ReadFile(fmt.Sprintf("/proc/%d/autogroup", pid))
	if errors.Is(err, fs.ErrNotExist) {
		return // a kernel without sessions that are weighed
	}
	if err != nil || !strings.HasSuffix(string(weight), "nice 19\n") {
		t.Errorf("its session weighs %q, %v; want nice 19", weight, err)
	}
}
