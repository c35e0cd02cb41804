package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"carillon/internal/load"
)

// measureStart takes the time from the start of the process to its first 200: on an empty folder, and after a kill -9
// under load, when the write-ahead log is full.
func (b *bench) measureStart(ctx context.Context) error {
	if err := b.coldStart(ctx, nodeOptions{}, "Cold start, empty", 100); err != nil {
		return err
	}
	again := &row{figure: "Start after kill -9 with a full log", how: "ms to the first 200, SQLite", goal: "≤ 300 ms", good: under(300)}
	size := &row{figure: "Write-ahead log under load", how: "MB, at most", goal: "≤ 100 MB", good: under(100)}
	req := request("POST", notifyPath("ck_bench_much"), body(100, 600000000, never))
	for range b.rounds {
		n, err := b.on(ctx, engines()[0], "http://127.0.0.1:9")
		if err != nil {
			return err
		}
		most, err := b.killUnderLoad(ctx, n, req, pick(b, 8*time.Second, 4*time.Second))
		if err != nil {
			return err
		}
		took, err := b.firstAnswer(ctx, n.options)
		if err != nil {
			return err
		}
		again.add(took, 0)
		size.add(most/1e6, 0)
		if err := os.RemoveAll(n.dir); err != nil {
			return err
		}
	}
	b.table.add(again, size)
	return nil
}

// killUnderLoad accepts for some time, kills the program in the midst of it, and gives the greatest size of SQLite's log.
func (b *bench) killUnderLoad(ctx context.Context, n *node, req []byte, d time.Duration) (float64, error) {
	broken := make(chan error, 1)
	go func() {
		_, err := closedLoop(ctx, n.addr, req, 64, d+10*time.Second)
		broken <- err
	}()
	most := 0.0
	for begin := time.Now(); time.Since(begin) < d; {
		if err := rest(ctx, 20*time.Millisecond); err != nil {
			return 0, err
		}
		size, err := n.walSize()
		if err != nil {
			return 0, err
		}
		most = max(most, size)
	}
	n.kill()
	if err := <-broken; err == nil {
		return 0, errors.New("the load ended before the program was killed")
	}
	return most, ctx.Err()
}

// coldStart starts the program on a folder, each round anew when the folder is to be empty.
func (b *bench) coldStart(ctx context.Context, o nodeOptions, figure string, goal float64) error {
	r := &row{figure: figure, how: "ms to the first 200", goal: "≤ " + show(goal) + " ms", good: under(goal)}
	for range b.rounds {
		took, err := b.firstAnswer(ctx, o)
		if err != nil {
			return err
		}
		r.add(took, 0)
	}
	b.table.add(r)
	return nil
}

// firstAnswer starts the program, asks until it answers 200, stops it, and gives the time in milliseconds.
func (b *bench) firstAnswer(ctx context.Context, o nodeOptions) (float64, error) {
	if o.dir == "" {
		var err error
		if o.dir, err = os.MkdirTemp(b.dir, "cold"); err != nil {
			return 0, err
		}
	}
	addr, err := freeAddress()
	if err != nil {
		return 0, err
	}
	n := &node{dir: o.dir, addr: addr}
	begin := time.Now()
	if err := b.launch(n, o, append(os.Environ(), "CARILLON_ADDR="+addr)); err != nil {
		return 0, err
	}
	defer n.stop()
	req := request("GET", "/readyz", "")
	for time.Since(begin) < 30*time.Second && ctx.Err() == nil {
		if c, err := load.Dial(ctx, addr); err == nil {
			_, err = ok(c, req)
			_ = c.Close()
			if err == nil {
				return ms(time.Since(begin)), nil
			}
		}
		if err := rest(ctx, 500*time.Microsecond); err != nil {
			return 0, err
		}
	}
	return 0, errors.New("no 200 within 30 s: " + n.lastLog(b))
}

// walSize is the size of SQLite's write-ahead log in bytes; 0 on PostgreSQL.
func (n *node) walSize() (float64, error) {
	if n.options.database != "" {
		return 0, nil
	}
	info, err := os.Stat(filepath.Join(n.dir, "carillon.db-wal"))
	if err != nil {
		return 0, err
	}
	return float64(info.Size()), nil
}
