package notify

import (
	"context"
	"log/slog"
	"time"

	"carillon/internal/queue"
	"carillon/internal/store"
)

// The search table is filled in short steps, because on SQLite they occupy the writer. It gets a fifth of the time, unless it
// lags so far that searches would have to read too many notifications.
const (
	searchIdle   = 2 * time.Second
	searchPause  = 2 * time.Millisecond
	searchCalm   = 100 * time.Millisecond // longest wait for a moment without waiting requests
	searchShare  = 4                      // pauses in steps
	searchMaxLag = 2 * time.Minute
)

func fillSearch(ctx context.Context, s *store.Store, q *queue.Queue, log *slog.Logger) {
	caughtUp, failing := time.Now(), false
	for ctx.Err() == nil {
		if !q.Owns(0) { // one of all nodes fills the table
			caughtUp = time.Now()
			pause(ctx, searchIdle)
			continue
		}
		if time.Since(caughtUp) <= searchMaxLag {
			s.DB.Commits.WaitIdle(ctx, searchCalm)
		}
		begin := time.Now()
		more, err := s.Search.Fill(ctx, begin)
		if err != nil && ctx.Err() == nil && !failing { // carillon_search_lag_seconds shows the failures that follow
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

// searchWait returns the pause after a step by its duration and the lag.
func searchWait(took, lag time.Duration) time.Duration {
	if lag > searchMaxLag {
		return searchPause
	}
	return min(max(searchShare*took, searchPause), searchIdle)
}
