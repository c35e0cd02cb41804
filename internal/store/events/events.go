// Package events is the SQL of events: state changes for the subscribers of a company's topics. A company subscribes
// to a topic with a webhook whose filter includes one of its types, or while a stream of it is open (Subscribed);
// without subscribers no row is written.
//
// An event is written in the transaction of its change, so they are always consistent, and numbered within its topic
// without gaps. The topic's counter is the last row that a transaction locks (Record).
package events

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"carillon/internal/base/cache"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// The topics of a company.
const (
	Notifications = "notifications" // notification.accepted, message.sent, .delivered, .read, .clicked, .failed, .canceled, .skipped
	Calls         = "calls"         // call.started, .completed, .failed
	Templates     = "templates"     // template.approved, .rejected, .paused
	Conversations = "conversations" // conversation.started, .handoff, .resolved, .reviewed; message.received, feedback.received
	Requested     = "requested"     // replays and tests that somebody requested, as they are delivered
	Inbox         = "inbox"         // conversation.updated, for teammates
)

// Topics are the topics for a company's own programs: webhooks and pulling clients.
func Topics() []string { return []string{Notifications, Calls, Templates, Conversations} }

// TopicOf returns the topic of a type of events.
func TopicOf(kind string) string {
	switch group, _, _ := strings.Cut(kind, "."); {
	case kind == "message.received", group == "conversation", group == "feedback":
		return Conversations
	case group == "call":
		return Calls
	case group == "template":
		return Templates
	default:
		return Notifications
	}
}

// Event is a state change for the subscribers of its topic. Seq is assigned in the commit: 1, 2, 3, … within a
// company's topic. Payload is JSON.
type Event struct {
	CompanyID string
	Topic     string
	Seq       int64
	Kind      string
	Subject   string // id of the object that changed
	Payload   json.RawMessage
	At        time.Time
	// Own events are rows of another table, numbered there: they are only published after the commit.
	Own bool
}

// Store reads and writes the tables of events. Its methods are safe for concurrent use.
type Store struct {
	d         *db.DB
	config    *configure.Configuration
	interests *cache.Cache[interest]
	kind      *db.Kind[[]*Event]
	publish   func(...*Event) // nil if nobody listens
}

// New returns the tables of events; place is that of events without another operation.
func New(d *db.DB, c *configure.Configuration, place db.Place) *Store {
	s := &Store{d: d, config: c, interests: configure.Cache[interest](c)}
	s.kind = &db.Kind[[]*Event]{
		Name: "event", Place: place, Background: true, Rows: func(op []*Event) int { return len(op) },
		Apply: func(ctx context.Context, tx *db.Tx, ops [][]*Event, replay bool) error {
			if replay {
				if there, err := stored(ctx, tx, ops[0]); there || err != nil {
					return err
				}
			}
			Record(tx, slices.Concat(ops...)...)
			return nil
		},
	}
	d.OnRecorded(db.Recorder{Write: write, Statements: statements, Committed: s.committed})
	return s
}

// OnEvents sets the receiver of committed events, before the first of them. publish must not block.
func (s *Store) OnEvents(publish func(...*Event)) { s.publish = publish }

func (s *Store) committed(recorded []any) {
	if s.publish != nil {
		s.publish(eventsOf(recorded)...)
	}
}

func eventsOf(recorded []any) []*Event {
	all := make([]*Event, 0, len(recorded))
	for _, x := range recorded {
		if e, ok := x.(*Event); ok { // nothing else is recorded
			all = append(all, e)
		}
	}
	return all
}

// Record stores events in the transaction and sets their Seq. The events of all operations of a transaction are
// written together, topics sorted, after all other locks: the holder of a topic waits only for later topics, so
// transactions never deadlock.
func Record(tx *db.Tx, events ...*Event) {
	for _, e := range events {
		tx.Record(e)
	}
}

func write(ctx context.Context, tx *db.Tx, recorded []any) error {
	if !tx.SQLite() {
		return db.Wrap(tx.Run(ctx, statements(recorded)...), "write events")
	}
	rows := db.NewBulk("event", "", "company_id:text", "topic:text", "seq:bigint", "events:bigint", "kind:text", "subject:text",
		"payload:text", "created_at:bigint")
	for _, events := range byTopic(recorded) {
		var last int64
		if err := tx.Row(ctx, []any{&last}, nextNumbers, events[0].CompanyID, events[0].Topic, len(events)); err != nil {
			return fmt.Errorf("number events: %w", err)
		}
		number(events, last)
		for _, r := range rowsOf(events) {
			rows.Add(events[0].CompanyID, events[0].Topic, last-int64(len(events))+r.seq, r.events, r.kind, r.subject, r.payload, r.at)
		}
	}
	return rows.Write(ctx, tx)
}

