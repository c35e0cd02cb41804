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

// growthFigures are the figures of a dataset.
type growthFigures struct{ start, accept, latency, drain float64 }

// measureGrowth measures the same figures with a tenth of the rows and with all, and accepts while expired rows are
// purged.
func (b *bench) measureGrowth(ctx context.Context, p *provider, e engine) {
	small := fmt.Sprintf("with %d:", b.scheduled/10)
	figure := func(what string) string { return fmt.Sprintf("Growth to %d rows: %s, %s", b.scheduled, what, e.name) }
	start := b.table.add(row{figure: figure("cold start"), unit: "ms to the first 200", yardstick: small, floor: maxRatio(1.3)})
	accept := b.table.add(row{figure: figure("accept"), unit: "requests/s", yardstick: small, floor: minRatio(1 / 1.3)})
	latency := b.table.add(row{
		figure: figure("accept latency"), unit: "ms, p99 at 30 % of the capacity", yardstick: small, floor: maxRatio(1.3),
	})
	drain := b.table.add(row{figure: figure("drain of 10000"), unit: "messages/s", yardstick: small, floor: minRatio(1 / 1.3)})
	purge := b.table.add(row{
		figure: "Accept latency while expired rows are purged, " + e.name, unit: "ms, p99 at 30 % of the capacity", yardstick: "without:",
	})
	var capacity float64
	for range min(b.rounds, 3) {
		few := b.growthRound(ctx, p, e, b.scheduled/10, &capacity)
		many := b.growthRound(ctx, p, e, b.scheduled, &capacity)
		start.add(many.start, few.start)
		accept.add(many.accept, few.accept)
		latency.add(many.latency, few.latency)
		drain.add(many.drain, few.drain)
		purge.add(b.duringPurge(ctx, e, 0.3*capacity), many.latency)
	}
}

// growthRound measures the figures of a copy of a dataset. The first round determines the capacity for the latency
// measurements.
func (b *bench) growthRound(ctx context.Context, p *provider, e engine, messages int, capacity *float64) (f growthFigures) {
	n := b.serveCopy(ctx, b.dataset(ctx, e, messages, scheduled), p.url)
	n.stop()
	f.start = b.coldStart(ctx, n.nodeOptions)
	n = b.serve(ctx, n.nodeOptions)
	defer b.discard(n)
	f.accept = must(closedLoop(ctx, n.addr, acceptOne(), 2*time.Second))
	if *capacity == 0 {
		*capacity = f.accept
	}
	n.waitIdle(ctx)
	f.latency = must(openLoop(ctx, n.addr, load.Always(acceptOne()), 0.3**capacity, 2*time.Second))
	f.drain = b.drain(ctx, p, n, 10_000)
	return f
}

// duringPurge returns the p99 of accepting at a given rate, in milliseconds, while the program deletes expired rows.
func (b *bench) duringPurge(ctx context.Context, e engine, rate float64) float64 {
	n := b.serveCopy(ctx, b.dataset(ctx, e, b.scheduled, expired), noProvider)
	defer b.discard(n)
	before := b.awaitPurge(ctx, n, b.scheduled/100)
	p99 := must(openLoop(ctx, n.addr, load.Always(acceptOne()), rate, 2*time.Second))
	b.awaitPurge(ctx, n, before) // verify that rows were left to purge during the measurement
	return p99
}

// awaitPurge waits until fewer than `fewer` of the dataset's notifications are left, and returns their number.
func (b *bench) awaitPurge(ctx context.Context, n *node, fewer int) int {
	db := b.open(&dataset{engine: engine{postgres: n.database != ""}, dir: n.dir, database: n.database})
	defer db.Close()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		var left int
		check(db.QueryRowContext(ctx, "SELECT COUNT(*) FROM notification WHERE open = 0").Scan(&left))
		if left < fewer {
			return left
		}
		check(load.Pause(ctx, 100*time.Millisecond))
	}
	panic(failure{errors.New("nothing was purged within a minute")})
}

// recoveredWithin is the p99 in milliseconds at which the program counts as recovered from an overload.
const recoveredWithin = 50

// measureOverload keeps 2,000 connections busy, many more than the program serves concurrently. Refusals must be
// complete 503 responses, accepted messages must be delivered, and the program must recover soon.
func (b *bench) measureOverload(ctx context.Context, p *provider, e engine) {
	n := b.serveEmpty(ctx, e, p.url)
	defer b.discard(n)
	req := sendRequest(bulkKey, 1, 600_000_000, time.Time{})
	capacity := must(closedLoop(ctx, n.addr, req, 2*time.Second))
	b.awaitStates(ctx, n)
	p.forget()
	var malformed atomic.Int64
	l := load.Load{
		Addr: n.addr, Conns: 2000, For: 5 * time.Second, Tolerant: true,
		Request: load.Always(req), OnResponse: func(r load.Response) {
			if r.Status != 200 && !properRefusal(r) {
				malformed.Add(1)
			}
		},
	}
	result := must(l.Run(ctx))
	recovery := b.recovery(ctx, n)
	b.awaitStates(ctx, n)
	figure := "Overload by 2,000 connections, " + e.name
	b.table.add(row{figure: figure, unit: "accepted/s", yardstick: "capacity"}).add(result.Rate(), capacity)
	b.table.add(row{
		figure: figure, unit: "responses that are neither 200 nor a complete 503",
		floor: maxFloor(0),
	}).add(float64(malformed.Load()+result.Broken.Load()), 0)
	b.table.add(row{figure: figure, unit: "accepted and not delivered", floor: maxFloor(0)}).add(float64(result.OK.Count()-p.count()), 0)
	b.table.add(row{
		figure: figure, unit: fmt.Sprintf("s until p99 is within %d ms again", recoveredWithin), floor: maxFloor(5),
	}).add(recovery, 0)
}

// properRefusal reports whether a response is a complete 503 with Retry-After.
func properRefusal(r load.Response) bool {
	return r.Status == 503 && r.RetryAfter && bytes.Contains(r.Body, []byte(`"service_unavailable"`)) &&
		bytes.Contains(r.Body, []byte(`"request_id"`)) && bytes.HasSuffix(bytes.TrimSpace(r.Body), []byte("}"))
}

// recovery returns how many seconds pass until a second of another company's requests meets recoveredWithin.
func (b *bench) recovery(ctx context.Context, n *node) float64 {
	ended := time.Now()
	for time.Since(ended) < time.Minute {
		begin := time.Since(ended).Seconds()
		l := load.Load{
			Addr: n.addr, Conns: 8, For: time.Second, Rate: 200, Tolerant: true,
			Request: load.Always(sendRequest(singleKey, 1, 700_000_000, never())),
		}
		r := must(l.Run(ctx))
		if int64(r.Other.Count())+r.Broken.Load() == 0 && r.OK.Milliseconds(0.99) <= recoveredWithin {
			return begin
		}
	}
	return 60
}
