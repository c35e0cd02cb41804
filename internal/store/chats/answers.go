package chats

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"carillon"
	"carillon/internal/store/db"
)

// Outcome is the kind of an agent's response to a question. The values are those of package agent.
type Outcome string

// The outcomes that are counted.
const (
	Answered   Outcome = "answered"
	Offered    Outcome = "offered"
	HandedOver Outcome = "handed_over"
	Unanswered Outcome = "unanswered"
)

// Passage is the part of an article on which an answer is based. Only teammates see it.
type Passage struct {
	Knowledge  string  `json:"knowledge,omitempty"` // id of its base
	Title      string  `json:"title"`
	Text       string  `json:"text,omitempty"`
	Confidence float64 `json:"confidence,omitempty"` // probability that it answers the question, from 0 to 1
}

// The scores of an answer.
const (
	Like    = "like"
	Dislike = "dislike"
)

// maxScores bounds how many times the score of one answer may change.
const maxScores = 20

// Result is the outcome of a response, which is counted with the turns of a Change. A question counts once: where the
// response follows a choice among the choices of an earlier one, it replaces that one's outcome.
type Result struct {
	Outcome  Outcome
	Passages []Passage
	Replaces Outcome   // empty: none
	Replaced time.Time // when the replaced response was given
	Question string    // to which the response was given
}

// Score is the contact's score of a response: Like, Dislike, or empty to withdraw it.
type Score struct {
	Seq   int64
	Value string

	// The results. Turn is the scored turn after the change, nil if it is no answer of an agent; Before is its earlier
	// score.
	Turn   *Turn
	Before string
}

// Answers are numbers of responses by outcome, and of their scores.
type Answers struct {
	Answered, Offered, HandedOver, Unanswered int64
	Up, Down                                  int64
}

// Add adds counts.
func (a *Answers) Add(b Answers) {
	a.Answered += b.Answered
	a.Offered += b.Offered
	a.HandedOver += b.HandedOver
	a.Unanswered += b.Unanswered
	a.Up += b.Up
	a.Down += b.Down
}

func (a *Answers) count(o Outcome, n int64) {
	switch o {
	case Answered:
		a.Answered += n
	case Offered:
		a.Offered += n
	case HandedOver:
		a.HandedOver += n
	case Unanswered:
		a.Unanswered += n
	}
}

func (a *Answers) score(value string, n int64) {
	switch value {
	case Like:
		a.Up += n
	case Dislike:
		a.Down += n
	}
}

// answersKey identifies a row of answer_count.
type answersKey struct {
	companyID string
	hour      int64
	agentID   string
}

func (k answersKey) compare(other answersKey) int {
	return cmp.Or(cmp.Compare(k.companyID, other.companyID), cmp.Compare(k.hour, other.hour), cmp.Compare(k.agentID, other.agentID))
}

// articleKey identifies a row of article_count.
type articleKey struct{ companyID, knowledgeID, title string }

func (k articleKey) compare(other articleKey) int {
	return cmp.Or(
		cmp.Compare(k.companyID, other.companyID), cmp.Compare(k.knowledgeID, other.knowledgeID), cmp.Compare(k.title, other.title),
	)
}

// answered collects the counts of a transaction.
type answered struct {
	hours    map[answersKey]Answers
	articles map[articleKey]Answers
	at       int64 // latest time
}

func (x *answered) add(c *Conversation, at time.Time, count func(a *Answers)) {
	if x.hours == nil {
		x.hours, x.articles = map[answersKey]Answers{}, map[articleKey]Answers{}
	}
	key := answersKey{c.CompanyID, db.Millis(at.Truncate(time.Hour)), c.AgentID}
	row := x.hours[key]
	count(&row)
	x.hours[key] = row
}

func (x *answered) addArticles(c *Conversation, passages []Passage, at time.Time, count func(a *Answers)) {
	x.at = max(x.at, db.Millis(at))
	seen := map[articleKey]bool{}
	for _, p := range passages {
		key := articleKey{c.CompanyID, p.Knowledge, p.Title}
		if p.Knowledge == "" || seen[key] {
			continue
		}
		seen[key] = true
		row := x.articles[key]
		count(&row)
		x.articles[key] = row
	}
}

