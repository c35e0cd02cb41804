package calls

import (
	"context"
	"slices"
	"strconv"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/store/db"
)

// IncomingFilter narrows a company's list of calls to its lines; zero values do not filter.
type IncomingFilter struct {
	States    []carillon.State // any of these states
	SenderUID int64
	Line      identity.Key // of the caller, in any form of the number
	AgentID   string
	Before    string // next of the previous page; "" for the first page
	Limit     int

	number string // one of the forms
}

// ListedIncoming is a call to a line with the caller's name.
type ListedIncoming struct {
	IncomingCall
	Name string // of the caller
}

// lastID is greater than any id.
const lastID = "~"

// List returns a page of the calls to a company's lines, newest first, and the cursor of the next page, "" after the
// last. A page that has examined maxExamine calls ends early, even if it is empty.
func (s *Incoming) List(ctx context.Context, companyID string, f IncomingFilter) (found []*ListedIncoming, next string, err error) {
	if f.Before == "" {
		f.Before = lastID
	}
	limit := f.Limit
	f.Limit++
	found, next, err = db.Merge(formsOf(f.Line), "", func(x *ListedIncoming) string { return x.ID },
		func(number string) ([]*ListedIncoming, string, error) {
			f.number = number
			return s.page(ctx, companyID, f)
		})
	if len(found) > limit {
		found = found[:limit]
		next = found[limit-1].ID
	}
	return found, next, err
}

// page reads calls from a number, or from any. edge is the oldest call examined if the page ended early.
func (s *Incoming) page(ctx context.Context, companyID string, f IncomingFilter) (found []*ListedIncoming, edge string, err error) {
	edge, err = s.edge(ctx, companyID, f)
	if err != nil {
		return nil, "", err
	}
	c := conditions{}
	f.indexed(&c, companyID)
	c.add("x.id >= ?", edge)
	f.others(&c)
	c.args = append(c.args, f.Limit)
	found, err = db.Collect(ctx, s.d, "calls", func(row db.Scan) (*ListedIncoming, error) {
		var l ListedIncoming
		one, err := scanIncoming(func(dest ...any) error { return row(append(dest, &l.Name)...) })
		l.IncomingCall = *one
		return &l, err
	}, "SELECT "+aliased(incomingColumns, "x")+`, COALESCE((SELECT k.name FROM conversation AS v JOIN contact AS k ON k.id = v.contact_id
		WHERE v.id = x.conversation_id), '') FROM incoming_call AS x WHERE `+c.clause()+" ORDER BY x.id DESC LIMIT $"+
		strconv.Itoa(len(c.args)), c.args...)
	return found, edge, err
}

// edge returns the oldest call that a page may examine; "" if it may examine all.
func (s *Incoming) edge(ctx context.Context, companyID string, f IncomingFilter) (oldest string, err error) {
	if f.SenderUID == 0 && f.AgentID == "" && len(f.States) == 0 {
		return "", nil
	}
	c := conditions{}
	f.indexed(&c, companyID)
	err = s.d.Row(ctx, []any{&oldest}, "SELECT x.id FROM incoming_call AS x WHERE "+c.clause()+
		" ORDER BY x.id DESC LIMIT 1 OFFSET "+strconv.Itoa(maxExamine-1), c.args...)
	return oldest, db.Wrap(db.Ignore(err), "bound a list of calls")
}

// indexed adds the conditions of an index: it skips rows without examining them.
func (f *IncomingFilter) indexed(c *conditions, companyID string) {
	if f.number != "" { // the concatenation keeps SQLite from the index of the company
		c.add("x.number = ? AND x.company_id || '' = ? AND x.id < ?", f.number, companyID, f.Before)
	} else {
		c.add("x.company_id = ? AND x.id < ?", companyID, f.Before)
	}
}

// others adds the conditions without an index.
func (f *IncomingFilter) others(c *conditions) {
	if f.SenderUID != 0 {
		c.add("x.sender = ?", f.SenderUID)
	}
	if f.AgentID != "" {
		c.add("x.agent_id = ?", f.AgentID)
	}
	if len(f.States) > 0 {
		var any conditions
		for _, state := range slices.Compact(slices.Sorted(slices.Values(f.States))) {
			any.add("x.state = ?", string(state))
		}
		c.either(any)
	}
}
