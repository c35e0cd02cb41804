package db

import (
	"context"
	"time"
)

// Here is the condition that a row's company is in use at this installation: nothing of a company that is being moved
// starts. Queries for work of all companies have it; the table is nearly always empty.
const Here = " AND company_id NOT IN (SELECT company_id FROM company_move)"

// importBeat is the time for which an import counts as running. A running one renews its state each fifth of it.
const importBeat = 5 * time.Minute

// ImportRenewal is the interval in which an import renews its state.
const ImportRenewal = importBeat / 5

// Importing reports whether the rows of a company are being imported: what works on the rows of all companies in the
// background waits, because the rows are compared at the end. An import that was given up stops nothing for long.
func Importing(ctx context.Context, q Querier, now time.Time) (bool, error) {
	var n int
	err := q.Row(ctx, []any{&n}, "SELECT COUNT(*) FROM company_move WHERE state = 'arriving' AND at > $1", Millis(now.Add(-importBeat)))
	return n > 0, Wrap(err, "look for imports")
}
