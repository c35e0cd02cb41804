package limit

import (
	"context"
	"time"
)

// Day is the length of a day, which begins at midnight UTC.
const Day = 24 * time.Hour

// AllowToday counts one request under name today, in the database of all nodes. It is meant for rare requests. Errors:
// rate_limit_exceeded; service_unavailable if the database does not respond.
func (l *Limits) AllowToday(ctx context.Context, name string, perDay int) error {
	now := l.Now().UTC()
	end := now.Truncate(Day).Add(Day) // the count is stored under the end of its day, so it is not swept before
	ctx, cancel := context.WithTimeout(ctx, l.wait)
	defer cancel()
	granted, used, err := l.store.BorrowRate(ctx, "day "+name, end, 1, perDay)
	switch {
	case err != nil:
		return unavailable(err)
	case !granted:
		return Exceeded("Too many today", perDay, Day, end, now)
	case used == 1 && l.local: // with several nodes, borrow deletes old counts
		if _, err := l.store.DropRates(ctx, now.Truncate(Window), sweepMax); err != nil {
			l.log.WarnContext(ctx, "delete old rates", "error", err)
		}
	}
	return nil
}