// result counts the outcome of a response given at an instant.
func (x *answered) result(c *Conversation, r *Result, at time.Time) {
	x.add(c, at, func(a *Answers) { a.count(r.Outcome, 1) })
	if r.Replaces != "" {
		x.add(c, r.Replaced, func(a *Answers) { a.count(r.Replaces, -1) })
	}
	if r.Outcome == Answered {
		x.addArticles(c, r.Passages, at, func(a *Answers) { a.Answered++ })
	}
}

// score counts a changed score of a response.
func (x *answered) score(c *Conversation, s *Score, now time.Time) {
	count := func(a *Answers) {
		a.score(s.Before, -1)
		a.score(s.Value, 1)
	}
	x.add(c, s.Turn.At, count)
	x.addArticles(c, s.Turn.Extra.Passages, now, count)
}

// write adds the counts to the tables, in the order of their keys.
func (x *answered) write(ctx context.Context, tx *db.Tx) error {
	for _, k := range slices.SortedFunc(maps.Keys(x.hours), answersKey.compare) {
		a := x.hours[k]
		if _, err := tx.Exec(ctx,
			`INSERT INTO answer_count (company_id, hour, agent_id, answered, offered, handed_over, unanswered, up, down)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (company_id, hour, agent_id) DO UPDATE SET
			answered = answer_count.answered + excluded.answered, offered = answer_count.offered + excluded.offered,
			handed_over = answer_count.handed_over + excluded.handed_over, unanswered = answer_count.unanswered + excluded.unanswered,
			up = answer_count.up + excluded.up, down = answer_count.down + excluded.down`,
			k.companyID, k.hour, k.agentID, a.Answered, a.Offered, a.HandedOver, a.Unanswered, a.Up, a.Down); err != nil {
			return fmt.Errorf("count answers: %w", err)
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(x.articles), articleKey.compare) {
		a := x.articles[k]
		if _, err := tx.Exec(ctx, `INSERT INTO article_count (company_id, knowledge_id, title, answered, up, down, at)
			VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (company_id, knowledge_id, title) DO UPDATE SET
			answered = article_count.answered + excluded.answered, up = article_count.up + excluded.up,
			down = article_count.down + excluded.down, at = excluded.at`,
			k.companyID, k.knowledgeID, k.title, a.Answered, a.Up, a.Down, x.at); err != nil {
			return fmt.Errorf("count the answers of an article: %w", err)
		}
	}
	return nil
}

// findScored reads the turns that changes score. Only answers of agents have a score.
func findScored(ctx context.Context, tx *db.Tx, changes []*Change) (map[scoredKey]*Turn, error) {
	found := map[scoredKey]*Turn{}
	for _, c := range changes {
		key := scoredKey{c.ConversationID, 0}
		if c.Score == nil {
			continue
		}
		if key.seq = c.Score.Seq; found[key] != nil {
			continue
		}
		t, err := db.Find(ctx, tx, "turn", func(row db.Scan) (*Turn, error) {
			t, err := scanTurn(row)
			return &t, err
		}, "SELECT "+turnColumns+" FROM turn WHERE conversation_id = $1 AND seq = $2 AND author = 'agent'", c.ConversationID, c.Score.Seq)
		if err != nil {
			return nil, err
		}
		if t != nil && t.Extra.Outcome == Answered {
			found[key] = t
		}
	}
	return found, nil
}

type scoredKey struct {
	conversationID string
	seq            int64
}

// scored prepares a change of a score. It reports false if nothing changes, and refuses too many changes.
func (x *changing) scored(c *Change) bool {
	c.Score.Turn, c.Score.Before = nil, ""
	t := x.scores[scoredKey{c.ConversationID, c.Score.Seq}]
	if t == nil {
		return true
	}
	turn := *t
	c.Score.Turn, c.Score.Before = &turn, turn.Extra.Score
	if turn.Extra.Score == c.Score.Value {
		return false
	}
	if turn.Extra.Scores >= maxScores {
		c.err = &carillon.Error{Code: carillon.LimitExceeded, Message: "The score of this answer was changed too many times"}
		return false
	}
	return true
}

// leaveOpen keeps the question that a response leaves open, or drops it once the contact picked one of the offered answers.
func (r *Result) leaveOpen(c *Conversation) {
	switch {
	case r.Replaces == Offered && r.Outcome == Answered:
		c.Unanswered = ""
	case r.Replaces == "" && (r.Outcome == Offered || r.Outcome == Unanswered) && r.Question != "":
		c.Unanswered = Preview(r.Question)
	}
}

// countAnswers counts the response or the score of a change that was made.
func (x *changing) countAnswers(c *Change) {
	if c.Result != nil && len(c.Turns) > 0 {
		x.answered.result(c.Conversation, c.Result, c.Turns[0].At)
	}
	if c.Score == nil || c.Score.Turn == nil {
		return
	}
	t := c.Score.Turn
	t.Extra.Score = c.Score.Value
	t.Extra.Scores++
	x.scores[scoredKey{c.ConversationID, t.Seq}] = t
	now := t.At
	if len(c.Turns) > 0 {
		now = c.Turns[0].At
	}
	x.answered.score(c.Conversation, c.Score, now)
	x.scoredNow = append(x.scoredNow, scoredKey{c.ConversationID, t.Seq})
}

// writeAnswers writes the scores of turns, and the counts.
func (x *changing) writeAnswers(ctx context.Context, tx *db.Tx) error {
	for _, key := range x.scoredNow {
		if _, err := tx.Exec(ctx, "UPDATE turn SET payload = $1 WHERE conversation_id = $2 AND seq = $3",
			extraText(&x.scores[key].Extra), key.conversationID, key.seq); err != nil {
			return fmt.Errorf("write the score of an answer: %w", err)
		}
	}
	return x.answered.write(ctx, tx)
}

// AnswerHour holds the counts of an hour and an agent.
type AnswerHour struct {
	At      time.Time
	AgentID string
	Answers
}

// EachAnswers calls each for the counts of a company between two instants, in order of the hours. An empty agentID
// means all agents.
func (s *Questions) EachAnswers(ctx context.Context, companyID, agentID string, from, to time.Time, each func(h *AnswerHour)) error {
	var h AnswerHour
	var at int64
	return db.Wrap(db.Each(ctx, s.d, func(scan db.Scan) error {
		err := scan(&at, &h.AgentID, &h.Answered, &h.Offered, &h.HandedOver, &h.Unanswered, &h.Up, &h.Down)
		if h.At = time.UnixMilli(at).UTC(); err == nil {
			each(&h)
		}
		return err
	}, `SELECT hour, agent_id, answered, offered, handed_over, unanswered, up, down FROM answer_count
		WHERE company_id = $1 AND hour >= $2 AND hour < $3 AND (agent_id = $4 OR $4 = '') ORDER BY company_id, hour, agent_id`,
		companyID, db.Millis(from), db.Millis(to), agentID), "read counts of answers")
}

// ArticleAnswers are the answers from an article, and their scores.
type ArticleAnswers struct {
	Knowledge, Title   string
	Answered, Up, Down int64
}

// ArticleAnswers returns the counts of at most limit articles of a base, by title.
func (s *Questions) ArticleAnswers(ctx context.Context, companyID, knowledgeID string, limit int) ([]ArticleAnswers, error) {
	return db.Collect(ctx, s.d, "counts of articles", func(scan db.Scan) (a ArticleAnswers, err error) {
		a.Knowledge = knowledgeID
		err = scan(&a.Title, &a.Answered, &a.Up, &a.Down)
		return a, err
	}, `SELECT title, answered, up, down FROM article_count WHERE company_id = $1 AND knowledge_id = $2
		ORDER BY company_id, knowledge_id, title LIMIT $3`, companyID, knowledgeID, limit)
}
