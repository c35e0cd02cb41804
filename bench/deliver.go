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
const drainMessages = 20_000

// measureDrain delivers messages that are all due at the same time, and compares the rate with yardstick C.
func (b *bench) measureDrain(ctx context.Context) {
	p := b.startProvider()
	defer p.stop()
	floors := [2]float64{0.50, 0.45}
	all := b.subjects()
	nodes, stop := b.serveSubjects(ctx, all, p.url)
	defer stop()
	rates, firsts := make([]*row, len(all)), make([]*row, len(all))
	for i, s := range all {
		figure := fmt.Sprintf("Delivery drain of %d, %s", drainMessages, s)
		rates[i] = b.table.add(row{figure: figure, unit: "messages/s, states written", yardstick: "C", floor: minRatio(s.pick(floors))})
		firsts[i] = b.table.add(row{figure: figure, unit: "ms late, the first"})
	}
	var yardstick float64
	inTurns(all, b.rounds, func(int) {
		yardstick = clientRate(p, drainMessages, 64)
	}, func(_ int, s subject) {
		n := nodes[s.turn]
		n.resume()
		dueAt, arrivals := b.deliverAtOnce(ctx, p, n, drainMessages)
		n.suspend()
		rates[s.turn].add(rate(dueAt, arrivals), yardstick)
		firsts[s.turn].add(milliseconds(arrivals[0].at.Sub(dueAt)), 0)
	})
}

// rate returns the messages per second from the common due time until the provider has the last one.
func rate(dueAt time.Time, all []arrival) float64 {
	return float64(len(all)) / all[len(all)-1].at.Sub(dueAt).Seconds()
}

// drain returns the rate at which messages are delivered that are all due at the same time.
func (b *bench) drain(ctx context.Context, p *provider, n *node, messages int) float64 {
	return rate(b.deliverAtOnce(ctx, p, n, messages))
}

// scheduledSingles is the number of messages that measureLateness schedules in a round, one every 50 ms.
const scheduledSingles = 50

// measureLateness schedules single messages on an idle program and measures their delay at the provider.
func (b *bench) measureLateness(ctx context.Context) {
	p := b.startProvider()
	defer p.stop()
	all := b.subjects()
	nodes, stop := b.serveSubjects(ctx, all, p.url)
	defer stop()
	p50, p99 := make([]*row, len(all)), make([]*row, len(all))
	for i, s := range all {
		p50[i] = b.table.add(row{figure: "Scheduled message, idle, " + s.String(), unit: "ms late, p50", floor: maxFloor(8)})
		p99[i] = b.table.add(row{figure: p50[i].figure, unit: "ms late, p99"})
	}
	inTurns(all, b.rounds, func(int) {}, func(_ int, s subject) {
		n := nodes[s.turn]
		n.resume()
		late := b.lateness(ctx, p, n)
		n.suspend()
		p50[s.turn].add(late.Milliseconds(0.5), 0)
		p99[s.turn].add(late.Milliseconds(0.99), 0)
	})
}

func (b *bench) lateness(ctx context.Context, p *provider, n *node) *load.Latencies {
	p.forget()
	c := must(load.Dial(ctx, n.addr))
	defer c.Close()
	first := time.Now().Add(3 * time.Second).Truncate(time.Millisecond)
	due := make(map[string]time.Time, scheduledSingles)
	for i := range scheduledSingles {
		at := first.Add(time.Duration(i) * 50 * time.Millisecond)
		due[notificationID(must(load.OK(c.Do(sendRequest(singleKey, 1, 700_000_000+i, at)))))] = at
	}
	if !time.Now().Before(first) {
		panic(failure{errors.New("accepting took until the first was due")})
	}
	check(load.Pause(ctx, time.Until(first.Add(scheduledSingles*50*time.Millisecond))))
	late := &load.Latencies{}
	for _, a := range p.await(ctx, scheduledSingles, time.Minute) {
		id, _, _ := strings.Cut(a.ref, ".")
		late.Add(a.at.Sub(due[id]))
	}
	return late
}

// notificationID returns the id in the response to a request.
func notificationID(response []byte) string {
	_, id, _ := strings.Cut(string(response), `"notification_id":"`)
	if len(id) < 36 {
		panic(failure{fmt.Errorf("no notification_id in %s", response)})
	}
	return id[:36]
}

// deliverAtOnce accepts messages with the same due time, waits until all are delivered and their states written, and
// returns the due time and the arrivals.
func (b *bench) deliverAtOnce(ctx context.Context, p *provider, n *node, messages int) (time.Time, []arrival) {
	dueAt := b.acceptDue(ctx, p, n, messages)
	return dueAt, b.awaitDelivered(ctx, p, n, dueAt, messages)
}

// acceptDue accepts messages with the same due time and returns it. If accepting takes until then, it starts over with
// more time.
func (b *bench) acceptDue(ctx context.Context, p *provider, n *node, messages int) time.Time {
	for lead := 3 * time.Second; lead < 2*time.Minute; lead *= 2 {
		p.forget()
		dueAt := time.Now().Add(lead).Truncate(time.Second)
		err := b.acceptMany(ctx, n, bulkKey, messages, dueAt)
		left := time.Until(dueAt)
		if left < time.Second/2 { // some requests may have been refused as past
			check(load.Pause(ctx, left+time.Second)) // those that were accepted are under way
			b.awaitStates(ctx, n)
			continue
		}
		check(err)
		return dueAt
	}
	panic(failure{errors.New("accepting takes minutes")})
}

// awaitDelivered waits until all messages are delivered once and their states written, and returns the arrivals.
func (b *bench) awaitDelivered(ctx context.Context, p *provider, n *node, dueAt time.Time, messages int) []arrival {
	// Nothing else runs during the first second, not even the provider's counting.
	check(load.Pause(ctx, time.Until(dueAt)+time.Second))
	all := p.await(ctx, messages, 2*time.Minute)
	refs := map[string]bool{}
	for _, a := range all {
		refs[a.ref] = true
	}
	if len(all) != messages || len(refs) != messages {
		panic(failure{fmt.Errorf("%d messages were due, %d came %d times", messages, len(refs), len(all))})
	}
	b.awaitStates(ctx, n)
	return all
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
	p50 := b.table.add(row{figure: "Accept to provider, idle, " + e.name, unit: "ms, p50", yardstick: "F", floor: maxFloor(6)})
	p99 := b.table.add(row{figure: p50.figure, unit: "ms, p99", yardstick: "F", floor: maxFloor(15)})
	for range b.rounds {
		f := b.fdatasync(200)
		took, _ := b.sendSingles(ctx, p, n, 200)
		p50.add(took.Milliseconds(0.5), f)
		p99.add(took.Milliseconds(0.99), f)
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
		sent[notificationID(must(load.OK(c.Do(req))))] = at
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
