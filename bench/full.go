package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"carillon/bench/load"
)

const (
	fullFor     = time.Minute
	tenEvery    = 20 // each twentieth request has ten recipients
	afterLoad   = 30 * time.Second
	drainWithin = 2 * time.Minute
	waitFor     = 4 // seconds for which each request may wait before later ones have no connection
)

// column is the figures of one program in one installation.
type column struct {
	name  string
	cells [][2]string
}

func (c *column) add(figure, format string, values ...any) {
	c.cells = append(c.cells, [2]string{figure, fmt.Sprintf(format, values...)})
}

// installation is the subject of a column.
type installation struct {
	engine engine
	apart  bool // a second node is set apart for events
	*tree
}

func (i installation) String() string {
	switch {
	case i.apart:
		return i.engine.name + " with a node for events"
	case i.tree != nil && i.tree.name != "":
		return i.engine.name + ", " + i.tree.name
	}
	return i.engine.name
}

// measureFull measures full installations on each engine, of each version in turn.
func (b *bench) measureFull(ctx context.Context) {
	p := b.startProvider()
	defer p.stop()
	var all []installation
	for _, e := range engines() {
		for t := range slices.Values(b.trees) {
			all = append(all, installation{engine: e, tree: &t})
		}
	}
	all = append(all, installation{engine: engines()[1], apart: true})
	var columns []*column
	for _, i := range all {
		if b.on != "" && b.on != i.String() {
			continue
		}
		b.logf("%s …", i)
		p.forget()
		columns = append(columns, b.full(ctx, p, i))
		b.logf("%v", columns[len(columns)-1].cells)
	}
	text := b.besideEachOther(columns)
	fmt.Print(text)
	if !b.quick && b.on == "" {
		check(os.WriteFile("full.md", []byte(text), 0o644))
	}
}

// besideEachOther writes the figures, an installation in each column.
func (b *bench) besideEachOther(columns []*column) string {
	var text strings.Builder
	fmt.Fprintf(&text, "# A full installation under load\n\nMade by `make measure-full`. %s, commit %s.\n%s, for %s.\n\n| Figure |",
		time.Now().UTC().Format(time.DateOnly), commit(), b.whole(), fullFor)
	for _, c := range columns {
		text.WriteString(" " + c.name + " |")
	}
	text.WriteString("\n|---|" + strings.Repeat("---|", len(columns)) + "\n")
	for i, cell := range columns[0].cells {
		text.WriteString("| " + cell[0] + " |")
		for _, c := range columns {
			text.WriteString(" " + c.cells[i][1] + " |")
		}
		text.WriteString("\n")
	}
	return text.String()
}

// full measures one installation.
func (b *bench) full(ctx context.Context, p *provider, i installation) *column {
	x, out := b.whole(), &column{name: i.String()}
	endpoint := must(b.helper("endpoint"))
	defer endpoint.stop()
	exchange := must(b.helper("exchange"))
	defer exchange.stop()
	b.exchange = must(exchange.readLine())
	defer func() { b.exchange = "" }()
	n, second := b.startFull(ctx, p, i, must(endpoint.readLine()), out)
	defer b.discard(n)
	if second != nil {
		defer second.stop()
	}
	streaming, leave := context.WithCancel(ctx)
	defer leave()
	s := openScreens(streaming, n.addr, x)
	held := b.callThem(ctx, n, exchange, x.calls)
	watched := watch(ctx, n, second)
	loading, end := context.WithTimeout(ctx, fullFor)
	defer end()
	var beside sync.WaitGroup
	var overview, list load.Latencies
	var turnP50, turnP99 float64
	var turnsLost int
	beside.Go(func() { b.profile(n, i.String()) })
	beside.Go(func() { s.look(loading, &overview, &list) })
	beside.Go(func() { turnP50, turnP99, turnsLost = s.write(loading) })
	sent := must(notifyAll(ctx, n.addr, x))
	left := backlog{began: time.Now(), came: requests(endpoint), oldest: n.metric(`carillon_webhook_oldest_seconds{state="active"}`)}
	calls := must(exchange.ask("report"))
	used := watched.end()
	beside.Wait()
	out.accepted(sent)
	b.drained(ctx, p, n, endpoint, left, sent, out)
	leave()
	out.add("Event to the panel's streams, p50; p99, ms", "%.0f; %.0f", s.panel.Milliseconds(0.5), s.panel.Milliseconds(0.99))
	out.add("Event to programs that pull, p50; p99, ms", "%.0f; %.0f", s.pulled.Milliseconds(0.5), s.pulled.Milliseconds(0.99))
	out.add("Chat turn to its visitor's page, p50; p99, ms", "%.0f; %.0f", turnP50, turnP99)
	out.add("Events that streams lost; turns", "%d; %d", s.missing(), turnsLost)
	out.add("Overview of the panel, p50; p99, ms", "%.0f; %.0f", overview.Milliseconds(0.5), overview.Milliseconds(0.99))
	out.add("List of notifications, p50; p99, ms", "%.0f; %.0f", list.Milliseconds(0.5), list.Milliseconds(0.99))
	out.add("Pages of the panel that were refused", "%d", s.refused.Load())
	out.sound(calls, held)
	out.cells = append(out.cells, used...)
	return out
}

