package hooks

import (
	"context"
	"time"

	"carillon/internal/db"
	"carillon/internal/store/events"
)

// Replay says which events an endpoint is to get again.
type Replay struct {
	Topic    string // with Seq: one event
	Seq      int64
	From, To time.Time // what happened from From to before To, of any topic
	Kinds    []string  // of these types alone; nil: of all
	Failed   bool      // what was given up
}

// ReplayMost is how many events one Replay takes at most.
const ReplayMost = 10_000

// Replay has an endpoint get events again, at most ReplayMost, the earliest first, and returns how many. What waits for it already is counted too.
func (s *Store) Replay(ctx context.Context, k Key, r Replay, now time.Time) (n int64, err error) {
	err = s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if n, err = r.run(ctx, tx, k, now); err != nil || n == 0 {
			return db.Wrap(err, "replay events")
		}
		_, err = tx.Exec(ctx, "UPDATE hook SET wake_at = $1 WHERE company_id = $2 AND webhook_id = $3", db.Millis(now), k.CompanyID, k.WebhookID)
		return db.Wrap(err, "wake endpoint")
	})
	return n, err
}

const again = ` ON CONFLICT (company_id, webhook_id, topic, seq) DO UPDATE SET state = 'waiting', attempt = 0, begun_at = 0, next_at = excluded.next_at`

func (r *Replay) run(ctx context.Context, tx *db.Tx, k Key, now time.Time) (int64, error) {
	at := db.Millis(now)
	switch {
	case r.Failed:
		return tx.Exec(ctx, `UPDATE hook_retry SET state = 'waiting', attempt = 0, begun_at = 0, next_at = $1 WHERE (company_id, webhook_id, topic, seq) IN (
			SELECT company_id, webhook_id, topic, seq FROM hook_retry WHERE company_id = $2 AND webhook_id = $3 AND state = 'failed' ORDER BY next_at LIMIT $4)`,
			at, k.CompanyID, k.WebhookID, ReplayMost)
	case r.Topic != "":
		return tx.Exec(ctx, `INSERT INTO hook_retry (company_id, webhook_id, topic, seq, subject, state, attempt, begun_at, next_at)
			SELECT company_id, $2, topic, seq, subject, 'waiting', 0, 0, $3 FROM event WHERE company_id = $1 AND topic = $4 AND seq = $5`+again,
			k.CompanyID, k.WebhookID, at, r.Topic, r.Seq)
	}
	total := int64(0)
	for _, topic := range events.Topics() {
		first, err := firstSince(ctx, tx, k.CompanyID, topic, r.From.Add(-slack))
		if err != nil {
			return 0, err
		}
		last, err := firstSince(ctx, tx, k.CompanyID, topic, r.To.Add(slack))
		if err != nil {
			return 0, err
		}
		query := `INSERT INTO hook_retry (company_id, webhook_id, topic, seq, subject, state, attempt, begun_at, next_at)
			SELECT company_id, $2, topic, seq, subject, 'waiting', 0, 0, $3 FROM event WHERE company_id = $1 AND topic = $4 AND seq >= $5 AND seq < $6
			AND created_at >= $7 AND created_at < $8`
		args := []any{k.CompanyID, k.WebhookID, at, topic, first, last, db.Millis(r.From), db.Millis(r.To), ReplayMost - total}
		if r.Kinds != nil {
			query += " AND kind " + tx.DB().In(10)
			args = append(args, tx.DB().List(r.Kinds))
		}
		n, err := tx.Exec(ctx, query+" ORDER BY seq LIMIT $9"+again, args...)
		if total += n; err != nil || total == ReplayMost {
			return total, err
		}
	}
	return total, nil
}

// slack is by how much the order of a topic's events may differ from that of their instants: a change is numbered as it is committed.
const slack = 5 * time.Minute

// firstSince returns a Seq before which no event of a topic is from an instant or later, give or take slack.
func firstSince(ctx context.Context, tx *db.Tx, companyID, topic string, since time.Time) (int64, error) {
	var low, high int64 // the answer is in (low, high]
	if err := tx.Row(ctx, []any{&low}, "SELECT COALESCE(MIN(seq), 1) FROM event WHERE company_id = $1 AND topic = $2", companyID, topic); err != nil {
		return 0, db.Wrap(err, "read the oldest event")
	}
	if err := tx.Row(ctx, []any{&high}, "SELECT COALESCE(MAX(seq), 0) FROM event WHERE company_id = $1 AND topic = $2", companyID, topic); err != nil {
		return 0, db.Wrap(err, "read the newest event")
	}
	for low, high = low-1, high+1; high-low > 1; {
		middle := low + (high-low)/2
		var at int64
		err := tx.Row(ctx, []any{&at}, "SELECT created_at FROM event WHERE company_id = $1 AND topic = $2 AND seq >= $3 ORDER BY seq LIMIT 1", companyID, topic, middle)
		if err != nil {
			return 0, db.Wrap(err, "read an event")
		}
		if at < db.Millis(since) {
			low = middle
		} else {
			high = middle
		}
	}
	return high, nil
}

