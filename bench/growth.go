package main

import (
	"context"
	"fmt"
	"time"
)

// growing is a figure that is taken with a tenth of the rows and with all of them, in turns.
type growing struct {
	row  *row
	take func(ctx context.Context, n *node) (float64, error)
}

// growthTime is a row for a figure that is better when it is less, growthRate for one that is better when it is more.
// Its yardstick is the same figure with a tenth of the data.
func (b *bench) growthTime(figure, how string, e engine) *row {
	return &row{
		figure: "Growth ×10: " + figure + ", " + e.name, how: how, yard: fmt.Sprintf("with %d rows:", b.behind()/10),
		goal: "≤ 1.30", good: atMost(1.3),
	}
}

func (b *bench) growthRate(figure, how string, e engine) *row {
	r := b.growthTime(figure, how, e)
	r.goal, r.good = "≥ 0.77", atLeast(1/1.3)
	return r
}

// measureGrowth takes the figures again with ten times the data (a million scheduled messages, beside a hundred
// thousand) on both engines. Sign-in and pacing do not depend on how many messages there are.
func (b *bench) measureGrowth(ctx context.Context) error {
	p, err := b.provider()
	if err != nil {
		return err
	}
	defer p.stop()
	for _, e := range engines() {
		if err := b.growthOn(ctx, p, e); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) growthOn(ctx context.Context, p *provider, e engine) error {
	var nodes []*node
	for _, rows := range []int{b.behind() / 10, b.behind()} {
		from, err := b.stock(ctx, e, rows, scheduled)
		if err != nil {
			return err
		}
		n, err := b.onCopy(ctx, from, p.url)
		if err != nil {
			return err
		}
		defer b.retire(n)
		nodes = append(nodes, n)
	}
	figures := b.growingFigures(p, e)
	for range b.rounds {
		for _, f := range figures {
			if err := b.grow(ctx, f, nodes); err != nil {
				return fmt.Errorf("%s: %w", f.row.figure, err)
			}
		}
	}
	for _, f := range figures {
		b.table.add(f.row)
	}
	return b.growthOfStart(ctx, e, nodes)
}

// grow takes a figure on both nodes, in another order each round.
func (b *bench) grow(ctx context.Context, f growing, nodes []*node) error {
	var got [2]float64
	first := len(f.row.values) % 2
	for _, i := range []int{first, 1 - first} {
		var err error
		if got[i], err = f.take(ctx, nodes[i]); err != nil {
			return err
		}
		if err := settle(ctx, nodes[i].child); err != nil {
			return err
		}
	}
	f.row.add(got[1], got[0])
	b.say("%s: %s, with a tenth %s", f.row.figure, show(got[1]), show(got[0]))
	return nil
}

func (b *bench) growingFigures(p *provider, e engine) []growing {
	d := pick(b, 3*time.Second, 2*time.Second)
	one := request("POST", notifyPath("ck_bench_much"), body(1, 600000000, never))
	hundred := request("POST", notifyPath("ck_bench_much"), body(100, 600000000, never))
	messages := pick(b, 40_000, 10_000)
	rate := 0.0 // of the open loop: the same for both, of what the first could
	return []growing{
		{b.growthRate("accept, 1 recipient", "requests/s, 64 connections", e), func(ctx context.Context, n *node) (float64, error) {
			got, err := closedLoop(ctx, n.addr, one, 64, d)
			if rate == 0 {
				rate = 0.3 * got
			}
			return got, err
		}},
		{b.growthRate("accept, 100 recipients", "requests/s, 64 connections", e), func(ctx context.Context, n *node) (float64, error) {
			return closedLoop(ctx, n.addr, hundred, 64, time.Second)
		}},
		{b.growthTime("accept latency", "ms, p99 at 30 % of the maximum, 16 connections", e), func(ctx context.Context, n *node) (float64, error) {
			took, err := openLoop(ctx, n.addr, one, 16, rate, d)
			return took.Milliseconds(0.99), err
		}},
		{b.growthRate("delivery drain", "messages/s, 64 workers, states written", e), func(ctx context.Context, n *node) (float64, error) {
			return b.drain(ctx, p, n, messages, "growth")
		}},
		{b.growthTime("accept to provider, idle", "ms, p50", e), func(ctx context.Context, n *node) (float64, error) {
			took, err := b.singles(ctx, p, n, 150, spacing)
			if err != nil {
				return 0, err
			}
			return took.Milliseconds(0.5), nil
		}},
		{b.growthTime("10,000 due at once", "ms late, p99", e), func(ctx context.Context, n *node) (float64, error) {
			return b.dueAtOnce(ctx, p, n, "growth")
		}},
		{b.growthTime("memory", "MB resident after all that", e), func(_ context.Context, n *node) (float64, error) {
			bytes, err := n.rss()
			return bytes / 1e6, err
		}},
	}
}

func (b *bench) growthOfStart(ctx context.Context, e engine, nodes []*node) error {
	r := b.growthTime("cold start", "ms to the first 200", e)
	for _, n := range nodes {
		n.stop()
	}
	for range b.rounds {
		var took [2]float64
		for i, n := range nodes {
			var err error
			if took[i], err = b.firstAnswer(ctx, n.options); err != nil {
				return err
			}
		}
		r.add(took[1], took[0])
	}
	b.table.add(r)
	return nil
}
