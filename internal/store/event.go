package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"carillon/internal/db"
)

// Event is a state change that subscribers of its topic get. Seq is assigned in the commit: 1, 2, 3, … within a company's
// topic. Payload is JSON.
type Event struct {
	CompanyID string
	Topic     string
	Seq       int64
	Kind      string
	Subject   string // id of what it is about
	Payload   json.RawMessage
	At        time.Time
}

func eventKind() *db.Kind[[]*Event] {
	return &db.Kind[[]*Event]{
		Name: "event", Place: placeEvent, Background: true,
		Apply: func(ctx context.Context, tx *db.Tx, ops [][]*Event, _ bool) error {
			return AppendEvents(ctx, tx, slices.Concat(ops...)...)
		},
		Rows: func(op []*Event) int { return len(op) },
	}
}

// AppendEvents stores events in the transaction of the state change and sets their Seq. Topics are locked in one order.
func AppendEvents(ctx context.Context, tx *db.Tx, events ...*Event) error {
	slices.SortStableFunc(events, func(a, b *Event) int {
		return cmp.Or(cmp.Compare(a.CompanyID, b.CompanyID), cmp.Compare(a.Topic, b.Topic))
	})
	for len(events) > 0 {
		n := 1
		for n < len(events) && events[n].CompanyID == events[0].CompanyID && events[n].Topic == events[0].Topic {
			n++
		}
		if err := appendToTopic(ctx, tx, events[:n]); err != nil {
			return fmt.Errorf("append events: %w", err)
		}
		events = events[n:]
	}
	return nil
}

func appendToTopic(ctx context.Context, tx *db.Tx, events []*Event) error {
	var last int64
	if err := tx.Row(ctx, []any{&last}, `INSERT INTO event_topic (company_id, topic, seq) VALUES ($1, $2, $3)
		ON CONFLICT (company_id, topic) DO UPDATE SET seq = event_topic.seq + excluded.seq RETURNING seq`,
		events[0].CompanyID, events[0].Topic, len(events)); err != nil {
		return err
	}
	for i, e := range events {
		e.Seq = last - int64(len(events)-1-i)
		if _, err := tx.Exec(ctx, `INSERT INTO event (company_id, topic, seq, kind, subject, payload, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`, e.CompanyID, e.Topic, e.Seq, e.Kind, e.Subject, string(e.Payload), db.Millis(e.At)); err != nil {
			return err
		}
	}
	return nil
}

// AddEvents stores events without another operation and sets their Seq.
func (s *Store) AddEvents(ctx context.Context, events ...*Event) error {
	return s.events.Commit(ctx, s.DB, events)
}

// LastEvent returns the Seq of a topic's newest event, 0 when there was none.
func (s *Store) LastEvent(ctx context.Context, companyID, topic string) (seq int64, err error) {
	err = s.Row(ctx, []any{&seq}, "SELECT COALESCE(MAX(seq), 0) FROM event_topic WHERE company_id = $1 AND topic = $2", companyID, topic)
	if err != nil {
		return 0, fmt.Errorf("read a topic: %w", err)
	}
	return seq, nil
}

// EventsAfter returns a topic's events after seq, at most `most` of them, in their order.
func (s *Store) EventsAfter(ctx context.Context, companyID, topic string, seq int64, most int) ([]Event, error) {
	rows, err := s.Query(ctx, `SELECT seq, kind, subject, payload, created_at FROM event
		WHERE company_id = $1 AND topic = $2 AND seq > $3 ORDER BY seq LIMIT $4`, companyID, topic, seq, most)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var all []Event
	for rows.Next() {
		e, payload, at := Event{CompanyID: companyID, Topic: topic}, "", int64(0)
		if err := rows.Scan(&e.Seq, &e.Kind, &e.Subject, &payload, &at); err != nil {
			return nil, fmt.Errorf("read events: %w", err)
		}
		e.Payload, e.At = json.RawMessage(payload), db.Instant(at)
		all = append(all, e)
	}
	return all, rows.Err()
}

// DropEvents deletes events that are older than an instant, at most `most` of them.
func (s *Store) DropEvents(ctx context.Context, before time.Time, most int) (p Purged, err error) {
	err = s.chore(ctx, &p, func(ctx context.Context, tx *Tx) error {
		n, err := tx.Exec(ctx, `DELETE FROM event WHERE (company_id, topic, seq) IN (
			SELECT company_id, topic, seq FROM event WHERE created_at < $1 ORDER BY created_at LIMIT $2)`, db.Millis(before), most)
		p.Rows, p.More = int(n), int(n) == most
		return err
	})
	if err != nil {
		return p, fmt.Errorf("delete events: %w", err)
	}
	return p, nil
}
