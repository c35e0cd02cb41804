package main

import (
	"bufio"
	"cmp"
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
			figure: fmt.Sprintf("Accepting while 64 sign in and %d rows are purged, %s", b.behind(), e.name), how: "ms, p99 at 30 % of the maximum",
			yard: "without:", goal: "≤ 2", good: atMost(2),
		}
		most, err := b.acceptMost(ctx, e)
		if err != nil {
			return err
		}
		for tries := 0; len(r.values) < b.rounds; tries++ {
			err := b.purgeRound(ctx, rows, r, 0.3*most)
			if errors.Is(err, errTooEarly) && tries < 3*b.rounds {
				b.say("%v; once more", err)
				continue
			}
			if err != nil {
				return err
			}
		}
		b.table.add(r)
	}
	return nil
}

// errTooEarly says that a round has to be taken again.
var errTooEarly = errors.New("purging began before the idle measurement had ended")

// acceptMost is what a node with an empty database accepts a second, over 64 connections.
func (b *bench) acceptMost(ctx context.Context, e engine) (float64, error) {
	n, err := b.on(ctx, e, "http://127.0.0.1:9")
	if err != nil {
		return 0, err
	}
	defer b.retire(n)
	return closedLoop(ctx, n.addr, request("POST", notifyPath("ck_bench_much"), body(1, 600000000, never)), 64, 3*time.Second)
}

func (b *bench) purgeRound(ctx context.Context, rows *stock, r *row, rate float64) error {
	s, err := b.copyOf(ctx, rows)
	if err != nil {
		return err
	}
	n, err := b.serveStock(ctx, s, nodeOptions{provider: "http://127.0.0.1:9", ops: true})
	if err != nil {
		return err
	}
	defer b.retire(n)
	// Purging begins some seconds after the start: until then all is idle.
	send := request("POST", notifyPath("ck_bench_much"), body(1, 600000000, never))
	if err := settle(ctx, n.child); err != nil {
		return err
	}
	const d = 4 * time.Second
	took, err := openLoop(ctx, n.addr, send, 16, rate, d)
	if err != nil {
		return err
	}
	alone := took.Milliseconds(0.99)
	if purged, err := n.metric(ctx, purgedRows); err != nil || purged > 0 {
		return cmp.Or(err, errTooEarly)
	}
	if err := b.awaitPurge(ctx, n, 0); err != nil {
		return err
	}
	crowd, err := b.besideSignIns(ctx, n, load.Always(send), rate, d)
	if err != nil {
		return err
	}
	before, err := n.metric(ctx, purgedRows)
	if err != nil {
		return err
	}
	if err := b.awaitPurge(ctx, n, before); err != nil {
		return err
	}
	r.add(crowd.Milliseconds(0.99), alone)
	b.shape("Accepting, 64 sign in, purge, "+rows.e.name, crowd)
	b.say("%s: p99 %.1f ms, without %.1f ms, %.0f rows purged", r.figure, crowd.Milliseconds(0.99), alone, before)
	return nil
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
	l := load.Load{Addr: n.addr, Conns: 16, For: d, Rate: rate, Request: requests}
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
