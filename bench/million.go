package main

import (
	"context"
	"fmt"
	"time"

	"carillon/bench/load"
)

// measureMillion measures with very many scheduled messages: ten thousand due at the same time, memory, and a cold
// start.
func (b *bench) measureMillion(ctx context.Context, p *provider, e engine) {
	n := b.serveCopy(ctx, b.dataset(ctx, e, b.scheduled, scheduled), p.url)
	defer b.discard(n)
	const messages = 10_000
	late := b.table.add(row{
		figure: fmt.Sprintf("10,000 due at once, %d scheduled, %s", b.scheduled, e.name), unit: "ms late, p99",
		yardstick: "10,000 ÷ C:", floor: maxRatio(2.5),
	})
	memory := b.table.add(row{
		figure: fmt.Sprintf("Memory, %d scheduled, %s", b.scheduled, e.name), unit: "MB resident, after accepting and sending",
		floor: maxFloor(130),
	})
	for range b.rounds {
		rate := clientRate(p, messages, 64)
		dueAt, all := b.deliverAtOnce(ctx, p, n, messages)
		late.add(milliseconds(all[messages*99/100].at.Sub(dueAt)), messages/rate*1000)
		memory.add(n.megabytes(), 0)
	}
	n.stop()
	b.coldStarts(ctx, n.nodeOptions, fmt.Sprintf("Cold start, %d rows, %s", b.scheduled, e.name), 150)
}

// measureStart measures a program without data: its start, and its memory when idle.
func (b *bench) measureStart(ctx context.Context) {
	b.coldStarts(ctx, nodeOptions{}, "Cold start, empty, SQLite", 100)
	n := b.serve(ctx, nodeOptions{})
	defer n.stop()
	n.waitIdle(ctx)
	b.table.add(row{figure: "Memory, idle, SQLite", unit: "MB resident", floor: maxFloor(45)}).add(n.megabytes(), 0)
}

// coldStarts starts the program repeatedly, each time in a new folder unless the options name one.
func (b *bench) coldStarts(ctx context.Context, o nodeOptions, figure string, limit float64) {
	r := b.table.add(row{figure: figure, unit: "ms to the first 200", floor: maxFloor(limit)})
	for range b.rounds {
		r.add(b.coldStart(ctx, o), 0)
	}
}

// coldStart starts and stops the program, and returns the milliseconds until it responded with 200.
func (b *bench) coldStart(ctx context.Context, o nodeOptions) float64 {
	begin := time.Now()
	n := b.serve(ctx, o)
	defer n.stop()
	c := must(load.Dial(ctx, n.addr))
	defer c.Close()
	must(load.OK(c.Do(load.Request("GET", "/readyz", ""))))
	return milliseconds(time.Since(begin))
}
