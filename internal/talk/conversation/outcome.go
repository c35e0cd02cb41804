package conversation

import (
	"context"
	"slices"
	"strings"
	"time"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/agent/knowledge"
	"carillon/internal/store/chats"
)

const (
	maxPassages = 5   // kept of a response
	maxPassage  = 600 // characters
	maxTitle    = 300
)

// passagesOf returns the stored form of the sources of a response.
func passagesOf(sources []agent.Source) []chats.Passage {
	var all []chats.Passage
	for _, s := range sources[:min(len(sources), maxPassages)] {
		all = append(all, chats.Passage{
			Knowledge: s.Knowledge, Title: cut(s.Title, maxTitle), Text: cut(s.Passage, maxPassage),
			Confidence: min(max(s.Confidence, 0), 1),
		})
	}
	return all
}

func cut(text string, maxChars int) string {
	if runes := []rune(text); len(runes) > maxChars {
		return string(runes[:maxChars-1]) + "…"
	}
	return text
}

// result returns the outcome of a response, and records its question if it is open. A response to a choice replaces the
// outcome of the response that offered it: a question that was answered after an offer is answered. It returns nil if the
// response has no outcome.
func (s *replies) result(ctx context.Context, c *chats.Conversation, r *agent.Request, said *answer) (*chats.Result, error) {
	if said.outcome == "" {
		return nil, nil
	}
	x := &chats.Result{Outcome: chats.Outcome(said.outcome), Passages: passagesOf(said.found), Question: r.Message()}
	turns, err := s.store.Chats.TurnsBefore(ctx, c.CompanyID, c.ID, c.ReplySeq+1, maxRecent)
	if err != nil {
		return nil, err
	}
	prior, question := offered(turns)
	if prior == nil {
		s.keepQuestion(ctx, c, r.Message(), said.outcome)
		return x, nil
	}
	x.Replaces, x.Replaced = prior.Extra.Outcome, prior.At
	if x.Replaces == chats.Offered && x.Outcome == chats.Answered {
		s.dropOffered(ctx, c, question)
	}
	return x, nil
}

// offered returns the response whose choice the contact's last turn picks, and the question to which it was given; nil if the
// turn picks none. The turns are in order.
func offered(turns []chats.Turn) (prior *chats.Turn, question string) {
	if len(turns) == 0 {
		return nil, ""
	}
	said := &turns[len(turns)-1]
	for i := len(turns) - 2; i >= 0; i-- {
		t := &turns[i]
		switch {
		case t.Kind == chats.KindEvent || t.Note:
		case prior != nil && t.Author == chats.Visitor:
			return prior, t.Text
		case prior != nil:
			return prior, ""
		case !leavesOpen(t) || !picks(t, said.Text):
			return nil, ""
		default:
			prior = t
		}
	}
	return prior, ""
}

// leavesOpen reports whether a turn left a question open.
func leavesOpen(t *chats.Turn) bool {
	return t.Author == chats.Agent && (t.Extra.Outcome == chats.Offered || t.Extra.Outcome == chats.Unanswered)
}

func picks(t *chats.Turn, text string) bool {
	return slices.ContainsFunc(t.Extra.Choices, func(choice string) bool {
		return strings.EqualFold(strings.TrimSpace(choice), strings.TrimSpace(text))
	})
}

// outcome puts the outcome of a response on its turn, or else on the event of its handoff.
func outcome(turns []chats.Turn, r *chats.Result) []chats.Turn {
	if r == nil || len(turns) == 0 {
		return turns
	}
	x := &turns[0].Extra
	x.Outcome, x.Passages = r.Outcome, r.Passages
	return turns
}

// asked returns the outcome of a request for a teammate by the page's button, which answers an offer like its choice does. It
// returns nil where no agent responded yet.
func (s *Conversations) asked(ctx context.Context, companyID, id string) (*chats.Result, error) {
	c, err := s.store.Chats.Find(ctx, companyID, id)
	if err != nil || c.State != chats.Automated {
		return nil, err
	}
	turns, err := s.store.Chats.TurnsBefore(ctx, companyID, id, c.LastSeq+1, maxRecent)
	for i := len(turns) - 1; i >= 0 && err == nil; i-- {
		t := &turns[i]
		if t.Author != chats.Agent || t.Kind == chats.KindEvent {
			continue
		}
		x := &chats.Result{Outcome: chats.HandedOver}
		if leavesOpen(t) {
			x.Replaces, x.Replaced = t.Extra.Outcome, t.At
		}
		return x, nil
	}
	return nil, err
}

