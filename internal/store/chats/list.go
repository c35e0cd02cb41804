package chats

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/store/db"
)

// Filter selects conversations of a company for a list.
type Filter struct {
	CompanyID string
	Folder    string // mine, unassigned, unanswered, automated, all; see Folders
	AccountID string // owner of the folder mine
	Oldest    bool   // oldest activity first or, in the folder unassigned, those that wait longest; otherwise the newest activity
	Closed    bool   // resolved instead of open ones
	Search    string // text in the contact's name, username or e-mail address, or in the newest turn; empty for all
	ContactID string // empty for all
	Tag       string // empty for all; without quotation marks
	Goal      string // verdict of the review; empty for all
	Topic     string // of the review; empty for all
	Cursor    string // from the previous page; empty for the first
	Limit     int
}

// Folders are the folders of an inbox: assigned to the teammate, waiting for one, with a question that the agent left open,
// handled by the agent, all.
func Folders() []string { return []string{"mine", "unassigned", "unanswered", "automated", "all"} }

// Listed is a conversation in a list, with fields of its contact.
type Listed struct {
	Summary
	Name     string `json:"name,omitempty"`
	Email    string `json:"email,omitempty"`
	Number   string `json:"number,omitempty"`
	Username string `json:"username,omitempty"`
	Group    bool   `json:"group,omitempty"` // the contact is a group of people

	at, waitingAt time.Time
}

// The columns by which a list is ordered.
const (
	byActivity = "c.last_at"
	byWait     = "c.waiting_at"
)

// List returns a page of conversations and the cursor of the next; "" after the last. Errors: validation_failed for a
// bad cursor.
func (s *Store) List(ctx context.Context, f Filter) (page []Listed, next string, err error) {
	var where strings.Builder
	args := []any{f.CompanyID}
	key := byActivity
	if f.Oldest && f.Folder == "unassigned" {
		key = byWait
	}
	add := func(condition string, values ...any) {
		for _, v := range values {
			args = append(args, v)
			condition = strings.Replace(condition, "?", "$"+strconv.Itoa(len(args)), 1)
		}
		where.WriteString(" AND " + condition)
	}
	switch f.Folder {
	case "mine":
		add("c.assignee = ? AND c.assignee <> ''", f.AccountID)
	case "unassigned":
		add("c.waiting_at > 0")
	case "unanswered":
		add("c.unanswered <> ''")
	case "automated":
		add("c.state = 'bot'")
	}
	if f.Closed {
		add("c.state = 'resolved'")
	} else {
		add("c.state <> 'resolved'")
	}
	if f.ContactID != "" {
		add("c.contact_id = ?", f.ContactID)
	}
	// The database lowers both sides of a comparison: which letters have a lower case depends on the engine.
	if f.Search != "" {
		like := "%" + likeEscaper.Replace(f.Search) + "%"
		add(`(LOWER(k.name) LIKE LOWER(?) ESCAPE '\' OR LOWER(k.email) LIKE LOWER(?) ESCAPE '\'
			OR LOWER(k.username) LIKE LOWER(?) ESCAPE '\' OR LOWER(c.last_text) LIKE LOWER(?) ESCAPE '\')`, like, like, like, like)
	}
	if f.Tag != "" {
		tag, _ := json.Marshal(f.Tag) // as stored among the tags; marshaling a text cannot fail
		add(`LOWER(c.tags) LIKE LOWER(?) ESCAPE '\'`, "%"+likeEscaper.Replace(string(tag))+"%")
	}
	if f.Goal != "" {
		add(ofReview+"v.goal = ?)", f.Goal)
	}
	if f.Topic != "" {
		topic, _ := json.Marshal(f.Topic) // as stored among the topics; marshaling a text cannot fail
		add(ofReview+`LOWER(v.topics) LIKE LOWER(?) ESCAPE '\')`, "%"+likeEscaper.Replace(string(topic))+"%")
	}
	if f.Cursor != "" {
		at, id, err := parseCursor(f.Cursor)
		if err != nil {
			return nil, "", err
		}
		if f.Oldest {
			add("("+key+", c.id) > (?, ?)", at, id)
		} else {
			add("("+key+", c.id) < (?, ?)", at, id)
		}
	}
	order := " ORDER BY " + key + " DESC, c.id DESC LIMIT $"
	if f.Oldest {
		order = " ORDER BY " + key + ", c.id LIMIT $"
	}
	args = append(args, f.Limit+1)
	page, err = db.Collect(ctx, s.d, "conversations", scanListed, "SELECT "+prefixed+
		", k.name, k.email, k.number, k.username, SUBSTR(k.visitor_id, 1, 6) = 'group:' FROM conversation AS c "+
		"JOIN contact AS k ON k.id = c.contact_id WHERE c.company_id = $1"+
		where.String()+order+strconv.Itoa(len(args)), args...)
	if err != nil || len(page) <= f.Limit {
		return page, "", err
	}
	page = page[:f.Limit]
	last := page[f.Limit-1]
	at := last.at
	if key == byWait {
		at = last.waitingAt
	}
	return page, strconv.FormatInt(db.Millis(at), 10) + "." + last.ID, nil
}

