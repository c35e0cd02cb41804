package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"carillon"
	"carillon/internal/store/db"
	"carillon/internal/store/messages"
)

// Mark prepares a restored database for the start of the program. Messages may have been sent after the backup without
// this database knowing. So messages that are due by now are held until an operator decides; those that were in flight
// at the time of the backup end as failed, outcome_unknown. A receipt corrects both. Later messages are not affected.
// Fallbacks that wait are skipped: whether their messages arrived, and whether their calls were placed, is unknown.
// No program may use the database meanwhile. Marking again, after an interruption or for a later time, only holds
// more.
func (s *Store) Mark(ctx context.Context, now time.Time, told Progress) (*Restored, error) {
	if err := s.setMark(ctx, now, markBroken); err != nil {
		return nil, err
	}
	if err := s.Stats.Distrust(ctx, now); err != nil {
		return nil, err
	}
	m := marking{s: s, now: now, told: told}
	if _, err := s.DB.Exec(ctx,
		`UPDATE incoming_call SET under_way = FALSE, state = 'failed', reason = 'interrupted', ended_by = 'system', detail = $1,
		ended_at = $2 WHERE under_way AND node > ''`, underWay, db.Millis(now)); err != nil {
		return nil, fmt.Errorf("end calls to lines: %w", err)
	}
	if _, err := s.DB.Exec(ctx, `UPDATE call_transfer SET under_way = FALSE, state = 'failed', outcome = 'interrupted', ended_at = $1
		WHERE under_way AND sender > 0`, db.Millis(now)); err != nil {
		return nil, fmt.Errorf("end transfers: %w", err)
	}
	if _, err := s.DB.Exec(ctx, "DELETE FROM transfer_queue WHERE company_id > ''"); err != nil {
		return nil, fmt.Errorf("empty the queues of transfers: %w", err)
	}
	if _, err := s.DB.Exec(ctx, `UPDATE fallback SET due_at = 0, state = 'skipped', reason = $1, decided_at = $2
		WHERE company_id > '' AND due_at > 0`, string(carillon.ReasonOutcomeUnknown), db.Millis(now)); err != nil {
		return nil, fmt.Errorf("end fallbacks: %w", err)
	}
	if err := s.markTalk(ctx, now); err != nil {
		return nil, err
	}
	if err := s.markJobs(ctx, now); err != nil {
		return nil, err
	}
	failed := 0
	for shard := range carillon.Shards {
		// The attempts end before their calls: if the marking is interrupted in between, the next one finds both.
		if _, err := s.DB.Exec(ctx, `UPDATE call_attempt SET state = 'failed', reason = 'interrupted', detail = $3,
			ended_at = $2 WHERE ended_at = 0 AND call IN (SELECT id FROM call WHERE q = 2 AND shard = $1)`, shard, db.Millis(now),
			underWay); err != nil {
			return nil, fmt.Errorf("end attempts at calls: %w", err)
		}
		for _, t := range s.restorable() {
			n, err := m.steps(ctx, t.update(t.fail, t.flight+" AND shard = $1"), shard, db.Millis(now), underWay)
			if err != nil {
				return nil, fmt.Errorf("end what was under way: %w", err)
			}
			failed += n
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
	if _, err := s.DB.Exec(ctx, "DELETE FROM meta WHERE name = $1", lostRow); err != nil {
		return nil, fmt.Errorf("forget lost commits: %w", err)
	}
	if err := s.Adopt(ctx); err != nil {
		return nil, err
	}
	r, err := s.Restored(ctx)
	if r != nil {
		r.Failed = failed
	}
	return r, err
}

// markTalk ends work of conversations that is due now and may have been done after the backup: unsent replies, for
// which a later receipt still counts, and runs of flows that are due or wait for an external effect.
func (s *Store) markTalk(ctx context.Context, now time.Time) error {
	if _, err := s.DB.Exec(ctx, `UPDATE reply SET state = 'unknown', reason = $1, detail = $2, due_at = 0, changed_at = $3
		WHERE conversation_id > '' AND state IN ('queued', 'sending')`, string(carillon.ReasonOutcomeUnknown), replyDetail,
		db.Millis(now)); err != nil {
		return fmt.Errorf("end replies: %w", err)
	}
	return s.DB.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `INSERT INTO flow_entry (run_id, seq, at, path, kind, text)
			SELECT id, entries + 1, CAST($1 AS BIGINT), path, 'failed', CAST($2 AS TEXT) FROM flow_run WHERE due_at > 0 AND due_at <= $1`,
			db.Millis(now), flowDetail); err != nil {
			return fmt.Errorf("write flow entries: %w", err)
		}
		_, err := tx.Exec(ctx,
			`UPDATE flow_run SET state = 'failed', error = path || ': ' || $2, rev = rev + 1, entries = entries + 1, due_at = 0,
				begun = FALSE,
			changed_at = $1 WHERE due_at > 0 AND due_at <= $1`, db.Millis(now), flowDetail)
		return db.Wrap(err, "end flow runs")
	})
}

