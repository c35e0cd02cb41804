package chats

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"carillon"
	"carillon/internal/store/db"
)

// Review is the judgment of a conversation after its end. Its words are those of package agent/review.
type Review struct {
	ConversationID string
	CompanyID      string
	AgentID        string
	Seq            int64     // last turn that it covers
	EndedAt        time.Time // time of the last message
	At             time.Time
	Maker          string // rules, or the name of the engine
	Goal           string // yes, no or unknown; empty if the agent declared no goal
	Topics         []string
	Text           ReviewText
}

// ReviewText holds the texts and results of a review.
type ReviewText struct {
	Summary string  `json:"summary"`
	Goal    string  `json:"goal,omitempty"`   // the agent's goal at that time
	Reason  string  `json:"reason,omitempty"` // why it was reached or not
	Results []Value `json:"results,omitempty"`
	Failure string  `json:"failure,omitempty"` // why the engine did not make the review
}

// ReviewView is a review in JSON.
type ReviewView struct {
	Summary string           `json:"summary"`
	Goal    *GoalView        `json:"goal,omitempty"` // nil if the agent declared none
	Result  carillon.Details `json:"result,omitempty" values:"string,number,boolean"`
	Topics  []string         `json:"topics"`
	By      string           `json:"by"`                // rules, or the name of the engine
	Failure string           `json:"failure,omitempty"` // why the engine did not make it
	Turn    int64            `json:"turn"`              // the last turn that it covers
	EndedAt string           `json:"ended_at"`          // time of the last message
	At      string           `json:"at"`
}

// GoalView is the goal of a conversation in JSON.
type GoalView struct {
	Goal    string `json:"goal"`
	Reached string `json:"reached" enum:"yes,no,unknown"` // yes, no or unknown
	Reason  string `json:"reason"`
}

// Goals are the verdicts about a goal.
func Goals() []string { return []string{"yes", "no", "unknown"} }

// View returns the JSON form of a review, and nil for nil.
func (r *Review) View() *ReviewView {
	if r == nil {
		return nil
	}
	v := &ReviewView{
		Summary: r.Text.Summary, Topics: append([]string{}, r.Topics...), By: r.Maker, Failure: r.Text.Failure, Turn: r.Seq,
		EndedAt: formatTime(r.EndedAt), At: formatTime(r.At),
	}
	if r.Goal != "" {
		v.Goal = &GoalView{r.Text.Goal, r.Goal, r.Text.Reason}
	}
	for _, x := range r.Text.Results {
		v.Result = x.Add(v.Result)
	}
	return v
}

// The times after which a conversation is reviewed.
const (
	// ReviewAfterEnd lets the last words of a call and a rating arrive first.
	ReviewAfterEnd = 10 * time.Second
	// ReviewAfterSilence ends a conversation that nobody closes.
	ReviewAfterSilence = 30 * time.Minute
)

// closed reports whether a conversation has ended for the contact. A missed caller has hung up, or is about to.
func (c *Conversation) closed() bool {
	return c.State == Resolved || c.State == Abandoned || c.State == WrapUp || c.State == Missed && c.Channel == "phone"
}

