package notify

import (
	"context"
	"log/slog"
	"time"

	"carillon/internal/queue"
	"carillon/internal/store"
)

// Recipients are counted in short steps between requests, a tenth of the time.
const (
	statsEvery = 2 * time.Second // between passes: changes meanwhile are counted together
	statsCalm  = 100 * time.Millisecond
	statsPause = 2 * time.Millisecond
	statsShare = 9 // pauses in steps
	statsLeave = 3 * time.Second
)

// countStats counts what became of recipients (internal/store/stats) until ctx ends, and then what is left. Each node counts what it
// changed itself; one of all nodes counts everything again where that is needed.
func countStats(ctx context.Context, s *store.Store, q *queue.Queue, log *slog.Logger) {
	var pass time.Time // when the next one begins
	failing := false
	for ctx.Err() == nil {
		s.DB.Commits.WaitIdle(ctx, statsCalm)
		begin := time.Now()
		more, err := false, error(nil)
		if !begin.Before(pass) {
			if more, err = s.Stats.Step(ctx, begin); !more {
				pass = begin.Add(statsEvery)
			}
		}
		if err == nil && !more && q.Owns(0) {
			more, err = s.Stats.Sweep(ctx, begin)
		}
		if err != nil && ctx.Err() == nil && !failing { // carillon_stats_lag_seconds shows the failures that follow
			log.WarnContext(ctx, "count recipients", "error", err)
		}
		failing = err != nil
		wait := statsEvery
		if more {
			wait = min(max(statsShare*time.Since(begin), statsPause), statsEvery)
		}
		pause(ctx, wait)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statsLeave)
	defer cancel()
	if err := s.Stats.Leave(ctx, time.Now()); err != nil {
		log.WarnContext(ctx, "count the last recipients", "error", err)
	}
}
