package chats

import (
	"context"
	"strings"

	"carillon/internal/store/db"
	"carillon/internal/store/events"
)

const topicPrefix = "conversation/"

// Topic returns the topic of a conversation's turns, whose seqs are those of the events.
func Topic(conversationID string) string { return topicPrefix + conversationID }

// OfTopic returns the conversation of a topic; ok is false for other topics.
func OfTopic(topic string) (conversationID string, ok bool) {
	return strings.CutPrefix(topic, topicPrefix)
}

// Topics reads the events of every topic, including turns of conversations.
type Topics struct {
	events *events.Store
	chats  *Store
}

// NewTopics returns the topics of a database.
func NewTopics(e *events.Store, s *Store) *Topics { return &Topics{e, s} }

// Follow keeps the events of a topic being written for a while (events.Store.Follow). Turns of a conversation always
// are.
func (t *Topics) Follow(ctx context.Context, companyID, topic string) error {
	if _, ok := OfTopic(topic); ok {
		return nil
	}
	return t.events.Follow(ctx, companyID, topic)
}

// EventsAfter returns the events of a topic after a seq, at most `most`.
func (t *Topics) EventsAfter(ctx context.Context, companyID, topic string, seq int64, most int) ([]events.Event, error) {
	id, ok := OfTopic(topic)
	if !ok {
		return t.events.EventsAfter(ctx, companyID, topic, seq, most)
	}
	turns, err := t.chats.Turns(ctx, companyID, id, seq, most)
	if err != nil {
		return nil, err
	}
	return eventsOf(companyID, id, turns), nil
}

// LastEvent returns the Seq of a topic's newest event; 0 when there is none.
func (t *Topics) LastEvent(ctx context.Context, companyID, topic string) (seq int64, err error) {
	id, ok := OfTopic(topic)
	if !ok {
		return t.events.LastEvent(ctx, companyID, topic)
	}
	err = t.chats.d.Row(ctx, []any{&seq}, "SELECT last_seq FROM conversation WHERE id = $1 AND company_id = $2", id, companyID)
	return seq, db.Wrap(db.Ignore(err), "read conversation")
}
