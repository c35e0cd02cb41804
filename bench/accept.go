package main

import (
	"context"
	"time"

	"carillon/bench/load"
)

// measureAccept sends requests with one and with a hundred recipients over 64 connections, and compares the rates with
// yardstick H. Accepting includes the access key, the rate limit, all checks, the template, the quota and a durable
// commit.
func (b *bench) measureAccept(ctx context.Context) {
	h, bare := b.startHandler()
	defer h.stop()
	b.acceptSize(ctx, bare, 1, "Accept, 1 recipient, ", [2]float64{0.45, 0.35})
	b.acceptSize(ctx, bare, 100, "Accept, 100 recipients, ", [2]float64{0.40, 0.28})
}

func (b *bench) acceptSize(ctx context.Context, bare string, recipients int, figure string, floors [2]float64) {
	var rows []*row
	all := b.subjects()
	nodes, stop := b.serveSubjects(ctx, all, noProvider)
	defer stop()
	for _, s := range all {
		rows = append(rows, b.table.add(row{
			figure: figure + s.String(), unit: "messages/s", yardstick: "H", floor: minRatio(s.pick(floors)),
		}))
	}
	req := sendRequest(bulkKey, recipients, 600_000_000, never())
	var yardstick float64
	inTurns(all, b.rounds+1, func(int) {
		yardstick = must(closedLoop(ctx, bare, req, 2*time.Second))
	}, func(round int, s subject) {
		// Only one node runs at a time, so that its background work counts in its own turn.
		n := nodes[s.turn]
		n.resume()
		// A commit that lasted as long as the suspension makes the program refuse requests until it has seen others.
		must((&load.Load{Addr: n.addr, Conns: 1, For: 200 * time.Millisecond, Request: load.Always(req), Tolerant: true}).Run(ctx))
		rate := must(closedLoop(ctx, n.addr, req, 2*time.Second))
		n.suspend()
		if round > 0 { // the first one is a warm-up
			rows[s.turn].add(rate*float64(recipients), yardstick*float64(recipients))
		}
	})
}
