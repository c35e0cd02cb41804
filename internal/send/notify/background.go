package notify

import (
	"context"
	"log/slog"
	"time"

	"carillon/internal/queue"
	"carillon/internal/store"
)

// The search table is filled in short steps, because on SQLite they block the writer. It gets a fifth of the time,
// unless it lags so far that searches would have to read too many notifications.
const (
	searchIdle   = 2 * time.Second
	searchPause  = 2 * time.Millisecond
	searchCalm   = 100 * time.Millisecond // longest wait for a moment without waiting requests
	searchShare  = 4                      // pause as a multiple of the step's duration
	searchMaxLag = 2 * time.Minute
)

func fillSearch(ctx context.Context, s *store.Store, q *queue.Queue, log *slog.Logger) {
	caughtUp, failing := time.Now(), false
	for ctx.Err() == nil {
		if !q.Owns(0) { // a single node fills the table: the owner of shard 0
			caughtUp = time.Now()
			pause(ctx, searchIdle)
			continue
		}
		if time.Since(caughtUp) <= searchMaxLag {
			s.DB.Commits.WaitIdle(ctx, searchCalm)
		}
		begin := time.Now()
		more, err := s.Search.Fill(ctx, begin)
		if err != nil && ctx.Err() == nil && !failing { // log the first; see carillon_search_lag_seconds
			log.WarnContext(ctx, "fill search", "error", err)
		}
		failing = err != nil
		wait := searchIdle
		if more && err == nil {
			wait = searchWait(time.Since(begin), begin.Sub(caughtUp))
		} else {
			caughtUp = begin
		}
		pause(ctx, wait)
	}
}

// searchWait returns the pause after a step, from its duration and the lag.
func searchWait(took, lag time.Duration) time.Duration {
	if lag > searchMaxLag {
		return searchPause
	}
	return min(max(searchShare*took, searchPause), searchIdle)
}

// Recipients are counted in short steps between requests, a tenth of the time unless a step takes half a second.
const (
	statsEvery = 2 * time.Second // between passes; changes in the meantime are counted together
	statsCalm  = 100 * time.Millisecond
	statsPause = 2 * time.Millisecond
	statsShare = 9               // pause as a multiple of the step's duration
	statsRest  = 5 * time.Second // longest pause
	statsLeave = 3 * time.Second
)

// statsWait returns the pause after a step. At hundreds of thousands of messages a second even one step takes long.
func statsWait(took, least time.Duration) time.Duration {
	return min(max(statsShare*took, least), statsRest)
}

// countStats counts the outcomes of recipients (internal/store/stats) until ctx ends, and then the remaining ones.
// Each node counts its own changes. A single node recounts everything if needed.
func countStats(ctx context.Context, s *store.Store, q *queue.Queue, log *slog.Logger) {
	var pass time.Time // start of the next pass
	failing := false
	for ctx.Err() == nil {
		s.DB.Commits.WaitIdle(ctx, statsCalm)
		begin := time.Now()
		more, err := false, error(nil)
		if !begin.Before(pass) {
			if more, err = s.Stats.Step(ctx, begin); !more {
				pass = time.Now().Add(statsWait(time.Since(begin), statsEvery))
			}
		}
		if err == nil && !more && q.Owns(0) {
			more, err = s.Stats.Sweep(ctx, begin)
		}
		if err != nil && ctx.Err() == nil && !failing { // log the first; see carillon_stats_lag_seconds
			log.WarnContext(ctx, "count recipients", "error", err)
		}
		failing = err != nil
		least := statsEvery
		if more {
			least = statsPause
		}
		pause(ctx, statsWait(time.Since(begin), least))
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statsLeave)
	defer cancel()
	if err := s.Stats.Leave(ctx, time.Now()); err != nil {
		log.WarnContext(ctx, "count the last recipients", "error", err)
	}
}
