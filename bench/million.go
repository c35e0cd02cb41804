package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"carillon/bench/load"
)

// measureMillion measures with very many messages scheduled: ten thousand due at one instant, memory, a cold start.
func (b *bench) measureMillion(ctx context.Context) error {
	p, err := b.startProvider()
	if err != nil {
		return err
	}
	defer p.stop()
	for _, e := range engines() {
		if err := b.millionOn(ctx, p, e); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) millionOn(ctx context.Context, p *provider, e engine) error {
	d, err := b.dataset(ctx, e, b.scheduled, scheduled)
	if err != nil {
		return err
	}
	n, err := b.serveCopy(ctx, d, p.url)
	if err != nil {
		return err
	}
	defer b.discard(n)
	const messages = 10_000
	late := b.table.add(row{
		figure: fmt.Sprintf("10,000 due at once, %d scheduled, %s", b.scheduled, e.name), unit: "ms late, p99",
		yardstick: "10,000 ÷ C:", floor: ratioAtMost(2.5),
	})
	memory := b.table.add(row{figure: fmt.Sprintf("Memory, %d scheduled, %s", b.scheduled, e.name), unit: "MB resident, after accepting and sending", floor: atMost(130)})
	for range b.rounds {
		rate, err := clientRate(p, messages, 64)
		if err != nil {
			return err
		}
		dueAt, all, err := b.deliverAtOnce(ctx, p, n, messages)
		if err != nil {
			return err
		}
		late.add(milliseconds(all[messages*99/100].at.Sub(dueAt)), messages/rate*1000)
		mb, err := n.megabytes()
		if err != nil {
			return err
		}
		memory.add(mb, 0)
	}
	n.stop()
	return b.coldStarts(ctx, n.nodeOptions, fmt.Sprintf("Cold start, %d rows, %s", b.scheduled, e.name), 150)
}

// measureStart measures a program without data: its start, and its memory when idle.
func (b *bench) measureStart(ctx context.Context) error {
	if err := b.coldStarts(ctx, nodeOptions{}, "Cold start, empty, SQLite", 100); err != nil {
		return err
	}
	n, err := b.serve(ctx, nodeOptions{})
	if err != nil {
		return err
	}
	defer n.stop()
	if err := n.waitIdle(ctx); err != nil {
		return err
	}
	mb, err := n.megabytes()
	if err != nil {
		return err
	}
	b.table.add(row{figure: "Memory, idle, SQLite", unit: "MB resident", floor: atMost(45)}).add(mb, 0)
	return nil
}

// coldStarts starts the program again and again, each time in a new folder if the options name none.
func (b *bench) coldStarts(ctx context.Context, o nodeOptions, figure string, limit float64) error {
	r := b.table.add(row{figure: figure, unit: "ms to the first 200", floor: atMost(limit)})
	for range b.rounds {
		took, err := b.coldStart(ctx, o)
		if err != nil {
			return err
		}
		r.add(took, 0)
	}
	return nil
}

// coldStart starts the program, asks until it responds with 200, stops it, and returns the time in milliseconds.
func (b *bench) coldStart(ctx context.Context, o nodeOptions) (took float64, err error) {
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp(b.dir, "cold"); err != nil {
			return 0, err
		}
	}
	if o.addr, err = freeAddress(); err != nil {
		return 0, err
	}
	n := &node{nodeOptions: o}
	begin := time.Now()
	if err := b.launch(n, []string{"CARILLON_ADDR=" + o.addr}); err != nil {
		return 0, err
	}
	defer n.stop()
	req := load.Request("GET", "/readyz", "")
	for time.Since(begin) < 30*time.Second {
		if c, err := load.Dial(ctx, o.addr); err == nil {
			_, err = load.OK(c.Do(req))
			_ = c.Close()
			if err == nil {
				return milliseconds(time.Since(begin)), nil
			}
		}
		if err := load.Pause(ctx, 500*time.Microsecond); err != nil {
			return 0, err
		}
	}
	return 0, errors.New("no 200 within 30 s: " + n.endOfLog(b))
}
