package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"carillon/bench/load"
)

// measureGrowth is one reduced run on each engine: the same figures with a tenth of the rows and with all, accepting
// while expired rows are purged, and three times the load that the program can take.
func (b *bench) measureGrowth(ctx context.Context) error {
	p, err := b.startProvider()
	if err != nil {
		return err
	}
	defer p.stop()
	for _, e := range engines() {
		if err := b.growthOn(ctx, p, e); err != nil {
			return err
		}
		if err := b.overloadOn(ctx, p, e); err != nil {
			return err
		}
	}
	return nil
}

// growthFigures are taken of a dataset.
type growthFigures struct{ start, accept, latency, drain float64 }

func (b *bench) growthOn(ctx context.Context, p *provider, e engine) error {
	small := fmt.Sprintf("with %d:", b.scheduled/10)
	figure := func(what string) string { return fmt.Sprintf("Growth to %d rows: %s, %s", b.scheduled, what, e.name) }
	start := b.table.add(row{figure: figure("cold start"), unit: "ms to the first 200", yardstick: small, floor: ratioAtMost(1.3)})
	accept := b.table.add(row{figure: figure("accept"), unit: "requests/s", yardstick: small, floor: ratioAtLeast(1 / 1.3)})
	latency := b.table.add(row{figure: figure("accept latency"), unit: "ms, p99 at 30 % of the capacity", yardstick: small, floor: ratioAtMost(1.3)})
	drain := b.table.add(row{figure: figure("drain of 10000"), unit: "messages/s", yardstick: small, floor: ratioAtLeast(1 / 1.3)})
	purge := b.table.add(row{figure: "Accept latency while expired rows are purged, " + e.name, unit: "ms, p99 at 30 % of the capacity", yardstick: "without:"})
	var capacity float64
	for range min(b.rounds, 3) {
		few, err := b.growthRound(ctx, p, e, b.scheduled/10, &capacity)
		if err != nil {
			return err
		}
		many, err := b.growthRound(ctx, p, e, b.scheduled, &capacity)
		if err != nil {
			return err
		}
		start.add(many.start, few.start)
		accept.add(many.accept, few.accept)
		latency.add(many.latency, few.latency)
		drain.add(many.drain, few.drain)
		during, err := b.duringPurge(ctx, e, 0.3*capacity)
		if err != nil {
			return err
		}
		purge.add(during, many.latency)
	}
	return nil
}

// growthRound takes the figures of a copy of a dataset. The first round sets the capacity that latencies refer to.
func (b *bench) growthRound(ctx context.Context, p *provider, e engine, messages int, capacity *float64) (f growthFigures, err error) {
	d, err := b.dataset(ctx, e, messages, scheduled)
	if err != nil {
		return f, err
	}
	n, err := b.serveCopy(ctx, d, p.url)
	if err != nil {
		return f, err
	}
	n.stop()
	if f.start, err = b.coldStart(ctx, n.nodeOptions); err != nil {
		return f, err
	}
	if n, err = b.serve(ctx, n.nodeOptions); err != nil {
		return f, err
	}
	defer b.discard(n)
	if f.accept, err = closedLoop(ctx, n.addr, acceptOne(), 2*time.Second); err != nil {
		return f, err
	}
	if *capacity == 0 {
		*capacity = f.accept
	}
	if err := n.waitIdle(ctx); err != nil {
		return f, err
	}
	if f.latency, err = openLoop(ctx, n.addr, load.Always(acceptOne()), 0.3**capacity, 2*time.Second); err != nil {
		return f, err
	}
	f.drain, err = b.drain(ctx, p, n, 10_000)
	return f, err
}

// duringPurge returns the p99 of accepting at a rate, in milliseconds, while the program deletes expired rows.
func (b *bench) duringPurge(ctx context.Context, e engine, rate float64) (float64, error) {
	d, err := b.dataset(ctx, e, b.scheduled, expired)
	if err != nil {
		return 0, err
	}
	n, err := b.serveCopy(ctx, d, noProvider)
	if err != nil {
		return 0, err
	}
	defer b.discard(n)
	before, err := b.awaitPurge(ctx, n, b.scheduled/100)
	if err != nil {
		return 0, err
	}
	p99, err := openLoop(ctx, n.addr, load.Always(acceptOne()), rate, 2*time.Second)
	if err != nil {
		return 0, err
	}
	_, err = b.awaitPurge(ctx, n, before) // there was something left to purge
	return p99, err
}

