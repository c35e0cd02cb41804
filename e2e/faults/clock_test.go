package faults

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/provider"
)

// buildSteppable builds the program with its own clock, since the machine's clock is shared: its unchanged source is
// built with a standard library whose time.Now adds an offset (go build -overlay). Only the wall clock moves, as with
// settimeofday.

var steppable = sync.OnceValues(buildSteppable)

func buildSteppable() (string, error) {
	std := filepath.Join(runtime.GOROOT(), "src", "time") //nolint:staticcheck // the toolchain of the tests
	source, err := os.ReadFile(filepath.Join(std, "time.go"))
	if err != nil {
		return "", err
	}
	read := []byte("\tsec, nsec, mono := runtimeNow()\n")
	at := bytes.Index(source, []byte("\nfunc Now() Time {\n"))
	if at < 0 || !bytes.Contains(source[at:], read) {
		return "", errors.New("this Go reads its clock in another way: mend buildSteppable")
	}
	now := append(bytes.Clone(source[:at]), bytes.Replace(source[at:], read, append(read, "\tsec = stepped(sec)\n"...), 1)...)
	replaced := filepath.Join(programDir, "time.go")
	if err := os.WriteFile(replaced, now, 0o600); err != nil {
		return "", err
	}
	here, err := filepath.Abs("testdata")
	if err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(std, "time.go"):                                          replaced,
		filepath.Join(std, "stepped.go"):                                       filepath.Join(here, "time.go.txt"),
		filepath.Join(here, "..", "..", "..", "cmd", "carillon", "stepped.go"): filepath.Join(here, "main.go.txt"),
		filepath.Join(here, "..", "..", "..", "cmd", "carillon", "dies.go"):    filepath.Join(here, "dies.go.txt"),
	}})
	if err != nil {
		return "", err
	}
	list, exe := filepath.Join(programDir, "overlay.json"), filepath.Join(programDir, "carillon-steppable")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-overlay", list, "-o", exe, "carillon/cmd/carillon") // our own program
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program with a clock of its own: %w\n%s", err, out)
	}
	return exe, nil
}

// clock is a node's wall clock.
type clock struct{ file *os.File }

// clocked gives a node its own clock.
func clocked(t *testing.T, n *node) *clock {
	t.Helper()
	exe, err := steppable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "clock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	n.exe, n.env = exe, append(n.env, "FAULTS_CLOCK="+f.Name())
	c := &clock{f}
	c.set(t, 0)
	return c
}

// set sets the clock's offset.
func (c *clock) set(t *testing.T, off time.Duration) {
	t.Helper()
	b := make([]byte, 8)
	binary.NativeEndian.PutUint64(b, uint64(int64(off/time.Second)))
	if _, err := c.file.WriteAt(b, 0); err != nil {
		t.Fatal(err)
	}
}

// clocks holds the clocks of sites whose only node has its own clock.
type clocks struct {
	mu sync.Mutex
	of map[*site]*clock
}

func (cs *clocks) get(s *site) *clock {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return cs.of[s]
}

// alone starts a site's only node.
func (cs *clocks) alone(s *site) {
	s.t.Helper()
	s.x = s.node("")
	c := clocked(s.t, s.x)
	cs.mu.Lock()
	cs.of[s] = c
	cs.mu.Unlock()
	s.front.set(s.x)
	s.x.start()
	s.held()
}

func TestFaultsClockSteps(t *testing.T) {
	cs := clocks{of: map[*site]*clock{}}
	scenario{
		name: "clock stepped by an hour, both ways", rules: rules{shortWaits: true}, setup: cs.alone,
		round: func(s *site, name string) {
			c := cs.get(s)
			s.disturb(name, size, 3*time.Second, func(ctx context.Context) {
				for range 3 {
					pause(ctx, s.d.between(300*time.Millisecond, 1200*time.Millisecond))
					c.set(s.t, time.Duration(s.d.IntN(3)-1)*time.Hour)
					s.kills++
				}
			})
			for i, off := range []time.Duration{time.Hour, -time.Hour, 0} {
				c.set(s.t, off)
				s.kills++
				s.note("delivered after a step", s.prompt(fmt.Sprintf("%s at %s", name, off), i))
			}
			// A message scheduled for an hour that the clock then leaves again is due when that hour returns.
			c.set(s.t, time.Hour+10*time.Second)
			awaitEnd(s.t.Context(), s.books, s.patience, false, s.back)
			c.set(s.t, 0)
		},
	}.run(t)
}

