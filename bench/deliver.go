package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"carillon/bench/load"
)

// drainMessages is the number of messages that a drain delivers.
const drainMessages = 40_000

// measureDrain delivers messages that are all due at the same time, and compares the rate with yardstick C.
func (b *bench) measureDrain(ctx context.Context) {
	p := b.startProvider()
	defer p.stop()
	floors := [2]float64{0.45, 0.35}
	var rows []*row
	var nodes []*node
	for i, e := range engines() {
		n := b.serveEmpty(ctx, e, p.url)
		defer b.discard(n)
		nodes = append(nodes, n)
		rows = append(rows, b.table.add(row{
			figure: fmt.Sprintf("Delivery drain of %d, %s", drainMessages, e.name), unit: "messages/s, states written",
			yardstick: "C", floor: minRatio(floors[i]),
		}))
	}
	for range b.rounds {
		yardstick := clientRate(p, drainMessages/2, 64)
		for i, n := range nodes {
			rows[i].add(b.drain(ctx, p, n, drainMessages), yardstick)
		}
	}
}

// drain returns the messages per second from the common due time until the provider has the last one.
func (b *bench) drain(ctx context.Context, p *provider, n *node, messages int) float64 {
	dueAt, all := b.deliverAtOnce(ctx, p, n, messages)
	return float64(messages) / all[len(all)-1].at.Sub(dueAt).Seconds()
}

// deliverAtOnce accepts messages with the same due time, waits until all are delivered and their states written, and
// returns the due time and the arrivals. If accepting takes until the due time, it starts over with more time.
func (b *bench) deliverAtOnce(ctx context.Context, p *provider, n *node, messages int) (time.Time, []arrival) {
	for lead := 5 * time.Second; lead < 2*time.Minute; lead *= 2 {
		p.forget()
		dueAt := time.Now().Add(lead).Truncate(time.Second)
		err := b.acceptMany(ctx, n, bulkKey, messages, dueAt)
		left := time.Until(dueAt)
		if left < time.Second/2 { // some requests may have been refused as past
			b.awaitStates(ctx, n)
			continue
		}
		check(err)
		// Nothing else runs during the first second, not even the provider's counting.
		check(load.Pause(ctx, left+time.Second))
		all := p.await(ctx, messages, 2*time.Minute)
		if len(all) != messages {
			panic(failure{fmt.Errorf("%d messages were sent %d times", messages, len(all))})
		}
		b.awaitStates(ctx, n)
		return dueAt, all
	}
	panic(failure{errors.New("accepting takes minutes")})
}

// awaitStates waits until no notification is in progress and the node is idle.
func (b *bench) awaitStates(ctx context.Context, n *node) {
	c := must(load.Dial(ctx, n.addr))
	defer c.Close()
	inProgress := listRequest("state=in_progress&limit=1")
	for deadline := time.Now().Add(2 * time.Minute); ; {
		text := must(load.OK(c.Do(inProgress)))
		if bytes.HasPrefix(text, []byte(`{"data":[]`)) {
			break
		}
		if time.Now().After(deadline) {
			panic(failure{errors.New("the states were not written within two minutes")})
		}
		check(load.Pause(ctx, 50*time.Millisecond))
	}
	n.waitIdle(ctx)
}

// measureIdle sends single messages to an idle program and measures the time from the request to the provider.
func (b *bench) measureIdle(ctx context.Context, p *provider, e engine) {
	n := b.serveEmpty(ctx, e, p.url)
	defer b.discard(n)
	half := b.table.add(row{figure: "Accept to provider, idle, " + e.name, unit: "ms, p50", yardstick: "F", floor: maxFloor(6)})
	most := b.table.add(row{figure: half.figure, unit: "ms, p99", yardstick: "F", floor: maxFloor(15)})
	for range b.rounds {
		f := b.fdatasync(200)
		took, _ := b.sendSingles(ctx, p, n, 200)
		half.add(took.Milliseconds(0.5), f)
		most.add(took.Milliseconds(0.99), f)
	}
}

// sendSingles sends single messages one after the other, one every 10 ms. It returns their times from the request to
// the provider and the arrival of the last one.
func (b *bench) sendSingles(ctx context.Context, p *provider, n *node, count int) (*load.Latencies, time.Time) {
	c := must(load.Dial(ctx, n.addr))
	defer c.Close()
	sent := make(map[string]time.Time, count)
	for i := range count {
		check(load.Pause(ctx, 10*time.Millisecond))
		req := sendRequest(singleKey, 1, 700_000_000+i, time.Time{})
		at := time.Now()
		text := must(load.OK(c.Do(req)))
		_, id, _ := strings.Cut(string(text), `"notification_id":"`)
		if len(id) < 36 {
			panic(failure{fmt.Errorf("no notification_id in %s", text)})
		}
		sent[id[:36]] = at
	}
	took := &load.Latencies{}
	for range 20 {
		check(load.Pause(ctx, time.Second))
		all := p.arrivals()
		took = &load.Latencies{}
		var last time.Time
		for _, a := range all {
			id, _, _ := strings.Cut(a.ref, ".")
			if at, ok := sent[id]; ok {
				took.Add(a.at.Sub(at))
				last = a.at
			}
		}
		if took.Count() == count {
			return took, last
		}
	}
	panic(failure{fmt.Errorf("%d of %d messages arrived within 20 s", took.Count(), count)})
}
