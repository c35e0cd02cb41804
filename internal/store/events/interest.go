package events

import (
	"context"
	"encoding/json"
	"time"

	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// interest holds the subscriptions of a company.
type interest struct {
	webhooks map[string]bool      // by topic
	streams  map[string]time.Time // by topic: end of the lease of an open stream
}

// lease is the validity of an open stream on every node after its last renewal.
const lease = 90 * time.Second

// Subscribed reports whether events of a company's topic are written. It reads a cache, which a change of a webhook
// and the first stream of a topic invalidate: immediately on their node, within half a second on others. If it cannot
// be read, events are written: an unneeded row does no harm.
func (s *Store) Subscribed(ctx context.Context, companyID, topic string) bool {
	x, err := s.interest(ctx, companyID)
	if err != nil || x.webhooks[topic] {
		return true
	}
	until, followed := x.streams[topic]
	if followed && !time.Now().Before(until) { // it may have been renewed since
		s.interests.Remove(companyID)
		x, err = s.interest(ctx, companyID)
		_, followed = x.streams[topic]
	}
	return followed || err != nil
}

func (s *Store) interest(ctx context.Context, companyID string) (interest, error) {
	return s.interests.Get(ctx, companyID, func(ctx context.Context) (interest, string, error) {
		x := interest{map[string]bool{}, map[string]time.Time{}}
		_, err := db.Collect(ctx, s.d, "subscribers", func(scan db.Scan) (struct{}, error) {
			var doc, topic string
			var until int64
			if err := scan(&doc, &topic, &until); err != nil {
				return struct{}{}, err
			}
			if topic != "" {
				x.streams[topic] = db.Instant(until)
				return struct{}{}, nil
			}
			return struct{}{}, x.addWebhook(doc)
		}, `SELECT doc, '', CAST(0 AS BIGINT) FROM resource WHERE company_id = $1 AND kind = 'webhook' AND active
			UNION ALL SELECT '', topic, until FROM event_interest WHERE company_id = $1 AND until > $2`, companyID, db.Millis(time.Now()))
		return x, companyID, err
	})
}

// addWebhook adds the topics of a webhook's types.
func (x interest) addWebhook(doc string) error {
	var webhook struct {
		Events []string `json:"events"`
	}
	if err := json.Unmarshal([]byte(doc), &webhook); err != nil {
		return err
	}
	for _, kind := range webhook.Events {
		for _, topic := range Topics() {
			if kind == "*" || TopicOf(kind) == topic {
				x.webhooks[topic] = true
			}
		}
	}
	return nil
}

// renewAfter is the minimum age of a lease for its renewal, so that many streams of a topic write its row once.
const renewAfter = 10 * time.Second

// Follow keeps the events of a topic being written while a stream of it is open; its owner renews it well before the
// lease ends. A renewal does not invalidate the caches. After a period without a stream the topic skips a number:
// events may be missing, and earlier followers notice the gap. There is one permanent row per company and topic.
// Follow returns when other nodes write the events too.
func (s *Store) Follow(ctx context.Context, companyID, topic string) error {
	return s.follow(ctx, companyID, topic, lease, renewAfter)
}

// pullLease is the time for which events are written after a company last asked for them.
const pullLease = 7 * 24 * time.Hour

// FollowPull keeps the events of a topic being written for a week, because a program of the company polls them.
func (s *Store) FollowPull(ctx context.Context, companyID, topic string) error {
	return s.follow(ctx, companyID, topic, pullLease, time.Hour)
}

func (s *Store) follow(ctx context.Context, companyID, topic string, lease, renewAfter time.Duration) error {
	now := time.Now()
	var until int64 // end of the previous lease
	err := db.Ignore(s.d.Row(ctx, []any{&until}, "SELECT until FROM event_interest WHERE company_id = $1 AND topic = $2", companyID, topic))
	if err == nil && until > db.Millis(now) && until <= db.Millis(now.Add(lease-renewAfter)) {
		err = s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "UPDATE event_interest SET until = $1 WHERE company_id = $2 AND topic = $3 AND until = $4",
				db.Millis(now.Add(lease)), companyID, topic, until)
			return err
		})
	}
	if err == nil && until <= db.Millis(now) {
		until = db.Millis(now.Add(lease))
		err = s.config.Change(ctx, func(ctx context.Context, tx *configure.Tx) error {
			tx.Changes(companyID)
			_, err := tx.Exec(ctx, `INSERT INTO event_interest (company_id, topic, until) VALUES ($1, $2, $3)
				ON CONFLICT (company_id, topic) DO UPDATE SET until = excluded.until`, companyID, topic, until)
			if err == nil {
				_, err = tx.Exec(ctx, "UPDATE event_topic SET seq = seq + 1 WHERE company_id = $1 AND topic = $2", companyID, topic)
			}
			return err
		})
	}
	if begun := db.Instant(until).Add(-lease); err == nil && !s.d.SQLite() && !begun.After(now) { // otherwise it belongs to a longer lease
		if !db.Pause(ctx, time.Until(begun.Add(configure.Spread))) {
			err = ctx.Err()
		}
	}
	return db.Wrap(err, "follow a topic")
}