// startFull starts the program with a new set-up, starts it again with the same set-up, and leaves it running. In an
// installation with a node set apart for events it starts that too.
func (b *bench) startFull(ctx context.Context, p *provider, i installation, receiver string, out *column) (n, second *node) {
	o := nodeOptions{provider: p.url, files: b.setUp(b.whole(), p.url, receiver)}
	o.tree = i.tree
	if i.engine.postgres {
		b.seq++
		o.database = "full" + strconv.Itoa(b.seq)
		check(b.postgres.exec(ctx, "CREATE DATABASE "+o.database))
	}
	start := func(o nodeOptions, settings ...string) *node {
		o.ops = freeAddress()
		o.env = append(settings, "CARILLON_OPS_ADDR="+o.ops, "CARILLON_PASSWORD_MEMORY=8", "CARILLON_PASSWORD_PASSES=1")
		return b.serve(ctx, o)
	}
	begin := time.Now()
	n = start(o)
	out.add("Start with a new set-up, s", "%.1f", time.Since(begin).Seconds())
	n.stop()
	bare := n.nodeOptions
	bare.provider = ""
	begin = time.Now()
	start(bare).stop()
	out.add("Start and stop without a set-up, s", "%.1f", time.Since(begin).Seconds())
	begin = time.Now()
	n = start(n.nodeOptions)
	out.add("Start with the same set-up, s", "%.1f", time.Since(begin).Seconds())
	if i.apart {
		second = start(o, "CARILLON_EVENTS_ONLY=true")
	}
	n.waitIdle(ctx)
	out.add("Memory after the start, MB", "%.0f", n.megabytes())
	return n, second
}

func freeAddress() string {
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	defer l.Close()
	return l.Addr().String()
}

// callThem places the calls and returns the number that are held.
func (b *bench) callThem(ctx context.Context, n *node, exchange *process, count int) (held int) {
	b.placeCalls(ctx, n, menuAgent, count)
	for deadline := time.Now().Add(time.Minute); held < count && time.Now().Before(deadline); {
		must(exchange.ask("measure"))
		check(load.Pause(ctx, 2*time.Second))
		held = must(strconv.Atoi(strings.Fields(must(exchange.ask("report")))[0]))
	}
	must(exchange.ask("measure"))
	return held
}

// notifyAll sends at the rate, to each sender of each company in turn.
func notifyAll(ctx context.Context, addr string, x extent) (*load.Result, error) {
	var count atomic.Int64
	l := load.Load{
		Addr: addr, Conns: waitFor * int(x.rate), For: fullFor, Rate: x.rate, Tolerant: true,
		Request: func(int, int) []byte {
			k := int(count.Add(1))
			recipients := 1
			if k%tenEvery == 0 {
				recipients = 10
			}
			company, sender := k%x.companies, k/x.companies%x.senders
			return sendFrom("s"+strconv.Itoa(sender), fullKey(company), recipients, 600_000_000+10*k, time.Time{})
		},
	}
	return l.Run(ctx)
}
