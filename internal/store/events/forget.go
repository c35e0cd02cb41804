package events

import (
	"context"
	"fmt"

	"carillon/internal/store/db"
)

// Key is the position of an event.
type Key struct {
	Topic string
	Seq   int64
}

// forgetPage is the number of rows examined in one step.
const forgetPage = 200

// ForgetEvents deletes the events of a company for which gone returns true, and returns their positions. The others
// keep their numbers.
func (s *Store) ForgetEvents(ctx context.Context, companyID string, gone func(e *Event) bool) (deleted []Key, err error) {
	at := Key{}
	for {
		page, next, err := s.page(ctx, companyID, at)
		if err != nil || len(page) == 0 {
			return deleted, err
		}
		at = next
		for _, r := range page {
			kept, lost, err := r.without(companyID, gone)
			if err != nil {
				return deleted, err
			}
			if len(lost) == 0 {
				continue
			}
			if err := s.rewrite(ctx, companyID, &r, kept); err != nil {
				return deleted, err
			}
			deleted = append(deleted, lost...)
		}
	}
}

// topicRow is a row with its topic.
type topicRow struct {
	row
	topic string
}

func (s *Store) page(ctx context.Context, companyID string, after Key) (all []topicRow, next Key, err error) {
	all, err = db.Collect(ctx, s.d, "events", func(scan db.Scan) (r topicRow, err error) {
		err = scan(&r.topic, &r.seq, &r.events, &r.kind, &r.subject, &r.payload, &r.at)
		return r, err
	}, `SELECT topic, seq, events, kind, subject, payload, created_at FROM event
		WHERE company_id = $1 AND (topic, seq) > ($2, $3) ORDER BY topic, seq LIMIT $4`, companyID, after.Topic, after.Seq, forgetPage)
	if len(all) > 0 {
		last := &all[len(all)-1]
		next = Key{last.topic, last.seq}
	}
	return all, next, err
}

// without splits the events of a row into kept and deleted ones.
func (r *topicRow) without(companyID string, gone func(e *Event) bool) (kept []Event, lost []Key, err error) {
	events, err := r.unpack(companyID, r.topic)
	if err != nil {
		return nil, nil, err
	}
	for i := range events {
		if gone(&events[i]) {
			lost = append(lost, Key{r.topic, events[i].Seq})
		} else {
			kept = append(kept, events[i])
		}
	}
	return kept, lost, nil
}

// rewrite replaces a row by its kept events, each in its own row, because a row's events are consecutive.
func (s *Store) rewrite(ctx context.Context, companyID string, r *topicRow, kept []Event) error {
	err := s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, "DELETE FROM event WHERE company_id = $1 AND topic = $2 AND seq = $3", companyID, r.topic,
			r.seq); err != nil {
			return err
		}
		rows := db.NewBulk("event", "", "company_id:text", "topic:text", "seq:bigint", "events:bigint", "kind:text", "subject:text",
			"payload:text", "created_at:bigint")
		for i := range kept {
			e := &kept[i]
			rows.Add(companyID, r.topic, e.Seq, int64(1), e.Kind, e.Subject, string(e.Payload), db.Millis(e.At))
		}
		return rows.Write(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("delete events: %w", err)
	}
	return nil
}
