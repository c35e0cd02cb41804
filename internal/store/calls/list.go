package calls

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/store/db"
)

// Filter narrows a company's list of calls; zero values do not filter.
type Filter struct {
	States    []carillon.State // any of these states
	SenderUID int64
	Line      identity.Key // of the callee, in any form of the number
	AgentID   string
	Campaign  string
	Before    carillon.MessageKey // next of the previous page; 0 for the first page
	Limit     int

	number string // one of the forms
}

// Listed is a call with fields of its notification.
type Listed struct {
	Call
	NotificationID string
	Channel        carillon.Channel // of the notification
	AgentID        string
	Campaign       string
	Scheduled      bool
	CreatedAt      time.Time
	ScheduledAt    time.Time // scheduled time of the request
	Flat           bool
	Body           string // request body; empty if it is long
}

// aliased returns the columns of the table with an alias.
func aliased(columns, alias string) string {
	return alias + "." + strings.Join(strings.Fields(strings.ReplaceAll(columns, ",", " ")), ", "+alias+".")
}

// maxExamine bounds the rows examined for one page of a filtered list. A page that finds too few among them ends
// early.
const maxExamine = 5000

// listedColumns are columns with the alias c, and those of the notification.
var listedColumns = aliased(columns, "c") + //nolint:gochecknoglobals // a constant text
	", n.id, n.channel, n.agent_id, n.campaign, n.scheduled, n.created_at, n.due_at, n.flat, " +
	"CASE WHEN LENGTH(n.body) <= 16384 THEN n.body ELSE '' END"

// Oldest is less than the key of any call.
const Oldest carillon.MessageKey = math.MinInt64

// List returns a page of a company's calls, newest first, and the cursor of the next page, Oldest after the last. A
// page that has examined maxExamine calls ends early, even if it is empty.
func (s *Store) List(ctx context.Context, companyID string, f Filter, now time.Time) (found []*Listed, next carillon.MessageKey,
	err error,
) {
	if f.Before == 0 {
		f.Before = math.MaxInt64
	}
	limit := f.Limit
	f.Limit++
	found, next, err = db.Merge(formsOf(f.Line), Oldest, func(x *Listed) carillon.MessageKey { return x.Key },
		func(number string) ([]*Listed, carillon.MessageKey, error) {
			f.number = number
			return s.page(ctx, companyID, f, now)
		})
	if len(found) > limit {
		found = found[:limit]
		next = found[limit-1].Key
	}
	return found, next, err
}

// formsOf returns the forms of the number searched for; an empty one matches any.
func formsOf(line identity.Key) []string {
	if line.IsZero() {
		return []string{""}
	}
	return line.Forms()
}

// page reads calls to a number, or to any. edge is the oldest call examined if the page ended early.
func (s *Store) page(
	ctx context.Context, companyID string, f Filter, now time.Time,
) (found []*Listed, edge carillon.MessageKey, err error) {
	edge, err = s.edge(ctx, companyID, f)
	if err != nil {
		return nil, Oldest, err
	}
	c := conditions{}
	f.indexed(&c, "c.", companyID)
	c.add("c.id < ? AND c.id >= ? AND n.seq = c.id / 128", int64(f.Before), int64(edge))
	f.others(&c, now)
	c.args = append(c.args, f.Limit)
	// CROSS JOIN keeps SQLite from starting with the notifications.
	found, err = db.Collect(ctx, s.DB, "calls", scanListed,
		"SELECT "+listedColumns+" FROM call AS c CROSS JOIN notification AS n WHERE "+c.clause()+
			" ORDER BY c.id DESC LIMIT $"+strconv.Itoa(len(c.args)), c.args...)
	return found, edge, err
}

// edge returns the oldest call that a page may examine.
func (s *Store) edge(ctx context.Context, companyID string, f Filter) (oldest carillon.MessageKey, err error) {
	if f.SenderUID == 0 && f.AgentID == "" && f.Campaign == "" && len(f.States) == 0 {
		return Oldest, nil
	}
	c := conditions{}
	f.indexed(&c, "", companyID)
	c.add("id < ?", int64(f.Before))
	oldest = Oldest
	err = s.DB.Row(ctx, []any{&oldest}, "SELECT id FROM call WHERE "+c.clause()+" ORDER BY id DESC LIMIT 1 OFFSET "+
		strconv.Itoa(maxExamine-1), c.args...)
	return oldest, db.Wrap(db.Ignore(err), "bound a list of calls")
}