// awaitPurge waits until fewer than so many of the dataset's notifications are left, and returns their number.
func (b *bench) awaitPurge(ctx context.Context, n *node, fewer int) (int, error) {
	db, err := b.open(&dataset{engine: engine{postgres: n.database != ""}, dir: n.dir, database: n.database})
	if err != nil {
		return 0, err
	}
	defer db.Close()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		var left int
		if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM notification WHERE open = 0").Scan(&left); err != nil {
			return 0, err
		}
		if left < fewer {
			return left, nil
		}
		if err := load.Pause(ctx, 100*time.Millisecond); err != nil {
			return 0, err
		}
	}
	return 0, errors.New("nothing was purged within a minute")
}

// recoveredWithin is the p99 in milliseconds with which callers are served well again after an overload.
const recoveredWithin = 50

// overloadOn offers three times the capacity. What is refused must be a complete 503, what is accepted must be delivered,
// and callers must soon be served well again.
func (b *bench) overloadOn(ctx context.Context, p *provider, e engine) error {
	n, err := b.serveEmpty(ctx, e, p.url)
	if err != nil {
		return err
	}
	defer b.discard(n)
	req := sendRequest(bulkKey, 1, 600_000_000, time.Time{})
	capacity, err := closedLoop(ctx, n.addr, req, 2*time.Second)
	if err != nil {
		return err
	}
	if err := b.awaitStates(ctx, n); err != nil {
		return err
	}
	if err := p.forget(); err != nil {
		return err
	}
	var accepted, malformed atomic.Int64
	l := load.Load{
		Addr: n.addr, Conns: 4000, For: 5 * time.Second, Rate: 3 * capacity, Bounded: true, Tolerant: true,
		Request: load.Always(req), OnResponse: func(r load.Response, _ time.Duration) {
			switch {
			case r.Status == 200:
				accepted.Add(1)
			case !properRefusal(r):
				malformed.Add(1)
			}
		},
	}
	result, err := l.Run(ctx)
	if err != nil {
		return err
	}
	recovery, err := b.recovery(ctx, n)
	if err != nil {
		return err
	}
	if err := b.awaitStates(ctx, n); err != nil {
		return err
	}
	delivered, err := p.count()
	if err != nil {
		return err
	}
	figure := "Overload at three times the capacity, " + e.name
	b.table.add(row{figure: figure, unit: "accepted/s", yardstick: "capacity"}).add(float64(accepted.Load())/result.Duration.Seconds(), capacity)
	b.table.add(row{figure: figure, unit: "responses that are neither 200 nor a complete 503", floor: atMost(0)}).add(float64(malformed.Load()+result.Broken.Load()), 0)
	b.table.add(row{figure: figure, unit: "accepted and not delivered", floor: atMost(0)}).add(float64(accepted.Load())-float64(delivered), 0)
	b.table.add(row{figure: figure, unit: fmt.Sprintf("s until p99 is within %d ms again", recoveredWithin), floor: atMost(5)}).add(recovery, 0)
	return nil
}

// properRefusal reports whether a response is a complete 503 with Retry-After.
func properRefusal(r load.Response) bool {
	return r.Status == 503 && r.RetryAfter && bytes.Contains(r.Body, []byte(`"service_unavailable"`)) &&
		bytes.Contains(r.Body, []byte(`"request_id"`)) && bytes.HasSuffix(bytes.TrimSpace(r.Body), []byte("}"))
}

// recovery returns how many seconds pass until a second of another company's requests is served well.
func (b *bench) recovery(ctx context.Context, n *node) (float64, error) {
	ended := time.Now()
	for time.Since(ended) < time.Minute {
		begin := time.Since(ended).Seconds()
		l := load.Load{
			Addr: n.addr, Conns: 8, For: time.Second, Rate: 200, Tolerant: true,
			Request: load.Always(sendRequest(singleKey, 1, 700_000_000, never())),
		}
		r, err := l.Run(ctx)
		if err != nil {
			return 0, err
		}
		if r.Other.Count()+r.Broken.Load() == 0 && r.OK.Milliseconds(0.99) <= recoveredWithin {
			return begin, nil
		}
	}
	return 60, nil
}