// TestFaultsClockStepsWithinAnInterval steps the clock between two messages to one number. The second is sent after
// the interval: not earlier, as if an hour had passed, and not only when the clock reaches the previous time again.
func TestFaultsClockStepsWithinAnInterval(t *testing.T) {
	const interval = 2 * time.Second
	cs := clocks{of: map[*site]*clock{}}
	scenario{
		name: "clock stepped within a recipient's interval", setup: func(s *site) {
			for _, p := range s.providers {
				p.interval = interval
			}
			cs.alone(s)
		},
		round: func(s *site, name string) {
			for _, off := range []time.Duration{time.Hour, 0} {
				number := s.nextNumber(0)
				first := s.posted(fmt.Sprintf("%s first, then %s", name, off), number)
				cs.get(s).set(s.t, off)
				s.kills++
				between := s.posted(fmt.Sprintf("%s second, at %s", name, off), number).Sub(first)
				s.note("between the two", between)
				if between < interval-50*time.Millisecond || between > 20*time.Second {
					s.t.Errorf("the second was posted %s after the first, the interval is %s", between, interval)
				}
			}
		},
	}.run(t)
}

// posted sends one message to a number and returns when the provider received it.
func (s *site) posted(name, number string) time.Time {
	s.t.Helper()
	p := s.providers[0]
	a := s.bulk(name, p.id, "hello_utility", "utility", 1, func(int) string { return number })
	s.ask(a)
	ref := provider.Ref{NotificationID: a.id, N: 0, Attempt: 1}.String()
	if !await(s.t.Context(), 30*time.Second, func() bool { return len(p.graph.Posts(ref)) > 0 }) {
		s.t.Error("not posted within 30 s")
	}
	return time.Now()
}

// prompt sends a few messages at once and returns how long it took until the provider had them.
func (s *site) prompt(name string, i int) time.Duration {
	s.t.Helper()
	c := newCaller(s.front, s.d.child())
	defer c.http.CloseIdleConnections()
	begin := time.Now()
	for _, a := range s.draw(fmt.Sprintf("%s (%d)", name, i), 5) {
		a.lead, a.cancel, a.move = 0, false, false
		c.run(s.t.Context(), a)
		if a.id == "" {
			s.t.Errorf("%s was answered %d %s", a.token, a.status, a.code)
			return 0
		}
		if !await(s.t.Context(), 30*time.Second, func() bool {
			var waiting int
			err := s.books.db.QueryRowContext(s.t.Context(),
				"SELECT COUNT(*) FROM message WHERE id >> 7 = $1 AND q = 1 AND attempt = 0", int64(carillon.SeqOf(a.id))).Scan(&waiting)
			return err == nil && waiting == 0
		}) {
			s.t.Errorf("%s: messages due at once are still waiting after 30 s", a.token)
		}
	}
	return time.Since(begin)
}

// ready waits until a node's readiness has the given status.
func (s *site) ready(n *node, status int) {
	s.t.Helper()
	if !await(s.t.Context(), 30*time.Second, func() bool {
		resp, err := frontClient.Get("http://" + n.addr + "/readyz")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == status
	}) {
		s.t.Errorf("/readyz of %s does not answer %d", n.addr, status)
	}
}

// TestFaultsNodesAnHourApart steps the clock of one of two nodes, which then receives no requests: it leaves its shards to
// the other, and is not ready if it is ahead. Messages accepted by the other node still start on time, neither early by
// the one clock nor late by the other.
func TestFaultsNodesAnHourApart(t *testing.T) {
	clockOf := map[*site]*clock{}
	scenario{
		name: "two nodes an hour apart", engines: []string{"postgres"},
		setup: func(s *site) {
			s.a, s.b = s.node(""), s.node("")
			clockOf[s] = clocked(s.t, s.b)
			s.front.set(s.a, s.b)
			s.a.start()
			s.b.start()
			s.owners(2)
		},
		round: func(s *site, name string) {
			off := time.Hour
			if s.d.chance(50) {
				off = -off
			}
			s.front.set(s.a)
			clockOf[s].set(s.t, off)
			s.kills++
			if off > 0 {
				s.ready(s.b, http.StatusServiceUnavailable)
			}
			s.owners(1)
			pause(s.t.Context(), 3*time.Second)
			s.disturb(name, size, 2*time.Second, func(context.Context) {})
			awaitEnd(s.t.Context(), s.books, s.patience, false, s.back)
			clockOf[s].set(s.t, 0)
			s.ready(s.b, http.StatusOK)
			s.front.set(s.a, s.b)
			s.owners(2)
		},
		check: func(s *site, l *ledger) { l.startedWithin(s, 15*time.Second) },
	}.run(t)
}
