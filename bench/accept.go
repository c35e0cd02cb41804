package main

import (
	"context"
	"time"

	"carillon/bench/load"
)

// measureAccept sends requests with one and with a hundred recipients over 64 connections and compares with yardstick H.
// Accepting includes the access key, the rate limit, all checks, the template, the quota and a durable commit.
func (b *bench) measureAccept(ctx context.Context) error {
	h, bare, err := b.startHandler()
	if err != nil {
		return err
	}
	defer h.stop()
	if err := b.acceptSize(ctx, bare, 1, "Accept, 1 recipient, ", [2]float64{0.45, 0.35}); err != nil {
		return err
	}
	return b.acceptSize(ctx, bare, 100, "Accept, 100 recipients, ", [2]float64{0.40, 0.28})
}

func (b *bench) acceptSize(ctx context.Context, bare string, recipients int, figure string, floors [2]float64) error {
	var rows []*row
	var nodes []*node
	for i, e := range engines() {
		n, err := b.serveEmpty(ctx, e, noProvider)
		if err != nil {
			return err
		}
		defer b.discard(n)
		n.suspend()
		nodes = append(nodes, n)
		rows = append(rows, b.table.add(row{figure: figure + e.name, unit: "messages/s", yardstick: "H", floor: ratioAtLeast(floors[i])}))
	}
	req := sendRequest(bulkKey, recipients, 600_000_000, never())
	for round := range b.rounds + 1 { // the first one warms up
		yardstick, err := closedLoop(ctx, bare, req, 2*time.Second)
		if err != nil {
			return err
		}
		for i, n := range nodes {
			rate, err := b.acceptRound(ctx, n, req)
			if err != nil {
				return err
			}
			if round > 0 {
				rows[i].add(rate*float64(recipients), yardstick*float64(recipients))
			}
		}
	}
	return nil
}

// acceptRound lets only one node run: its background work belongs to its own round.
func (b *bench) acceptRound(ctx context.Context, n *node, req []byte) (float64, error) {
	n.resume()
	defer n.suspend()
	if err := load.Pause(ctx, 200*time.Millisecond); err != nil {
		return 0, err
	}
	return closedLoop(ctx, n.addr, req, 2*time.Second)
}
