package events

import (
	"context"
	"slices"
	"time"

	"carillon/internal/store/db"
)

// Round is the result of some deliveries to an endpoint.
type Round struct {
	Endpoint  *Endpoint
	Since     time.Time // Endpoint.FailingSince at the start of the round; the stored value differs if the endpoint was enabled meanwhile
	Ordered   bool
	Cursors   []Cursor   // the cursors that advanced
	Delivered []Delivery // those that had a row
	Kept      []Delivery // failed deliveries, to be retried or given up
	Recovered bool       // waiting deliveries become due immediately
	Probe     time.Time  // time at which one waiting delivery is tried early; zero for none
	Attempts  []Attempt
}

// maxAttempts is the number of attempts kept per endpoint, in addition to maxFailed failed ones.
const (
	maxAttempts = 1000
	maxFailed   = 1000
)

// Save stores the result of a round, and sets WakeAt. It never moves back a cursor that another node advanced
// meanwhile.
func (s *Hooks) Save(ctx context.Context, r *Round) error {
	e := r.Endpoint
	k := EndpointKey{e.CompanyID, e.WebhookID}
	var wake int64
	err := s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx,
			`UPDATE hook SET failures = $1, failing_since = $2, pause_until = $3, disabled_at = $4, disabled_why = $5, alerts = $6,
			succeeded_at = $7 WHERE company_id = $8 AND webhook_id = $9 AND failing_since = $10`, e.Failures,
			db.Millis(e.FailingSince), db.Millis(e.PauseUntil),
			db.Millis(e.DisabledAt), e.DisabledWhy, e.Alerts, db.Millis(e.SucceededAt), k.CompanyID, k.WebhookID, db.Millis(r.Since))
		if err != nil {
			return db.Wrap(err, "save endpoint")
		}
		if n == 0 { // enabled or deleted meanwhile, which must not be undone
			err := tx.Row(ctx, []any{new(int)}, "SELECT 1 FROM hook WHERE company_id = $1 AND webhook_id = $2", k.CompanyID, k.WebhookID)
			if err != nil {
				return db.Wrap(db.Ignore(err), "find endpoint")
			}
		}
		for _, c := range r.Cursors {
			if _, err := tx.Exec(ctx, "UPDATE hook_cursor SET seq = $1 WHERE company_id = $2 AND webhook_id = $3 AND topic = $4 AND "+
				"seq < $1",
				c.Seq, k.CompanyID, k.WebhookID, c.Topic); err != nil {
				return db.Wrap(err, "move a cursor")
			}
		}
		for i := range r.Delivered {
			x := &r.Delivered[i]
			if _, err := tx.Exec(ctx, "DELETE FROM hook_retry WHERE company_id = $1 AND webhook_id = $2 AND topic = $3 AND seq = $4",
				k.CompanyID, k.WebhookID, x.Topic, x.Seq); err != nil {
				return db.Wrap(err, "end a delivery")
			}
		}
		stored, err := stillStored(ctx, tx, k.CompanyID, r)
		if err != nil {
			return err
		}
		kept := slices.DeleteFunc(slices.Clone(r.Kept), func(x Delivery) bool { return !stored[Key{x.Topic, x.Seq}] })
		if err := keepDeliveries(ctx, tx, k, kept); err != nil {
			return err
		}
		if r.Recovered {
			if err := hastenHook(ctx, tx, k, e.SucceededAt); err != nil {
				return err
			}
		}
		attempts := slices.DeleteFunc(slices.Clone(r.Attempts), func(a Attempt) bool { return a.Event.Seq > 0 && !stored[a.Event] })
		if err := logAttempts(ctx, tx, attempts); err != nil {
			return err
		}
		if wake, err = nextRetry(ctx, tx, k, r.Ordered); err != nil {
			return err
		}
		if probe := db.Millis(r.Probe); probe > 0 && wake > probe {
			wake = probe
		}
		_, err = tx.Exec(ctx, "UPDATE hook SET wake_at = $1 WHERE company_id = $2 AND webhook_id = $3", wake, k.CompanyID, k.WebhookID)
		return db.Wrap(err, "save when the next delivery is due")
	})
	if err == nil {
		e.WakeAt = db.Instant(wake)
	}
	return err
}

// stillStored returns those of a round's failed or logged events that are still stored, and keeps them stored until the
// transaction ends. An event that was erased with a person during its delivery leaves neither a retry nor a log.
func stillStored(ctx context.Context, tx *db.Tx, companyID string, r *Round) (map[Key]bool, error) {
	byTopic := map[string][]int64{}
	for i := range r.Kept {
		byTopic[r.Kept[i].Topic] = append(byTopic[r.Kept[i].Topic], r.Kept[i].Seq)
	}
	for i := range r.Attempts {
		if at := r.Attempts[i].Event; at.Seq > 0 {
			byTopic[at.Topic] = append(byTopic[at.Topic], at.Seq)
		}
	}
	lock := ""
	if !tx.SQLite() { // which has one writer
		lock = " FOR SHARE"
	}
	stored := map[Key]bool{}
	for topic, seqs := range byTopic {
		err := db.Each(ctx, tx, func(scan db.Scan) error {
			var last, n int64
			if err := scan(&last, &n); err != nil {
				return err
			}
			for seq := last - n + 1; seq <= last; seq++ {
				stored[Key{topic, seq}] = true
			}
			return nil
		}, "SELECT seq, events FROM event WHERE company_id = $1 AND topic = $2 AND "+containing(tx.DB())+lock,
			companyID, topic, db.JSON(seqs))
		if err != nil {
			return nil, db.Wrap(err, "look for the events of a round")
		}
	}
	return stored, nil
}

