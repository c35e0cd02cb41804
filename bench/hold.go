package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// measureMillion schedules many messages for a day that never comes. With them behind: memory, a start, ten thousand
// due at one instant, accepting.
func (b *bench) measureMillion(ctx context.Context) error {
	p, err := b.provider()
	if err != nil {
		return err
	}
	defer p.stop()
	n, err := b.on(ctx, engines()[0], p.url)
	if err != nil {
		return err
	}
	defer func() { n.stop() }()
	if err := b.idleMemory(ctx); err != nil {
		return err
	}
	behind := pick(b, 1_000_000, 100_000)
	begin := time.Now()
	if err := b.bulk(ctx, n, "ck_bench_much", behind, never); err != nil {
		return err
	}
	b.say("scheduled %d messages in %s", behind, time.Since(begin).Round(time.Second))
	if err := settle(ctx, n.child); err != nil {
		return err
	}
	if err := b.dueAtOnce(ctx, p, n, behind); err != nil {
		return err
	}
	if err := b.acceptBehind(ctx, n, behind); err != nil {
		return err
	}
	bytes, err := n.rss()
	if err != nil {
		return err
	}
	r := &row{figure: fmt.Sprintf("Memory, %d scheduled", behind), how: "MB resident, after accepting and sending, SQLite", goal: "≤ 120 MB", good: under(120)}
	r.add(bytes/1e6, 0)
	b.table.add(r)
	n.stop()
	return b.coldStart(ctx, n.dir, fmt.Sprintf("Cold start, %d rows", behind), 150)
}

// idleMemory is of a program that nobody has asked for anything yet.
func (b *bench) idleMemory(ctx context.Context) error {
	n, err := b.serve(ctx, nodeOptions{})
	if err != nil {
		return err
	}
	defer n.stop()
	if err := settle(ctx, n.child); err != nil {
		return err
	}
	bytes, err := n.rss()
	if err != nil {
		return err
	}
	r := &row{figure: "Memory, idle", how: "MB resident, SQLite", goal: "≤ 40 MB", good: under(40)}
	r.add(bytes/1e6, 0)
	b.table.add(r)
	return nil
}

// dueAtOnce has ten thousand messages due at one instant. The floor is what a bare client takes to post as many.
func (b *bench) dueAtOnce(ctx context.Context, p *provider, n *node, behind int) error {
	const due = 10_000
	r := &row{
		figure: fmt.Sprintf("10,000 due at once, %d behind", behind), how: "ms late, p99, SQLite", yard: "10,000 ÷ C:",
		goal: "≤ 1.5", good: atMost(1.5),
	}
	for range b.rounds {
		rate, err := b.bareClient(p, due, 64)
		if err != nil {
			return err
		}
		at := time.Now().Add(5 * time.Second).Truncate(time.Second)
		if err := b.bulk(ctx, n, "ck_bench_much", due, at); err != nil {
			return err
		}
		if err := rest(ctx, time.Until(at)+time.Second); err != nil {
			return err
		}
		all, err := p.await(ctx, at, due, time.Minute)
		if err != nil {
			return err
		}
		r.add(ms(all[len(all)*99/100].at.Sub(at)), due/rate*1000)
		if err := settle(ctx, n.child); err != nil {
			return err
		}
	}
	b.table.add(r)
	return nil
}

// acceptBehind is accepting with many rows there, beside an empty database: growth.
func (b *bench) acceptBehind(ctx context.Context, n *node, behind int) error {
	empty, err := b.on(ctx, engines()[0], "http://127.0.0.1:9")
	if err != nil {
		return err
	}
	defer empty.stop()
	r := &row{
		figure: fmt.Sprintf("Growth: accept with %d rows", behind), how: "requests/s, 64 connections, SQLite", yard: "empty:",
		goal: "≥ 0.77", good: atLeast(1 / 1.3),
	}
	req := request("POST", notifyPath("ck_bench_much"), body(1, 600000000, never))
	for range b.rounds {
		var rates [2]float64
		for i, x := range []*node{empty, n} {
			if rates[i], err = closedLoop(ctx, x.addr, req, 64, 2*time.Second); err != nil {
				return err
			}
			if err := settle(ctx, x.child); err != nil {
				return err
			}
		}
		r.add(rates[1], rates[0])
	}
	b.table.add(r)
	return nil
}