// ofReview begins a condition for the review of a listed conversation.
const ofReview = "EXISTS (SELECT 1 FROM review AS v WHERE v.conversation_id = c.id AND "

//nolint:gochecknoglobals // read only
var (
	likeEscaper = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)
	prefixed    = "c." + strings.ReplaceAll(strings.Join(strings.Fields(columns), " "), ", ", ", c.")
)

func scanListed(row db.Scan) (l Listed, err error) {
	c, err := scan(func(dest ...any) error {
		return row(append(dest, &l.Name, &l.Email, &l.Number, &l.Username, &l.Group)...)
	})
	if err != nil {
		return l, err
	}
	l.Summary, l.at, l.waitingAt = Summarize(c), c.LastAt, c.WaitingAt
	return l, nil
}

func parseCursor(s string) (at int64, id string, err error) {
	ms, id, ok := strings.Cut(s, ".")
	if at, err = strconv.ParseInt(ms, 10, 64); err != nil || !ok || id == "" {
		return 0, "", carillon.Invalid("cursor", "Must be the next_cursor of a page")
	}
	return at, id, nil
}

// Counts are the numbers of open conversations in a teammate's folders.
type Counts struct {
	Mine       int `json:"mine"`
	Unassigned int `json:"unassigned"`
	Unanswered int `json:"unanswered"`
	Automated  int `json:"automated"`
	All        int `json:"all"`
}

// Count counts the folders of a teammate.
func (s *Store) Count(ctx context.Context, companyID, accountID string) (n Counts, err error) {
	err = s.d.Row(ctx, []any{&n.Mine, &n.Unassigned, &n.Unanswered, &n.Automated, &n.All},
		`SELECT COUNT(CASE WHEN assignee = $2 THEN 1 END),
		COUNT(CASE WHEN waiting_at > 0 THEN 1 END), COUNT(CASE WHEN unanswered <> '' THEN 1 END),
		COUNT(CASE WHEN state = 'bot' THEN 1 END), COUNT(*)
		FROM conversation WHERE company_id = $1 AND state <> 'resolved'`, companyID, accountID)
	return n, db.Wrap(err, "count conversations")
}

// AnyVisitor reports whether one of a company's last thousand conversations came from a widget.
func (s *Store) AnyVisitor(ctx context.Context, companyID string) (found bool, err error) {
	err = s.d.Row(ctx, []any{&found},
		`SELECT COUNT(*) > 0 FROM (SELECT channel FROM conversation WHERE company_id = $1 ORDER BY last_at DESC, id DESC LIMIT 1000) AS x
		WHERE x.channel IN ('web_chat', 'web_voice')`, companyID)
	return found, db.Wrap(err, "look for visitors")
}

