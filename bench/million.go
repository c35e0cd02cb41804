package main

import (
	"context"
	"fmt"
	"time"
)

// behind is how many messages are scheduled behind what is measured; a tenth of it is what growth compares with.
func (b *bench) behind() int { return pick(b, 1_000_000, 100_000) }

func (b *bench) memoryFigure(e engine) string {
	return fmt.Sprintf("Memory, %d scheduled, %s", b.behind(), e.name)
}

func diskFigure(e engine) string { return "Disk, " + e.name }

// measureMillion has very many messages scheduled. With them behind: ten thousand due at one instant, memory, a start.
func (b *bench) measureMillion(ctx context.Context) error {
	p, err := b.provider()
	if err != nil {
		return err
	}
	defer p.stop()
	if err := b.idleMemory(ctx); err != nil {
		return err
	}
	for _, e := range engines() {
		if err := b.millionOn(ctx, p, e); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) millionOn(ctx context.Context, p *provider, e engine) error {
	rows, err := b.stock(ctx, e, b.behind(), scheduled)
	if err != nil {
		return err
	}
	size, err := rows.size(ctx, b.cluster)
	if err != nil {
		return err
	}
	disk := &row{figure: diskFigure(e), how: fmt.Sprintf("MB a million messages, from %d, a hundred a request", rows.rows)}
	disk.add(size/float64(rows.rows), 0) // bytes a message are megabytes a million
	b.table.add(disk)
	n, err := b.onCopy(ctx, rows, p.url)
	if err != nil {
		return err
	}
	defer b.retire(n)
	r := &row{
		figure: fmt.Sprintf("10,000 due at once, %d behind, %s", rows.rows, e.name), how: "ms late, p99", yard: "10,000 ÷ C:",
		goal: "≤ 1.5", good: atMost(1.5),
	}
	m := &row{figure: b.memoryFigure(e), how: "MB resident, after accepting and sending", goal: "≤ 120 MB", good: under(120)}
	for i := range b.rounds {
		rate, err := b.bareClient(p, dueMessages, 64)
		if err != nil {
			return err
		}
		late, err := b.dueAtOnce(ctx, p, n, fmt.Sprintf("due-%d-%s", i, e.name))
		if err != nil {
			return err
		}
		r.add(late, dueMessages/rate*1000)
		b.say("%s: %.0f ms, C %.0f/s", r.figure, late, rate)
		took, err := n.megabytes()
		if err != nil {
			return err
		}
		m.add(took, 0)
	}
	b.table.add(r, m)
	n.stop()
	return b.coldStart(ctx, n.options, fmt.Sprintf("Cold start, %d rows, %s", rows.rows, e.name), 150)
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
	took, err := n.megabytes()
	if err != nil {
		return err
	}
	r := &row{figure: "Memory, idle", how: "MB resident, SQLite", goal: "≤ 40 MB", good: under(40)}
	r.add(took, 0)
	b.table.add(r)
	return nil
}

const dueMessages = 10_000

// dueAtOnce has ten thousand messages due at one instant and gives the p99 of their lateness in milliseconds.
func (b *bench) dueAtOnce(ctx context.Context, p *provider, n *node, name string) (float64, error) {
	at, err := b.queued(ctx, p, n, dueMessages, 4*time.Second)
	if err != nil {
		return 0, err
	}
	wait := b.profileFor(n, name, time.Second)
	if err := rest(ctx, time.Second); err != nil { // asking the provider would be work beside it
		return 0, err
	}
	all, err := p.await(ctx, dueMessages, time.Minute)
	if err != nil {
		return 0, err
	}
	if err := wait(); err != nil {
		return 0, err
	}
	return ms(all[len(all)*99/100].at.Sub(at)), settle(ctx, n.child)
}
