package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon/bench/load"
)

// accepted reports how the requests were accepted.
func (c *column) accepted(r *load.Result) {
	c.add("Accept, p50; p99; p99.9, ms", "%.0f; %.0f; %.0f",
		r.OK.Milliseconds(0.5), r.OK.Milliseconds(0.99), r.OK.Milliseconds(0.999))
	c.add("Accepted; refused; broken", "%d; %d; %d", r.OK.Count(), r.Other.Count(), r.Broken.Load())
}

// backlog is the state of the events for webhooks at the end of a load.
type backlog struct {
	began  time.Time
	came   int     // events delivered until then
	oldest float64 // seconds that the oldest one has waited
}

// drained waits until all messages are at the channel and all events at the webhooks, and reports their delays.
func (b *bench) drained(ctx context.Context, p *provider, n *node, endpoint *process, left backlog, sent *load.Result, out *column) {
	messages, events, later := 0, 0, -1
	for time.Since(left.began) < drainWithin {
		messages = p.count()
		came := requests(endpoint)
		events = b.whole().hooks * (sent.OK.Count() + messages)
		if later < 0 && (time.Since(left.began) >= afterLoad || came >= events) {
			later = came
		}
		if came >= events && messages >= sent.OK.Count() && n.metric(`carillon_in_flight{kind="message"}`) == 0 {
			break
		}
		check(load.Pause(ctx, 200*time.Millisecond))
	}
	took := time.Since(left.began)
	var delays load.Latencies
	for _, a := range p.arrivals() {
		id, _, _ := strings.Cut(a.ref, ".")
		if at, ok := timeOf(id); ok {
			delays.Add(a.at.Sub(at))
		}
	}
	out.add("Request to the channel, p50; p99, ms", "%.0f; %.0f", delays.Milliseconds(0.5), delays.Milliseconds(0.99))
	out.add("Messages at the channel", "%d", messages)
	var p50, p99, latest float64
	must(fmt.Sscan(must(endpoint.ask("ages")), &p50, &p99, &latest))
	out.add("Event to its webhook, p50; p99; at most, s", "%.2f; %.2f; %.2f", p50/1000, p99/1000, latest/1000)
	out.add("Events for webhooks", "%d", events)
	out.add("Delivered at the end of the load; 30 s later", "%.0f %%; %.0f %%",
		100*float64(left.came)/float64(events), 100*float64(later)/float64(events))
	out.add("Oldest event that waits at the end of the load, s", "%.0f", left.oldest)
	if requests(endpoint) < events {
		out.add("All delivered after, s", "not in %.0f, %d wait", took.Seconds(), events-requests(endpoint))
	} else {
		out.add("All delivered after, s", "%.0f", took.Seconds())
	}
}

// sound reports the sound of calls, from the exchange's report.
func (c *column) sound(report string, held int) {
	var calls, usual, worst, packets, sounding, lost, underruns int
	must(fmt.Sscan(report, &calls, &usual, &worst, &packets, &sounding, &lost, &underruns))
	c.add("Calls held at the start; with sound in the load", "%d; %d", held, calls)
	c.add("Worst delay of a call's packet, p50; p99 of calls, ms", "%d; %d", usual/1000, worst/1000)
	c.add("Packets lost; later than 60 ms", "%.2f %%; %.2f %%", 100*float64(lost)/float64(max(1, packets+lost)),
		100*float64(underruns)/float64(max(1, packets)))
}

// metric returns the value of a series of a node now, or 0.
func (n *node) metric(series string) float64 { return read(n.metrics(), series) }

// metrics returns the node's page of metrics.
func (n *node) metrics() []byte {
	resp, err := http.Get("http://" + n.ops + "/metrics")
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body) // a page that breaks off lacks series
	return text
}

func read(page []byte, series string) float64 {
	_, rest, _ := bytes.Cut(page, []byte("\n"+series+" "))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	v, _ := strconv.ParseFloat(string(line), 64)
	return v
}

// watcher watches the resources that nodes use.
type watcher struct {
	nodes  []*node
	began  time.Time
	ticks  []int
	memory []float64
	peaks  map[string]float64
	stop   context.CancelFunc
	done   chan struct{}
}

// watch begins to watch nodes; nil ones are left out.
func watch(ctx context.Context, nodes ...*node) *watcher {
	ctx, stop := context.WithCancel(ctx)
	w := &watcher{
		nodes: slices.DeleteFunc(nodes, func(n *node) bool { return n == nil }), began: time.Now(), peaks: map[string]float64{},
		stop: stop, done: make(chan struct{}),
	}
	for _, n := range w.nodes {
		w.ticks, w.memory = append(w.ticks, n.cpuTicks()), append(w.memory, 0)
	}
	go func() {
		defer close(w.done)
		for load.Pause(ctx, time.Second) == nil {
			for i, n := range w.nodes {
				if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", n.cmd.Process.Pid)); err == nil {
					pages, _ := strconv.Atoi(strings.Fields(string(text))[1])
					w.memory[i] = max(w.memory[i], float64(pages*os.Getpagesize())/1e6)
				}
			}
			page := w.nodes[0].metrics()
			for _, series := range []string{"go_goroutines", "carillon_connections", "process_open_fds"} {
				w.peaks[series] = max(w.peaks[series], read(page, series))
			}
		}
	}()
	return w
}

// end returns the figures of the time since the beginning.
func (w *watcher) end() [][2]string {
	w.stop()
	<-w.done
	var processor, memory []string
	for i, n := range w.nodes {
		seconds := float64(n.cpuTicks()-w.ticks[i]) / 100 // a tick is 10 ms
		processor = append(processor, fmt.Sprintf("%.0f", seconds))
		memory = append(memory, fmt.Sprintf("%.0f", w.memory[i]))
	}
	var c column
	c.add("Processor of each node, s", "%s of %.0f", strings.Join(processor, " + "), time.Since(w.began).Seconds())
	c.add("Memory of each node, at most, MB", "%s", strings.Join(memory, " + "))
	c.add("Goroutines; connections; descriptors, at most", "%.0f; %.0f; %.0f",
		w.peaks["go_goroutines"], w.peaks["carillon_connections"], w.peaks["process_open_fds"])
	return c.cells
}

// profile writes a profile of a node's processor time during the load.
func (b *bench) profile(n *node, name string) {
	if b.profiles == "" {
		return
	}
	resp, err := http.Get("http://" + n.ops + "/debug/pprof/profile?seconds=20")
	if err != nil {
		b.logf("%v", err)
		return
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil {
		err = os.WriteFile(filepath.Join(b.profiles, name+".pprof"), text, 0o600)
	}
	if err != nil {
		b.logf("%v", err)
	}
}
