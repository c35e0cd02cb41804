package main

import (
	"context"
	"fmt"
	"time"
)

// measurePacing has a sender of 80 messages a second on two nodes: what the provider sees in any window of a second.
func (b *bench) measurePacing(ctx context.Context) error {
	p, err := b.provider()
	if err != nil {
		return err
	}
	defer p.stop()
	database, err := b.cluster.database(ctx, "pacing")
	if err != nil {
		return err
	}
	seconds := pick(b, 60, 10)
	got, err := b.pacedOn(ctx, p, database, seconds)
	if err != nil {
		return err
	}
	most := &row{figure: "Pacing: a sender at 80/s, two nodes", how: fmt.Sprintf("most messages in any second of %d", seconds), goal: "≤ 80", good: under(80)}
	mean := &row{figure: most.figure, how: "messages/s on average", goal: "≥ 76", good: over(76)}
	most.add(got.most, 0)
	mean.add(got.mean, 0)
	b.table.add(most, mean)
	return nil
}

// pace is how many messages came in the fullest second, and a second on average.
type pace struct{ most, mean float64 }

// pacedOn runs two nodes on a database and gives the paced sender more than the seconds can take.
func (b *bench) pacedOn(ctx context.Context, p *provider, database string, seconds int) (pace, error) {
	var nodes []*node
	for range 2 {
		n, err := b.serve(ctx, nodeOptions{database: database, provider: p.url})
		if err != nil {
			return pace{}, err
		}
		defer n.stop()
		nodes = append(nodes, n)
	}
	if err := rest(ctx, 4*time.Second); err != nil { // the nodes share the shards
		return pace{}, err
	}
	begin := time.Now()
	if err := b.bulk(ctx, nodes[1], "ck_bench_paced", 80*seconds/100*100+800, time.Time{}); err != nil {
		return pace{}, err
	}
	if err := rest(ctx, time.Duration(seconds)*time.Second); err != nil {
		return pace{}, err
	}
	all, err := p.arrivals(begin)
	if err != nil {
		return pace{}, err
	}
	if len(all) < 2 {
		return pace{}, fmt.Errorf("only %d messages came", len(all))
	}
	span := all[len(all)-1].at.Sub(all[0].at) + time.Second // the last ones fill a second too
	return pace{float64(densest(all)), float64(len(all)) / span.Seconds()}, nil
}

// densest is the most arrivals in any window of a second.
func densest(all []arrival) int {
	most, from := 0, 0
	for to := range all {
		for all[to].at.Sub(all[from].at) >= time.Second {
			from++
		}
		most = max(most, to-from+1)
	}
	return most
}
