package faults

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"carillon"
	"carillon/internal/whatsapp/graphtest"
)

// disturb loads the site's nodes with asks and does something to them meanwhile.
func (s *site) disturb(name string, size int, over time.Duration, what func(ctx context.Context)) {
	s.t.Helper()
	asks := s.draw(name, size)
	ctx := s.t.Context()
	var done sync.WaitGroup
	d := s.d.child()
	done.Go(func() { load(ctx, s.front, d, asks, over) })
	what(ctx)
	done.Wait()
}

// pair is two nodes on one PostgreSQL; the first reaches it through the proxy, when there is one.
func (s *site) pair(p *proxy) (a, b *node) {
	s.t.Helper()
	through := ""
	if p != nil {
		through = p.url
	}
	a, b = s.node(through), s.node("")
	s.front.set(a, b)
	a.start()
	b.start()
	s.owners(2, 20*time.Second)
	return a, b
}

// owners waits until so many nodes own all shards among them.
func (s *site) owners(n int, within time.Duration) {
	s.t.Helper()
	if !await(s.t.Context(), within, func() bool {
		var owners, owned int
		err := s.books.db.QueryRowContext(s.t.Context(), "SELECT COUNT(DISTINCT owner), COUNT(owner) FROM shard").Scan(&owners, &owned)
		return err == nil && owners == n && owned == 64
	}) {
		s.t.Errorf("after %s not all shards are owned by %d nodes", within, n)
	}
}

func TestFaultsStopInFullLoadDrains(t *testing.T) {
	long(t)
	for i, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			s := newSite(t, engine, 100+uint64(i))
			x := s.node("")
			s.front.set(x)
			x.start()
			s.held(10 * time.Second)
			for _, p := range s.providers {
				p.graph.FailBy(slowly(t, s.d.child(), 2*time.Second, nil))
			}
			s.disturb("drain", 150, 3*time.Second, func(ctx context.Context) {
				pause(ctx, s.d.between(1500*time.Millisecond, 2500*time.Millisecond))
				begin := time.Now()
				if code := x.stop(20 * time.Second); code != 0 {
					t.Errorf("after SIGTERM it ended with %d", code)
				}
				t.Logf("drained in %s", time.Since(begin).Round(time.Millisecond))
				x.start()
			})
			s.held(15 * time.Second)
			l := s.settleAndBalance("drain "+engine, rules{})
			if l.unknown > 0 {
				l.fault("%d outcomes are unknown after a drain", l.unknown)
			}
			s.report(l)
		})
	}
}

// TestFaultsDrainingNodeStaysAlive drains for longer than a silent node is believed alive.
func TestFaultsDrainingNodeStaysAlive(t *testing.T) {
	long(t)
	s := newSite(t, "postgres", 105)
	for _, p := range s.providers {
		p.graph.FailBy(slowly(t, s.d.child(), 9*time.Second, nil))
	}
	a, b := s.pair(nil)
	s.disturb("draining", 60, 2*time.Second, func(ctx context.Context) {
		pause(ctx, 2*time.Second)
		s.front.set(b)
		begin := time.Now()
		if code := a.stop(25 * time.Second); code != 0 {
			t.Errorf("after SIGTERM it ended with %d", code)
		}
		t.Logf("drained in %s", time.Since(begin).Round(time.Millisecond))
	})
	if log, err := os.ReadFile(b.log); err != nil || bytes.Contains(log, []byte("declared a node dead")) {
		t.Errorf("the other node declared it dead (%v)", err)
	}
	s.report(s.settleAndBalance("draining", rules{}))
}

func TestFaultsOtherNodeTakesOverFromAKilledOne(t *testing.T) {
	long(t)
	s := newSite(t, "postgres", 110)
	a, b := s.pair(nil)
	s.disturb("killed", 250, 8*time.Second, func(ctx context.Context) {
		pause(ctx, s.d.between(time.Second, 2*time.Second))
		begin := time.Now()
		a.kill()
		s.front.set(b)
		s.owners(1, 12*time.Second)
		t.Logf("shards were taken over after %s", time.Since(begin).Round(time.Millisecond))
	})
	s.report(s.settleAndBalance("node killed", rules{}))
}

