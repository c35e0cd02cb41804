package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"carillon"
	"carillon/internal/db"
	"carillon/internal/store/work"
)

// Mark makes a restored database safe to start on. Messages may have been sent since the backup that this database does not
// know. So messages that are due by now are held until an operator decides; those that were being sent when the backup was
// made end as failed, outcome_unknown. A receipt corrects both. What is due later is not affected. No program may run on the
// database meanwhile. Marking again, after an interruption or for a later time, only adds to what is held.
func (s *Store) Mark(ctx context.Context, now time.Time, told Progress) (*Restored, error) {
	if err := s.setMark(ctx, now, markBroken); err != nil {
		return nil, err
	}
	m := marking{s: s, now: now, told: told}
	failed := 0
	for shard := range carillon.Shards {
		n, err := m.endFlights(ctx, shard)
		if err != nil {
			return nil, fmt.Errorf("end what was being sent: %w", err)
		}
		failed += n
		for _, t := range []*work.Table{s.messages, s.calls.Table} {
			if err := m.holdShard(ctx, t, shard); err != nil {
				return nil, fmt.Errorf("hold what is due: %w", err)
			}
		}
	}
	if err := m.holdHeld(ctx); err != nil {
		return nil, fmt.Errorf("hold what is due: %w", err)
	}
	if err := s.setMark(ctx, now, markDone); err != nil {
		return nil, err
	}
	r, err := s.Restored(ctx)
	if r != nil {
		r.Failed = failed
	}
	return r, err
}

func (s *Store) setMark(ctx context.Context, now time.Time, text string) error {
	_, err := s.Exec(ctx, `INSERT INTO meta (name, value, text) VALUES ('restored', $1, $2)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value, text = excluded.text`, db.Millis(now), text)
	return db.Wrap(err, "mark the database as restored")
}

type marking struct {
	s    *Store
	now  time.Time
	told Progress
	held int
}

// markRows is how many rows one transaction of a marking changes.
const markRows = 2000

// steps runs a statement that changes at most markRows rows until it finds fewer.
func (m *marking) steps(ctx context.Context, query string, args ...any) (total int, err error) {
	for n := int64(markRows); n == markRows; {
		if n, err = m.s.Exec(ctx, query, args...); err != nil {
			return total, err
		}
		total += int(n)
	}
	return total, nil
}

func (m *marking) hold(ctx context.Context, query string, args ...any) error {
	n, err := m.steps(ctx, query, args...)
	if m.held += n; n > 0 {
		m.told(m.held, 0)
	}
	return err
}

func (m *marking) endFlights(ctx context.Context, shard int) (int, error) {
	// The attempts end before their calls: where the marking breaks off between the two, the next one finds both.
	if _, err := m.steps(ctx, `UPDATE call_attempt SET state = 'failed', reason = 'interrupted', detail = 'was under way when the backup was taken',
		ended_at = $2 WHERE ended_at = 0 AND call IN (SELECT id FROM call WHERE q = 2 AND shard = $1)`, shard, db.Millis(m.now)); err != nil {
		return 0, err
	}
	calls, err := m.steps(ctx, `UPDATE call SET q = 0, state = 'failed', reason = 'interrupted', ended_by = 'system',
		detail = 'was under way when the backup was taken', ended_at = $2 WHERE id IN (SELECT id FROM call
		WHERE q = 2 AND shard = $1 LIMIT $3) AND q + 0 = 2`, shard, db.Millis(m.now), markRows)
	if err != nil {
		return calls, err
	}
	messages, err := m.steps(ctx, `UPDATE message SET q = 0, rank = CASE WHEN rank < 30 THEN 30 ELSE rank END, reason = 'outcome_unknown',
		detail = 'was being sent when the backup was taken', ended_at = $2 WHERE id IN (SELECT id FROM message
		WHERE q >= 2 AND shard = $1 LIMIT $3) AND q + 0 >= 2`, shard, db.Millis(m.now), markRows)
	return calls + messages, err
}

func (m *marking) holdShard(ctx context.Context, t *work.Table, shard int) error {
	lanes, err := t.Lanes(ctx, shard)
	if err != nil {
		return err
	}
	for _, l := range lanes {
		if l.Due.After(m.now) {
			continue
		}
		company, err := m.s.companyOf(ctx, l.SenderUID)
		if err != nil {
			return err
		}
		if err := m.hold(ctx, `UPDATE `+t.Name+` SET hold = $1, detail = $2 WHERE id IN (SELECT id FROM `+t.Name+`
			WHERE q = 1 AND hold = '' AND shard = $3 AND sender = $4 AND class = $5 AND due_at <= $6 LIMIT $7) AND q + 0 = 1 AND hold || '' = ''`,
			restoredPrefix+company, heldDetail, shard, l.SenderUID, int(l.Class), db.Millis(m.now), markRows); err != nil {
			return err
		}
	}
	return nil
}

// holdHeld also holds messages that waited for their template, which may have been approved since.
func (m *marking) holdHeld(ctx context.Context) error {
	holds, err := m.s.Holds(ctx)
	if err != nil {
		return err
	}
	for _, hold := range holds {
		company, _, _ := strings.Cut(hold, "/")
		if err := m.hold(ctx, `UPDATE message SET hold = $1, detail = $2 WHERE id IN (SELECT id FROM message
			WHERE q = 1 AND hold <> '' AND hold = $3 AND due_at <= $4 LIMIT $5) AND q + 0 = 1 AND hold || '' = $3`,
			restoredPrefix+company, heldDetail, hold, db.Millis(m.now), markRows); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) companyOf(ctx context.Context, senderUID int64) (id string, err error) {
	err = s.Row(ctx, []any{&id}, "SELECT company_id FROM sender WHERE uid = $1", senderUID)
	return id, err
}
