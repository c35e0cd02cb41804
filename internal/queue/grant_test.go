package queue

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"carillon"
	"carillon/internal/store"
)

// lending is a pump that owns shard 1 for some time and may start.
func lending(t interface{ Helper() }) *pump {
	t.Helper()
	q := New(nil, Options{Deliver: nil})
	q.beat.forever.Store(true)
	p := &pump{
		q: q, loads: loadsMax, lanes: map[int64]*lane{}, shards: map[int]*shardState{}, flights: map[carillon.MessageKey]*flight{},
		orphans: map[carillon.MessageKey]orphan{},
	}
	p.gain(store.Shard{ID: 1, Epoch: 7}, time.Now().Add(-time.Minute))
	p.hands.over = make(chan struct{})
	p.grantable(true)
	return p
}

func granted(g *Grant, s *carillon.Sender, k carillon.MessageKey, number string) Wake {
	return Wake{SenderUID: s.UID, Class: carillon.Utility, Due: time.Now(), Fresh: &Fresh{
		Queued: store.Queued{Key: k, Number: number, Due: time.Now()}, Sender: s, Grant: g,
	}}
}

// grants asks for so many and gives those that are had.
func (p *pump) grants(s *carillon.Sender, n int) []*Grant {
	var had []*Grant
	for i := range n {
		if g := p.q.Grant(s, fmt.Sprint(34600000000+i)); g != nil {
			had = append(had, g)
		}
	}
	return had
}

func TestNoMoreIsGrantedThanMayStart(t *testing.T) {
	for _, c := range []struct {
		sender carillon.Sender
		want   int
	}{
		{carillon.Sender{}, 64},
		{carillon.Sender{PerSecond: 80}, 64},
		{carillon.Sender{PerSecond: 3}, 3},
		{carillon.Sender{MaxConcurrent: 2}, 2},
		{carillon.Sender{PerRecipient: time.Second}, 64},
	} {
		p := lending(t)
		c.sender.UID = 1
		had := p.grants(&c.sender, 100)
		if len(had) != c.want {
			t.Errorf("%+v: %d granted, want %d", c.sender, len(had), c.want)
		}
		if g := had[0]; g.Fence != (store.Fence{Shard: 1, Owner: p.q.id, Epoch: 7}) {
			t.Errorf("granted with %+v", g.Fence)
		}
		for _, g := range had {
			p.q.grants.unstarted(g)
			p.declined(g, time.Now())
		}
		if n := len(p.q.grants.accounts); n != 0 || p.lent(anyShard) != 0 || p.lent(1) != 0 {
			t.Errorf("%d accounts are left, %d grants", n, p.lent(anyShard))
		}
		if again := p.grants(&c.sender, 100); len(again) != c.want {
			t.Errorf("%+v: once all came back %d granted, want %d", c.sender, len(again), c.want)
		}
	}
}

func TestNothingIsGrantedWhere(t *testing.T) {
	for what, change := range map[string]func(p *pump, s *carillon.Sender, l *lane, now time.Time){
		"a message waits": func(_ *pump, _ *carillon.Sender, l *lane, now time.Time) {
			l.class[1].push(store.Queued{Key: 9, Due: now})
		},
		"what waits is being read": func(_ *pump, _ *carillon.Sender, l *lane, _ time.Time) { l.class[2].loading = true },
		"something is due, unread": func(_ *pump, _ *carillon.Sender, l *lane, now time.Time) { l.class[0].wake(now) },
		"the company is suspended": func(_ *pump, _ *carillon.Sender, l *lane, _ time.Time) { l.off = true },
		"the breaker is open": func(_ *pump, _ *carillon.Sender, l *lane, now time.Time) {
			l.breaker = &breaker{tripped: true, until: now.Add(time.Hour)}
		},
		"the breaker is half open": func(_ *pump, _ *carillon.Sender, l *lane, now time.Time) {
			l.breaker = &breaker{tripped: true, until: now.Add(-time.Hour)}
		},
		"the shard goes elsewhere":     func(p *pump, _ *carillon.Sender, _ *lane, now time.Time) { p.close(p.shards[1], now.Add(time.Hour)) },
		"the shard has gone":           func(p *pump, _ *carillon.Sender, _ *lane, _ time.Time) { p.lose(1) },
		"the shard is another's":       func(_ *pump, s *carillon.Sender, _ *lane, _ time.Time) { s.UID = 2 },
		"nothing may start":            func(p *pump, _ *carillon.Sender, _ *lane, _ time.Time) { p.grantable(false) },
		"the beat is lost":             func(p *pump, _ *carillon.Sender, _ *lane, _ time.Time) { p.q.beat.forever.Store(false) },
		"the process has enough to do": func(p *pump, _ *carillon.Sender, _ *lane, _ time.Time) { p.active = 512; p.grantable(true) },
		"the interval is not over":     func(_ *pump, _ *carillon.Sender, l *lane, now time.Time) { l.space.started("34600000000", now) },
		"another has the number's slot": func(_ *pump, _ *carillon.Sender, l *lane, now time.Time) {
			l.space.reserved = map[string]time.Time{"34600000000": now.Add(time.Minute)}
		},
		"the last owner's second": func(p *pump, s *carillon.Sender, _ *lane, now time.Time) {
			p.lose(1)
			s.PerSecond = 80
			p.gain(store.Shard{ID: 1, Epoch: 8}, now)
		},
	} {
		p, now := lending(t), time.Now()
		s := &carillon.Sender{UID: 1, PerRecipient: time.Minute}
		l := p.laneOf(1, p.shards[1])
		l.of(s)
		p.lend(l, now)
		if g := p.q.Grant(s, "34600000001"); g == nil {
			t.Fatal("nothing is granted at all")
		}
		change(p, s, l, now)
		p.lend(l, now)
		if g := p.q.Grant(s, "34600000000"); g != nil {
			t.Errorf("granted where %s", what)
		}
	}
}

