package conversation

import (
	"context"
	"strings"

	"carillon"
	"carillon/internal/agent/knowledge"
	"carillon/internal/store/chats"
)

const (
	maxQuestion      = 500 // maximum length of a stored question, in characters
	maxQuestionWords = 300 // bytes of its words that identify a question
)

// keepQuestion stores a question that an agent could not answer. A question without words is skipped.
func (s *core) keepQuestion(ctx context.Context, c *chats.Conversation, question string) {
	words := strings.Join(knowledge.Words(question), " ")
	if words == "" || s.o.Questions == nil {
		return
	}
	text, now := []rune(question), s.now()
	err := s.o.Questions.Record(ctx, &chats.Question{
		ID: carillon.NewID(now), CompanyID: c.CompanyID, AgentID: c.AgentID, ConversationID: c.ID, Language: c.Language, LastAt: now,
		Words: strings.ToValidUTF8(words[:min(len(words), maxQuestionWords)], ""), Text: string(text[:min(len(text), maxQuestion)]),
	})
	if err != nil {
		s.o.Log.WarnContext(ctx, "record a question without an answer", "conversation", c.ID, "error", err)
	}
}
