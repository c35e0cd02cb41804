package siptest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"carillon/internal/base/need"
)

// Sipp is a run of sipp with one call. It fails if it meets something that is not in its scenario.
type Sipp struct {
	Port   int
	t      *testing.T
	out    *program
	cancel context.CancelFunc
	ended  chan error
	trace  string
}

const (
	maxScenario = 2 * Hung
	maxShown    = 1500 // bytes, of its screens
)

// NewSipp starts a scenario, which is XML.
func NewSipp(t *testing.T, scenario string, args ...string) *Sipp {
	t.Helper()
	path := need.Program(t, "sipp", "sip-tester")
	dir := t.TempDir()
	file := filepath.Join(dir, "scenario.xml")
	if err := os.WriteFile(file, []byte(scenario), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &Sipp{t: t, Port: Reserve(t), ended: make(chan error, 1), trace: filepath.Join(dir, "trace"), out: &program{}}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	all := []string{
		"-sf", file, "-i", "127.0.0.1", "-p", fmt.Sprint(s.Port), "-mp", fmt.Sprint(Reserve(t)), "-nostdin",
		"-timeout", fmt.Sprint(maxScenario.Seconds()), "-timeout_error", "-trace_msg", "-message_file", s.trace, "-m", "1",
	}
	c := exec.CommandContext(ctx, path, append(all, args...)...)
	c.Dir, c.Stdout, c.Stderr = dir, s.out, s.out
	c.Env = append(os.Environ(), "TERM=dumb")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.ended <- c.Wait()
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		if t.Failed() {
			out := s.out.Shown()
			t.Logf("sipp exchanged:\n%s\n%s", s.Exchanged(), out[max(0, len(out)-maxShown):])
		}
	})
	return s
}

// Address returns its address.
func (s *Sipp) Address() string { return fmt.Sprintf("127.0.0.1:%d", s.Port) }

// Done waits until the scenario has ended.
func (s *Sipp) Done() {
	s.t.Helper()
	err := errors.New("it does not end")
	select {
	case err = <-s.ended:
	case <-time.After(maxScenario):
		s.cancel()
	}
	if err != nil {
		out := s.out.Shown()
		s.t.Errorf("sipp met something else: %v\n%s", err, out[max(0, len(out)-maxShown):])
	}
}

// Exchanged returns the messages that it sent and received.
func (s *Sipp) Exchanged() string {
	b, _ := os.ReadFile(s.trace)
	return string(b)
}
