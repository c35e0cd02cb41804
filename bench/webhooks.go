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

// hookCounts are the numbers of webhook endpoints with which accepting and delivering are measured. Each endpoint gets
// every event.
var hookCounts = []int{0, 1, 3} //nolint:gochecknoglobals // read only

// runReceiver is a webhook endpoint that responds at once. It prints its address; the command "count" prints the
// number of requests received.
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

// Nodes with different numbers of endpoints take turns of a second or two while the others are suspended, so that any
// slowdown of the machine affects all of them. A round has this many turns.
const acceptTurns, drainTurns = 6, 2

// measureWebhooks accepts and drains with several numbers of endpoints. The yardstick of a figure is the same round
// without endpoints. The last figure is the rate at which all endpoints together receive events after the node has
// stopped accepting.
func (b *bench) measureWebhooks(ctx context.Context) {
	p := b.startProvider()
	defer p.stop()
	receiver := must(b.helper("receiver"))
	defer receiver.stop()
	address := must(receiver.readLine())
	for _, e := range engines() {
		accept, drain, events := b.webhookRows(e)
		for range b.rounds {
			b.webhookRound(ctx, p, e, receiver, address, accept, drain, events)
		}
	}
}

func (b *bench) webhookRound(ctx context.Context, p *provider, e engine, receiver *process, address string, accept, drain, events []*row) {
	var nodes []*node
	defer func() {
		for _, n := range nodes {
			b.discard(n)
		}
	}()
	req := sendRequest(bulkKey, 1, 600_000_000, never())
	for _, count := range hookCounts {
		n := b.serveEmpty(ctx, e, p.url)
		nodes = append(nodes, n)
		for k := range count {
			check(b.addWebhook(ctx, n, fmt.Sprintf("http://%s/%d", address, k)))
		}
		must(closedLoop(ctx, n.addr, req, time.Second)) // warms up
		n.suspend()
	}
	// turns calls do for each node several times, each time beginning with another node, and returns the mean result
	// per node.
	turns := func(turns int, do func(n *node) float64) []float64 {
		means := make([]float64, len(nodes))
		for turn := range turns {
			for k := range nodes {
				i := (turn + k) % len(nodes)
				nodes[i].resume()
				// warm-up: after its suspension the node believes that it was slow, and refuses more at first
				must(closedLoop(ctx, nodes[i].addr, req, 300*time.Millisecond))
				means[i] += do(nodes[i]) / float64(turns)
				check(load.Pause(ctx, 200*time.Millisecond)) // until nothing waits to be stored
				nodes[i].suspend()
			}
		}
		return means
	}
	accepted := turns(acceptTurns, func(n *node) float64 { return must(closedLoop(ctx, n.addr, req, time.Second)) })
	for i, n := range nodes {
		if hookCounts[i] > 0 {
			before, begin := requests(receiver), time.Now()
			n.resume()
			total, last := lastCame(ctx, receiver)
			events[i].add(float64(total-before)/last.Sub(begin).Seconds(), 0)
			n.suspend()
		}
	}
	messages := drainMessages / 4
	if b.quick {
		messages /= 10
	}
	seconds := turns(drainTurns, func(n *node) float64 { return b.drainOf(ctx, p, n, messages) })
	for i := range nodes {
		accept[i].add(accepted[i], accepted[0])
		drain[i].add(float64(messages)/seconds[i], float64(messages)/seconds[0])
	}
}

func (b *bench) webhookRows(e engine) (accept, drain, events []*row) {
	for _, count := range hookCounts {
		with := fmt.Sprintf("%d webhooks, %s", count, e.name)
		accept = append(accept, b.table.add(row{figure: "Accept, 1 recipient, " + with, unit: "messages/s", yardstick: "0 webhooks"}))
		drain = append(drain, b.table.add(row{
			figure: "Delivery drain, " + with, unit: "messages/s, states written",
			yardstick: "0 webhooks",
		}))
		if count > 0 {
			events = append(events, b.table.add(row{figure: "Events to endpoints, " + with, unit: "events/s"}))
		} else {
			events = append(events, nil)
		}
	}
	return accept, drain, events
}

// drainOf returns how many seconds a drain takes. Unlike drain, it does not wait for notifications in progress, since
// the never-due ones always are.
func (b *bench) drainOf(ctx context.Context, p *provider, n *node, messages int) float64 {
	p.forget()
	dueAt := time.Now().Add(5 * time.Second).Truncate(time.Second)
	check(b.acceptMany(ctx, n, bulkKey, messages, dueAt))
	left := time.Until(dueAt)
	if left < 0 {
		panic(failure{errors.New("accepting took four seconds")})
	}
	check(load.Pause(ctx, left+time.Second))
	all := p.await(ctx, messages, 2*time.Minute)
	return all[len(all)-1].at.Sub(dueAt).Seconds()
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

// lastCame waits until the endpoints have received nothing for two seconds, and returns the number of requests and the
// time of the last one.
func lastCame(ctx context.Context, receiver *process) (count int, last time.Time) {
	for last = time.Now(); time.Since(last) < 2*time.Second; check(load.Pause(ctx, 50*time.Millisecond)) {
		if n := requests(receiver); n > count {
			count, last = n, time.Now()
		}
	}
	return count, last
}

func requests(receiver *process) int { return must(strconv.Atoi(must(receiver.ask("count")))) }
