package events

import (
	"context"
	"slices"
	"time"

	"carillon/internal/store/db"
)

// Replay selects the events to send to an endpoint again.
type Replay struct {
	Topic    string // with Seq: one event
	Seq      int64
	From, To time.Time // events in [From, To), of any topic
	Kinds    []string  // only these types; nil for all
	Failed   bool      // only failed deliveries
}

// MaxReplay bounds the events of one Replay.
const MaxReplay = 10_000

// Replay queues events for an endpoint again, at most MaxReplay, earliest first, and returns their number, including
// those that were already queued.
func (s *Hooks) Replay(ctx context.Context, k EndpointKey, r Replay, now time.Time) (n int64, err error) {
	var found []Event
	if !r.Failed { // they are found outside the transaction, which a long range would block
		if found, err = r.find(ctx, s.d, k.CompanyID); err != nil || len(found) == 0 {
			return 0, db.Wrap(err, "look for events to replay")
		}
	}
	err = s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n = int64(len(found))
		err := sendAgain(ctx, tx, k, now, found)
		if r.Failed {
			n, err = sendFailedAgain(ctx, tx, k, now)
		}
		if err != nil || n == 0 {
			return db.Wrap(err, "replay events")
		}
		_, err = tx.Exec(ctx, "UPDATE hook SET wake_at = $1 WHERE company_id = $2 AND webhook_id = $3", db.Millis(now), k.CompanyID,
			k.WebhookID)
		return db.Wrap(err, "wake endpoint")
	})
	return n, err
}

const retryConflict = ` ON CONFLICT (company_id, webhook_id, topic, seq) DO UPDATE SET state = 'waiting', attempt = 0, begun_at = 0, ` +
	`next_at = excluded.next_at`

func sendFailedAgain(ctx context.Context, tx *db.Tx, k EndpointKey, now time.Time) (int64, error) {
	return tx.Exec(ctx,
		`UPDATE hook_retry SET state = 'waiting', attempt = 0, begun_at = 0, next_at = $1 WHERE (company_id, webhook_id, topic, seq) IN (
		SELECT company_id, webhook_id, topic, seq FROM hook_retry WHERE company_id = $2 AND webhook_id = $3 AND state = 'failed'
			ORDER BY next_at LIMIT $4)`,
		db.Millis(now), k.CompanyID, k.WebhookID, MaxReplay)
}

// find returns the events without their payloads.
func (r *Replay) find(ctx context.Context, d *db.DB, companyID string) (all []Event, err error) {
	if r.Topic != "" {
		found, err := At(ctx, d, companyID, r.Topic, []int64{r.Seq})
		for _, e := range found {
			all = append(all, e)
		}
		return all, err
	}
	for _, topic := range Topics() {
		if r.Kinds != nil && !slices.ContainsFunc(r.Kinds, func(kind string) bool { return TopicOf(kind) == topic }) {
			continue
		}
		seq, err := firstEventSince(ctx, d, companyID, topic, r.From.Add(-replaySlack))
		if err != nil {
			return nil, err
		}
		last, err := firstEventSince(ctx, d, companyID, topic, r.To.Add(replaySlack))
		if err != nil {
			return nil, err
		}
		for seq--; seq < last-1; {
			read, err := After(ctx, d, companyID, topic, seq, replayRead)
			if err != nil {
				return nil, err
			}
			if len(read) == 0 {
				break
			}
			seq = read[len(read)-1].Seq
			for i := range read {
				if e := &read[i]; e.Seq < last && r.wants(e) {
					e.Payload = nil
					all = append(all, *e)
				}
			}
			if len(all) >= MaxReplay {
				return all[:MaxReplay], nil
			}
		}
	}
	return all, nil
}

// replayRead is the number of events read at a time.
const replayRead = 500

func (r *Replay) wants(e *Event) bool {
	at := db.Millis(e.At)
	return at >= db.Millis(r.From) && at < db.Millis(r.To) && (r.Kinds == nil || slices.Contains(r.Kinds, e.Kind))
}

// sendAgain queues events for an endpoint.
func sendAgain(ctx context.Context, tx *db.Tx, k EndpointKey, now time.Time, all []Event) error {
	rows := db.NewBulk("hook_retry", retryConflict, "company_id:text", "webhook_id:text", "topic:text", "seq:bigint", "subject:text",
		"next_at:bigint",
		"state='waiting'", "attempt=0", "begun_at=0")
	for i := range all {
		e := &all[i]
		rows.Add(e.CompanyID, k.WebhookID, e.Topic, e.Seq, e.Subject, db.Millis(now))
	}
	return rows.Write(ctx, tx)
}

