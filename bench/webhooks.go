package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"carillon/bench/load"
)

// hookCounts are with how many endpoints of webhooks accepting and delivering are measured. Each gets every event.
var hookCounts = []int{0, 1, 3} //nolint:gochecknoglobals // read only

// runReceiver is an endpoint of webhooks that responds at once. It prints its address; "count" prints how many requests came.
func runReceiver() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	var came atomic.Int64
	server := &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		came.Add(1)
		w.WriteHeader(http.StatusNoContent)
	})}
	fmt.Println(l.Addr())
	go func() { _ = server.Serve(l) }()
	var line string
	for {
		if _, err := fmt.Fscanln(os.Stdin, &line); err != nil {
			break
		}
		fmt.Println(came.Load())
	}
	return server.Close()
}

// measureWebhooks accepts and drains with several numbers of endpoints; the yardstick of a figure is that without any, of the same round.
// The last figure is how many events a second the endpoints get, all together, from the first request until they have every event of it.
func (b *bench) measureWebhooks(ctx context.Context) {
	p := b.startProvider()
	defer p.stop()
	receiver := must(b.helper("receiver"))
	defer receiver.stop()
	address := must(receiver.readLine())
	for _, e := range engines() {
		accept, drain, events := b.webhookRows(e)
		for range b.rounds {
			var bare [2]float64
			for i, count := range hookCounts {
				accepted, drained, came := b.withWebhooks(ctx, p, e, receiver, address, count)
				if i == 0 {
					bare = [2]float64{accepted, drained}
				}
				accept[i].add(accepted, bare[0])
				drain[i].add(drained, bare[1])
				if count > 0 {
					events[i].add(came, 0)
				}
			}
		}
	}
}

func (b *bench) webhookRows(e engine) (accept, drain, events []*row) {
	for _, count := range hookCounts {
		with := fmt.Sprintf("%d webhooks, %s", count, e.name)
		accept = append(accept, b.table.add(row{figure: "Accept, 1 recipient, " + with, unit: "messages/s", yardstick: "0 webhooks"}))
		drain = append(drain, b.table.add(row{figure: "Delivery drain, " + with, unit: "messages/s, states written", yardstick: "0 webhooks"}))
		if count > 0 {
			events = append(events, b.table.add(row{figure: "Events to endpoints, " + with, unit: "events/s"}))
		} else {
			events = append(events, nil)
		}
	}
	return accept, drain, events
}

// withWebhooks measures accepting, then delivering, on a node of its own.
func (b *bench) withWebhooks(ctx context.Context, p *provider, e engine, receiver *process, address string, count int) (accepted, drained, came float64) {
	n := b.serveEmpty(ctx, e, p.url)
	defer b.discard(n)
	for i := range count {
		check(b.addWebhook(ctx, n, fmt.Sprintf("http://%s/%d", address, i)))
	}
	before := requests(receiver)
	req := sendRequest(bulkKey, 1, 600_000_000, never())
	begin := time.Now()
	must(closedLoop(ctx, n.addr, req, time.Second)) // warms up
	accepted = must(closedLoop(ctx, n.addr, req, 2*time.Second))
	if count > 0 {
		total, last := lastCame(ctx, receiver)
		came = float64(total-before) / last.Sub(begin).Seconds()
	}
	messages := drainMessages
	if b.quick {
		messages /= 10
	}
	drained = b.drainOf(ctx, p, n, messages)
	return accepted, drained, came
}

// drainOf is drain without the wait for notifications in progress, which those that are never due always are.
func (b *bench) drainOf(ctx context.Context, p *provider, n *node, messages int) float64 {
	p.forget()
	dueAt := time.Now().Add(10 * time.Second).Truncate(time.Second)
	check(b.acceptMany(ctx, n, bulkKey, messages, dueAt))
	left := time.Until(dueAt)
	if left < 0 {
		panic(failure{errors.New("accepting took ten seconds")})
	}
	check(load.Pause(ctx, left+time.Second))
	all := p.await(ctx, messages, 2*time.Minute)
	return float64(messages) / all[len(all)-1].at.Sub(dueAt).Seconds()
}

// addWebhook adds an endpoint that gets every event.
func (b *bench) addWebhook(ctx context.Context, n *node, url string) error {
	c, err := load.Dial(ctx, n.addr)
	if err != nil {
		return err
	}
	defer c.Close()
	r, err := c.Do(load.Request("POST", "/functions/v1/webhooks?access_key="+bulkKey, `{"url":"`+url+`"}`))
	if err == nil && r.Status != http.StatusCreated {
		err = fmt.Errorf("add a webhook: status %d: %s", r.Status, r.Body)
	}
	return err
}

// lastCame waits until the endpoints have got nothing for two seconds, and returns how many requests came and when the last one did.
func lastCame(ctx context.Context, receiver *process) (count int, last time.Time) {
	for last = time.Now(); time.Since(last) < 2*time.Second; check(load.Pause(ctx, 50*time.Millisecond)) {
		if n := requests(receiver); n > count {
			count, last = n, time.Now()
		}
	}
	return count, last
}

func requests(receiver *process) int { return must(strconv.Atoi(must(receiver.ask("count")))) }
