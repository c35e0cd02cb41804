package main

import (
	"context"
	"errors"
	"time"
)

// measureAccept takes requests with one and with a hundred recipients over 64 connections: access key, rate, checks,
// template, quota and the durable commit, beside a handler that only decodes.
func (b *bench) measureAccept(ctx context.Context) error {
	h, bare, err := b.bareHandler()
	if err != nil {
		return err
	}
	defer h.stop()
	for _, size := range []struct {
		recipients       int
		sqlite, postgres float64
	}{{1, 0.50, 0.42}, {100, 0.45, 0.36}} {
		if err := b.acceptSize(ctx, h, bare, size.recipients, map[bool]float64{false: size.sqlite, true: size.postgres}); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) acceptSize(ctx context.Context, h *child, bare string, recipients int, goals map[bool]float64) error {
	how, figure := "requests/s, 64 connections", "Accept, 1 recipient, "
	if recipients > 1 {
		how, figure = "messages/s, 64 connections", "Accept, 100 recipients, "
	}
	var rows []*row
	var nodes []*node
	for _, e := range engines() {
		n, err := b.on(ctx, e, "http://127.0.0.1:9")
		if err != nil {
			return err
		}
		defer b.retire(n)
		n.pause()
		nodes = append(nodes, n)
		rows = append(rows, &row{figure: figure + e.name, how: how, yard: "H", goal: "≥ " + show(goals[e.postgres])[:4], good: atLeast(goals[e.postgres])})
	}
	req := request("POST", notifyPath("ck_bench_much"), body(recipients, 600000000, never))
	for round := range b.rounds + 1 {
		d := pick(b, 4*time.Second, 2*time.Second)
		if round == 0 {
			d = time.Second // warms up and does not count
		}
		before, _ := h.cpu()
		yard, err := closedLoop(ctx, bare, req, 64, d)
		if err != nil {
			return err
		}
		after, _ := h.cpu()
		b.say("H: %.0f requests/s, %.0f µs of processor each", yard, float64(after-before)*1e4/(yard*d.Seconds()))
		for i, n := range nodes {
			rate, err := b.acceptRound(ctx, n, req, d, fileName("accept", recipients, i), round == 1)
			if err != nil {
				return err
			}
			if round > 0 {
				rows[i].add(rate*float64(recipients), yard*float64(recipients))
			}
		}
	}
	b.table.add(rows...)
	return nil
}

// acceptRound lets one node run alone: what it does behind what it has accepted falls on its own round.
func (b *bench) acceptRound(ctx context.Context, n *node, req []byte, d time.Duration, name string, profile bool) (float64, error) {
	n.resume()
	defer n.pause()
	if err := rest(ctx, 200*time.Millisecond); err != nil {
		return 0, err
	}
	wait := func() error { return nil }
	if profile {
		wait = b.profileFor(n, name, d)
	}
	before, _ := n.cpu()
	rate, err := closedLoop(ctx, n.addr, req, 64, d)
	after, _ := n.cpu()
	b.say("%s: %.0f requests/s, %.0f µs of processor each", name, rate, float64(after-before)*1e4/(rate*d.Seconds()))
	return rate, errors.Join(err, wait())
}

// measureLatency sends over 16 connections at a third of what they could, beside the bare handler at the same rate, and
// counts from when each request was due to leave.
func (b *bench) measureLatency(ctx context.Context) error {
	h, bare, err := b.bareHandler()
	if err != nil {
		return err
	}
	defer h.stop()
	req := sendOne()
	for _, e := range engines() {
		n, err := b.on(ctx, e, "http://127.0.0.1:9")
		if err != nil {
			return err
		}
		most, err := closedLoop(ctx, n.addr, req, 16, 2*time.Second)
		if err == nil {
			err = b.latencyOf(ctx, e, n, bare, req, 0.3*most)
		}
		b.retire(n)
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) latencyOf(ctx context.Context, e engine, n *node, bare string, req []byte, rate float64) error {
	r := &row{
		figure: "Accept latency, 16 connections, " + e.name, how: "ms, p99 at 30 % of the maximum, " + show(rate) + "/s",
		yard: "H + 4 F + 3 ms:", goal: "≤ 1", good: atMost(1),
	}
	for range b.rounds {
		if err := settle(ctx, n.child); err != nil {
			return err
		}
		f, err := b.disk.measure(200)
		if err != nil {
			return err
		}
		d := pick(b, 5*time.Second, 3*time.Second)
		yard, err := openLoop(ctx, bare, req, 16, rate, d)
		if err != nil {
			return err
		}
		took, err := openLoop(ctx, n.addr, req, 16, rate, d)
		if err != nil {
			return err
		}
		r.add(took.Milliseconds(0.99), yard.Milliseconds(0.99)+4*f+3)
		b.shape("Accepting, "+e.name, took)
		b.shape("Bare handler H", yard)
		b.say("%s: p50 %.2f p99 %.2f ms, H p99 %.2f ms, F %.2f ms", r.figure, took.Milliseconds(0.5), took.Milliseconds(0.99), yard.Milliseconds(0.99), f)
	}
	b.table.add(r)
	return nil
}
