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

	"carillon/bench/load"
)

// process is a child process: the program under test or a helper.
type process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	done chan struct{}
}

// helper starts this program as one of its helpers. The helper ends when its standard input is closed.
func (b *bench) helper(name string) (*process, error) {
	cmd := exec.Command("/proc/self/exe", name)
	cmd.Stderr = os.Stderr
	return b.start(cmd)
}

// start starts a process that ends with the current group at the latest.
func (b *bench) start(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	// StdoutPipe would lose the last output of a process that ends, since Wait closes it.
	out, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = write
	err = cmd.Start()
	_ = write.Close() // the process has its own descriptor
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", filepath.Base(cmd.Path), err), out.Close())
	}
	p.out = bufio.NewReaderSize(out, 1<<20)
	b.processes = append(b.processes, p)
	go func() {
		_ = cmd.Wait() // a failure shows as missing output
		close(p.done)
	}()
	return p, nil
}

// killAll kills the processes that are still running, after an error or at the end of a group.
func (b *bench) killAll() {
	for _, p := range b.processes {
		p.kill()
	}
	b.processes = nil
}

// readLine reads one line of the process's output.
func (p *process) readLine() (string, error) {
	text, err := p.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("read from %s: %w", strings.Join(p.cmd.Args[1:], " "), err)
	}
	return strings.TrimSuffix(text, "\n"), nil
}

// ask sends a line and reads the response line.
func (p *process) ask(line string) (string, error) {
	if _, err := fmt.Fprintln(p.in, line); err != nil {
		return "", err
	}
	return p.readLine()
}

// stop ends the process with SIGTERM, or kills it after 40 s.
func (p *process) stop() {
	p.resume()
	_ = p.in.Close()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(40 * time.Second):
		p.kill()
	}
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// suspend stops the process with SIGSTOP, so that its background work does not run during another node's round.
func (p *process) suspend() { _ = p.cmd.Process.Signal(syscall.SIGSTOP) }

func (p *process) resume() { _ = p.cmd.Process.Signal(syscall.SIGCONT) }

// stat returns the fields of proc_pid_stat(5) from the third on.
func (p *process) stat() []string {
	stat := must(os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid)))
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.Fields(rest)
}

// megabytes returns the resident memory in MB.
func (p *process) megabytes() float64 {
	return float64(must(strconv.Atoi(p.stat()[21]))*os.Getpagesize()) / 1e6
}

// cpuTicks returns the processor time used, in ticks of 10 ms.
func (p *process) cpuTicks() int {
	f := p.stat()
	return must(strconv.Atoi(f[11])) + must(strconv.Atoi(f[12]))
}

// waitIdle waits until the process has used almost no processor time for 0.6 s, at most 20 s.
func (p *process) waitIdle(ctx context.Context) {
	deadline := time.Now().Add(20 * time.Second)
	for idle := 0; idle < 3; {
		before := p.cpuTicks()
		check(load.Pause(ctx, 200*time.Millisecond))
		idle++
		if p.cpuTicks()-before > 1 && time.Now().Before(deadline) {
			idle = 0
		}
	}
}
