package messages

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/share"
	"carillon/internal/store/db"
)

// Filter narrows a company's list of notifications; zero values do not filter.
type Filter struct {
	Campaign  string
	Lines     []identity.Key // of a recipient: all lines of one person, in any form
	Class     *carillon.Class
	Channel   carillon.Channel
	State     carillon.State // scheduled, in_progress, completed, canceled
	Failed    bool           // a recipient failed
	SenderUID int64
	From, To  time.Time // acceptance; From inclusive, To exclusive
	Before    string    // cursor: last id of the previous page; empty for the first page
	Limit     int

	number string // one of the forms
}

// where collects conditions and their arguments.
type where struct {
	text []string
	args []any
}

func (w *where) add(condition string, args ...any) {
	for _, a := range args {
		w.args = append(w.args, a)
		condition = strings.Replace(condition, "?", "$"+strconv.Itoa(len(w.args)), 1)
	}
	w.text = append(w.text, condition)
}

func (w *where) clause() string { return strings.Join(w.text, " AND ") }

// newest is greater than every number.
const newest carillon.Seq = math.MaxInt64

// maxExamine bounds the rows examined for one page of a filtered list. A page that finds too few among them ends
// early.
const maxExamine = 5000

// span is the part of a list from which a page is read, both ends exclusive.
type span struct{ above, below carillon.Seq }

// span returns the part within the filter's instants and cursor.
func (f *Filter) span() span {
	x := span{carillon.NoSeq, newest}
	if !f.From.IsZero() {
		x.above = carillon.FirstSeq(f.From) - 1
	}
	if !f.To.IsZero() {
		x.below = carillon.FirstSeq(f.To)
	}
	if f.Before != "" {
		x.below = min(x.below, carillon.SeqOf(f.Before))
	}
	return x
}

// List returns a page of a company's notifications, newest first, without their bodies, and the cursor of the next
// page, "" after the last. A page that has examined maxExamine rows ends early, even if it is empty. A search by
// number or campaign reads the search table, which is filled in the background, and the newer notifications directly.
func (s *Notifications) List(ctx context.Context, companyID string, f Filter, now time.Time) (found []*Notification, next string,
	err error,
) {
	place, err := s.lists.Wait(ctx, share.Holder{Company: companyID})
	if err != nil {
		return nil, "", err
	}
	defer place.Release()
	limit := f.Limit
	f.Limit++
	switch {
	case len(f.Lines) > 0:
		found, next, err = s.toLines(ctx, companyID, f, now)
	case f.Campaign != "":
		found, next, err = s.search(ctx, companyID, f, now, f.span())
	default:
		found, next, err = s.list(ctx, companyID, f, now, f.span())
	}
	if len(found) > limit {
		found = found[:limit]
		next = found[limit-1].ID
	}
	return found, next, err
}

// toLines merges the notifications to each form of the numbers of lines.
func (s *Notifications) toLines(ctx context.Context, companyID string, f Filter, now time.Time) (found []*Notification, edge string,
	err error,
) {
	var numbers []string
	for _, line := range f.Lines {
		numbers = append(numbers, line.Forms()...)
	}
	return db.Merge(numbers, "", func(n *Notification) string { return n.ID }, func(number string) ([]*Notification, string, error) {
		f.number = number
		return s.search(ctx, companyID, f, now, f.span())
	})
}

// search reads the notifications that are newer than the search table, then the search table.
func (s *Notifications) search(ctx context.Context, companyID string, f Filter, now time.Time, in span) (found []*Notification,
	edge string, err error,
) {
	until, err := Horizon(ctx, s.d)
	if err != nil {
		return nil, "", err
	}
	found, edge, err = s.list(ctx, companyID, f, now, span{max(in.above, until), in.below})
	if err != nil || edge != "" || len(found) == f.Limit {
		return found, edge, err
	}
	field, value := "campaign", CampaignKey(f.Campaign)
	if f.number != "" {
		field, value = "number", f.number
	}
	f.Limit -= len(found)
	in.below = min(in.below, until+1)
	rest, edge, err := s.listIndexed(ctx, f, now, in, companyID, field, value)
	return append(found, rest...), edge, err
}

// edge returns the oldest of the first maxExamine rows of a list, whose condition has $2 and $3 as its ends; "" if
// there are fewer.
func (s *Notifications) edge(ctx context.Context, in *span, rows string, args ...any) (id string, err error) {
	var seq carillon.Seq
	err = s.d.Row(ctx, []any{&seq, &id}, "SELECT seq, id FROM notification WHERE seq = (SELECT seq FROM "+rows+
		" ORDER BY seq DESC LIMIT 1 OFFSET "+
		strconv.Itoa(maxExamine-1)+")", args...)
	if err == nil {
		in.above = seq - 1
	}
	return id, db.Wrap(db.Ignore(err), "bound a list")
}