// measureFairness sends single messages of one company while another has very many due.
func (b *bench) measureFairness(ctx context.Context) error {
	p, err := b.provider()
	if err != nil {
		return err
	}
	defer p.stop()
	r := &row{figure: "Fairness: one company's single messages beside another's many due", how: "ms later than idle's median, p99, SQLite", goal: "≤ 15 ms", good: under(15)}
	for range b.rounds {
		n, err := b.on(ctx, engines()[0], p.url)
		if err != nil {
			return err
		}
		err = b.fairnessOf(ctx, p, n, r)
		n.kill() // there is no end to what is due
		if err != nil {
			return err
		}
	}
	b.table.add(r)
	return nil
}

func (b *bench) fairnessOf(ctx context.Context, p *provider, n *node, r *row) error {
	alone, err := b.singles(ctx, p, n, 100, 10*time.Millisecond)
	if err != nil {
		return err
	}
	many := pick(b, 200_000, 100_000)
	due := time.Now().Add(pick(b, 12*time.Second, 7*time.Second)).Truncate(time.Second)
	if err := b.bulk(ctx, n, "ck_bench_much", many, due); err != nil {
		return err
	}
	if err := rest(ctx, time.Until(due)+time.Second/2); err != nil {
		return err
	}
	beside, err := b.singles(ctx, p, n, 200, 10*time.Millisecond)
	if err != nil {
		return err
	}
	all, err := p.arrivals(due)
	if err != nil {
		return err
	}
	if len(all) >= many {
		return fmt.Errorf("all %d messages were sent before the measurement was over", many)
	}
	r.add(quantile(beside, 0.99)-quantile(alone, 0.5), 0)
	b.say("%s: p50 %.2f p99 %.2f ms, alone p50 %.2f ms, %d of %d sent", r.figure, quantile(beside, 0.5), quantile(beside, 0.99), quantile(alone, 0.5), len(all), many)
	return nil
}

// measurePacing has a sender of 80 messages a second on two nodes: what the provider sees in any window of a second.
func (b *bench) measurePacing(ctx context.Context) error {
	p, err := b.provider()
	if err != nil {
		return err
	}
	defer p.stop()
	database, err := b.cluster.database(ctx, "pacing")
	if err != nil {
		return err
	}
	var nodes []*node
	for i := range 2 {
		o := nodeOptions{database: database, provider: p.url, dir: filepath.Join(b.dir, "pacing"+strconv.Itoa(i))}
		n, err := b.serve(ctx, o)
		if err != nil {
			return err
		}
		defer n.stop()
		nodes = append(nodes, n)
	}
	if err := rest(ctx, 4*time.Second); err != nil { // the nodes share the shards
		return err
	}
	seconds := pick(b, 60, 10)
	begin := time.Now()
	if err := b.bulk(ctx, nodes[1], "ck_bench_paced", 80*seconds/100*100+800, time.Time{}); err != nil {
		return err
	}
	if err := rest(ctx, time.Duration(seconds)*time.Second); err != nil {
		return err
	}
	all, err := p.arrivals(begin)
	if err != nil {
		return err
	}
	if len(all) < 2 {
		return fmt.Errorf("only %d messages came", len(all))
	}
	most := &row{figure: "Pacing: a sender at 80/s, two nodes", how: fmt.Sprintf("most messages in any second of %d", seconds), goal: "≤ 80", good: under(80)}
	mean := &row{figure: most.figure, how: "messages/s on average", goal: "≥ 76", good: over(76)}
	most.add(float64(densest(all)), 0)
	span := all[len(all)-1].at.Sub(all[0].at) + time.Second // the last ones fill a second too
	mean.add(float64(len(all))/span.Seconds(), 0)
	b.table.add(most, mean)
	return nil
}

// densest is the most arrivals in any window of a second.
func densest(all []arrival) int {
	most, from := 0, 0
	for to := range all {
		for all[to].at.Sub(all[from].at) >= time.Second {
			from++
		}
		most = max(most, to-from+1)
	}
	return most
}

// walSize is the size of SQLite's write-ahead log in bytes.
func (n *node) walSize() (float64, error) {
	info, err := os.Stat(filepath.Join(n.dir, "carillon.db-wal"))
	if err != nil {
		return 0, err
	}
	return float64(info.Size()), nil
}
