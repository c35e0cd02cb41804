package faults

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

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
	s.held(20 * time.Second)
	return a, b
}

func TestStopInFullLoadDrains(t *testing.T) {
	for i, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			s := newSite(t, engine, 100+uint64(i))
			x := s.node("")
			s.front.set(x)
			x.start()
			s.held(10 * time.Second)
			s.disturb("drain", 150, 2*time.Second, func(ctx context.Context) {
				pause(ctx, s.d.between(700*time.Millisecond, 1500*time.Millisecond))
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

func TestOtherNodeTakesOverFromAKilledOne(t *testing.T) {
	s := newSite(t, "postgres", 110)
	a, b := s.pair(nil)
	s.disturb("killed", 250, 8*time.Second, func(ctx context.Context) {
		pause(ctx, s.d.between(time.Second, 2*time.Second))
		begin := time.Now()
		a.kill()
		s.held(12 * time.Second)
		t.Logf("shards were taken over after %s", time.Since(begin).Round(time.Millisecond))
		s.front.set(b)
	})
	s.report(s.settleAndBalance("node killed", rules{}))
}

func TestStoppedNodeStartsNothingWhenItGoesOn(t *testing.T) {
	s := newSite(t, "postgres", 120)
	a, b := s.pair(nil)
	s.disturb("stopped", 300, 8*time.Second, func(ctx context.Context) {
		pause(ctx, s.d.between(time.Second, 2*time.Second))
		a.signal(syscall.SIGSTOP)
		s.front.set(b)
		pause(ctx, 12*time.Second)
		a.signal(syscall.SIGCONT)
		s.front.set(a, b)
	})
	s.report(s.settleAndBalance("node stopped 12 s", rules{errorsStored: true}))
}

func TestNodeCutOffFromTheDatabaseLosesNothing(t *testing.T) {
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

func TestConnectionsThatTheDatabaseEnds(t *testing.T) {
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

func TestSwallowedAnswerOfACommit(t *testing.T) {
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

// TestProviderFails answers a third of the posts in each of the ways that a provider fails in.
func TestProviderFails(t *testing.T) {
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
				p.graph.FailBy(slowly(t, s.d.child(), func(d dice, x graphtest.Post) *graphtest.Failure {
					if x.Nth == 1 && !d.chance(35) {
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
