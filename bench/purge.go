package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"carillon/internal/load"
)

// measurePurge accepts at 30 % of the maximum while 64 connections sign in and a million rows that have lived their time
// are deleted.
func (b *bench) measurePurge(ctx context.Context) error {
	for _, e := range engines() {
		rows, err := b.stock(ctx, e, b.behind(), closed)
		if err != nil {
			return err
		}
		r := &row{
			figure: fmt.Sprintf("Accepting while 64 sign in and %d rows are purged, %s", b.behind(), e.name), how: "ms, p99 at 30 % of the maximum, 64 connections",
			yard: "without:", goal: "≤ 2", good: atMost(2),
		}
		most, err := b.acceptMost(ctx, e)
		if err != nil {
			return err
		}
		for range b.rounds {
			if err := b.purgeRound(ctx, rows, r, 0.3*most); err != nil {
				return err
			}
		}
		b.table.add(r)
	}
	return nil
}

// clients is over how many connections a maximum is taken, and the share of it that runs beside other work: over fewer, each
// of which has one request under way, requests would wait for their connection and not for the program.
const clients = 64

// acceptMost is what a node with an empty database accepts a second, over as many clients.
func (b *bench) acceptMost(ctx context.Context, e engine) (float64, error) {
	n, err := b.on(ctx, e, "http://127.0.0.1:9")
	if err != nil {
		return 0, err
	}
	defer b.retire(n)
	return closedLoop(ctx, n.addr, sendOne(), clients, 3*time.Second)
}

// purgeRound starts a node on a fresh copy for each look: purging begins some seconds after a start, and until then all is
// idle.
func (b *bench) purgeRound(ctx context.Context, rows *stock, r *row, rate float64) error {
	var n *node
	end := func() {
		if n != nil {
			b.retire(n)
			n = nil
		}
	}
	defer end()
	purged := 0.0
	took, err := inTurns(0, func(side int) (*load.Hist, error) {
		if side == 1 {
			h, rows, err := b.besidePurge(ctx, n, rate)
			purged += rows
			return h, err
		}
		for range 4 {
			end()
			s, err := b.copyOf(ctx, rows)
			if err != nil {
				return nil, err
			}
			if n, err = b.serveStock(ctx, s, nodeOptions{provider: "http://127.0.0.1:9", ops: true}); err != nil {
				return nil, err
			}
			if h, err := b.beforePurge(ctx, n, rate); h != nil || err != nil {
				return h, err
			}
			b.say("purging began before the idle measurement had ended; once more")
		}
		return nil, errors.New("purging began before the idle measurement had ended, four times")
	})
	if err != nil {
		return err
	}
	r.add(took[1].Milliseconds(0.99), took[0].Milliseconds(0.99))
	b.shape("Accepting, 64 sign in, purge, "+rows.e.name, took[1])
	b.say("%s: p99 %.1f ms, without %.1f ms, %.0f rows purged", r.figure, took[1].Milliseconds(0.99), took[0].Milliseconds(0.99), purged)
	return nil
}

// purgeLook is short in a quick run, whose rows would not last longer.
func (b *bench) purgeLook() time.Duration { return pick(b, 3*time.Second, time.Second) }

// beforePurge gives the latencies of accepting alone, or nothing where purging began meanwhile.
func (b *bench) beforePurge(ctx context.Context, n *node, rate float64) (*load.Hist, error) {
	if err := settle(ctx, n.child); err != nil {
		return nil, err
	}
	took, err := openLoop(ctx, n.addr, sendOne(), clients, rate, b.purgeLook())
	if err != nil {
		return nil, err
	}
	if purged, err := n.metric(ctx, purgedRows); err != nil || purged > 0 {
		return nil, err
	}
	return took, nil
}

// besidePurge gives the latencies of accepting while rows are purged and 64 connections sign in, and the rows purged.
func (b *bench) besidePurge(ctx context.Context, n *node, rate float64) (took *load.Hist, purged float64, err error) {
	if err := b.awaitPurge(ctx, n, 0); err != nil {
		return nil, 0, err
	}
	if took, err = b.besideSignIns(ctx, n, load.Always(sendOne()), rate, b.purgeLook()); err != nil {
		return nil, 0, err
	}
	if purged, err = n.metric(ctx, purgedRows); err != nil {
		return nil, 0, err
	}
	return took, purged, b.awaitPurge(ctx, n, purged)
}

const purgedRows = `carillon_purged_rows_total{what="notifications"}`

// awaitPurge waits until more than so many rows are purged: that shows that it is under way, also after a measurement,
// during which it rests in between.
func (b *bench) awaitPurge(ctx context.Context, n *node, so float64) error {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		purged, err := n.metric(ctx, purgedRows)
		if err != nil || purged > so {
			return err
		}
		if err := rest(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("nothing was purged within a minute, after %.0f rows", so)
}

// besideSignIns gives the latencies of accepting while 64 connections sign in.
func (b *bench) besideSignIns(ctx context.Context, n *node, requests func(conn, k int) []byte, rate float64, d time.Duration) (*load.Hist, error) {
	ended := make(chan error, 1)
	go func() {
		_, err := closedLoop(ctx, n.addr, signInRequest(), 64, d+time.Second)
		ended <- err
	}()
	if err := rest(ctx, time.Second/2); err != nil {
		return nil, err
	}
	l := load.Load{Addr: n.addr, Conns: clients, For: d, Rate: rate, Request: requests}
	took, err := l.Run(ctx)
	return &took.OK, errors.Join(err, <-ended)
}

// metric reads one sample of a node that serves its operators' address; 0 where there is none yet.
func (n *node) metric(ctx context.Context, name string) (float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+n.ops+"/metrics", http.NoBody)
	if err != nil {
		return 0, err
	}
	client := &http.Client{Timeout: 10 * time.Second}
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if value, found := strings.CutPrefix(lines.Text(), name+" "); found {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, nil
}
