package events

import (
	"context"
	"time"

	"carillon/internal/store/db"
)

// Endpoint is the delivery state of an endpoint. Zero times mean never or not.
type Endpoint struct {
	CompanyID, WebhookID string
	Failures             int       // consecutive
	FailingSince         time.Time // first of these failures
	PauseUntil           time.Time // no deliveries before
	WakeAt               time.Time // due time of the next waiting delivery
	DisabledAt           time.Time
	DisabledWhy          string
	Alerts               int // e-mails to the owners during this failure
	SucceededAt          time.Time
}

// Cursor is the last event of a topic that an endpoint was served.
type Cursor struct {
	Topic string
	Seq   int64
}

// DeliveryState is the state of a delivery with a row.
type DeliveryState string

// The states.
const (
	DeliveryWaiting DeliveryState = "waiting"
	DeliveryFailed  DeliveryState = "failed"
)

// Delivery is an event to be sent to an endpoint.
type Delivery struct {
	Event
	State   DeliveryState
	Attempt int       // attempts so far
	BegunAt time.Time // time of the first attempt
	NextAt  time.Time
	Gone    bool // the event was deleted
}

// Attempt is one request to an endpoint and its response.
type Attempt struct {
	ID        string // a UUIDv7
	CompanyID string
	WebhookID string
	EventID   string
	Event     Key // its position; zero for a sample event
	Kind      string
	Subject   string
	N         int // 1 for the first attempt of this event
	At        time.Time
	Took      time.Duration
	OK        bool
	Status    int    // 0 if there was no response
	Error     string // reason for the failure
	Request   string // the body
	Response  string // the beginning of the body
}

// Hooks is the SQL of deliveries to webhook endpoints: the state of each endpoint, its cursor in every topic,
// deliveries to retry, and the last attempts. The endpoints themselves are resources.
//
// A cursor marks the events that an endpoint has been served, so waiting events need no rows: only events whose
// delivery failed, or was requested again, have one. Its methods are safe for concurrent use.
type Hooks struct{ d *db.DB }

// NewHooks returns the store of a database.
func NewHooks(d *db.DB) *Hooks { return &Hooks{d} }

// BeginHook sets a new endpoint's cursors to the newest events.
func BeginHook(ctx context.Context, tx *db.Tx, companyID, webhookID string) error {
	if _, err := tx.Exec(ctx, "INSERT INTO hook (company_id, webhook_id) VALUES ($1, $2) ON CONFLICT (company_id, webhook_id) DO "+
		"UPDATE SET pause_until = 0, disabled_at = 0, failures = 0, failing_since = 0, wake_at = 0", companyID, webhookID); err != nil {
		return db.Wrap(err, "begin an endpoint")
	}
	for _, topic := range Topics() {
		if _, err := tx.Exec(ctx, `INSERT INTO hook_cursor (company_id, webhook_id, topic, seq)
			VALUES ($1, $2, $3, COALESCE((SELECT seq FROM event_topic WHERE company_id = $1 AND topic = $3), 0))
			ON CONFLICT (company_id, webhook_id, topic) DO UPDATE SET seq = excluded.seq`, companyID, webhookID, topic); err != nil {
			return db.Wrap(err, "begin a topic")
		}
	}
	return nil
}

// EndpointKey identifies an endpoint.
type EndpointKey struct{ CompanyID, WebhookID string }

// Due returns the endpoints with new events or due retries.
func (s *Hooks) Due(ctx context.Context, now time.Time) ([]EndpointKey, error) {
	return s.keys(ctx, dueHooks, db.Millis(now))
}

// DueOf is Due for some companies, which is cheap if others have many.
func (s *Hooks) DueOf(ctx context.Context, companies []string, now time.Time) ([]EndpointKey, error) {
	return s.keys(ctx, dueHooks+" AND company_id "+s.d.In(2), db.Millis(now), s.d.List(companies))
}

const dueHooks = `SELECT company_id, webhook_id FROM hook WHERE disabled_at = 0 AND pause_until <= $1
	AND (wake_at BETWEEN 1 AND $1 OR EXISTS (SELECT 1 FROM hook_cursor AS c JOIN event_topic AS t ON t.company_id = c.company_id
		AND t.topic = c.topic
	WHERE c.company_id = hook.company_id AND c.webhook_id = hook.webhook_id AND t.seq > c.seq))`

func (s *Hooks) keys(ctx context.Context, query string, args ...any) ([]EndpointKey, error) {
	return db.Collect(ctx, s.d, "endpoints", func(scan db.Scan) (k EndpointKey, err error) {
		err = scan(&k.CompanyID, &k.WebhookID)
		return k, err
	}, query, args...)
}

const endpointColumns = "failures, failing_since, pause_until, wake_at, disabled_at, disabled_why, alerts, succeeded_at"

// Endpoint returns the delivery state of an endpoint; nil if there is none.
func (s *Hooks) Endpoint(ctx context.Context, k EndpointKey) (*Endpoint, error) {
	return db.Find(ctx, s.d, "endpoint", func(scan db.Scan) (*Endpoint, error) {
		e := &Endpoint{CompanyID: k.CompanyID, WebhookID: k.WebhookID}
		var failing, pause, wake, disabled, succeeded int64
		err := scan(&e.Failures, &failing, &pause, &wake, &disabled, &e.DisabledWhy, &e.Alerts, &succeeded)
		e.FailingSince, e.PauseUntil, e.WakeAt = db.Instant(failing), db.Instant(pause), db.Instant(wake)
		e.DisabledAt, e.SucceededAt = db.Instant(disabled), db.Instant(succeeded)
		return e, err
	}, "SELECT "+endpointColumns+" FROM hook WHERE company_id = $1 AND webhook_id = $2", k.CompanyID, k.WebhookID)
}