// replaySlack bounds the difference between the order of a topic's events and that of their instants: a change is numbered
// when it is committed.
const replaySlack = 5 * time.Minute

// firstEventSince returns a Seq before which a topic has no event at or after an instant, within slack.
func firstEventSince(ctx context.Context, d *db.DB, companyID, topic string, since time.Time) (int64, error) {
	var low, high int64 // the answer is in (low, high]
	if err := d.Row(ctx, []any{&low}, `SELECT COALESCE((SELECT seq - events + 1 FROM event WHERE company_id = $1 AND topic = $2 `+
		`ORDER BY seq LIMIT 1), 1)`,
		companyID, topic); err != nil {
		return 0, db.Wrap(err, "read the oldest event")
	}
	if err := d.Row(ctx, []any{&high}, "SELECT COALESCE(MAX(seq), 0) FROM event WHERE company_id = $1 AND topic = $2", companyID,
		topic); err != nil {
		return 0, db.Wrap(err, "read the newest event")
	}
	for low, high = low-1, high+1; high-low > 1; {
		middle := low + (high-low)/2
		var at int64
		err := d.Row(ctx, []any{&at},
			"SELECT created_at FROM event WHERE company_id = $1 AND topic = $2 AND seq >= $3 ORDER BY seq LIMIT 1", companyID,
			topic, middle)
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

// Attempts returns the last attempts of an endpoint, newest first, older than the attempt with the given id; with
// failed, only failed ones.
func (s *Hooks) Attempts(ctx context.Context, k EndpointKey, failed bool, before string, most int) ([]Attempt, error) {
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

// OfEvent returns the attempts to send one event to any endpoint, newest first.
func (s *Hooks) OfEvent(ctx context.Context, companyID, eventID string, most int) ([]Attempt, error) {
	return s.attempts(ctx, "company_id = $1 AND event_id = $2 ORDER BY id DESC LIMIT $3", companyID, eventID, most)
}

func (s *Hooks) attempts(ctx context.Context, where string, args ...any) ([]Attempt, error) {
	return db.Collect(ctx, s.d, "attempts", func(scan db.Scan) (Attempt, error) {
		var a Attempt
		var at, took int64
		err := scan(&a.ID, &a.CompanyID, &a.WebhookID, &a.EventID, &a.Kind, &a.Subject, &a.N, &at, &took, &a.OK, &a.Status,
			&a.Error, &a.Request, &a.Response)
		a.At, a.Took = db.Instant(at), time.Duration(took)*time.Millisecond
		return a, err
	}, `SELECT id, company_id, webhook_id, event_id, kind, subject, attempt, at, took, ok, status, error, request, response FROM `+
		`hook_attempt WHERE `+where, args...)
}

// Trim deletes at most `most` old attempts of an endpoint beyond those that are kept, and returns their number.
func (s *Hooks) Trim(ctx context.Context, k EndpointKey, most int) (int64, error) {
	total := int64(0)
	for _, x := range []struct {
		where string
		keep  int
	}{{" AND ok", maxAttempts}, {" AND NOT ok", maxFailed}} {
		n, err := s.d.Exec(ctx, `DELETE FROM hook_attempt WHERE id IN (SELECT id FROM hook_attempt WHERE company_id = $1 AND `+
			`webhook_id = $2`+x.where+`
			AND id <= (SELECT id FROM hook_attempt WHERE company_id = $1 AND webhook_id = $2`+x.where+
			` ORDER BY id DESC LIMIT 1 OFFSET $3) LIMIT $4)`,
			k.CompanyID, k.WebhookID, x.keep, most)
		if err != nil {
			return total, db.Wrap(err, "delete attempts")
		}
		total += n
	}
	return total, nil
}

// Sweep deletes deliveries that failed before an instant and rows of deleted endpoints, at most `most` per table, and
// reports whether there may be more.
func (s *Hooks) Sweep(ctx context.Context, before time.Time, most int) (more bool, err error) {
	n, err := s.d.Exec(ctx, `DELETE FROM hook_retry WHERE (company_id, webhook_id, topic, seq) IN (
		SELECT company_id, webhook_id, topic, seq FROM hook_retry WHERE state = 'failed' AND next_at < $1 ORDER BY next_at
			LIMIT $2)`, db.Millis(before), most)
	if err != nil || n == int64(most) {
		return err == nil, db.Wrap(err, "delete deliveries")
	}
	gone, err := db.Collect(ctx, s.d, "deleted endpoints", func(scan db.Scan) (k EndpointKey, err error) {
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
func (s *Hooks) drop(ctx context.Context, k EndpointKey, most int) (more bool, err error) {
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
