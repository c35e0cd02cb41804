package store

import (
	"context"
	"time"

	"carillon"
	"carillon/internal/store/chats"
	"carillon/internal/store/db"
	"carillon/internal/store/events"
)

// Event is a state change that subscribers of its topic get.
type Event = events.Event

// Follow has the events of a topic written for a while (events.Store.Follow). Those of a conversation are its turns, which
// always are.
func (s *Store) Follow(ctx context.Context, companyID, topic string) error {
	if _, ok := chats.OfTopic(topic); ok {
		return nil
	}
	return s.eventStore.Follow(ctx, companyID, topic)
}

// FollowPull has the events of a topic written for a week (events.Store.FollowPull).
func (s *Store) FollowPull(ctx context.Context, companyID, topic string) error {
	return s.eventStore.FollowPull(ctx, companyID, topic)
}

// LastOfTopics returns the Seq of the newest event of each topic.
func (s *Store) LastOfTopics(ctx context.Context, companyID string) (map[string]int64, error) {
	return s.eventStore.LastOfTopics(ctx, companyID)
}

// EventsAfter returns the events of a topic after a seq, at most `most`.
func (s *Store) EventsAfter(ctx context.Context, companyID, topic string, seq int64, most int) ([]Event, error) {
	if id, ok := chats.OfTopic(topic); ok {
		return s.chats.EventsAfter(ctx, companyID, id, seq, most)
	}
	return s.eventStore.EventsAfter(ctx, companyID, topic, seq, most)
}

// LastEvent returns the Seq of a topic's newest event, 0 when there was none.
func (s *Store) LastEvent(ctx context.Context, companyID, topic string) (int64, error) {
	if id, ok := chats.OfTopic(topic); ok {
		return s.chats.LastEvent(ctx, companyID, id)
	}
	return s.eventStore.LastEvent(ctx, companyID, topic)
}

// senderFollowed reports whether the events of a sender's company are to be written.
func (s *Store) senderFollowed(topic string) func(ctx context.Context, senderUID int64) bool {
	return func(ctx context.Context, senderUID int64) bool {
		x, err := s.Sender(ctx, senderUID)
		if err != nil { // it cannot be read, and they are written, or there is none
			return !carillon.IsCode(err, carillon.NotFound)
		}
		return s.Subscribed(ctx, x.CompanyID, topic)
	}
}

// followed reports whether a company subscribes to the topics of what is accepted.
type followed struct{ notifications, calls bool }

func (s *Store) followed(ctx context.Context, companyID string) followed {
	return followed{s.Subscribed(ctx, companyID, events.Notifications), s.Subscribed(ctx, companyID, events.Calls)}
}

// announce sets the events of a request: of the notification, and of what is skipped of it.
func (a *Accept) announce(of followed, senderID string) {
	n := &a.Notification
	x := events.Notification{CompanyID: n.CompanyID, ID: n.ID, Campaign: n.Campaign, SenderID: senderID, At: n.CreatedAt}
	if of.notifications {
		a.events = append(a.events, x.Accepted(n.Total, n.Scheduled))
	}
	for i, m := range a.Messages {
		switch {
		case m.Skip == "":
		case n.Channel == carillon.Voice:
			a.skipped = a.skipped || of.calls
		case of.notifications:
			a.events = append(a.events, x.Skipped(i, m.Number, m.Skip))
		}
	}
}

// recordAccepted records the events of accepts.
func recordAccepted(ctx context.Context, tx *db.Tx, accepts []*Accept) error {
	for _, a := range accepts {
		events.Record(tx, a.events...)
		if !a.skipped {
			continue
		}
		for i, m := range a.Messages {
			if m.Skip == "" {
				continue
			}
			if err := events.Call(ctx, tx, a.Notification.Seq().Message(i), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// DropEvents deletes events that are older than an instant, at most `most` of their rows.
func (s *Store) DropEvents(ctx context.Context, before time.Time, most int) (p Purged, err error) {
	err = s.chore(ctx, &p, func(ctx context.Context, tx *Tx) error {
		n, err := tx.Exec(ctx, `DELETE FROM event WHERE (company_id, topic, seq) IN (
			SELECT company_id, topic, seq FROM event WHERE created_at < $1 ORDER BY created_at LIMIT $2)`, db.Millis(before), most)
		p.Rows, p.More = int(n), int(n) == most
		return err
	})
	return p, db.Wrap(err, "delete events")
}
