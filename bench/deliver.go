package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"carillon/bench/load"
)

// drainMessages is how many messages a drain delivers.
const drainMessages = 40_000

// measureDrain delivers messages that are all due at one instant and compares with yardstick C.
func (b *bench) measureDrain(ctx context.Context) error {
	p, err := b.startProvider()
	if err != nil {
		return err
	}
	defer p.stop()
	floors := [2]float64{0.45, 0.35}
	var rows []*row
	var nodes []*node
	for i, e := range engines() {
		n, err := b.serveEmpty(ctx, e, p.url)
		if err != nil {
			return err
		}
		defer b.discard(n)
		nodes = append(nodes, n)
		rows = append(rows, b.table.add(row{
			figure: fmt.Sprintf("Delivery drain of %d, %s", drainMessages, e.name), unit: "messages/s, states written",
			yardstick: "C", floor: ratioAtLeast(floors[i]),
		}))
	}
	for range b.rounds {
		yardstick, err := clientRate(p, drainMessages/2, 64)
		if err != nil {
			return err
		}
		for i, n := range nodes {
			rate, err := b.drain(ctx, p, n, drainMessages)
			if err != nil {
				return err
			}
			rows[i].add(rate, yardstick)
		}
	}
	return nil
}

// drain returns the messages a second from the instant at which all are due until the provider has the last one.
func (b *bench) drain(ctx context.Context, p *provider, n *node, messages int) (float64, error) {
	dueAt, all, err := b.deliverAtOnce(ctx, p, n, messages)
	if err != nil {
		return 0, err
	}
	return float64(messages) / all[len(all)-1].at.Sub(dueAt).Seconds(), nil
}

// deliverAtOnce accepts messages that are due at one instant, waits until all are delivered and their states written, and
// returns the instant and the arrivals. If accepting takes until the instant, it starts over with more time.
func (b *bench) deliverAtOnce(ctx context.Context, p *provider, n *node, messages int) (time.Time, []arrival, error) {
	for lead := 4 * time.Second; lead < 2*time.Minute; lead *= 2 {
		if err := p.forget(); err != nil {
			return time.Time{}, nil, err
		}
		dueAt := time.Now().Add(lead).Truncate(time.Second)
		if err := b.acceptMany(ctx, n, bulkKey, messages, dueAt); err != nil {
			return dueAt, nil, err
		}
		if left := time.Until(dueAt); left > time.Second/2 {
			// Nothing else runs during the first second, not even the provider's counting.
			if err := load.Pause(ctx, left+time.Second); err != nil {
				return dueAt, nil, err
			}
			all, err := p.await(ctx, messages, 2*time.Minute)
			if err == nil && len(all) != messages {
				err = fmt.Errorf("%d messages were sent %d times", messages, len(all))
			}
			return dueAt, all, errors.Join(err, b.awaitStates(ctx, n))
		}
		if err := b.awaitStates(ctx, n); err != nil {
			return dueAt, nil, err
		}
	}
	return time.Time{}, nil, errors.New("accepting takes minutes")
}

// awaitStates waits until no notification is in progress and the node is idle, and checks that every message was sent.
func (b *bench) awaitStates(ctx context.Context, n *node) error {
	c, err := load.Dial(ctx, n.addr)
	if err != nil {
		return err
	}
	defer c.Close()
	inProgress := listRequest("state=in_progress&limit=1")
	for deadline := time.Now().Add(2 * time.Minute); ; {
		text, err := load.OK(c.Do(inProgress))
		if err != nil {
			return err
		}
		if bytes.HasPrefix(text, []byte(`{"data":[]`)) {
			break
		}
		if time.Now().After(deadline) {
			return errors.New("the states were not written within two minutes")
		}
		if err := load.Pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
	text, err := load.OK(c.Do(listRequest("state=completed&limit=100")))
	if err != nil {
		return err
	}
	var list struct {
		Data []struct{ Counts map[string]int }
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	for _, x := range list.Data {
		if len(x.Counts) != 1 || x.Counts["sent"] == 0 {
			return fmt.Errorf("not all messages were sent: %v", x.Counts)
		}
	}
	return n.waitIdle(ctx)
}

// measureIdle sends single messages to an idle program and takes the time from the request to the provider.
func (b *bench) measureIdle(ctx context.Context) error {
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
		half := b.table.add(row{figure: "Accept to provider, idle, " + e.name, unit: "ms, p50", yardstick: "F", floor: atMost(6)})
		most := b.table.add(row{figure: half.figure, unit: "ms, p99", yardstick: "F", floor: atMost(15)})
		for range b.rounds {
			f, err := b.fdatasync(200)
			if err != nil {
				return err
			}
			took, _, err := b.sendSingles(ctx, p, n, 200)
			if err != nil {
				return err
			}
			half.add(took.Milliseconds(0.5), f)
			most.add(took.Milliseconds(0.99), f)
		}
		b.discard(n)
	}
	return nil
}

// sendSingles sends single messages one after the other, one every 10 ms, and returns how long they took from the request
// to the provider and when the last one arrived.
func (b *bench) sendSingles(ctx context.Context, p *provider, n *node, count int) (*load.Hist, time.Time, error) {
	c, err := load.Dial(ctx, n.addr)
	if err != nil {
		return nil, time.Time{}, err
	}
	defer c.Close()
	sent := make(map[string]time.Time, count)
	for i := range count {
		if err := load.Pause(ctx, 10*time.Millisecond); err != nil {
			return nil, time.Time{}, err
		}
		req := sendRequest(singleKey, 1, 700_000_000+i, time.Time{})
		at := time.Now()
		text, err := load.OK(c.Do(req))
		if err != nil {
			return nil, time.Time{}, err
		}
		_, id, _ := strings.Cut(string(text), `"notification_id":"`)
		if len(id) < 36 {
			return nil, time.Time{}, fmt.Errorf("no notification_id in %s", text)
		}
		sent[id[:36]] = at
	}
	took := &load.Hist{}
	for range 20 {
		if err := load.Pause(ctx, time.Second); err != nil {
			return nil, time.Time{}, err
		}
		all, err := p.arrivals()
		if err != nil {
			return nil, time.Time{}, err
		}
		took = &load.Hist{}
		var last time.Time
		for _, a := range all {
			id, _, _ := strings.Cut(a.ref, ".")
			if at, ok := sent[id]; ok {
				took.Add(a.at.Sub(at))
				last = a.at
			}
		}
		if took.Count() == int64(count) {
			return took, last, nil
		}
	}
	return nil, time.Time{}, fmt.Errorf("%d of %d messages arrived within 20 s", took.Count(), count)
}