// Attempts returns what was sent to an endpoint last, the latest first, after an attempt's id; failed: only what failed.
func (s *Store) Attempts(ctx context.Context, k Key, failed bool, before string, most int) ([]Attempt, error) {
	where, args := "company_id = $1 AND webhook_id = $2", []any{k.CompanyID, k.WebhookID, most}
	if failed {
		where += " AND NOT ok"
	}
	if before != "" {
		where += " AND id < $4"
		args = append(args, before)
	}
	return s.attempts(ctx, where+" ORDER BY id DESC LIMIT $3", args...)
}

// OfEvent returns what was sent of one event to any endpoint, the latest first.
func (s *Store) OfEvent(ctx context.Context, companyID, eventID string, most int) ([]Attempt, error) {
	return s.attempts(ctx, "company_id = $1 AND event_id = $2 ORDER BY id DESC LIMIT $3", companyID, eventID, most)
}

func (s *Store) attempts(ctx context.Context, where string, args ...any) ([]Attempt, error) {
	return db.Collect(ctx, s.d, "attempts", func(scan db.Scan) (Attempt, error) {
		var a Attempt
		var at, took int64
		err := scan(&a.ID, &a.CompanyID, &a.WebhookID, &a.EventID, &a.Kind, &a.Subject, &a.N, &at, &took, &a.OK, &a.Status, &a.Error, &a.Request, &a.Response)
		a.At, a.Took = db.Instant(at), time.Duration(took)*time.Millisecond
		return a, err
	}, `SELECT id, company_id, webhook_id, event_id, kind, subject, attempt, at, took, ok, status, error, request, response FROM hook_attempt WHERE `+where, args...)
}

// Trim deletes the attempts of an endpoint beyond the latest, at most `most` of them, and returns how many.
func (s *Store) Trim(ctx context.Context, k Key, most int) (int64, error) {
	total := int64(0)
	for _, x := range []struct {
		where string
		keep  int
	}{{" AND ok", attemptsMost}, {" AND NOT ok", failedMost}} {
		n, err := s.d.Exec(ctx, `DELETE FROM hook_attempt WHERE id IN (SELECT id FROM hook_attempt WHERE company_id = $1 AND webhook_id = $2`+x.where+`
			AND id <= (SELECT id FROM hook_attempt WHERE company_id = $1 AND webhook_id = $2`+x.where+` ORDER BY id DESC LIMIT 1 OFFSET $3) LIMIT $4)`,
			k.CompanyID, k.WebhookID, x.keep, most)
		if err != nil {
			return total, db.Wrap(err, "delete attempts")
		}
		total += n
	}
	return total, nil
}

// Sweep deletes deliveries that were given up before an instant, and what is left of endpoints that were deleted, at most `most` rows of a
// table, and reports whether there may be more.
func (s *Store) Sweep(ctx context.Context, before time.Time, most int) (more bool, err error) {
	n, err := s.d.Exec(ctx, `DELETE FROM hook_retry WHERE (company_id, webhook_id, topic, seq) IN (
		SELECT company_id, webhook_id, topic, seq FROM hook_retry WHERE state = 'failed' AND next_at < $1 ORDER BY next_at LIMIT $2)`, db.Millis(before), most)
	if err != nil || n == int64(most) {
		return err == nil, db.Wrap(err, "delete deliveries")
	}
	gone, err := db.Collect(ctx, s.d, "deleted endpoints", func(scan db.Scan) (k Key, err error) {
		err = scan(&k.CompanyID, &k.WebhookID)
		return k, err
	}, `SELECT company_id, webhook_id FROM hook WHERE NOT EXISTS (SELECT 1 FROM resource AS r
		WHERE r.company_id = hook.company_id AND r.kind = 'webhook' AND r.id = hook.webhook_id)`)
	if err != nil {
		return false, err
	}
	for _, k := range gone {
		if more, err := s.drop(ctx, k, most); more || err != nil {
			return more, err
		}
	}
	return false, nil
}

// drop deletes an endpoint's rows, and reports whether there may be more.
func (s *Store) drop(ctx context.Context, k Key, most int) (more bool, err error) {
	for _, query := range []string{
		`DELETE FROM hook_retry WHERE (company_id, webhook_id, topic, seq) IN (
			SELECT company_id, webhook_id, topic, seq FROM hook_retry WHERE company_id = $1 AND webhook_id = $2 LIMIT $3)`,
		"DELETE FROM hook_attempt WHERE id IN (SELECT id FROM hook_attempt WHERE company_id = $1 AND webhook_id = $2 LIMIT $3)",
	} {
		n, err := s.d.Exec(ctx, query, k.CompanyID, k.WebhookID, most)
		if err != nil || n == int64(most) {
			return err == nil, db.Wrap(err, "delete deliveries")
		}
	}
	for _, query := range []string{
		"DELETE FROM hook_cursor WHERE company_id = $1 AND webhook_id = $2", "DELETE FROM hook WHERE company_id = $1 AND webhook_id = $2",
	} {
		if _, err := s.d.Exec(ctx, query, k.CompanyID, k.WebhookID); err != nil {
			return false, db.Wrap(err, "delete endpoints")
		}
	}
	return false, nil
}
