package limit

import (
	"context"
	"time"
)

// AllowDaily counts n requests under name in the current UTC day, across all nodes. A perDay of 0 means no limit. A
// refused request is not counted. Errors: rate_limit_exceeded; service_unavailable if the database does not respond.
func (l *Limits) AllowDaily(ctx context.Context, name string, perDay, n int) error {
	if perDay <= 0 {
		return nil
	}
	now := l.Now()
	end := now.UTC().Truncate(day).Add(day) // key of the window; swept once it is over
	ctx, cancel := context.WithTimeout(ctx, l.wait)
	defer cancel()
	granted, _, err := l.store.BorrowRate(ctx, "day "+name, end, n, perDay)
	switch {
	case err != nil:
		return unavailable(err)
	case !granted:
		return Exceeded("Too many requests today", perDay, day, end, now)
	}
	l.sweepDays(ctx, now)
	return nil
}

const day = 24 * time.Hour

// sweepDays occasionally deletes the counts of earlier days. With a single node nothing else deletes them.
func (l *Limits) sweepDays(ctx context.Context, now time.Time) {
	l.mu.Lock()
	due := now.Sub(l.swept) >= time.Hour
	if due {
		l.swept = now
	}
	l.mu.Unlock()
	if !due {
		return
	}
	n, err := l.store.DropRates(ctx, now.Add(-Window), sweepMax)
	if err != nil {
		l.log.WarnContext(ctx, "cannot delete old rates", "error", err)
	}
	if n == sweepMax { // each conversation of a day has a row: the next request deletes more
		l.mu.Lock()
		l.swept = time.Time{}
		l.mu.Unlock()
	}
}
