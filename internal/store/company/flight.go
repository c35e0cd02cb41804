package company

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// inFlight are the queries for work of a company $1 that has begun and has no result yet. Work that no node can complete any
// more is not counted: its lease ends, or its node is gone, and it is recovered at the new installation. $2 is the present time.
//
//nolint:gochecknoglobals // a constant table
var inFlight = []struct{ what, query string }{
	{"messages being sent", `SELECT COUNT(*) FROM sender AS s CROSS JOIN message AS m
		WHERE s.company_id = $1 AND m.shard = s.uid % 64 AND m.q >= 2 AND m.q = 2 AND m.sender = s.uid AND CAST($2 AS BIGINT) > 0`},
	{"calls", `SELECT COUNT(*) FROM sender AS s CROSS JOIN call AS c
		WHERE s.company_id = $1 AND c.shard = s.uid % 64 AND c.q = 2 AND c.sender = s.uid AND CAST($2 AS BIGINT) > 0`},
	{"calls to lines", `SELECT COUNT(*) FROM sender AS s CROSS JOIN incoming_call AS c
		WHERE s.company_id = $1 AND c.under_way AND c.sender = s.uid AND CAST($2 AS BIGINT) > 0`},
	{"transfers of calls", `SELECT COUNT(*) FROM sender AS s CROSS JOIN call_transfer AS c
		WHERE s.company_id = $1 AND c.under_way AND c.sender = s.uid AND CAST($2 AS BIGINT) > 0`},
	{"replies being sent", `SELECT COUNT(*) FROM reply WHERE company_id = $1 AND state = 'sending' AND due_at > $2`},
	{"e-mails being sent", `SELECT COUNT(*) FROM conversation AS c CROSS JOIN mail_reply AS m
		WHERE c.company_id = $1 AND m.conversation_id = c.id AND m.state = 'sending' AND m.due_at > $2`},
	{"inbound messages", `SELECT COUNT(*) FROM inbound_message WHERE company_id = $1 AND node <> '' AND due_at > $2`},
	{"steps of flows", `SELECT COUNT(*) FROM flow_run WHERE company_id = $1 AND begun AND node <> '' AND due_at > $2`},
	{"files of recipients", `SELECT COUNT(*) FROM bulk_job WHERE company_id = $1 AND owner <> '' AND lease_until > $2`},
	{"imports of histories", `SELECT COUNT(*) FROM past_import WHERE company_id = $1 AND node <> '' AND due_at > $2`},
	{"sites being read", `SELECT COUNT(*) FROM site_state WHERE company_id = $1 AND lease_until > $2`},
	{"vectors being made", `SELECT COUNT(*) FROM embedding WHERE company_id = $1 AND lease_until > $2`},
}

// busy describes the work in flight in a snapshot; it is empty if there is none.
func (s *snapshot) busy(ctx context.Context, companyID string) (string, error) {
	var all []string
	for _, x := range inFlight {
		n, err := s.number(ctx, x.query, companyID, db.Millis(time.Now()))
		if err != nil {
			return "", fmt.Errorf("look for %s: %w", x.what, err)
		}
		if n > 0 {
			all = append(all, fmt.Sprintf("%d %s", n, x.what))
		}
	}
	return strings.Join(all, ", "), nil
}

// errBusy means that work of the company did not end in time.
var errBusy = errors.New("work of the company did not end in time; it is in use here again. If no program runs, start it first")

const lookEvery = 200 * time.Millisecond

// quiet waits until every node has stopped the company and nothing of it is in flight, and returns a snapshot of that
// moment.
func (e *export) quiet(ctx context.Context) (*snapshot, error) {
	wait := e.o.Grace
	if !e.store.DB.SQLite() {
		wait = max(wait, configure.Spread)
	}
	e.report(Progress{Phase: Waiting})
	for end := time.Now().Add(e.o.Wait); ; wait = lookEvery {
		if err := sleep(ctx, wait); err != nil {
			return nil, err
		}
		s, err := newSnapshot(ctx, e.store.DB)
		if err != nil {
			return nil, err
		}
		busy, err := s.busy(ctx, e.id)
		if err == nil && busy == "" {
			return s, nil
		}
		if err = errors.Join(err, s.close()); err != nil {
			return nil, err
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("%w: %s", errBusy, busy)
		}
		e.report(Progress{Phase: Waiting, Detail: busy})
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// exportedOf returns the exported tables of a database.
func exportedOf(all []*table) []*table {
	return slices.DeleteFunc(slices.Clone(all), func(t *table) bool { return !t.exported() && t.Found != InDocuments })
}