// Score records the contact's score of a turn of the company: chats.Like, chats.Dislike, or "" to withdraw it. Other turns
// are ignored. A response of an agent that is disliked puts its question among the open ones. Errors: not_found,
// limit_exceeded.
func (s *Conversations) Score(ctx context.Context, companyID, id string, seq int64, score string) error {
	now := s.now()
	x := &chats.Score{Seq: seq, Value: score}
	var before chats.Conversation
	change := &chats.Change{
		CompanyID: companyID, ConversationID: id, Score: x,
		Edit: func(c *chats.Conversation) ([]chats.Turn, error) {
			before = *c
			if err := full(c); err != nil {
				return nil, err
			}
			if seq < 1 || seq > c.LastSeq {
				return nil, nil
			}
			t := event(Scored, score, now)
			t.Extra.Of = seq
			return []chats.Turn{t}, nil
		},
	}
	if err := s.do(ctx, change, &before); err != nil || x.Turn == nil || x.Before == score {
		return err
	}
	if score == chats.Dislike || x.Before == chats.Dislike {
		s.keepScored(ctx, change.Conversation, x.Turn, score == chats.Dislike, now)
	}
	return nil
}

// Scoreable reports whether a contact may score a turn: a response of an agent to a question. Errors: not_found.
func (s *Conversations) Scoreable(ctx context.Context, companyID, id string, seq int64) error {
	turns, err := s.store.Chats.TurnsBefore(ctx, companyID, id, seq+1, 1)
	if err != nil {
		return err
	}
	if len(turns) == 0 || turns[0].Seq != seq || turns[0].Author != chats.Agent || turns[0].Extra.Outcome != chats.Answered {
		err = carillon.Absent("Answer")
	}
	return err
}

// keepScored records the question of a disliked response, or withdraws it.
func (s *Conversations) keepScored(ctx context.Context, c *chats.Conversation, t *chats.Turn, wrong bool, now time.Time) {
	if s.o.Questions == nil {
		return
	}
	turns, err := s.store.Chats.TurnsBefore(ctx, c.CompanyID, c.ID, t.Seq, maxRecent)
	if err == nil {
		q := questionOf(c, questionBefore(turns), now)
		if q == nil {
			return
		}
		q.Wrong = 1
		if len(t.Extra.Passages) > 0 {
			q.Source = t.Extra.Passages[0]
		}
		record := s.o.Questions.Withdraw
		if wrong {
			record = s.o.Questions.Record
		}
		err = record(ctx, q)
	}
	if err != nil {
		s.o.Log.WarnContext(ctx, "record a question with a wrong answer", "conversation", c.ID, "error", err)
	}
}

// questionBefore returns the question to which the turns lead: the contact's last turn or, if that picks a choice, the
// question before it.
func questionBefore(turns []chats.Turn) string {
	for i := len(turns) - 1; i >= 0; i-- {
		t := &turns[i]
		if t.Author != chats.Visitor || t.Kind == chats.KindEvent {
			continue
		}
		if _, question := offered(turns[:i+1]); question != "" {
			return question
		}
		return t.Text
	}
	return ""
}

// dropOffered withdraws a question for which one of the offered articles was chosen.
func (s *core) dropOffered(ctx context.Context, c *chats.Conversation, question string) {
	q := questionOf(c, question, s.now())
	if q == nil || s.o.Questions == nil {
		return
	}
	q.Offered = 1
	if err := s.o.Questions.Withdraw(ctx, q); err != nil {
		s.o.Log.WarnContext(ctx, "withdraw a question that was answered", "conversation", c.ID, "error", err)
	}
}

// questionOf returns the record of a question; nil if it has no words.
func questionOf(c *chats.Conversation, text string, now time.Time) *chats.Question {
	words := strings.Join(knowledge.Words(text), " ")
	if words == "" {
		return nil
	}
	runes := []rune(text)
	return &chats.Question{
		ID: carillon.NewID(now), CompanyID: c.CompanyID, AgentID: c.AgentID, ConversationID: c.ID, Language: c.Language,
		LastAt: now, Words: strings.ToValidUTF8(words[:min(len(words), maxQuestionWords)], ""),
		Text: string(runes[:min(len(runes), maxQuestion)]),
	}
}
