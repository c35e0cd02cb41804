package chats

import (
	"context"
	"strings"

	"carillon/internal/store/db"
	"carillon/internal/store/events"
)

const topicPrefix = "conversation/"

// Topic is the topic of a conversation's turns: their seq is that of the events.
func Topic(conversationID string) string { return topicPrefix + conversationID }

// OfTopic returns the conversation whose topic it is; ok is false for other topics.
func OfTopic(topic string) (conversationID string, ok bool) {
	return strings.CutPrefix(topic, topicPrefix)
}

// EventsAfter returns the turns of a conversation after a seq as events of its topic.
func (s *Store) EventsAfter(ctx context.Context, companyID, conversationID string, seq int64, most int) ([]events.Event, error) {
	turns, err := s.Turns(ctx, companyID, conversationID, seq, most)
	if err != nil {
		return nil, err
	}
	return eventsOf(companyID, conversationID, turns), nil
}

// LastEvent returns the seq of a conversation's newest turn, 0 when there is none.
func (s *Store) LastEvent(ctx context.Context, companyID, conversationID string) (seq int64, err error) {
	err = s.d.Row(ctx, []any{&seq}, "SELECT last_seq FROM conversation WHERE id = $1 AND company_id = $2", conversationID, companyID)
	return seq, db.Wrap(db.Ignore(err), "read conversation")
}
