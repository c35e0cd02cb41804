package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"carillon/bench/load"
)

// measureFairness sends single messages of one company while another company has very many due.
func (b *bench) measureFairness(ctx context.Context) error {
	p, err := b.startProvider()
	if err != nil {
		return err
	}
	defer p.stop()
	for _, e := range engines() {
		n, err := b.serveEmpty(ctx, e, p.url)
		if err != nil {
			return err
		}
		idle, _, err := b.sendSingles(ctx, p, n, 200)
		b.discard(n)
		if err != nil {
			return err
		}
		r := b.table.add(row{
			figure: fmt.Sprintf("Another company's message during %d due, %s", b.scheduled, e.name),
			unit:   "ms, p99 less the idle p50", floor: atMost(50),
		})
		for range b.rounds {
			p99, err := b.duringBacklog(ctx, p, e)
			if err != nil {
				return err
			}
			r.add(p99-idle.Milliseconds(0.5), 0)
		}
	}
	return nil
}

// duringBacklog starts a node with many messages due and returns the p99 of another company's messages in milliseconds.
func (b *bench) duringBacklog(ctx context.Context, p *provider, e engine) (float64, error) {
	d, err := b.dataset(ctx, e, b.scheduled, due)
	if err != nil {
		return 0, err
	}
	if err := p.forget(); err != nil {
		return 0, err
	}
	n, err := b.serveCopy(ctx, d, p.url)
	if err != nil {
		return 0, err
	}
	defer func() {
		n.kill() // it would deliver for minutes
		b.discard(n)
	}()
	if err := load.Pause(ctx, time.Second/2); err != nil { // the start is another figure
		return 0, err
	}
	took, last, err := b.sendSingles(ctx, p, n, 200)
	if err != nil {
		return 0, err
	}
	all, err := p.arrivals()
	if err != nil {
		return 0, err
	}
	if len(all) >= b.scheduled && !all[b.scheduled-1].at.After(last) {
		return 0, fmt.Errorf("all %d messages were sent before the measurement ended", b.scheduled)
	}
	return took.Milliseconds(0.99), nil
}

// measurePacing runs a sender of 80 messages a second on two nodes and counts what the provider receives.
func (b *bench) measurePacing(ctx context.Context) error {
	p, err := b.startProvider()
	if err != nil {
		return err
	}
	defer p.stop()
	database := "pacing"
	if err := b.postgres.create(ctx, database); err != nil {
		return err
	}
	var nodes []*node
	for range 2 {
		n, err := b.serve(ctx, nodeOptions{database: database, provider: p.url})
		if err != nil {
			return err
		}
		defer n.stop()
		nodes = append(nodes, n)
	}
	if err := load.Pause(ctx, 4*time.Second); err != nil { // the nodes divide the shards
		return err
	}
	const seconds = 20
	if err := b.acceptMany(ctx, nodes[1], pacedKey, pacedRate*seconds+800, time.Time{}); err != nil {
		return err
	}
	if err := load.Pause(ctx, seconds*time.Second); err != nil {
		return err
	}
	all, err := p.arrivals()
	if err != nil {
		return err
	}
	if len(all) < 2 {
		return fmt.Errorf("only %d messages arrived", len(all))
	}
	duration := all[len(all)-1].at.Sub(all[0].at) + time.Second // the last ones take a second too
	figure := "Pacing 80/s, two nodes, PostgreSQL"
	b.table.add(row{figure: figure, unit: fmt.Sprintf("most messages in any second of %d", seconds), floor: floor{limit: pacedRate, set: true, exact: true}}).add(float64(densest(all)), 0)
	b.table.add(row{figure: figure, unit: "messages/s on average", floor: atLeast(76)}).add(float64(len(all))/duration.Seconds(), 0)
	return nil
}

// densest returns the most arrivals in any window of one second.
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

// measureSignIn compares other routes while 64 connections sign in with the same routes without them.
func (b *bench) measureSignIn(ctx context.Context) error {
	for _, e := range engines() {
		if err := b.signInOn(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) signInOn(ctx context.Context, e engine) error {
	n, err := b.serveEmpty(ctx, e, noProvider)
	if err != nil {
		return err
	}
	defer b.discard(n)
	capacity, err := closedLoop(ctx, n.addr, acceptOne(), 2*time.Second)
	if err != nil {
		return err
	}
	rate := b.table.add(row{figure: "Sign-in, 64 connections, " + e.name, unit: "sign-ins/s", yardstick: "K"})
	routes := b.table.add(row{
		figure: "Other routes while 64 sign in, " + e.name, unit: "ms, p99 at 30 % of the capacity",
		yardstick: "without:", floor: ratioAtMost(5),
	})
	for range b.rounds {
		yardstick := hashRate(2 * time.Second)
		alone, err := closedLoop(ctx, n.addr, signInRequest(), 2*time.Second)
		if err != nil {
			return err
		}
		rate.add(alone, yardstick)
		if err := n.waitIdle(ctx); err != nil {
			return err
		}
		without, err := openLoop(ctx, n.addr, companyRoutes(), 0.3*capacity, 3*time.Second)
		if err != nil {
			return err
		}
		during, err := duringSignIns(ctx, n, 0.3*capacity, 3*time.Second)
		if err != nil {
			return err
		}
		routes.add(during, without)
	}
	return nil
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

// companyRoutes are the requests of a company's application: sends, lists and templates.
func companyRoutes() func(conn, k int) []byte {
	send, list := acceptOne(), listRequest("limit=20")
	templates := load.Request("GET", "/functions/v1/notify/templates?phone_number=15555550100&access_key="+bulkKey, "")
	return func(_, k int) []byte {
		switch k % 10 {
		case 4:
			return list
		case 9:
			return templates
		default:
			return send
		}
	}
}
