package limit

import (
	"context"
	"time"

	"carillon"
)

// sweepMax bounds the rows of older windows that one call deletes.
const sweepMax = 500

// borrow requests a slice from the database or, if that no longer fits, exactly the number that n needs. A refusal is
// remembered, because counts only rise within a window.
func (l *Limits) borrow(ctx context.Context, b *bucket, name string, limit, n int) error {
	b.mu.Lock()
	short := n - b.have
	b.mu.Unlock()
	wants := []int{short}
	if slice := limit / slices; slice > short {
		wants = []int{slice, short}
	}
	for _, want := range wants {
		granted, used, err := l.store.BorrowRate(ctx, name, b.start, want, limit)
		if err != nil {
			return unavailable(err)
		}
		b.mu.Lock()
		b.seen = used
		if granted {
			b.have += want
			b.mu.Unlock()
			return nil
		}
		if b.refused == 0 || want < b.refused {
			b.refused = want
		}
		b.mu.Unlock()
	}
	return nil
}

// sweepOld deletes rows of past windows, a bounded number at a time, until there are none.
func (l *Limits) sweepOld(ctx context.Context, start time.Time) {
	l.mu.Lock()
	due := l.sweep
	l.sweep = false
	l.mu.Unlock()
	if !due {
		return
	}
	// A node whose clock is behind may still count in the previous window.
	n, err := l.store.DropRates(ctx, start.Add(-Window), sweepMax)
	if err != nil {
		l.log.WarnContext(ctx, "cannot delete old rates", "error", err)
	}
	if err != nil || n == sweepMax {
		l.mu.Lock()
		l.sweep = true
		l.mu.Unlock()
	}
}

func unavailable(err error) *carillon.Error {
	return &carillon.Error{
		Code: carillon.ServiceUnavailable, Message: "The service cannot take this request now", Err: err, RetryAfter: 1,
		Details: carillon.Details{{Key: "reason", Value: "The database did not answer in time"}},
	}
}