// statements returns the statements that number and store events, one per row.
func statements(recorded []any) (all []db.Statement) {
	for _, events := range byTopic(recorded) {
		for _, r := range rowsOf(events) {
			all = append(all, db.Statement{
				SQL: "WITH topic AS (" + nextNumbers + `)
				INSERT INTO event (company_id, topic, seq, events, kind, subject, payload, created_at)
				SELECT $1, $2, topic.seq, $3, $4, $5, $6, $7 FROM topic RETURNING seq`,
				Args: []any{events[0].CompanyID, events[0].Topic, r.events, r.kind, r.subject, r.payload, r.at},
				Scan: func(scan db.Scan) error {
					var last int64
					err := scan(&last)
					number(events[r.seq-r.events:r.seq], last)
					return err
				},
			})
		}
	}
	return all
}

// byTopic groups the events to be stored by topic, topics sorted.
func byTopic(recorded []any) (all [][]*Event) {
	events := slices.DeleteFunc(eventsOf(recorded), func(e *Event) bool { return e.Own })
	slices.SortStableFunc(events, func(a, b *Event) int {
		return cmp.Or(cmp.Compare(a.CompanyID, b.CompanyID), cmp.Compare(a.Topic, b.Topic))
	})
	for len(events) > 0 {
		n := 1
		for n < len(events) && events[n].CompanyID == events[0].CompanyID && events[n].Topic == events[0].Topic {
			n++
		}
		all = append(all, events[:n])
		events = events[n:]
	}
	return all
}

// nextNumbers reserves the next numbers of a topic, and returns the last of them.
const nextNumbers = `INSERT INTO event_topic (company_id, topic, seq) VALUES ($1, $2, $3)
	ON CONFLICT (company_id, topic) DO UPDATE SET seq = event_topic.seq + excluded.seq RETURNING seq`

// number assigns numbers to the events of a topic, the last of which gets last.
func number(events []*Event, last int64) {
	for i, e := range events {
		e.Seq = last - int64(len(events)-1-i)
	}
}

// AddEvents stores events without another operation and sets their Seq.
func (s *Store) AddEvents(ctx context.Context, events ...*Event) error {
	return s.kind.Commit(ctx, s.d, events)
}

// AddEventsAfterLostCommit runs AddEvents as a replay after a COMMIT without a response: for tests.
func (s *Store) AddEventsAfterLostCommit(ctx context.Context, events ...*Event) error {
	return s.kind.Together(ctx, s.d, true, events)[0]
}

// stored reports whether events whose COMMIT got no response are stored. They are if the number that was assigned to
// the first one before that COMMIT belongs to it, and not to another event. The function locks the topic that is
// locked first when the events are written, so it waits for a COMMIT that is still running.
func stored(ctx context.Context, tx *db.Tx, events []*Event) (bool, error) {
	recorded := make([]any, len(events))
	for i, e := range events {
		recorded[i] = e
	}
	topics := byTopic(recorded)
	if len(topics) == 0 {
		return false, nil
	}
	first := topics[0][0]
	if _, err := tx.Exec(ctx, nextNumbers, first.CompanyID, first.Topic, 0); err != nil {
		return false, fmt.Errorf("lock a topic: %w", err)
	}
	found, err := After(ctx, tx, first.CompanyID, first.Topic, first.Seq-1, 1)
	if err != nil || len(found) == 0 {
		return false, err
	}
	e := &found[0]
	return e.Seq == first.Seq && e.Kind == first.Kind && e.Subject == db.Storable(first.Subject) &&
		db.Millis(e.At) == db.Millis(first.At), nil
}

// LastEvent returns the Seq of a topic's newest event; 0 if there was none.
func (s *Store) LastEvent(ctx context.Context, companyID, topic string) (seq int64, err error) {
	err = s.d.Row(ctx, []any{&seq}, "SELECT COALESCE(MAX(seq), 0) FROM event_topic WHERE company_id = $1 AND topic = $2", companyID, topic)
	return seq, db.Wrap(err, "read a topic")
}

// LastOfTopics returns the Seq of the newest event of each topic that has had one.
func (s *Store) LastOfTopics(ctx context.Context, companyID string) (map[string]int64, error) {
	last := map[string]int64{}
	err := db.Each(ctx, s.d, func(scan db.Scan) error {
		var topic string
		var seq int64
		err := scan(&topic, &seq)
		last[topic] = seq
		return err
	}, "SELECT topic, seq FROM event_topic WHERE company_id = $1", companyID)
	return last, db.Wrap(err, "read topics")
}

// EventsAfter returns at most `most` events of a topic after seq, in order.
func (s *Store) EventsAfter(ctx context.Context, companyID, topic string, seq int64, most int) ([]Event, error) {
	return After(ctx, s.d, companyID, topic, seq, most)
}