func TestAnAuditWaitsForGrants(t *testing.T) {
	p, now := lending(t), time.Now()
	s := &carillon.Sender{UID: 1}
	g := p.q.Grant(s, "34600000000")
	p.shards[1].audit, p.shards[1].scanAt, p.shards[1].doubtAt = true, now, time.Time{}
	p.tend(now)
	if p.auditing != 0 || p.q.Grant(s, "34600000001") != nil {
		t.Errorf("%d audits beside a grant, or granted before an audit", p.auditing)
	}
	if p.close(p.shards[1], time.Time{}); p.quiet(p.shards[1]) {
		t.Error("a shard goes while a grant of it is out")
	}
	p.declined(g, now)
	if p.lent(anyShard) != 0 || !p.auditDue {
		t.Error("the grant did not come back, or its audit is forgotten")
	}
}

func TestAStartedMessageOfAShardThatWentIsTakenBack(t *testing.T) {
	p, now := lending(t), time.Now()
	s := &carillon.Sender{UID: 1}
	g := p.q.Grant(s, "34600000000")
	p.lose(1)
	p.gain(store.Shard{ID: 1, Epoch: 8}, now)
	p.granted(granted(g, s, 256, "34600000000"), now)
	if len(p.results) != 1 || p.results[0].Move != store.MoveRetry || p.results[0].Attempt != 1 || p.active != 0 || p.lent(anyShard) != 0 {
		t.Errorf("%+v, %d active, %d lent", p.results, p.active, p.lent(anyShard))
	}
}

// TestGrantsAndStartsTogetherStayWithinTheSendersBounds has grants and lanes' own starts come and end in any order.
func TestGrantsAndStartsTogetherStayWithinTheSendersBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := lending(t)
		defer close(p.hands.over)
		out := make(chan *Job, 1024)
		p.q.o.Deliver = func(_ context.Context, j *Job) Done {
			out <- j
			return Done{Result: store.Result{Key: j.Key, Attempt: j.Attempt, Move: store.MoveDone}}
		}
		s := &carillon.Sender{
			UID: 1, PerSecond: rapid.SampledFrom([]int{0, 5, 80}).Draw(t, "rate"), MaxConcurrent: rapid.SampledFrom([]int{0, 3}).Draw(t, "most"),
		}
		limit := 64
		if s.MaxConcurrent > 0 {
			limit = s.MaxConcurrent
		}
		if s.PerSecond > 0 {
			limit = min(limit, s.PerSecond)
		}
		now, key := time.Now(), carillon.MessageKey(256)
		var lent []*Grant
		var flying []*flight
		begun := map[carillon.MessageKey]bool{}
		note := func() { // flights that began by grants
			for k, f := range p.flights {
				if !begun[k] {
					begun[k] = true
					flying = append(flying, f)
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"grant": func(*rapid.T) {
				if g := p.q.Grant(s, "34600000000"); g != nil {
					lent = append(lent, g)
				}
			},
			"use": func(*rapid.T) {
				if len(lent) > 0 {
					p.granted(granted(lent[0], s, key, "34600000000"), now)
					lent, key = lent[1:], key+256
					note()
				}
			},
			"decline": func(*rapid.T) {
				if len(lent) > 0 {
					p.q.grants.unstarted(lent[0])
					p.declined(lent[0], now)
					lent = lent[1:]
				}
			},
			"wake": func(t *rapid.T) {
				for range rapid.IntRange(1, 70).Draw(t, "messages") {
					p.wake(Wake{SenderUID: 1, Class: carillon.Utility, Due: now, Fresh: &Fresh{Queued: store.Queued{Key: key, Due: now}, Sender: s}}, now)
					key += 256
				}
			},
			"start": func(*rapid.T) {
				for _, f := range p.choose(now) {
					p.active++
					begun[f.job.Key] = true
					flying = append(flying, f)
					p.put(f, now)
				}
			},
			"answer": func(*rapid.T) {
				if len(flying) == 0 {
					return
				}
				f := flying[0]
				flying = flying[1:]
				delete(p.flights, f.job.Key)
				p.landed(landed{f: f, at: now, done: Done{Answered: true, Result: store.Result{Key: f.job.Key}}, hand: make(chan *flight, 1)}, now)
				p.hands.idle = p.hands.idle[:0]
			},
			"time": func(*rapid.T) {
				now = now.Add(1100 * time.Millisecond)
				if l := p.lanes[1]; l != nil {
					p.attend(l, now)
				}
			},
			"": func(t *rapid.T) {
				if n := len(flying) + len(lent); n > limit+aheadOf(p) {
					t.Fatalf("%d under way and %d granted, at most %d", len(flying), len(lent), limit)
				}
				if p.lent(anyShard) != len(lent) || p.lent(1) != len(lent) {
					t.Fatalf("%d grants are out, %d counted", len(lent), p.lent(anyShard))
				}
				if l := p.lanes[1]; l != nil && s.PerSecond > 0 {
					if n := l.pace.busy + len(l.pace.cooling) + len(lent); n > s.PerSecond {
						t.Fatalf("%d slots of %d a second are taken", n, s.PerSecond)
					}
				}
			},
		})
	})
}

// aheadOf is how many starts beyond its slots a lane may have.
func aheadOf(p *pump) int {
	if l := p.lanes[1]; l != nil {
		return l.outs.responses + l.outs.ahead
	}
	return 0
}
