package argon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestMain is also the processes that the tests start.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 {
		switch os.Args[1] {
		case "worker":
			if err := Work(os.Stdin, os.Stdout); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			return
		case "parent":
			parent()
			return
		case "nonsense":
			fmt.Println("this is no sum")
			select {}
		case "dies":
			os.Exit(3)
		}
	}
	os.Exit(m.Run())
}

// parent starts a child, says so and waits for its end.
func parent() {
	c := NewChild([]string{"worker"}, Options{})
	if _, err := c.Sum(context.Background(), job(1, cheap)); err != nil || c.Stats().Beside != 1 {
		fmt.Println("no child")
	}
	long := job(1, Params{Memory: 19 << 10, Passes: MaxPasses, Threads: 1})
	go c.Sum(context.Background(), long) // what goes on does not keep the child
	fmt.Println("started")
	select {}
}

func newChild(t *testing.T, role string, o Options) *Child {
	t.Helper()
	c := NewChild([]string{role}, o)
	t.Cleanup(c.Close)
	return c
}

func (c *Child) want(t *testing.T, j Job) {
	t.Helper()
	if sum, err := c.Sum(t.Context(), j); err != nil || !bytes.Equal(sum, j.sum()) {
		t.Errorf("the sum is %x, %v", sum, err)
	}
}

func (c *Child) wantStats(t *testing.T, want Stats) {
	t.Helper()
	if got := c.Stats(); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
}

// process is the one that runs.
func (c *Child) process(t *testing.T) *os.Process {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now == nil {
		t.Fatal("no process runs")
	}
	return c.now.cmd.Process
}

// eventually waits for what another goroutine or process does.
func (c *Child) eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; {
		c.mu.Lock()
		ok := done()
		c.mu.Unlock()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not so within 30 s: %s", what)
		}
		<-time.After(time.Millisecond)
	}
}

func TestChildGivesTheSumsOfThisProcess(t *testing.T) {
	c := newChild(t, "worker", Options{Patience: time.Minute})
	var all sync.WaitGroup
	for n := range 32 {
		all.Go(func() { c.want(t, job(n, Params{Memory: uint32(64 * (1 + n%5)), Passes: 1, Threads: uint8(1 + n%3)})) })
	}
	all.Wait()
	c.wantStats(t, Stats{Beside: 32})
}

func TestChildThatDiesIsReplacedAndItsHashComputedAnyway(t *testing.T) {
	c := newChild(t, "worker", Options{Patience: time.Minute})
	c.want(t, job(1, cheap))
	first := c.process(t)
	got := make(chan error, 1)
	long := job(2, Params{Memory: 19 << 10, Passes: 32, Threads: 1})
	go func() {
		sum, err := c.Sum(context.Background(), long)
		if err == nil && !bytes.Equal(sum, long.sum()) {
			err = errors.New("another sum")
		}
		got <- err
	}()
	c.eventually(t, "the hash is owed", func() bool { return len(c.now.owed) == 1 })
	if err := first.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
	if c.process(t).Pid == first.Pid {
		t.Error("the dead process is still the one")
	}
	c.wantStats(t, Stats{Beside: 2, Deaths: 1})
}

func TestWithoutAChildHashesAreComputedHere(t *testing.T) {
	for role, deaths := range map[string]int64{"dies": 1, "nonsense": 1} {
		c := newChild(t, role, Options{Patience: time.Minute})
		for n := range 3 { // the second and third do not start it again
			c.want(t, job(n, cheap))
		}
		c.wantStats(t, Stats{Here: 3, Deaths: deaths})
		c.mu.Lock()
		c.after = time.Time{}
		c.mu.Unlock()
		c.want(t, job(4, cheap))
		c.wantStats(t, Stats{Here: 4, Deaths: deaths + 1})
		if c.mu.Lock(); time.Until(c.after) < time.Second {
			t.Errorf("%s: after two vain starts the next may be in %v", role, time.Until(c.after))
		}
		c.mu.Unlock()
	}
}

func TestLateChildGetsNoMoreUntilItHasAnswered(t *testing.T) {
	c := newChild(t, "worker", Options{Patience: 50 * time.Millisecond})
	c.want(t, job(1, cheap))
	before := c.Stats().Here // a busy machine can make the first one late too
	c.eventually(t, "nothing is owed", func() bool { return len(c.now.owed) == 0 })
	p := c.process(t)
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	c.want(t, job(2, cheap))
	begin := time.Now()
	c.want(t, job(3, cheap))
	if took := time.Since(begin); took >= 50*time.Millisecond && c.Stats().Here != before+2 {
		t.Errorf("the child was waited for again, %v", took)
	}
	c.eventually(t, "one hash alone is owed", func() bool { return len(c.now.owed) == 1 && c.now.late == 1 })
	if err := p.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	c.eventually(t, "nothing is late", func() bool { return c.now.late == 0 && len(c.now.owed) == 0 })
	c.o.Patience = time.Minute
	here := c.Stats().Here
	c.want(t, job(4, cheap))
	if s := c.Stats(); s.Here != here || s.Deaths != 0 {
		t.Errorf("after it went on: %+v", s)
	}
}

func TestIdleChildEndsAndComesBack(t *testing.T) {
	c := newChild(t, "worker", Options{Idle: time.Millisecond, Patience: time.Minute})
	for range 3 {
		c.want(t, job(1, cheap))
		c.eventually(t, "no process runs", func() bool { return c.now == nil })
	}
	c.ends.Wait()
	c.wantStats(t, Stats{Beside: 3})
}

func TestStopSignalsDoNotReachTheChild(t *testing.T) {
	c := newChild(t, "worker", Options{Patience: time.Minute})
	c.want(t, job(1, cheap))
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		if err := c.process(t).Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	c.want(t, job(2, cheap))
	c.wantStats(t, Stats{Beside: 2})
	c.Close()
	c.want(t, job(3, cheap))
	c.wantStats(t, Stats{Beside: 2, Here: 1})
}

func TestContextEndsTheWaitForATurnAndNotAHash(t *testing.T) {
	c := newChild(t, "worker", Options{Patience: time.Minute})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Sum(ctx, job(1, cheap)); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled before: %v", err)
	}
	c.wantStats(t, Stats{})
	c.want(t, job(1, cheap))
	ctx, cancel = context.WithCancel(t.Context())
	got := make(chan error, 1)
	go func() {
		_, err := c.Sum(ctx, job(2, Params{Memory: 19 << 10, Passes: 8, Threads: 1}))
		got <- err
	}()
	c.eventually(t, "the hash is owed", func() bool { return len(c.now.owed) == 1 })
	cancel()
	if err := <-got; err != nil {
		t.Errorf("canceled in the midst: %v", err)
	}
	c.wantStats(t, Stats{Beside: 2})

	c.Close()
	c.own <- struct{}{} // another one is computed here
	ctx, cancel = context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := c.Sum(ctx, job(1, cheap)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while another is computed here: %v", err)
	}
	<-c.own
}

func TestChildEndsWithItsParent(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "parent")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	// The parent and its child share standard error: it ends with the last of them.
	last, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer last.Close()
	cmd.Stderr = theirs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	said := make([]byte, len("started"))
	if _, err := io.ReadFull(out, said); err != nil || string(said) != "started" {
		t.Errorf("the parent said %q, %v", said, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if err := last.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(last); err != nil || len(text) > 0 {
		t.Errorf("the child lives on, or said %q: %v", text, err)
	}
}
