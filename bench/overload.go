package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"carillon/internal/load"
)

// crowd is the connections of the overload: many more than the program takes up at once, fewer than it lets in.
const crowd = 8000

// measureOverload offers three times what the program can take, and looks at what it refuses and how, whether it
// finishes what it accepted, and how soon it is itself again.
func (b *bench) measureOverload(ctx context.Context) error {
	for _, e := range engines() {
		p, err := b.provider()
		if err != nil {
			return err
		}
		err = b.overloadOn(ctx, p, e)
		p.stop()
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) overloadOn(ctx context.Context, p *provider, e engine) error {
	n, err := b.on(ctx, e, p.url)
	if err != nil {
		return err
	}
	defer b.retire(n)
	req := request("POST", notifyPath("ck_bench_much"), body(1, 600000000, time.Time{}))
	capacity, err := closedLoop(ctx, n.addr, req, 64, pick(b, 4*time.Second, 2*time.Second))
	if err != nil {
		return err
	}
	if err := settle(ctx, n.child); err != nil {
		return err
	}
	idle, err := b.idleSecond(ctx, n)
	if err != nil {
		return err
	}
	if err := settle(ctx, n.child); err != nil { // its messages are of no second below
		return err
	}
	busy, err := b.busySecond(ctx, n)
	if err != nil {
		return err
	}
	from := time.Now()
	var poor atomic.Int64 // refusals that are not what they should be
	told := &tally{left: map[string]time.Time{}}
	l := load.Load{
		Addr: n.addr, Conns: crowd, For: time.Duration(pick(b, 20, 6)) * time.Second, Rate: 3 * capacity, Bounded: true, Tolerant: true,
		Request: load.Always(req), Seen: func(_, _ int, a load.Answer, took time.Duration) {
			if !told.note(a, took) && !proper(a) {
				poor.Add(1)
			}
		},
	}
	result, err := l.Run(ctx)
	if err != nil {
		return err
	}
	ended := time.Now()
	b.say("overload, %s: %s; %d not sent; p99 idle %.1f, beside deliveries %.1f ms", e.name, statuses(result), result.Unsent, idle, busy)
	again, err := b.recovery(ctx, n, idle, busy, ended)
	if err != nil {
		return err
	}
	accepted := result.Answers()[200]
	for _, q := range again.probes {
		maps.Copy(told.left, q.left)
	}
	lost, err := b.undelivered(ctx, p, from, told)
	if err != nil {
		return err
	}
	late, err := again.delivered(b, p, from)
	if err != nil {
		return err
	}
	figure := fmt.Sprintf("Overload: %s offered, capacity %s, %s", show(3*capacity), show(capacity), e.name)
	rows := []*row{
		{figure: figure, how: "% answered 503 of what was sent; " + statuses(result) + fmt.Sprintf("; %d found no free connection of %d", result.Unsent, crowd)},
		{figure: figure, how: "answers that are neither 200 nor a whole 503 with Retry-After", goal: "= 0", good: under(0)},
		{figure: figure, how: "accepted/s during it, of the capacity", yard: "capacity"},
		{figure: figure, how: "ms, p99 of what was accepted"},
		{figure: figure, how: fmt.Sprintf("of %d accepted not delivered", accepted), goal: "= 0", good: under(0)},
		{figure: figure, how: fmt.Sprintf("s until nothing is refused and p99 is within %d ms", recovered), goal: "≤ 5 s", good: under(5)},
		{figure: figure, how: fmt.Sprintf("s until p99 is within 2 × that of a second beside such deliveries without an overload before (%s ms)", show(busy)), goal: "≤ 5 s", good: under(5)},
		{figure: figure, how: fmt.Sprintf("s until p99 is within 2 × that of an idle second (%s ms); until then what was accepted is delivered", show(idle))},
		{figure: figure, how: fmt.Sprintf("s until p99 of another company's messages to the provider is within %d ms", recovered), goal: "≤ 5 s", good: under(5)},
	}
	rows[0].add(100*float64(result.Answers()[503])/float64(result.OK.Count()+result.Other.Count()), 0)
	rows[1].add(float64(poor.Load()+result.Broken.Load()), 0)
	rows[2].add(float64(accepted)/l.For.Seconds(), capacity)
	rows[3].add(result.OK.Milliseconds(0.99), 0)
	rows[4].add(float64(lost), 0)
	rows[5].add(again.well, 0)
	rows[6].add(again.alike, 0)
	rows[7].add(again.idle, 0)
	rows[8].add(late, 0)
	b.table.add(rows...)
	return nil
}

// proper tells whether an answer is a whole refusal as the interface has it.
func proper(a load.Answer) bool {
	return a.Status == 503 && a.RetryAfter && bytes.Contains(a.Body, []byte(`"service_unavailable"`)) &&
		bytes.Contains(a.Body, []byte(`"request_id"`)) && bytes.HasSuffix(bytes.TrimSpace(a.Body), []byte("}"))
}

// tally is when requests that were accepted had left, by the ids that they were told.
type tally struct {
	mu   sync.Mutex
	left map[string]time.Time
}

// note takes an answer in and tells whether the request was accepted.
func (t *tally) note(a load.Answer, took time.Duration) bool {
	_, id, found := strings.Cut(string(a.Body), `"notification_id":"`)
	if a.Status != 200 || !found || len(id) < 36 {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.left[id[:36]] = time.Now().Add(-took)
	return true
}

// probe is a little that another company sends for a while.
type probe struct {
	tally
	begin float64 // s after the load
	p99   float64 // of the answers, in ms
}

// probe sends messages that are due at once, for a second.
func (b *bench) probe(ctx context.Context, n *node) (*probe, error) {
	p := &probe{tally: tally{left: map[string]time.Time{}}}
	l := load.Load{
		Addr: n.addr, Conns: 8, For: time.Second, Rate: 200, Tolerant: true,
		Request: load.Always(request("POST", notifyPath("ck_bench_single"), body(1, 700000000, time.Time{}))),
		Seen:    func(_, _ int, a load.Answer, took time.Duration) { p.note(a, took) },
	}
	r, err := l.Run(ctx)
	if err != nil {
		return nil, err
	}
	p.p99 = r.OK.Milliseconds(0.99)
	if r.Other.Count()+r.Broken.Load() > 0 {
		p.p99 = 1e6 // a refusal is no recovery
	}
	return p, nil
}

// idleSecond is the p99 of a usual second in which there is only the probe: those after the load are held against it.
func (b *bench) idleSecond(ctx context.Context, n *node) (float64, error) {
	var seconds []float64
	for range 5 {
		p, err := b.probe(ctx, n)
		if err != nil {
			return 0, err
		}
		seconds = append(seconds, p.p99)
	}
	return median(seconds), nil
}

// busySecond is the p99 of a second in which messages are delivered as after the load, though none was refused before: one
// a notification, and all due at once.
func (b *bench) busySecond(ctx context.Context, n *node) (float64, error) {
	during := time.Duration(pick(b, 5, 2)) * time.Second
	due := time.Now().Add(during + 2*time.Second).Truncate(time.Second)
	if _, err := closedLoop(ctx, n.addr, request("POST", notifyPath("ck_bench_much"), body(1, 600000000, due)), 64, during); err != nil {
		return 0, err
	}
	if err := rest(ctx, time.Until(due)); err != nil {
		return 0, err
	}
	var seconds []float64
	for range pick(b, 4, 2) {
		p, err := b.probe(ctx, n)
		if err != nil {
			return 0, err
		}
		seconds = append(seconds, p.p99)
	}
	return median(seconds), errors.Join(b.allSent(ctx, n), settle(ctx, n.child))
}

// recovered is the p99 in milliseconds with which a caller is served well, though what was accepted is still delivered
// beside it.
const recovered = 50

// recovery is how many seconds after the load nothing of the probe is refused and its p99 is good enough, and after how
// many it is within twice that beside deliveries, and the idle one; a minute at most.
type recovery struct {
	well, alike, idle float64
	probes            []*probe
}

func (b *bench) recovery(ctx context.Context, n *node, idle, busy float64, ended time.Time) (*recovery, error) {
	r := &recovery{well: -1, alike: -1, idle: -1}
	for r.well < 0 || r.alike < 0 || r.idle < 0 {
		begin := time.Since(ended).Seconds()
		p, err := b.probe(ctx, n)
		if err != nil {
			return nil, err
		}
		p.begin = begin
		r.probes = append(r.probes, p)
		for _, x := range []struct {
			after *float64
			most  float64
		}{{&r.well, recovered}, {&r.alike, 2 * busy}, {&r.idle, 2 * idle}} {
			if *x.after < 0 && (p.p99 <= x.most || begin > 60) {
				*x.after = begin
			}
		}
	}
	return r, nil
}

// delivered is how many seconds after the load the probe's messages came to the provider in good time; when none did,
// the end of the last.
func (r *recovery) delivered(b *bench, p *provider, since time.Time) (float64, error) {
	all, err := p.arrivals(since)
	if err != nil {
		return 0, err
	}
	at := byID(all)
	soonest := -1.0
	for _, q := range r.probes {
		var took load.Hist
		for id, left := range q.left {
			came, ok := at[id]
			if !ok {
				came = time.Now() // it is lost, which another figure tells
			}
			took.Add(came.Sub(left))
		}
		late := took.Milliseconds(0.99)
		b.say("%.1f s after the load: p99 %.1f ms, to the provider %.1f ms", q.begin, q.p99, late)
		if soonest < 0 && took.Count() > 0 && late <= recovered {
			soonest = q.begin
		}
	}
	if soonest < 0 {
		soonest = r.probes[len(r.probes)-1].begin + 1
	}
	return soonest, nil
}

// byID is when each notification's message came.
func byID(all []arrival) map[string]time.Time {
	at := make(map[string]time.Time, len(all))
	for _, a := range all {
		id, _, _ := strings.Cut(a.ref, ".")
		at[id] = a.at
	}
	return at
}

// undelivered waits until the provider has all that was accepted and gives what is missing after two minutes without
// anything new.
func (b *bench) undelivered(ctx context.Context, p *provider, since time.Time, told *tally) (int, error) {
	quiet := 0
	for had := -1; ; {
		all, err := p.arrivals(since)
		if err != nil {
			return 0, err
		}
		at, missing := byID(all), 0
		for id := range told.left {
			if _, came := at[id]; !came {
				missing++
			}
		}
		if missing == 0 || quiet > 120 {
			return missing, nil
		}
		if quiet++; len(at) > had {
			quiet = 0
		}
		had = len(at)
		if err := rest(ctx, time.Second); err != nil {
			return 0, err
		}
	}
}
