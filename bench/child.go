package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"carillon/internal/load"
)

// child is a process of this run: a role of this program, or the server under test.
type child struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	done chan struct{}
}

// role starts this program in another role. It ends when its standard input does.
func (b *bench) role(name string, args ...string) (*child, error) {
	cmd := exec.Command(b.exe, append([]string{name}, args...)...)
	cmd.Stderr = os.Stderr
	return b.start(cmd)
}

// start runs a process that ends with this run at the latest.
func (b *bench) start(cmd *exec.Cmd) (*child, error) {
	c := &child{cmd: cmd, done: make(chan struct{})}
	var err error
	if c.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	// Not StdoutPipe, whose reading end Wait closes: what a process says last would be lost when it ends at once.
	out, said, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = said
	err = cmd.Start()
	_ = said.Close() // the process has its own
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", filepath.Base(cmd.Path), err), out.Close())
	}
	c.out = bufio.NewReaderSize(out, 1<<20)
	b.children = append(b.children, c)
	go func() {
		_ = cmd.Wait() // how it ended shows in what it did not say
		close(c.done)
	}()
	return c, nil
}

// hear reads one line that the process says.
func (c *child) hear() (string, error) {
	text, err := c.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("%s said nothing: %w", c.cmd.Args[1], err)
	}
	return strings.TrimSuffix(text, "\n"), nil
}

func (c *child) tell(format string, args ...any) error {
	_, err := fmt.Fprintf(c.in, format+"\n", args...)
	return err
}

// stop ends the process in the way it likes; kill in the way nothing likes.
func (c *child) stop() {
	c.resume()
	_ = c.in.Close()
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.done:
	case <-time.After(40 * time.Second):
		c.kill()
	}
}

func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	<-c.done
}

// family are the process and those that it has started: what the program takes, it takes in all of them.
func (c *child) family() ([]int, error) {
	pids := []int{c.cmd.Process.Pid}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		f, err := statOf(pid)
		if err != nil {
			continue // it has ended meanwhile
		}
		if f[1] == strconv.Itoa(c.cmd.Process.Pid) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// statOf gives the fields of proc_pid_stat(5) from the third on: state, parent and so forth.
func statOf(pid int) ([]string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	f := strings.Fields(rest)
	if len(f) < 22 {
		return nil, errors.New("the process's stat is short")
	}
	return f, nil
}

// ofFamily adds a figure up over the process and those that it has started. Of these, one may have ended meanwhile.
func (c *child) ofFamily(figure func(stat []string) (int64, error)) (int64, error) {
	pids, err := c.family()
	if err != nil {
		return 0, err
	}
	var sum int64
	for i, pid := range pids {
		f, err := statOf(pid)
		if err != nil && i > 0 {
			continue
		}
		if err != nil {
			return 0, err
		}
		n, err := figure(f)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// megabytes is the resident memory in MB. What processes share is counted in each.
func (c *child) megabytes() (float64, error) {
	pages, err := c.ofFamily(func(f []string) (int64, error) { return strconv.ParseInt(f[21], 10, 64) })
	return float64(pages*int64(os.Getpagesize())) / 1e6, err
}

// cpu is the processor time that was had, in ticks of 10 ms, also by processes that have ended.
func (c *child) cpu() (int64, error) {
	return c.ofFamily(func(f []string) (int64, error) {
		var sum int64
		for _, ticks := range f[11:15] {
			n, err := strconv.ParseInt(ticks, 10, 64)
			if err != nil {
				return 0, err
			}
			sum += n
		}
		return sum, nil
	})
}

// pause stops the process in the midst of what it does, so that its work behind does not fall on another's round; resume
// lets it go on.
func (c *child) pause() { _ = c.cmd.Process.Signal(syscall.SIGSTOP) }

func (c *child) resume() { _ = c.cmd.Process.Signal(syscall.SIGCONT) }

// settle waits until the processes have done what they do behind, 20 s at most.
func settle(ctx context.Context, all ...*child) error {
	deadline := time.Now().Add(20 * time.Second)
	for _, c := range all {
		for quiet := 0; quiet < 3; quiet++ {
			before, err := c.cpu()
			if err != nil {
				return err
			}
			if err := rest(ctx, 200*time.Millisecond); err != nil {
				return err
			}
			after, err := c.cpu()
			if err != nil {
				return err
			}
			if after-before > 1 && time.Now().Before(deadline) {
				quiet = -1
			}
		}
	}
	return nil
}

// rest waits, unless the run is to end.
func rest(ctx context.Context, d time.Duration) error { return load.Pause(ctx, d) }