// Cursors returns an endpoint's cursors by topic.
func (s *Hooks) Cursors(ctx context.Context, k EndpointKey) ([]Cursor, error) {
	return db.Collect(ctx, s.d, "cursors", func(scan db.Scan) (c Cursor, err error) {
		err = scan(&c.Topic, &c.Seq)
		return c, err
	}, "SELECT topic, seq FROM hook_cursor WHERE company_id = $1 AND webhook_id = $2 ORDER BY topic", k.CompanyID, k.WebhookID)
}

// Behind returns the number of events after an endpoint's cursors, including those outside its filter.
func (s *Hooks) Behind(ctx context.Context, k EndpointKey) (n int64, err error) {
	err = s.d.Row(ctx, []any{&n},
		`SELECT COALESCE(SUM(t.seq - c.seq), 0) FROM hook_cursor AS c JOIN event_topic AS t ON t.company_id = c.company_id
			AND t.topic = c.topic
		WHERE c.company_id = $1 AND c.webhook_id = $2`, k.CompanyID, k.WebhookID)
	return n, db.Wrap(err, "count the events that wait")
}

// firstRetry is the condition that no earlier delivery of the same subject waits, for ordered endpoints.
const firstRetry = ` AND NOT EXISTS (SELECT 1 FROM hook_retry AS b WHERE b.company_id = r.company_id AND b.webhook_id = r.webhook_id
	AND b.subject = r.subject
	AND b.state = 'waiting' AND b.topic = r.topic AND b.seq < r.seq)`

// Retries returns due deliveries, longest waiting first; if ordered, only the earliest of each subject.
func (s *Hooks) Retries(ctx context.Context, k EndpointKey, now time.Time, ordered bool, most int) ([]Delivery, error) {
	query := `SELECT r.topic, r.seq, r.subject, r.attempt, r.begun_at, r.next_at FROM hook_retry AS r
		WHERE r.company_id = $1 AND r.webhook_id = $2 AND r.state = 'waiting' AND r.next_at <= $3`
	if ordered {
		query += firstRetry
	}
	seqs := map[string][]int64{} // by topic
	all, err := db.Collect(ctx, s.d, "deliveries", func(scan db.Scan) (Delivery, error) {
		x := Delivery{State: DeliveryWaiting}
		x.CompanyID = k.CompanyID
		var begun, next int64
		err := scan(&x.Topic, &x.Seq, &x.Subject, &x.Attempt, &begun, &next)
		x.BegunAt, x.NextAt, seqs[x.Topic] = db.Instant(begun), db.Instant(next), append(seqs[x.Topic], x.Seq)
		return x, err
	}, query+" ORDER BY r.next_at LIMIT $4", k.CompanyID, k.WebhookID, db.Millis(now), most)
	if err != nil {
		return nil, err
	}
	found := map[string]map[int64]Event{}
	for topic, of := range seqs {
		if found[topic], err = At(ctx, s.d, k.CompanyID, topic, of); err != nil {
			return nil, err
		}
	}
	for i := range all {
		x := &all[i]
		e, kept := found[x.Topic][x.Seq]
		x.Kind, x.Payload, x.At, x.Gone = e.Kind, e.Payload, e.At, !kept
	}
	return all, nil
}

// NextRetry returns the due time of the next delivery; the zero time if none waits.
func nextRetry(ctx context.Context, tx *db.Tx, k EndpointKey, ordered bool) (next int64, err error) {
	query := "SELECT r.next_at FROM hook_retry AS r WHERE r.company_id = $1 AND r.webhook_id = $2 AND r.state = 'waiting'"
	if ordered {
		query += firstRetry
	}
	err = tx.Row(ctx, []any{&next}, query+" ORDER BY r.next_at LIMIT 1", k.CompanyID, k.WebhookID)
	return next, db.Wrap(db.Ignore(err), "read the next delivery")
}

// Counts returns the numbers of waiting and of failed deliveries of an endpoint.
func (s *Hooks) Counts(ctx context.Context, k EndpointKey) (waiting, failed int, err error) {
	err = db.Each(ctx, s.d, func(scan db.Scan) error {
		var state DeliveryState
		var n int
		err := scan(&state, &n)
		if state == DeliveryWaiting {
			waiting = n
		} else {
			failed = n
		}
		return err
	}, "SELECT state, COUNT(*) FROM hook_retry WHERE company_id = $1 AND webhook_id = $2 GROUP BY state", k.CompanyID, k.WebhookID)
	return waiting, failed, db.Wrap(err, "count deliveries")
}

// Blocked returns those of the subjects with a waiting delivery.
func (s *Hooks) Blocked(ctx context.Context, k EndpointKey, subjects []string) (map[string]bool, error) {
	blocked := map[string]bool{}
	err := db.Each(ctx, s.d, func(scan db.Scan) error {
		var subject string
		err := scan(&subject)
		blocked[subject] = true
		return err
	}, "SELECT DISTINCT subject FROM hook_retry WHERE company_id = $1 AND webhook_id = $2 AND state = 'waiting' AND subject "+s.d.In(3),
		k.CompanyID, k.WebhookID, s.d.List(subjects))
	return blocked, db.Wrap(err, "read subjects that wait")
}