// indexed adds the conditions of an index: it skips rows without examining them.
func (f *Filter) indexed(c *conditions, alias, companyID string) {
	switch {
	case f.number != "": // the concatenation keeps SQLite from the index of the company
		c.add(alias+"number = ? AND "+alias+"company_id || '' = ?", f.number, companyID)
	case len(f.States) > 0 && !slices.ContainsFunc(f.States, func(x carillon.State) bool { return !open(x) }):
		c.add(alias+"company_id = ? AND "+alias+"q > 0", companyID)
	default:
		c.add(alias+"company_id = ?", companyID)
	}
}

// open reports whether a call in a state has not ended.
func open(s carillon.State) bool {
	switch s {
	case carillon.StateScheduled, carillon.StateQueued, carillon.StateDialing, carillon.StateRinging, carillon.StateInProgress:
		return true
	default:
		return false
	}
}

// others adds the conditions without an index.
func (f *Filter) others(c *conditions, now time.Time) {
	if f.SenderUID != 0 {
		c.add("c.sender = ?", f.SenderUID)
	}
	if f.AgentID != "" {
		c.add("n.agent_id = ?", f.AgentID)
	}
	if f.Campaign != "" {
		c.add("n.campaign = ?", f.Campaign)
	}
	if len(f.States) == 0 {
		return
	}
	var any conditions
	for _, state := range f.States {
		// A call that waits for its scheduled time is stored as queued.
		const waits = "c.attempt = 0 AND n.scheduled AND n.due_at > ?"
		switch state {
		case carillon.StateScheduled:
			any.add("c.state = 'queued' AND "+waits, db.Millis(now))
		case carillon.StateQueued:
			any.add("c.state = 'queued' AND NOT ("+waits+")", db.Millis(now))
		default:
			any.add("c.state = ?", string(state))
		}
	}
	c.either(any)
}

// conditions collects conditions, with ? for their arguments.
type conditions struct {
	raw  []string
	args []any
}

func (c *conditions) add(condition string, args ...any) {
	c.raw, c.args = append(c.raw, condition), append(c.args, args...)
}

// either adds a disjunction of conditions.
func (c *conditions) either(some conditions) {
	c.add("("+strings.Join(some.raw, " OR ")+")", some.args...)
}

// clause joins the conditions and numbers their arguments.
func (c *conditions) clause() string {
	parts := strings.Split(strings.Join(c.raw, " AND "), "?")
	var b strings.Builder
	for i, p := range parts[:len(parts)-1] {
		b.WriteString(p + "$" + strconv.Itoa(i+1))
	}
	return b.String() + parts[len(parts)-1]
}

func scanListed(row db.Scan) (*Listed, error) {
	var x Listed
	var created, scheduled int64
	c, err := scan(func(dest ...any) error {
		return row(append(dest, &x.NotificationID, &x.Channel, &x.AgentID, &x.Campaign, &x.Scheduled, &created, &scheduled, &x.Flat,
			&x.Body)...)
	})
	x.Call, x.CreatedAt, x.ScheduledAt = *c, db.Instant(created), db.Instant(scheduled)
	return &x, err
}

// One returns a company's call by its id; nil if there is none.
func (s *Store) One(ctx context.Context, companyID, id string) (*Listed, error) {
	notificationID, key, channel, ok := provider.ParseCallID(id)
	if !ok {
		return nil, nil //nolint:nilnil // no call has such an id
	}
	return db.Find(ctx, s.DB, "call", scanListed, "SELECT "+listedColumns+` FROM call AS c CROSS JOIN notification AS n
		WHERE c.id = $1 AND c.company_id = $2 AND n.seq = c.id / 128 AND n.id = $3 AND n.channel = $4`, int64(key), companyID,
		notificationID, string(channel))
}