func TestFaultsStoppedNodeStartsNothingWhenItGoesOn(t *testing.T) {
	long(t)
	s := newSite(t, "postgres", 120)
	a, b := s.pair(nil)
	s.disturb("stopped", 300, 8*time.Second, func(ctx context.Context) {
		pause(ctx, s.d.between(time.Second, 2*time.Second))
		a.signal(syscall.SIGSTOP)
		s.front.set(b)
		s.owners(1, 12*time.Second)
		pause(ctx, 4*time.Second)
		a.signal(syscall.SIGCONT)
		s.front.set(a, b)
	})
	s.report(s.settleAndBalance("node stopped 12 s", rules{errorsStored: true}))
}

func TestFaultsNodeCutOffFromTheDatabaseLosesNothing(t *testing.T) {
	long(t)
	s := newSite(t, "postgres", 130)
	p := newProxy(t, s.url)
	s.pair(p)
	s.disturb("cut", 300, 12*time.Second, func(ctx context.Context) {
		pause(ctx, s.d.between(time.Second, 2*time.Second))
		p.cut()
		pause(ctx, 11*time.Second)
		p.mend()
	})
	s.held(15 * time.Second)
	s.report(s.settleAndBalance("node cut off 11 s", rules{retries: true, errorsStored: true}))
}

func TestFaultsConnectionsThatTheDatabaseEnds(t *testing.T) {
	long(t)
	s := newSite(t, "postgres", 140)
	x := s.node("")
	s.front.set(x)
	x.start()
	s.held(10 * time.Second)
	s.disturb("terminated", 250, 5*time.Second, func(ctx context.Context) {
		for range 12 {
			pause(ctx, s.d.between(50*time.Millisecond, 500*time.Millisecond))
			if _, err := s.books.db.ExecContext(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
				WHERE application_name = 'carillon' AND datname = current_database()`); err != nil {
				t.Error(err)
			}
		}
	})
	s.held(15 * time.Second)
	s.report(s.settleAndBalance("backends terminated", rules{retries: true, errorsStored: true}))
}

func TestFaultsSwallowedAnswerOfACommit(t *testing.T) {
	long(t)
	s := newSite(t, "postgres", 150)
	p := newProxy(t, s.url)
	x := s.node(p.url)
	s.front.set(x)
	x.start()
	s.held(10 * time.Second)
	var mu sync.Mutex
	d := s.d.child()
	p.swallowBy(func() bool {
		mu.Lock()
		defer mu.Unlock()
		return d.chance(20)
	})
	s.disturb("swallowed", 250, 6*time.Second, func(context.Context) {})
	pause(t.Context(), 3*time.Second) // deliveries go on
	p.swallowBy(nil)
	t.Logf("the answers of %d COMMITs were lost", p.swallowed.Load())
	s.report(s.settleAndBalance("COMMITs unanswered", rules{retries: true, errorsStored: true}))
}

// TestFaultsProviderFails answers a third of the posts in each of the ways that a provider fails in.
func TestFaultsProviderFails(t *testing.T) {
	long(t)
	ways := map[string]graphtest.Failure{
		"429 of the channel":        graphtest.Code(429, 130429),
		"a proxy's 429":             {Kind: graphtest.HTML, HTTP: 429},
		"500 without JSON":          {Kind: graphtest.HTML, HTTP: 500},
		"500 though taken":          {Kind: graphtest.HTML, HTTP: 500, Took: true},
		"503 of the channel":        graphtest.Code(503, 131016),
		"503 without JSON":          {Kind: graphtest.HTML, HTTP: 503},
		"garbage though taken":      {Kind: graphtest.Garbage, Took: true},
		"half a body, though taken": {Kind: graphtest.HalfBody, Took: true},
		"closed half-way":           {Kind: graphtest.CloseAfter},
		"reset, though taken":       {Kind: graphtest.Reset, Took: true},
	}
	for i, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			s := newSite(t, engine, 160+uint64(i))
			names := make([]string, 0, len(ways))
			for name := range ways {
				names = append(names, name)
			}
			for _, p := range s.providers {
				p.graph.FailBy(slowly(t, s.d.child(), 60*time.Millisecond, func(d dice, x graphtest.Post) *graphtest.Failure {
					if ref, err := carillon.ParseRef(x.Ref); err != nil || ref.Attempt > 2 || !d.chance(35) {
						return nil
					}
					f := ways[names[d.IntN(len(names))]]
					return &f
				}))
			}
			x := s.node("")
			s.front.set(x)
			x.start()
			s.held(10 * time.Second)
			s.disturb("failing", 100, 2*time.Second, func(context.Context) {})
			s.report(s.settleAndBalance(fmt.Sprintf("provider fails %s", engine), rules{retries: true}))
		})
	}
}