// ReviewDue returns when the review of a conversation with something new is due.
func (c *Conversation) ReviewDue() time.Time {
	if c.closed() {
		return latest(c.StateAt, c.LastAt).Add(ReviewAfterEnd)
	}
	return latest(c.LastAt, c.StateAt).Add(ReviewAfterSilence)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// scheduleReview makes the review of a conversation due after a change. A later end is only noticed at the due time, so
// that not every turn writes an index.
func scheduleReview(before, have *Conversation, turns []Turn) {
	if have.AgentID == "" {
		return
	}
	pending := !have.ReviewAt.IsZero()
	spoken := slices.ContainsFunc(turns, func(t Turn) bool { return t.Kind != KindEvent && !t.Note && t.Author != Agent })
	scored := slices.ContainsFunc(turns, func(t Turn) bool { return t.Extra.Event == eventScored })
	more := spoken || scored || before.Rating != have.Rating
	if more {
		have.ReviewTries = 0
	}
	switch due := have.ReviewDue(); {
	case !pending && more && have.VisitorSeq > 0:
		have.ReviewAt = later(due, turns)
	case pending && have.closed() && !before.closed() && have.ReviewTries == 0:
		have.ReviewAt = due
	}
}

// eventScored is the event of package conversation for a score.
const eventScored = "scored"

// later returns a time, but not before the review after the last of some turns.
func later(due time.Time, turns []Turn) time.Time {
	if len(turns) == 0 {
		return due
	}
	return latest(due, turns[len(turns)-1].At.Add(ReviewAfterEnd))
}

// Reviews reads and claims reviews. A Change writes them.
type Reviews struct{ d *db.DB }

// NewReviews returns the reviews of a database.
func NewReviews(d *db.DB) *Reviews { return &Reviews{d} }

// Due returns at most limit conversations whose review is due, oldest first. It skips the companies in without.
func (s *Reviews) Due(ctx context.Context, now time.Time, limit int, without []string) ([]*Conversation, error) {
	others, args := db.NotIn("company_id", without, []any{db.Millis(now), limit})
	return db.Collect(ctx, s.d, "conversations to review", scan, "SELECT "+columns+
		" FROM conversation WHERE review_at > 0 AND review_at <= $1"+db.Here+others+" ORDER BY review_at LIMIT $2", args...)
}

// Claim reserves a due review until an instant, unless another node has or the conversation has continued. It counts the
// attempt.
func (s *Reviews) Claim(ctx context.Context, c *Conversation, until time.Time) (ok bool, err error) {
	n, err := s.d.Exec(ctx, `UPDATE conversation SET review_at = $1, review_tries = review_tries + 1
		WHERE id = $2 AND company_id = $3 AND review_at = $4 AND last_seq = $5`+db.Here,
		db.Millis(until), c.ID, c.CompanyID, db.Millis(c.ReviewAt), c.LastSeq)
	return n > 0, db.Wrap(err, "claim review")
}

// Postpone sets when a review is due, unless it was claimed since; the zero time means that there is none.
func (s *Reviews) Postpone(ctx context.Context, c *Conversation, due time.Time) error {
	_, err := s.d.Exec(ctx, "UPDATE conversation SET review_at = $1 WHERE id = $2 AND company_id = $3 AND review_at = $4",
		db.Millis(due), c.ID, c.CompanyID, db.Millis(c.ReviewAt))
	return db.Wrap(err, "postpone review")
}

const reviewColumns = "conversation_id, company_id, agent_id, seq, ended_at, at, maker, goal, topics, doc"

func scanReview(row db.Scan) (*Review, error) {
	var r Review
	var ended, at int64
	var topics, doc string
	if err := row(&r.ConversationID, &r.CompanyID, &r.AgentID, &r.Seq, &ended, &at, &r.Maker, &r.Goal, &topics, &doc); err != nil {
		return nil, err
	}
	r.EndedAt, r.At = db.Instant(ended), db.Instant(at)
	if err := json.Unmarshal([]byte(topics), &r.Topics); err != nil {
		return nil, err
	}
	return &r, json.Unmarshal([]byte(doc), &r.Text)
}

// Of returns the reviews of a company's conversations, by conversation.
func (s *Reviews) Of(ctx context.Context, companyID string, ids ...string) (map[string]*Review, error) {
	all := make(map[string]*Review, len(ids))
	if len(ids) == 0 {
		return all, nil
	}
	found, err := db.Collect(ctx, s.d, "reviews", scanReview, "SELECT "+reviewColumns+" FROM review WHERE conversation_id "+s.d.In(1)+
		" AND company_id = $2", s.d.List(ids), companyID)
	for _, r := range found {
		all[r.ConversationID] = r
	}
	return all, err
}

// The kinds of counts.
const (
	CountMaker  = "maker"
	CountGoal   = "goal"
	CountTopic  = "topic"
	CountResult = "result" // of the types boolean and choice
)

// ReviewCount is the number of an agent's reviews with a value, of conversations whose last message was in an hour.
type ReviewCount struct {
	At         time.Time
	AgentID    string
	Kind, Name string // Name is that of a result, else empty
	Value      string
	Reviews    int64
}

// EachCount calls each for the counts of a company between two instants, in order of the hours. An empty agentID means all
// agents.
func (s *Reviews) EachCount(ctx context.Context, companyID, agentID string, from, to time.Time, each func(c *ReviewCount)) error {
	var c ReviewCount
	var at int64
	return db.Wrap(db.Each(ctx, s.d, func(scan db.Scan) error {
		err := scan(&at, &c.AgentID, &c.Kind, &c.Name, &c.Value, &c.Reviews)
		if c.At = time.UnixMilli(at).UTC(); err == nil {
			each(&c)
		}
		return err
	}, `SELECT hour, agent_id, kind, name, value, reviews FROM review_count
		WHERE company_id = $1 AND hour >= $2 AND hour < $3 AND (agent_id = $4 OR $4 = '')
		ORDER BY company_id, hour, agent_id, kind, name, value`, companyID, db.Millis(from), db.Millis(to), agentID),
		"read counts of reviews")
}

// reviewKey identifies a row of review_count.
type reviewKey struct {
	companyID string
	hour      int64
	agentID   string
	kind      string
	name      string
	value     string
}

func (k reviewKey) compare(o reviewKey) int {
	return cmp.Or(cmp.Compare(k.companyID, o.companyID), cmp.Compare(k.hour, o.hour), cmp.Compare(k.agentID, o.agentID),
		cmp.Compare(k.kind, o.kind), cmp.Compare(k.name, o.name), cmp.Compare(k.value, o.value))
}

// count adds a review to counts, n times.
func (r *Review) count(counts map[reviewKey]int64, n int64) {
	add := func(kind, name, value string) {
		counts[reviewKey{r.CompanyID, db.Millis(r.EndedAt.Truncate(time.Hour)), r.AgentID, kind, name, value}] += n
	}
	add(CountMaker, "", r.Maker)
	if r.Goal != "" {
		add(CountGoal, "", r.Goal)
	}
	for _, topic := range r.Topics {
		add(CountTopic, "", topic)
	}
	for _, v := range r.Text.Results {
		if v.Type == "boolean" || v.Type == "choice" {
			add(CountResult, v.Name, v.Text)
		}
	}
}

// callOf returns the id of the call whose conversation is c; empty if it is unknown.
func callOf(ctx context.Context, tx *db.Tx, c *Conversation) (id string, err error) {
	for _, query := range []string{
		`SELECT CASE WHEN n.channel = 'voice' THEN n.id ELSE n.id || '.' || (x.id - n.seq * 128) END
			FROM call AS x CROSS JOIN notification AS n WHERE x.conversation_id = $1 AND x.conversation_id <> ''
			AND n.seq = x.id / 128 AND n.company_id = $2`,
		"SELECT id FROM incoming_call WHERE conversation_id = $1 AND conversation_id <> '' AND company_id || '' = $2",
	} {
		err := tx.Row(ctx, []any{&id}, query, c.ID, c.CompanyID)
		if err == nil || db.Ignore(err) != nil {
			return id, db.Wrap(err, "find the call of a conversation")
		}
	}
	return "", nil
}

// writeReviews writes the reviews of changes, and counts each in place of the one that it replaces.
func writeReviews(ctx context.Context, tx *db.Tx, changes []*Change) error {
	counts := map[reviewKey]int64{}
	for _, c := range changes {
		r := c.Review
		if r == nil || c.err != nil || !c.changed {
			continue
		}
		before, err := db.Find(ctx, tx, "review", scanReview, "SELECT "+reviewColumns+
			" FROM review WHERE conversation_id = $1 AND company_id = $2", r.ConversationID, r.CompanyID)
		if err != nil {
			return err
		}
		if before != nil {
			before.count(counts, -1)
		}
		r.count(counts, 1)
		if _, err := tx.Exec(ctx, "INSERT INTO review ("+reviewColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
			ON CONFLICT (conversation_id) DO UPDATE SET agent_id = excluded.agent_id, seq = excluded.seq, ended_at = excluded.ended_at,
			at = excluded.at, maker = excluded.maker, goal = excluded.goal, topics = excluded.topics, doc = excluded.doc`,
			r.ConversationID, r.CompanyID, r.AgentID, r.Seq, db.Millis(r.EndedAt), db.Millis(r.At), r.Maker, r.Goal,
			string(jsonOf(append([]string{}, r.Topics...))), string(jsonOf(r.Text))); err != nil {
			return fmt.Errorf("write review: %w", err)
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(counts), reviewKey.compare) {
		if counts[k] == 0 {
			continue
		}
		if _, err := tx.Exec(ctx, `INSERT INTO review_count (company_id, hour, agent_id, kind, name, value, reviews)
			VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (company_id, hour, agent_id, kind, name, value)
			DO UPDATE SET reviews = review_count.reviews + excluded.reviews`,
			k.companyID, k.hour, k.agentID, k.kind, k.name, k.value, counts[k]); err != nil {
			return fmt.Errorf("count reviews: %w", err)
		}
	}
	return nil
}
