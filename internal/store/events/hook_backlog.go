package events

import (
	"context"
	"time"

	"carillon/internal/store/db"
)

// Backlog is the events that an endpoint was not served yet, wanted or not.
type Backlog struct {
	EndpointKey
	Failing bool // deliveries to it fail, so they wait
	Events  int64
	Oldest  time.Time // creation of the first of them
}

// oldestBehind is the creation of the first event after a cursor.
const oldestBehind = `(SELECT e.created_at FROM event AS e WHERE e.company_id = hook_cursor.company_id AND e.topic = hook_cursor.topic
	AND e.seq > hook_cursor.seq ORDER BY e.seq LIMIT 1)`

// Backlogs returns the endpoints that are not disabled and have events waiting.
func (s *Hooks) Backlogs(ctx context.Context) ([]Backlog, error) {
	return db.Collect(ctx, s.d, "backlogs", func(scan db.Scan) (b Backlog, err error) {
		var oldest int64
		err = scan(&b.CompanyID, &b.WebhookID, &b.Failing, &b.Events, &oldest)
		b.Oldest = db.Instant(oldest)
		return b, err
	}, `SELECT hook.company_id, hook.webhook_id, hook.failures > 0, SUM(event_topic.seq - hook_cursor.seq),
		COALESCE(MIN(`+oldestBehind+`), 0)
		FROM hook_cursor JOIN hook ON hook.company_id = hook_cursor.company_id AND hook.webhook_id = hook_cursor.webhook_id
		JOIN event_topic ON event_topic.company_id = hook_cursor.company_id AND event_topic.topic = hook_cursor.topic
		WHERE hook.disabled_at = 0 AND event_topic.seq > hook_cursor.seq
		GROUP BY hook.company_id, hook.webhook_id, hook.failures`)
}

// Oldest returns the creation of the oldest event that an endpoint still gets, not served yet or to be tried again; the
// zero time if there is none.
func (s *Hooks) Oldest(ctx context.Context, k EndpointKey) (time.Time, error) {
	var behind, retried int64
	err := s.d.Row(ctx, []any{&behind, &retried}, `SELECT COALESCE(MIN(`+oldestBehind+`), 0),
		COALESCE((SELECT MIN(r.begun_at) FROM hook_retry AS r WHERE r.company_id = $1 AND r.webhook_id = $2 AND r.state = 'waiting'), 0)
		FROM hook_cursor WHERE hook_cursor.company_id = $1 AND hook_cursor.webhook_id = $2`, k.CompanyID, k.WebhookID)
	if behind == 0 || retried > 0 && retried < behind {
		behind = retried
	}
	return db.Instant(behind), db.Wrap(err, "read the oldest event that waits")
}
