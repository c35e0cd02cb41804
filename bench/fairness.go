package main

import (
	"context"
	"fmt"
	"time"
)

// measureFairness sends single messages of one company while another has very many due; then again with a tenth of
// them, for growth.
func (b *bench) measureFairness(ctx context.Context) error {
	p, err := b.provider()
	if err != nil {
		return err
	}
	defer p.stop()
	for _, e := range engines() {
		if err := b.fairnessOn(ctx, p, e); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) fairnessOn(ctx context.Context, p *provider, e engine) error {
	n, err := b.on(ctx, e, p.url)
	if err != nil {
		return err
	}
	alone, err := b.singles(ctx, p, n, 200, spacing)
	b.retire(n)
	if err != nil {
		return err
	}
	r := &row{
		figure: fmt.Sprintf("Fairness: one company's single messages beside another's %d due, %s", b.behind(), e.name),
		how:    "ms later than idle's median, p99", goal: "≤ 15 ms", good: under(15),
	}
	few := pick(b, b.behind()/10, b.behind()*4/10) // fewer are sent before a measurement is over
	g := b.growthTime("fairness", "ms, p99 of the single messages", e)
	g.yard = fmt.Sprintf("with %d due:", few)
	for range b.rounds {
		var took [2]float64
		for i, many := range []int{few, b.behind()} {
			beside, err := b.besideMany(ctx, p, e, many)
			if err != nil {
				return err
			}
			took[i] = beside
		}
		r.add(took[1]-alone.Milliseconds(0.5), 0)
		g.add(took[1], took[0])
		b.say("%s: p99 %.2f ms, beside fewer %.2f ms, alone p50 %.2f ms", r.figure, took[1], took[0], alone.Milliseconds(0.5))
	}
	b.table.add(r, g)
	return nil
}

// besideMany starts a node that has many messages due at once and gives the p99 of another company's single messages, in
// milliseconds.
func (b *bench) besideMany(ctx context.Context, p *provider, e engine, many int) (float64, error) {
	rows, err := b.stock(ctx, e, many, due)
	if err != nil {
		return 0, err
	}
	if err := p.forget(); err != nil {
		return 0, err
	}
	from := time.Now()
	n, err := b.onCopy(ctx, rows, p.url)
	if err != nil {
		return 0, err
	}
	if err := rest(ctx, time.Second/2); err != nil { // the start itself is another figure
		return 0, err
	}
	count := 500
	if many < 100_000 {
		count = 200 // before so few are all sent
	}
	beside, err := b.singles(ctx, p, n, count, spacing/2)
	n.kill() // there is no end to what is due
	if err != nil {
		return 0, err
	}
	all, err := p.arrivals(from)
	if err != nil {
		return 0, err
	}
	sent := 0
	for _, a := range all {
		if a.at.Before(beside.last) {
			sent++
		}
	}
	if sent >= many {
		return 0, fmt.Errorf("all %d messages were sent before the measurement was over", many)
	}
	b.shape(fmt.Sprintf("Beside %d due, %s", many, e.name), &beside.Hist)
	return beside.Milliseconds(0.99), b.discard(ctx, n)
}