// markJobs marks the jobs that may have been sent, even partly, after the backup, and pauses those in progress,
// because this database does not know which batches they have accepted since.
func (s *Store) markJobs(ctx context.Context, now time.Time) error {
	if _, err := s.DB.Exec(ctx, `UPDATE bulk_job SET restored_at = $1, rev = rev + 1, owner = '', lease_until = 0,
		reason = CASE WHEN state IN ('sending', 'paused') THEN 'restored' ELSE reason END,
			state = CASE WHEN state = 'sending' THEN 'paused' ELSE state END,
		changed_at = CASE WHEN state = 'sending' THEN $1 ELSE changed_at END
		WHERE company_id > '' AND state IN ('draft', 'checking', 'checked', 'sending', 'paused')`, db.Millis(now)); err != nil {
		return fmt.Errorf("mark jobs: %w", err)
	}
	return nil
}

const replyDetail = "the database was restored: it may have been sent since the backup was taken"

// flowDetail is the error of a run that was ended by a restore.
const flowDetail = "The database was restored: what this step does may have been done since the backup"

func (s *Store) setMark(ctx context.Context, now time.Time, text string) error {
	_, err := s.DB.Exec(ctx, `INSERT INTO meta (name, value, text) VALUES ('restored', $1, $2)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value, text = excluded.text`, db.Millis(now), text)
	return db.Wrap(err, "mark the database as restored")
}

type marking struct {
	s    *Store
	now  time.Time
	told Progress
	held int
}

// markRows is the number of rows changed in one transaction.
const markRows = 2000

// steps repeats an update of a restorable table by key until it changes fewer than markRows rows.
func (m *marking) steps(ctx context.Context, query string, key any, args ...any) (total int, err error) {
	for n := int64(markRows); n == markRows; {
		if n, err = m.s.DB.Exec(ctx, query, append([]any{key, markRows}, args...)...); err != nil {
			return total, err
		}
		total += int(n)
	}
	return total, nil
}

// hold holds rows of a company.
func (m *marking) hold(ctx context.Context, t restorable, company, where string, key any, args ...any) error {
	args = append([]any{messages.RestoredPrefix + company, heldDetail}, args...)
	n, err := m.steps(ctx, t.update("hold = $3, detail = $4", where), key, args...)
	if m.held += n; n > 0 {
		m.told(m.held, 0)
	}
	return err
}

func (m *marking) holdShard(ctx context.Context, t restorable, shard int) error {
	lanes, err := t.Lanes(ctx, shard)
	if err != nil {
		return err
	}
	for _, l := range lanes {
		if l.Due.After(m.now) {
			continue
		}
		var company string
		if err := m.s.DB.Row(ctx, []any{&company}, "SELECT company_id FROM sender WHERE uid = $1", l.SenderUID); err != nil {
			return err
		}
		if err := m.hold(ctx, t, company, "q = 1 AND hold = '' AND shard = $1 AND sender = $5 AND class = $6 AND due_at <= $7",
			shard, l.SenderUID, int(l.Class), db.Millis(m.now)); err != nil {
			return err
		}
	}
	return nil
}

// holdHeld also holds messages that waited for their template, which may have been approved since.
func (m *marking) holdHeld(ctx context.Context) error {
	holds, err := m.s.Messages.Holds(ctx)
	if err != nil {
		return err
	}
	for _, hold := range holds {
		company, _, _ := strings.Cut(hold, "/")
		if err := m.hold(ctx, m.s.restorable()[0], company, "q = 1 AND hold <> '' AND hold = $1 AND due_at <= $5", hold,
			db.Millis(m.now)); err != nil {
			return err
		}
	}
	return nil
}