// States counts the open conversations of all companies by state.
func (s *Store) States(ctx context.Context) (map[State]int, error) {
	n := map[State]int{}
	err := db.Each(ctx, s.d, func(scan db.Scan) error {
		var state State
		var count int
		err := scan(&state, &count)
		n[state] = count
		return err
	}, "SELECT state, COUNT(*) FROM conversation WHERE state <> 'resolved' GROUP BY state ORDER BY state")
	return n, db.Wrap(err, "count conversations")
}

// QueuePosition returns the position of a queued conversation in its company's queue, from 1.
func (s *Store) QueuePosition(ctx context.Context, c *Conversation) (n int, err error) {
	err = s.d.Row(ctx, []any{&n}, `SELECT COUNT(*) FROM conversation WHERE company_id = $1 AND state = 'queued' AND (state_at < $2 `+
		`OR state_at = $2 AND id <= $3)`,
		c.CompanyID, db.Millis(c.StateAt), c.ID)
	return n, db.Wrap(err, "count the queue")
}

// HeldBy returns at most `most` of a company's conversations assigned to a teammate.
func (s *Store) HeldBy(ctx context.Context, companyID, accountID string, most int) ([]*Conversation, error) {
	return db.Collect(ctx, s.d, "conversations", scan, "SELECT "+columns+` FROM conversation
		WHERE company_id = $1 AND assignee = $2 AND assignee <> '' AND state IN ('active', 'wrap_up') ORDER BY last_at, id
			LIMIT $3`, companyID, accountID, most)
}

// InState returns conversations of any company that have been in a state since before an instant, oldest first.
func (s *Store) InState(ctx context.Context, state State, before time.Time, most int) ([]*Conversation, error) {
	return db.Collect(ctx, s.d, "conversations", scan,
		"SELECT "+columns+" FROM conversation WHERE state = $1 AND state IN ('queued', 'wrap_up') AND state_at < $2"+db.Here+
			" ORDER BY state_at LIMIT $3",
		string(state), db.Millis(before), most)
}

// Unreplied returns conversations of any company whose agent reply has been overdue since before an instant: the node
// that should give it stopped.
func (s *Store) Unreplied(ctx context.Context, before time.Time, most int) ([]*Conversation, error) {
	return db.Collect(ctx, s.d, "conversations", scan,
		"SELECT "+columns+" FROM conversation WHERE reply_at > 0 AND reply_at < $1"+db.Here+" ORDER BY reply_at LIMIT $2",
		db.Millis(before), most)
}

// Noted returns the values learned in a company's conversations, by conversation, in order; at most maxNoted in total.
func (s *Store) Noted(ctx context.Context, companyID string, ids []string) (map[string][]Value, error) {
	all := make(map[string][]Value, len(ids))
	if len(ids) == 0 {
		return all, nil
	}
	type noted struct {
		id   string
		turn Turn
	}
	found, err := db.Collect(ctx, s.d, "values", func(row db.Scan) (n noted, err error) {
		n.turn, err = scanTurn(func(dest ...any) error { return row(append(dest, &n.id)...) })
		return n, err
	}, "SELECT "+turnColumns+", conversation_id FROM turn WHERE conversation_id "+s.d.In(1)+` AND kind = 'event' AND payload LIKE '%"set":%'
		AND EXISTS (SELECT 1 FROM conversation AS c WHERE c.id = turn.conversation_id AND c.company_id = $2) LIMIT $3`,
		s.d.List(ids), companyID, maxNoted)
	slices.SortFunc(found, func(a, b noted) int { return cmp.Compare(a.turn.Seq, b.turn.Seq) })
	for _, n := range found {
		all[n.id] = append(all[n.id], n.turn.Extra.Set...)
	}
	return all, err
}

const maxNoted = 5000
