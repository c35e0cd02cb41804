package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"carillon/internal/load"
)

// measureDrain queues messages for one instant and takes the time from it until the provider has them all, beside a
// client that only posts. Then every state must be written.
func (b *bench) measureDrain(ctx context.Context) error {
	p, err := b.provider()
	if err != nil {
		return err
	}
	defer p.stop()
	goals := map[bool]float64{false: 0.75, true: 0.65}
	messages := b.drainMessages()
	var rows []*row
	var nodes []*node
	for _, e := range engines() {
		n, err := b.on(ctx, e, p.url)
		if err != nil {
			return err
		}
		defer b.retire(n)
		nodes = append(nodes, n)
		rows = append(rows, &row{
			figure: b.drainFigure(e), how: "messages/s, 64 workers, states written",
			yard: "C", goal: "≥ " + show(goals[e.postgres])[:4], good: atLeast(goals[e.postgres]),
		})
	}
	for range b.rounds {
		yard, err := b.bareClient(p, messages/2, 64)
		if err != nil {
			return err
		}
		for i, n := range nodes {
			rate, err := b.drain(ctx, p, n, messages, fileName("drain", messages, i))
			if err != nil {
				return err
			}
			rows[i].add(rate, yard)
			b.say("%s: %.0f/s, C %.0f/s", rows[i].figure, rate, yard)
		}
	}
	b.table.add(rows...)
	return nil
}

func (b *bench) drainMessages() int { return pick(b, 40_000, 20_000) }

func (b *bench) drainFigure(e engine) string {
	return fmt.Sprintf("Delivery drain of %d, %s", b.drainMessages(), e.name)
}

// spacing is the pause between single messages.
const spacing = 10 * time.Millisecond

func fileName(what string, n, engine int) string {
	return what + "-" + strconv.Itoa(n) + "-" + strings.ToLower(engines()[engine].name)
}

func (b *bench) drain(ctx context.Context, p *provider, n *node, messages int, name string) (float64, error) {
	due, err := b.queued(ctx, p, n, messages, 6*time.Second)
	if err != nil {
		return 0, err
	}
	wait := b.profileFor(n, name, 2*time.Second)
	if err := rest(ctx, 2*time.Second); err != nil { // nothing else runs beside the first seconds
		return 0, err
	}
	all, err := p.await(ctx, messages, 2*time.Minute)
	if err != nil {
		return 0, err
	}
	if len(all) != messages {
		return 0, fmt.Errorf("%d messages were sent %d times", messages, len(all))
	}
	if err := errors.Join(wait(), b.allSent(ctx, n), settle(ctx, n.child)); err != nil {
		return 0, err
	}
	return float64(messages) / all[len(all)-1].at.Sub(due).Seconds(), nil
}

// queued accepts messages that are all due at one instant, waits for that, and gives it. Where accepting takes too long,
// it begins again with more room, once the program has delivered what it has. The provider knows of nothing else.
func (b *bench) queued(ctx context.Context, p *provider, n *node, messages int, room time.Duration) (time.Time, error) {
	for {
		if err := p.forget(); err != nil {
			return time.Time{}, err
		}
		at := time.Now().Add(room).Truncate(time.Second)
		if err := b.bulk(ctx, n, "ck_bench_much", messages, at); err != nil {
			return at, err
		}
		if left := time.Until(at); left > time.Second/2 {
			return at, rest(ctx, left)
		}
		b.say("accepting took until the messages were due; again with more room")
		if err := errors.Join(b.allSent(ctx, n), settle(ctx, n.child)); err != nil {
			return at, err
		}
		if room *= 2; room > 2*time.Minute {
			return at, errors.New("accepting takes minutes")
		}
	}
}

// allSent waits until nothing is under way and sees that nothing failed.
func (b *bench) allSent(ctx context.Context, n *node) error {
	c, err := load.Dial(ctx, n.addr)
	if err != nil {
		return err
	}
	defer c.Close()
	open := request("GET", strings.Replace(notifyPath("ck_bench_much"), "?", "?state=in_progress&limit=1&", 1), "")
	for deadline := time.Now().Add(2 * time.Minute); ; {
		text, err := ok(c, open)
		if err != nil {
			return err
		}
		if bytes.HasPrefix(text, []byte(`{"data":[]`)) {
			break
		}
		if time.Now().After(deadline) {
			return errors.New("the states of what was sent were not written within two minutes")
		}
		if err := rest(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
	text, err := ok(c, request("GET", strings.Replace(notifyPath("ck_bench_much"), "?", "?state=completed&limit=100&", 1), ""))
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
	return nil
}

// measureIdle sends single messages to a program that does nothing else, and takes the time from when the request left
// until the provider has the message.
func (b *bench) measureIdle(ctx context.Context) error {
	p, err := b.provider()
	if err != nil {
		return err
	}
	defer p.stop()
	for _, e := range engines() {
		n, err := b.on(ctx, e, p.url)
		if err != nil {
			return err
		}
		half := &row{figure: "Accept to provider, idle, " + e.name, how: "ms, p50", yard: "1 ms + 3 F:", goal: "≤ 1", good: atMost(1)}
		most := &row{figure: half.figure, how: "ms, p99", goal: "≤ 10 ms", good: under(10)}
		for range b.rounds {
			f, err := b.disk.measure(200)
			if err != nil {
				return err
			}
			took, err := b.singles(ctx, p, n, pick(b, 300, 150), spacing)
			if err != nil {
				return err
			}
			half.add(took.Milliseconds(0.5), 1+3*f)
			most.add(took.Milliseconds(0.99), 0)
			b.shape("Accept to provider, idle, "+e.name, &took.Hist)
			b.say("%s: p50 %.2f p99 %.2f ms, F %.2f ms", half.figure, took.Milliseconds(0.5), took.Milliseconds(0.99), f)
		}
		b.retire(n)
		b.table.add(half, most)
	}
	return nil
}

// flights are how long messages took from when their requests left until the provider had them.
type flights struct {
	load.Hist
	last time.Time // when the last came
}

// singles sends messages of the company Single one after the other and gives how long each took to the provider.
func (b *bench) singles(ctx context.Context, p *provider, n *node, count int, gap time.Duration) (*flights, error) {
	begin := time.Now()
	left := make(map[string]time.Time, count)
	err := each(ctx, n.addr, 1, func(_ int, c *load.Conn) error {
		for i := range count {
			if err := rest(ctx, gap); err != nil {
				return err
			}
			req := request("POST", notifyPath("ck_bench_single"), body(1, 700000000+i, time.Time{}))
			at := time.Now()
			text, err := ok(c, req)
			if err != nil {
				return err
			}
			_, id, _ := strings.Cut(string(text), `"notification_id":"`)
			left[id[:36]] = at
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	took := &flights{}
	for range 20 {
		if err := rest(ctx, time.Second); err != nil {
			return nil, err
		}
		all, err := p.arrivals(begin)
		if err != nil {
			return nil, err
		}
		took = &flights{}
		for _, a := range all {
			id, _, _ := strings.Cut(a.ref, ".")
			if at, ours := left[id]; ours {
				took.Add(a.at.Sub(at))
				took.last = a.at
			}
		}
		if took.Count() == int64(count) {
			return took, nil
		}
	}
	return nil, fmt.Errorf("%d of %d messages came within 20 s", took.Count(), count)
}