// list reads a company's notifications. edge is the last one examined if the page ended early.
func (s *Notifications) list(ctx context.Context, companyID string, f Filter, now time.Time, in span) (found []*Notification,
	edge string, err error,
) {
	if f.narrows() {
		edge, err = s.edge(ctx, &in, "notification WHERE company_id = $1 AND seq > $2 AND seq < $3"+f.indexed(), companyID,
			int64(in.above), int64(in.below))
		if err != nil {
			return nil, "", err
		}
	}
	w := where{text: []string{"company_id = $1 AND seq > $2 AND seq < $3"}, args: []any{companyID, int64(in.above), int64(in.below)}}
	f.conditions(&w, now, false)
	w.args = append(w.args, f.Limit)
	found, err = s.notifications(ctx, "SELECT "+notificationColumns+" FROM notification WHERE "+w.clause()+
		" ORDER BY seq DESC LIMIT $"+strconv.Itoa(len(w.args)), w.args...)
	return found, edge, err
}

// The ranks of failed messages, and the states of calls that reached no one.
const (
	failedRanks = "30, 50"
	failedCalls = "'failed', 'busy', 'no_answer', 'rejected', 'voicemail'"
)

// narrows reports whether the filter excludes rows that the list's index yields.
func (f *Filter) narrows() bool {
	return f.Campaign != "" || f.number != "" || f.Class != nil || f.Channel != "" || f.State != "" || f.SenderUID != 0 ||
		f.Failed
}

// indexed returns the filter conditions by state that an index applies: it skips rows without examining them.
func (f *Filter) indexed() string {
	switch f.State {
	case carillon.StateCanceled:
		return " AND canceled"
	case carillon.StateScheduled, carillon.StateInProgress:
		return " AND open > 0"
	default:
		return ""
	}
}

// listIndexed reads through the search table.
func (s *Notifications) listIndexed(ctx context.Context, f Filter, now time.Time, in span, companyID, field,
	value string,
) (found []*Notification, edge string, err error) {
	edge, err = s.edge(ctx, &in, "search WHERE company_id = $1 AND seq > $2 AND seq < $3 AND field = $4 AND value = $5",
		companyID, int64(in.above), int64(in.below), field, value)
	if err != nil {
		return nil, "", err
	}
	w := where{
		text: []string{"s.company_id = $1 AND s.seq > $2 AND s.seq < $3 AND s.field = $4 AND s.value = $5 AND n.seq = s.seq"},
		args: []any{companyID, int64(in.above), int64(in.below), field, value},
	}
	if field == "number" {
		f.number = "" // applied by the search table
	}
	f.conditions(&w, now, true)
	w.args = append(w.args, f.Limit)
	columns := "n." + strings.Join(strings.Fields(strings.ReplaceAll(notificationColumns, ",", " ")), ", n.")
	// CROSS JOIN keeps SQLite from scanning all of the company's notifications.
	found, err = s.notifications(ctx, "SELECT "+columns+" FROM search s CROSS JOIN notification n WHERE "+w.clause()+
		" ORDER BY s.seq DESC LIMIT $"+strconv.Itoa(len(w.args)), w.args...)
	return found, edge, err
}

// conditions adds the filters; joined means that the columns have the alias n and seq is the search table's.
func (f *Filter) conditions(w *where, now time.Time, joined bool) {
	p, seq := "", "seq"
	if joined {
		p, seq = "n.", "s.seq"
	}
	if f.Campaign != "" {
		w.add(p+"campaign = ?", f.Campaign)
	}
	if f.number != "" {
		// PostgreSQL may turn EXISTS into a join that reads all messages of the number.
		w.add("((SELECT MIN(m.id) FROM message m WHERE m.id BETWEEN "+seq+" * 128 AND "+seq+
			" * 128 + 127 AND m.number = ?) IS NOT NULL OR "+
			"(SELECT MIN(c.id) FROM call c WHERE c.id BETWEEN "+seq+" * 128 AND "+seq+" * 128 + 127 AND c.number = ?) IS NOT NULL)",
			f.number, f.number)
	}
	if f.Class != nil {
		w.add(p+"class = ?", int(*f.Class))
	}
	if f.Channel != "" {
		w.add(p+"channel = ?", string(f.Channel))
	}
	if f.SenderUID != 0 {
		w.add(p+"sender = ?", f.SenderUID)
	}
	if f.Failed {
		// SQLite uses the index for a count, but not for a minimum of ids; and only for an expression, such as seq + 0.
		w.add("((SELECT COUNT(*) FROM message m WHERE m.id / 128 = " + seq + " + 0 AND m.reason IS NOT NULL AND m.rank IN (" + failedRanks +
			")) > 0 OR (SELECT COUNT(*) FROM call c WHERE c.id = " + seq + " * 128 AND c.state IN (" + failedCalls + ")) > 0)")
	}
	switch f.State {
	case carillon.StateScheduled:
		w.add(p+"open > 0 AND "+p+"scheduled AND "+p+"due_at > ?", db.Millis(now))
	case carillon.StateInProgress:
		w.add(p+"open > 0 AND (NOT "+p+"scheduled OR "+p+"due_at <= ?)", db.Millis(now))
	case carillon.StateCompleted:
		w.add(p + "open = 0 AND NOT " + p + "canceled")
	case carillon.StateCanceled:
		w.add(p + "canceled")
	default: // no filter by state
	}
}

func (s *Notifications) notifications(ctx context.Context, query string, args ...any) ([]*Notification, error) {
	return db.Collect(ctx, s.d, "notifications", scanListed, query, args...)
}
