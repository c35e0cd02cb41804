package faults

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/whatsapp/graphtest"
)

// tale is how the channel tells what became of a message.
type tale int

const (
	lost         tale = iota // never
	beforeFinish             // before our request is answered
	late                     // a while after
	doubled                  // everything twice, in the wrong order
	duringDoubt              // the request's answer is lost, the callback comes while its outcome is unknown
	afterDoubt               // the same, but the callback comes when the policy has retried or failed it
	tales
)

// teller plays the channel's callbacks, message by message.
type teller struct {
	s     *site
	under sync.WaitGroup
	mu    sync.Mutex
	told  map[string]tale           // by message, of its first attempt
	owed  map[string]graphtest.Post // first attempts that are told of once there is a second one
}

// post draws how a message is told, and begins to tell.
func (y *teller) post(p *provider, d dice, x graphtest.Post) *graphtest.Failure {
	ref, err := carillon.ParseRef(x.Ref)
	if err != nil {
		return nil
	}
	how, message := late, fmt.Sprintf("%s.%d", ref.NotificationID, ref.N)
	y.mu.Lock()
	if ref.Attempt == 1 {
		how = tale(d.IntN(int(tales)))
		y.told[message] = how
		if how == afterDoubt && p.policy == "retry" {
			y.owed[message] = x
		}
	} else if first, owed := y.owed[message]; owed {
		delete(y.owed, message)
		y.later(p, first, d.between(0, time.Second), "delivered")
	}
	y.mu.Unlock()
	y.s.made.Add(1)
	switch how {
	case lost:
	case beforeFinish:
		y.tell(p, x, "delivered")
	case late, tales:
		y.later(p, x, d.between(time.Second, 2*time.Second), "delivered")
	case doubled:
		y.later(p, x, d.between(0, 500*time.Millisecond), "read", "sent", "delivered", "read", "delivered", "sent")
	case duringDoubt:
		y.later(p, x, unknownAfter/3, "delivered")
		return &graphtest.Failure{Kind: graphtest.Garbage, Accepted: true}
	case afterDoubt:
		if p.policy == "fail" { // else when it has been sent again, however long the sender's breaker keeps that back
			y.later(p, x, unknownAfter+5*time.Second, "delivered")
		}
		return &graphtest.Failure{Kind: graphtest.HalfBody, Accepted: true}
	}
	return nil
}

func (y *teller) later(p *provider, x graphtest.Post, wait time.Duration, states ...string) {
	y.under.Go(func() {
		pause(y.s.t.Context(), wait)
		y.tell(p, x, states...)
	})
}

// tell posts a callback for each state until it is taken.
func (y *teller) tell(p *provider, x graphtest.Post, states ...string) {
	ctx := y.s.t.Context()
	for _, state := range states {
		for ctx.Err() == nil {
			status, err := p.graph.Deliver(ctx, p.address, p.graph.StatusBody(graphtest.StatusOf(x, state, time.Now())))
			if err == nil && status == http.StatusOK {
				break
			}
			pause(ctx, 200*time.Millisecond)
		}
	}
}

// TestFaultsCallbacksAsTheyComeInLife has callbacks lost, late, doubled, out of order, before the finish, while the
// outcome is unknown, after the policy's retry and after its fail.
func TestFaultsCallbacksAsTheyComeInLife(t *testing.T) {
	tellers := map[*site]*teller{}
	var mu sync.Mutex
	of := func(s *site) *teller {
		mu.Lock()
		defer mu.Unlock()
		return tellers[s]
	}
	scenario{
		name: "callbacks lost, late, doubled, early", setup: func(s *site) {
			y := &teller{s: s, told: map[string]tale{}, owed: map[string]graphtest.Post{}}
			mu.Lock()
			tellers[s] = y
			mu.Unlock()
			s.mute = true
			s.providers = s.providers[:2]
			for _, p := range s.providers {
				p.begin(s.t, s.front, false)
				p.graph.FailBy(slowly(s.t, s.d.child(), 40*time.Millisecond, func(d dice, x graphtest.Post) *graphtest.Failure {
					return y.post(p, d, x)
				}))
			}
			alone(s)
		},
		round: func(s *site, name string) {
			s.disturb(name, size/2, time.Second, func(context.Context) {})
			if !settle(s.t.Context(), s.books, s.patience, true, s.back) {
				s.t.Error("not everything ended in time")
			}
			of(s).under.Wait()
			s.kills = int(s.made.Load())
		},
		check: func(s *site, l *ledger) { of(s).check(l) },
	}.run(t)
}

// check holds each message to what was told of it.
func (y *teller) check(l *ledger) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, e := range l.entries {
		for i := range e.rows {
			x := &e.rows[i]
			how, posted := y.told[fmt.Sprintf("%s.%d", e.id, x.n)]
			if !posted {
				continue
			}
			want, attempts := carillon.RankDelivered, 1
			switch how {
			case lost:
				want = carillon.RankSent
			case doubled:
				want = carillon.RankRead
			case afterDoubt:
				if x.from.policy == "retry" {
					attempts = 2
				}
			case beforeFinish, late, duringDoubt, tales:
			}
			if carillon.Rank(x.rank) != want || x.attempts != attempts {
				l.fault("%s.%d, tale %d, policy %s: rank %d after %d attempts, want %d after %d", e.id, x.n, how, x.from.policy, x.rank, x.attempts, want, attempts)
			}
		}
	}
}

// TestFaultsCallbacksFindNobodyOverACrash keeps the program dead for longer than the wait for unknown outcomes. That wait
// must begin anew, so that the callbacks which come again decide, and nothing taken is sent again or failed.
func TestFaultsCallbacksFindNobodyOverACrash(t *testing.T) {
	scenario{
		name: "callbacks find nobody over a crash", setup: func(s *site) {
			s.providers = s.providers[:2]
			for _, p := range s.providers {
				p.after = 8 * time.Second
			}
			alone(s)
		},
		round: func(s *site, name string) {
			s.disturb(name, size, time.Second, func(ctx context.Context) {
				s.wire.arm(20 + s.d.IntN(60))
				select {
				case <-s.wire.hit:
				case <-time.After(2 * time.Second):
				}
				s.x.kill()
				s.kills++
				pause(ctx, s.d.between(9*time.Second, 11*time.Second))
				s.x.start()
			})
			s.held(30 * time.Second)
		},
		check: func(_ *site, l *ledger) {
			for _, e := range l.entries {
				for i := range e.rows {
					x := &e.rows[i]
					if p, posted := x.byAttempt[1]; posted && p.took && (x.attempts > 1 || carillon.Rank(x.rank) < carillon.RankDelivered) {
						l.fault("%s.%d was taken, and told of again after the crash: rank %d after %d attempts", e.id, x.n, x.rank, x.attempts)
					}
				}
			}
		},
	}.run(t)
}
