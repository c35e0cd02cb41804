package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"carillon/bench/load"
)

// measureFairness sends single messages of one company while another company has very many due.
func (b *bench) measureFairness(ctx context.Context, p *provider, e engine) {
	n := b.serveEmpty(ctx, e, p.url)
	idle, _ := b.sendSingles(ctx, p, n, 200)
	b.discard(n)
	r := b.table.add(row{
		figure: fmt.Sprintf("Another company's message during %d due, %s", b.scheduled, e.name),
		unit:   "ms, p99 less the idle p50", floor: maxFloor(50),
	})
	for range b.rounds {
		r.add(b.duringBacklog(ctx, p, e)-idle.Milliseconds(0.5), 0)
	}
}

// duringBacklog starts a node with many due messages and returns the p99 of another company's messages in
// milliseconds.
func (b *bench) duringBacklog(ctx context.Context, p *provider, e engine) float64 {
	d := b.dataset(ctx, e, b.scheduled, due)
	p.forget()
	n := b.serveCopy(ctx, d, p.url)
	defer func() {
		n.kill() // otherwise it would deliver for minutes
		b.discard(n)
	}()
	check(load.Pause(ctx, time.Second/2)) // the start is a separate figure
	took, last := b.sendSingles(ctx, p, n, 200)
	all := p.arrivals()
	if len(all) >= b.scheduled && !all[b.scheduled-1].at.After(last) {
		panic(failure{fmt.Errorf("all %d messages were sent before the measurement ended", b.scheduled)})
	}
	return took.Milliseconds(0.99)
}

// measurePacing runs a sender with 80 messages per second on two nodes and counts the messages at the provider.
func (b *bench) measurePacing(ctx context.Context) {
	p := b.startProvider()
	defer p.stop()
	database := "pacing"
	check(b.postgres.exec(ctx, "CREATE DATABASE "+database))
	var nodes []*node
	for range 2 {
		n := b.serve(ctx, nodeOptions{database: database, provider: p.url})
		defer n.stop()
		nodes = append(nodes, n)
	}
	check(load.Pause(ctx, 4*time.Second)) // time for the nodes to divide the shards
	const seconds = 20
	check(b.acceptMany(ctx, nodes[1], pacedKey, pacedRate*seconds+800, time.Time{}))
	check(load.Pause(ctx, seconds*time.Second))
	all := p.arrivals()
	if len(all) < 2 {
		panic(failure{fmt.Errorf("only %d messages arrived", len(all))})
	}
	duration := all[len(all)-1].at.Sub(all[0].at) + time.Second // the last ones take a second too
	figure := "Pacing 80/s, two nodes, PostgreSQL"
	b.table.add(row{
		figure: figure, unit: fmt.Sprintf("most messages in any second of %d", seconds),
		floor: floor{limit: pacedRate, set: true, exact: true},
	}).add(float64(densest(all)), 0)
	b.table.add(row{figure: figure, unit: "messages/s on average", floor: minFloor(76)}).add(float64(len(all))/duration.Seconds(), 0)
}

// densest returns the maximum number of arrivals in any window of one second.
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

// measureSignIn measures other routes while 64 connections sign in, and compares them with the same routes without
// sign-ins.
func (b *bench) measureSignIn(ctx context.Context, _ *provider, e engine) {
	n := b.serveEmpty(ctx, e, noProvider)
	defer b.discard(n)
	capacity := must(closedLoop(ctx, n.addr, acceptOne(), 2*time.Second))
	routes := b.table.add(row{
		figure: "Other routes while 64 sign in, " + e.name, unit: "ms, p99 at 30 % of the capacity",
		yardstick: "without:", floor: maxRatio(5),
	})
	for range b.rounds {
		n.waitIdle(ctx)
		without := must(openLoop(ctx, n.addr, companyRoutes(), 0.3*capacity, 3*time.Second))
		during := must(duringSignIns(ctx, n, 0.3*capacity, 3*time.Second))
		routes.add(during, without)
	}
}

// duringSignIns returns the p99 of the other routes in milliseconds while 64 connections sign in.
func duringSignIns(ctx context.Context, n *node, rate float64, d time.Duration) (float64, error) {
	signedIn := make(chan error, 1)
	go func() {
		_, err := closedLoop(ctx, n.addr, signInRequest(), d+time.Second)
		signedIn <- err
	}()
	if err := load.Pause(ctx, time.Second/2); err != nil {
		return 0, err
	}
	p99, err := openLoop(ctx, n.addr, companyRoutes(), rate, d)
	return p99, errors.Join(err, <-signedIn)
}

// companyRoutes returns the requests of a company's application: nine sends, then a list.
func companyRoutes() func(conn, k int) []byte {
	requests := append(slices.Repeat([][]byte{acceptOne()}, 9), listRequest("limit=20"))
	return func(_, k int) []byte { return requests[k%10] }
}
