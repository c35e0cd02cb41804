package conversation

import (
	"context"

	"carillon/internal/agent"
	"carillon/internal/store/chats"
)

const (
	maxQuestion      = 500 // maximum length of a stored question, in characters
	maxQuestionWords = 300 // bytes of its words that identify a question
)

// keepQuestion stores a question to which an agent has no answer or only an offer. A question without words is skipped.
func (s *core) keepQuestion(ctx context.Context, c *chats.Conversation, question string, outcome agent.Outcome) {
	if s.o.Questions == nil || outcome != agent.Unanswered && outcome != agent.Offered {
		return
	}
	q := questionOf(c, question, s.now())
	if q == nil {
		return
	}
	if outcome == agent.Offered {
		q.Offered = 1
	}
	if err := s.o.Questions.Record(ctx, q); err != nil {
		s.o.Log.WarnContext(ctx, "record a question without an answer", "conversation", c.ID, "error", err)
	}
}