func keepDeliveries(ctx context.Context, tx *db.Tx, k EndpointKey, deliveries []Delivery) error {
	b := db.NewBulk("hook_retry",
		`ON CONFLICT (company_id, webhook_id, topic, seq) DO UPDATE SET state = excluded.state, attempt = excluded.attempt,
		begun_at = excluded.begun_at, next_at = excluded.next_at`, "company_id:text", "webhook_id:text", "topic:text", "seq:bigint",
		"subject:text", "state:text",
		"attempt:bigint", "begun_at:bigint", "next_at:bigint")
	for i := range deliveries {
		x := &deliveries[i]
		b.Add(k.CompanyID, k.WebhookID, x.Topic, x.Seq, x.Subject, string(x.State), int64(x.Attempt), db.Millis(x.BegunAt),
			db.Millis(x.NextAt))
	}
	return b.Write(ctx, tx)
}

func logAttempts(ctx context.Context, tx *db.Tx, attempts []Attempt) error {
	b := db.NewBulk("hook_attempt", "", "id:text", "company_id:text", "webhook_id:text", "event_id:text", "kind:text",
		"subject:text", "attempt:bigint", "at:bigint",
		"took:bigint", "ok:boolean", "status:bigint", "error:text", "request:text", "response:text")
	for i := range attempts {
		a := &attempts[i]
		b.Add(a.ID, a.CompanyID, a.WebhookID, a.EventID, a.Kind, a.Subject, int64(a.N), db.Millis(a.At), a.Took.Milliseconds(),
			a.OK, int64(a.Status), a.Error,
			a.Request, a.Response)
	}
	return b.Write(ctx, tx)
}

// Log stores an attempt outside a round, such as a test.
func (s *Hooks) Log(ctx context.Context, a *Attempt) error {
	return s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error { return logAttempts(ctx, tx, []Attempt{*a}) })
}

// Again makes all waiting deliveries of an endpoint, even a disabled one, due immediately.
func (s *Hooks) Again(ctx context.Context, k EndpointKey, now time.Time) (found bool, err error) {
	err = s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx,
			`UPDATE hook SET failures = 0, failing_since = 0, pause_until = 0, disabled_at = 0, disabled_why = '', alerts = 0, wake_at = $1
			WHERE company_id = $2 AND webhook_id = $3`, db.Millis(now), k.CompanyID, k.WebhookID)
		if found = n > 0; err != nil || !found {
			return db.Wrap(err, "enable endpoint")
		}
		return hastenHook(ctx, tx, k, now)
	})
	return found, err
}

// hastenHook makes all waiting deliveries of an endpoint due.
func hastenHook(ctx context.Context, tx *db.Tx, k EndpointKey, now time.Time) error {
	_, err := tx.Exec(ctx, "UPDATE hook_retry SET next_at = $1 WHERE company_id = $2 AND webhook_id = $3 AND state = 'waiting' AND "+
		"next_at > $1",
		db.Millis(now), k.CompanyID, k.WebhookID)
	return db.Wrap(err, "hasten deliveries")
}

// SkipAll drops the waiting events of an endpoint: it continues with new ones.
func (s *Hooks) SkipAll(ctx context.Context, k EndpointKey) error {
	return s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx,
			`UPDATE hook_cursor SET seq = (SELECT t.seq FROM event_topic AS t WHERE t.company_id = hook_cursor.company_id
					AND t.topic = hook_cursor.topic)
			WHERE company_id = $1 AND webhook_id = $2 AND EXISTS (SELECT 1 FROM event_topic AS t WHERE t.company_id = hook_cursor.company_id
			AND t.topic = hook_cursor.topic AND t.seq > hook_cursor.seq)`, k.CompanyID, k.WebhookID); err != nil {
			return db.Wrap(err, "move cursors")
		}
		if _, err := tx.Exec(ctx, "DELETE FROM hook_retry WHERE company_id = $1 AND webhook_id = $2 AND state = 'waiting'",
			k.CompanyID, k.WebhookID); err != nil {
			return db.Wrap(err, "end deliveries")
		}
		_, err := tx.Exec(ctx, "UPDATE hook SET wake_at = 0 WHERE company_id = $1 AND webhook_id = $2", k.CompanyID, k.WebhookID)
		return db.Wrap(err, "let endpoint rest")
	})
}
