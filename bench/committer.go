package main

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"carillon/internal/store"
	"carillon/internal/store/db"
)

// measureCommitter lets 64 writers store single rows through the group commit, as custom operations.
func (b *bench) measureCommitter(ctx context.Context) {
	h, bare := b.startHandler()
	defer h.stop()
	s := must(store.Open(ctx, store.Options{Dir: filepath.Join(b.dir, "committer")}))
	defer func() { check(s.Close()) }()
	run := func(query string) db.Func {
		return func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, query)
			return err
		}
	}
	check(s.DB.Update(ctx, run("CREATE TABLE bench_row (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")))
	kind := db.Funcs("bench", 100)
	r := b.table.add(row{
		figure: "Single rows of 64 writers through the group commit, SQLite", unit: "rows/s", yardstick: "H", floor: minRatio(0.35),
	})
	for range b.rounds {
		yardstick := must(closedLoop(ctx, bare, sendRequest(bulkKey, 1, 600_000_000, never()), 2*time.Second))
		var rows atomic.Int64
		var writers sync.WaitGroup
		begin := time.Now()
		for range 64 {
			writers.Go(func() {
				for time.Since(begin) < 2*time.Second {
					check(kind.Commit(ctx, s.DB,
						run("INSERT INTO bench_row (text) VALUES ('a row of the size of a turn in a conversation')")))
					rows.Add(1)
				}
			})
		}
		writers.Wait()
		r.add(float64(rows.Load())/time.Since(begin).Seconds(), yardstick)
	}
}
