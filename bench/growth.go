package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"carillon/internal/load"
)

// growing are figures that are taken at once, with a tenth of the rows and with all of them, in turns.
type growing struct {
	rows []*row
	take func(ctx context.Context, n *node) ([]float64, error)
	// Instead of take: what requests took, and the share of them that each figure is not above.
	wait   func(ctx context.Context, n *node) (*load.Hist, error)
	shares []float64
}

// alone is a figure that is taken for itself.
func alone(r *row, take func(ctx context.Context, n *node) (float64, error)) growing {
	return growing{rows: []*row{r}, take: func(ctx context.Context, n *node) ([]float64, error) {
		got, err := take(ctx, n)
		return []float64{got}, err
	}}
}

// tail is the p99 of what requests take.
func tail(r *row, wait func(ctx context.Context, n *node) (*load.Hist, error)) growing {
	return growing{rows: []*row{r}, shares: []float64{0.99}, wait: wait}
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
// thousand) on both engines; fairness has a line of its own (fairness.go).
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

// growthOn begins each round with fresh copies of the rows: what the figures accept would make the small one large.
func (b *bench) growthOn(ctx context.Context, p *provider, e engine) error {
	var stocks []*stock
	for _, rows := range []int{b.behind() / 10, b.behind()} {
		s, err := b.stock(ctx, e, rows, scheduled)
		if err != nil {
			return err
		}
		stocks = append(stocks, s)
	}
	figures := append([]growing{b.growthOfStart(e)}, b.growthOfWork(p, e)...)
	for i := range b.rounds {
		if err := b.growthRound(ctx, p, stocks, figures, i%2); err != nil {
			return err
		}
	}
	for _, f := range figures {
		b.table.add(f.rows...)
	}
	if !e.postgres {
		return nil // there is one node
	}
	return b.growthOfPacing(ctx, p, stocks)
}

func (b *bench) growthRound(ctx context.Context, p *provider, stocks []*stock, figures []growing, first int) error {
	var nodes []*node
	for _, s := range stocks {
		n, err := b.onCopy(ctx, s, p.url)
		if err != nil {
			return err
		}
		defer b.retire(n)
		nodes = append(nodes, n)
	}
	if stocks[0].e.postgres {
		if err := b.cluster.run(ctx, "CHECKPOINT"); err != nil { // else the copies are written beside the first figures
			return err
		}
	}
	for _, f := range figures {
		if err := b.grow(ctx, f, nodes, first); err != nil {
			return fmt.Errorf("%s: %w", f.rows[0].figure, err)
		}
	}
	return nil
}

// grow takes figures on both nodes, first on the one named.
func (b *bench) grow(ctx context.Context, f growing, nodes []*node, first int) error {
	got, err := f.both(ctx, nodes, first)
	if err != nil {
		return err
	}
	for i, r := range f.rows {
		r.add(got[1][i], got[0][i])
		b.say("%s: %s, with a tenth %s (%s)", r.figure, show(got[1][i]), show(got[0][i]), r.how)
	}
	return nil
}

// both gives the figures of both nodes.
func (f growing) both(ctx context.Context, nodes []*node, first int) (got [2][]float64, err error) {
	quiet := func() error { return settle(ctx, nodes[0].child, nodes[1].child) }
	if f.wait == nil {
		for _, i := range []int{first, 1 - first} {
			if err := quiet(); err != nil {
				return got, err
			}
			if got[i], err = f.take(ctx, nodes[i]); err != nil {
				return got, err
			}
		}
		return got, nil
	}
	waits, err := inTurns(first, func(side int) (*load.Hist, error) {
		if err := quiet(); err != nil {
			return nil, err
		}
		return f.wait(ctx, nodes[side])
	})
	for _, share := range f.shares {
		for i := range got {
			got[i] = append(got[i], waits[i].Milliseconds(share))
		}
	}
	return got, err
}

// growthOfWork are the figures of a node that runs, those first that add few rows.
func (b *bench) growthOfWork(p *provider, e engine) []growing {
	d := pick(b, 3*time.Second, 2*time.Second)
	one := sendOne()
	hundred := request("POST", notifyPath("ck_bench_much"), body(100, 600000000, never))
	var accepted [2]float64 // by the node before and by this one: both nodes' once a round has had them
	beside := func() float64 { return 0.3 * slices.Min(accepted[:]) }
	idle := "accept to provider, idle"
	return []growing{
		{
			rows:   []*row{b.growthTime(idle, "ms, p50", e), b.growthTime(idle, "ms, p99", e)},
			shares: []float64{0.5, 0.99},
			wait: func(ctx context.Context, n *node) (*load.Hist, error) {
				took, err := b.singles(ctx, p, n, pick(b, 200, 100), spacing)
				if err != nil {
					return nil, err
				}
				return &took.Hist, nil
			},
		},
		alone(b.growthRate("sign-in", "sign-ins/s, 64 connections", e), func(ctx context.Context, n *node) (float64, error) {
			return closedLoop(ctx, n.addr, signInRequest(), 64, d)
		}),
		alone(b.growthRate("accept, 1 recipient", "requests/s, 64 connections", e), func(ctx context.Context, n *node) (float64, error) {
			got, err := closedLoop(ctx, n.addr, one, 64, d)
			accepted = [2]float64{accepted[1], got}
			return got, err
		}),
		tail(b.growthTime("accept latency", "ms, p99 at 30 % of the maximum, 64 connections", e), func(ctx context.Context, n *node) (*load.Hist, error) {
			return openLoop(ctx, n.addr, one, clients, beside(), d)
		}),
		tail(b.growthTime("other routes while 64 sign in", "ms, p99 at 30 % of the maximum, 64 connections", e), func(ctx context.Context, n *node) (*load.Hist, error) {
			return b.besideSignIns(ctx, n, companyRoutes(), beside(), d)
		}),
		alone(b.growthTime("10,000 due at once", "ms late, p99", e), func(ctx context.Context, n *node) (float64, error) {
			return b.dueAtOnce(ctx, p, n, "growth")
		}),
		alone(b.growthRate("delivery drain", "messages/s, 64 workers, states written", e), func(ctx context.Context, n *node) (float64, error) {
			return b.drain(ctx, p, n, pick(b, 40_000, 10_000), "growth")
		}),
		alone(b.growthTime("memory", "MB resident, after accepting and sending", e), func(_ context.Context, n *node) (float64, error) {
			return n.megabytes()
		}),
		alone(b.growthRate("accept, 100 recipients", "requests/s, 64 connections", e), func(ctx context.Context, n *node) (float64, error) {
			return closedLoop(ctx, n.addr, hundred, 64, time.Second)
		}),
	}
}

// growthOfStart stops a node and starts it again: cold, and after a kill under load. It runs when it has been measured.
func (b *bench) growthOfStart(e engine) growing {
	g := growing{rows: []*row{
		b.growthTime("cold start", "ms to the first 200", e),
		b.growthTime("memory, idle", "MB resident after a start", e),
		b.growthTime("start after kill -9 under load", "ms to the first 200", e),
	}}
	if !e.postgres {
		g.rows = append(g.rows, b.growthTime("write-ahead log under load", "MB, at most", e))
	}
	one := sendOne()
	g.take = func(ctx context.Context, n *node) ([]float64, error) {
		n.stop()
		cold, err := b.firstAnswer(ctx, n.options)
		if err != nil {
			return nil, err
		}
		again, err := b.serve(ctx, n.options)
		if err != nil {
			return nil, err
		}
		if err := settle(ctx, again.child); err != nil {
			return nil, err
		}
		idle, err := again.megabytes()
		if err != nil {
			return nil, err
		}
		log, err := b.killUnderLoad(ctx, again, one, pick(b, 3*time.Second, 2*time.Second))
		if err != nil {
			return nil, err
		}
		killed, err := b.firstAnswer(ctx, n.options)
		if err != nil {
			return nil, err
		}
		up, err := b.serve(ctx, n.options)
		if err != nil {
			return nil, err
		}
		n.child, n.addr, n.ops = up.child, up.addr, up.ops
		return []float64{cold, idle, killed, log / 1e6}, nil
	}
	return g
}

// growthOfPacing paces a sender on two nodes, with a tenth of the rows and with all.
func (b *bench) growthOfPacing(ctx context.Context, p *provider, stocks []*stock) error {
	seconds := pick(b, 20, 5)
	e := stocks[0].e
	most := b.growthTime("pacing: a sender at 80/s, two nodes", fmt.Sprintf("most messages in any second of %d", seconds), e)
	mean := b.growthRate("pacing: a sender at 80/s, two nodes", "messages/s on average", e)
	for first := range pick(b, 2, 1) {
		var got [2]pace
		for _, i := range []int{first, 1 - first} {
			var err error
			if got[i], err = b.pacedBeside(ctx, p, stocks[i], seconds); err != nil {
				return err
			}
		}
		most.add(got[1].most, got[0].most)
		mean.add(got[1].mean, got[0].mean)
	}
	b.table.add(most, mean)
	return nil
}

// pacedBeside is pacedOn beside rows that wait.
func (b *bench) pacedBeside(ctx context.Context, p *provider, rows *stock, seconds int) (pace, error) {
	s, err := b.copyOf(ctx, rows)
	if err != nil {
		return pace{}, err
	}
	got, err := b.pacedOn(ctx, p, b.cluster.address(s.database), seconds)
	return got, errors.Join(err, b.cluster.run(context.WithoutCancel(ctx), "DROP DATABASE "+s.database+" WITH (FORCE)"))
}
