package chats

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/store/db"
)

// MaxQuestions bounds the questions of a company; those asked longest ago are replaced.
const MaxQuestions = 1000

// Question is a question for which an agent had no answer, offered articles of which none was chosen, or gave an answer that
// was marked as wrong.
type Question struct {
	ID             string
	CompanyID      string
	AgentID        string
	AgentName      string // set when read; empty if the agent was deleted
	Words          string // normalized words, which identify equal questions
	Text           string // latest wording
	Language       string
	Asked          int64
	Offered        int64   // times of Asked with articles offered; for Record 0 or 1
	Wrong          int64   // times of Asked with a wrong answer; for Record 0 or 1
	Source         Passage // of the last wrong answer; without a confidence
	FirstAt        time.Time
	LastAt         time.Time
	ConversationID string // conversation in which it was last asked
}

// Questions is the SQL of questions that agents could not answer. Its methods are safe for concurrent use.
type Questions struct {
	d       *db.DB
	records *db.Kind[db.Func]
}

// NewQuestions returns the table of a database. Records have their place in the lock order.
func NewQuestions(d *db.DB, place db.Place) *Questions {
	return &Questions{d, db.Funcs("question", place)}
}

// Record stores that a question was asked at q.LastAt.
func (s *Questions) Record(ctx context.Context, q *Question) error {
	return s.records.Commit(context.WithoutCancel(ctx), s.d, func(ctx context.Context, tx *db.Tx) error {
		var asked int64
		if err := tx.Row(ctx, []any{&asked},
			`INSERT INTO question (id, company_id, agent_id, words, text, language, asked, first_at, last_at, conversation_id,
				offered, wrong, knowledge_id, article, passage)
			VALUES ($1, $2, $3, $4, $5, $6, 1, $7, $7, $8, $9, $10, $11, $12, $13)
			ON CONFLICT (company_id, agent_id, words) DO UPDATE SET text = excluded.text,
				language = excluded.language, asked = question.asked + 1, last_at = excluded.last_at,
				conversation_id = excluded.conversation_id, offered = question.offered + excluded.offered,
				wrong = question.wrong + excluded.wrong,
				knowledge_id = CASE WHEN excluded.wrong > 0 THEN excluded.knowledge_id ELSE question.knowledge_id END,
				article = CASE WHEN excluded.wrong > 0 THEN excluded.article ELSE question.article END,
				passage = CASE WHEN excluded.wrong > 0 THEN excluded.passage ELSE question.passage END RETURNING asked`,
			q.ID, q.CompanyID, q.AgentID, q.Words, q.Text, q.Language, db.Millis(q.LastAt), q.ConversationID,
			q.Offered, q.Wrong, q.Source.Knowledge, q.Source.Title, q.Source.Text); err != nil {
			return fmt.Errorf("write question: %w", err)
		}
		if asked > 1 {
			return nil
		}
		_, err := tx.Exec(ctx, `DELETE FROM question WHERE id IN (SELECT id FROM question WHERE company_id = $1 ORDER BY last_at `+
			`DESC, id DESC LIMIT 10 OFFSET $2)`,
			q.CompanyID, MaxQuestions)
		return db.Wrap(err, "delete old questions")
	})
}

// Withdraw takes back one record of a question: with articles offered (q.Offered 1), or with a wrong answer (q.Wrong 1).
// Nothing changes if there is none.
func (s *Questions) Withdraw(ctx context.Context, q *Question) error {
	return s.records.Commit(context.WithoutCancel(ctx), s.d, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE question SET asked = asked - 1, offered = offered - $4, wrong = wrong - $5
			WHERE company_id = $1 AND agent_id = $2 AND words = $3 AND offered >= $4 AND wrong >= $5`,
			q.CompanyID, q.AgentID, q.Words, q.Offered, q.Wrong)
		if err == nil && n > 0 {
			_, err = tx.Exec(ctx, "DELETE FROM question WHERE company_id = $1 AND agent_id = $2 AND words = $3 AND asked <= 0",
				q.CompanyID, q.AgentID, q.Words)
		}
		return db.Wrap(err, "withdraw question")
	})
}

// QuestionFilter selects questions of a company, last asked first.
type QuestionFilter struct {
	CompanyID string
	AgentID   string // empty for all agents
	Cursor    string // from the previous page; empty for the first
	Limit     int
}

// List returns a page of questions and the cursor of the next; "" after the last. Errors: validation_failed for a bad
// cursor.
func (s *Questions) List(ctx context.Context, f QuestionFilter) (page []Question, next string, err error) {
	at, id := int64(1)<<62, ""
	if f.Cursor != "" {
		if at, id, err = parseQuestionCursor(f.Cursor); err != nil {
			return nil, "", err
		}
	}
	page, err = db.Collect(ctx, s.d, "questions", func(scan db.Scan) (q Question, err error) {
		var first, last int64
		err = scan(&q.ID, &q.AgentID, &q.AgentName, &q.Text, &q.Language, &q.Asked, &first, &last, &q.ConversationID, &q.Offered, &q.Wrong,
			&q.Source.Knowledge, &q.Source.Title, &q.Source.Text)
		q.CompanyID, q.FirstAt, q.LastAt = f.CompanyID, db.Instant(first), db.Instant(last)
		return q, err
	}, `SELECT q.id, q.agent_id, COALESCE(a.name, ''), q.text, q.language, q.asked, q.first_at, q.last_at, q.conversation_id,
			q.offered, q.wrong, q.knowledge_id, q.article, q.passage
		FROM question AS q LEFT JOIN resource AS a ON a.company_id = q.company_id AND a.kind = 'agent' AND a.id = q.agent_id
		WHERE q.company_id = $1 AND (q.last_at, q.id) < ($2, $3) AND (q.agent_id = $4 OR $4 = '') ORDER BY q.last_at DESC, q.id DESC
			LIMIT $5`,
		f.CompanyID, at, id, f.AgentID, f.Limit+1)
	if err != nil || len(page) <= f.Limit {
		return page, "", err
	}
	page = page[:f.Limit]
	last := page[f.Limit-1]
	return page, strconv.FormatInt(db.Millis(last.LastAt), 10) + "." + last.ID, nil
}

// Some returns those of the questions of a company that are among the ids, last asked first.
func (s *Questions) Some(ctx context.Context, companyID string, ids []string) ([]Question, error) {
	all, _, err := s.List(ctx, QuestionFilter{CompanyID: companyID, Limit: MaxQuestions})
	return slices.DeleteFunc(all, func(q Question) bool { return !slices.Contains(ids, q.ID) }), err
}

func parseQuestionCursor(s string) (at int64, id string, err error) {
	ms, id, ok := strings.Cut(s, ".")
	if at, err = strconv.ParseInt(ms, 10, 64); err != nil || !ok || id == "" {
		return 0, "", carillon.Invalid("cursor", "Must be the next_cursor of a page")
	}
	return at, id, nil
}

// Delete deletes a question of a company. Errors: not_found.
func (s *Questions) Delete(ctx context.Context, companyID, id string) error {
	n, err := s.d.Exec(ctx, "DELETE FROM question WHERE id = $1 AND company_id = $2", id, companyID)
	if err == nil && n == 0 {
		return carillon.Absent("Question")
	}
	return db.Wrap(err, "delete question")
}

// Remove deletes questions of a company and returns how many.
func (s *Questions) Remove(ctx context.Context, companyID string, ids []string) (int, error) {
	n, err := s.d.Exec(ctx, "DELETE FROM question WHERE id "+s.d.In(1)+" AND company_id = $2", s.d.List(ids), companyID)
	return int(n), db.Wrap(err, "delete questions")
}
