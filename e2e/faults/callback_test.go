package faults

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"carillon/internal/base/provider"
	"carillon/internal/send/whatsapp/graphtest"
	"carillon/internal/store/rank"
)

// timing is the time at which the channel reports the state of a message.
type timing int

const (
	lost         timing = iota // never
	beforeFinish               // before the response to our request
	late                       // 1 to 2 s later
	doubled                    // everything twice, in the wrong order
	whileUnknown               // the response is lost, and the callback arrives while the outcome is unknown
	afterPolicy                // the same, but the callback arrives after the policy has retried or failed the message
	timings
)

// channelCallbacks plays the channel's callbacks, per message.
type channelCallbacks struct {
	s       *site
	pending sync.WaitGroup
	mu      sync.Mutex
	drawn   map[string]timing         // of the first attempt, by message
	owed    map[string]graphtest.Post // first attempts to be reported once there is a second one
}

// post chooses the timing of a message's callbacks at random and starts them.
func (y *channelCallbacks) post(p *channelAccount, d dice, x graphtest.Post) *graphtest.Failure {
	ref, err := provider.ParseRef(x.Ref)
	if err != nil {
		return nil
	}
	how, message := late, fmt.Sprintf("%s.%d", ref.NotificationID, ref.N)
	y.mu.Lock()
	if ref.Attempt == 1 {
		how = timing(d.IntN(int(timings)))
		y.drawn[message] = how
		if how == afterPolicy && p.policy == "retry" {
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
		y.deliver(p, x, "delivered")
	case late, timings:
		y.later(p, x, d.between(time.Second, 2*time.Second), "delivered")
	case doubled:
		y.later(p, x, d.between(0, 500*time.Millisecond), "read", "sent", "delivered", "read", "delivered", "sent")
	case whileUnknown:
		y.later(p, x, unknownAfter/3, "delivered")
		return &graphtest.Failure{Kind: graphtest.Garbage, Accepted: true}
	case afterPolicy:
		if p.policy == "fail" { // otherwise after the second attempt, which the sender's breaker may delay
			y.later(p, x, unknownAfter+5*time.Second, "delivered")
		}
		return &graphtest.Failure{Kind: graphtest.HalfBody, Accepted: true}
	}
	return nil
}

func (y *channelCallbacks) later(p *channelAccount, x graphtest.Post, wait time.Duration, states ...string) {
	y.pending.Go(func() {
		pause(y.s.t.Context(), wait)
		y.deliver(p, x, states...)
	})
}

// deliver posts a callback for each state until it is accepted.
func (y *channelCallbacks) deliver(p *channelAccount, x graphtest.Post, states ...string) {
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

// TestFaultsCallbacksInEveryOrder has callbacks lost, late, doubled, out of order, before the finish, while the
// outcome is unknown, after the policy's retry and after its failure.
func TestFaultsCallbacksInEveryOrder(t *testing.T) {
	bySite := map[*site]*channelCallbacks{}
	var mu sync.Mutex
	of := func(s *site) *channelCallbacks {
		mu.Lock()
		defer mu.Unlock()
		return bySite[s]
	}
	scenario{
		name: "callbacks lost, late, doubled, early", setup: func(s *site) {
			y := &channelCallbacks{s: s, drawn: map[string]timing{}, owed: map[string]graphtest.Post{}}
			mu.Lock()
			bySite[s] = y
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
			if !awaitEnd(s.t.Context(), s.books, s.patience, true, s.back) {
				s.t.Error("not everything ended in time")
			}
			of(s).pending.Wait()
			s.kills = int(s.made.Load())
		},
		check: func(s *site, l *ledger) { of(s).check(l) },
	}.run(t)
}

// check compares each message with the callbacks it received.
func (y *channelCallbacks) check(l *ledger) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, e := range l.entries {
		for i := range e.rows {
			x := &e.rows[i]
			how, posted := y.drawn[fmt.Sprintf("%s.%d", e.id, x.n)]
			if !posted {
				continue
			}
			want, attempts := rank.Delivered, 1
			switch how {
			case lost:
				want = rank.Sent
			case doubled:
				want = rank.Read
			case afterPolicy:
				if x.from.policy == "retry" {
					attempts = 2
				}
			case beforeFinish, late, whileUnknown, timings:
			}
			if rank.Rank(x.rank) != want || x.attempts != attempts {
				l.fault("%s.%d, timing %d, policy %s: rank %d after %d attempts, want %d after %d", e.id, x.n, how, x.from.policy,
					x.rank, x.attempts, want, attempts)
			}
		}
	}
}

// TestFaultsCallbacksFindNobodyOverACrash keeps the program dead for longer than the wait for unknown outcomes. That
// wait must start over, so that the repeated callbacks decide and no accepted message is sent again or failed.
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
			s.held()
		},
		check: func(_ *site, l *ledger) {
			for _, e := range l.entries {
				for i := range e.rows {
					x := &e.rows[i]
					if p, posted := x.byAttempt[1]; posted && p.took && (x.attempts > 1 || rank.Rank(x.rank) < rank.Delivered) {
						l.fault("%s.%d was accepted, and reported again after the crash: rank %d after %d attempts", e.id, x.n,
							x.rank, x.attempts)
					}
				}
			}
		},
	}.run(t)
}
