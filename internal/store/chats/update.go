package chats

import (
	"context"
	"strconv"
	"strings"

	"carillon"
	"carillon/internal/store/db"
)

// field is a column of an update. said columns change with each turn, the others with the state of the conversation.
type field struct {
	name, kind string
	said       bool
	value      func(c *Conversation) any
}

//nolint:gochecknoglobals // read only
var fields = []field{
	{"last_seq", "bigint", true, func(c *Conversation) any { return c.LastSeq }},
	{"last_at", "bigint", true, func(c *Conversation) any { return db.Millis(c.LastAt) }},
	{"last_author", "text", true, func(c *Conversation) any { return string(c.LastAuthor) }},
	{"last_text", "text", true, func(c *Conversation) any { return c.LastText }},
	{"question", "text", true, func(c *Conversation) any { return c.Question }},
	{"visitor_seq", "bigint", true, func(c *Conversation) any { return c.VisitorSeq }},
	{"company_seq", "bigint", true, func(c *Conversation) any { return c.CompanySeq }},
	{"read_seq", "bigint", true, func(c *Conversation) any { return c.ReadSeq }},
	{"seen_seq", "bigint", true, func(c *Conversation) any { return c.SeenSeq }},
	{"reply_seq", "bigint", true, func(c *Conversation) any { return c.ReplySeq }},
	{"reply_at", "bigint", true, func(c *Conversation) any { return db.Millis(c.ReplyAt) }},
	{"asked_at", "bigint", true, func(c *Conversation) any { return db.Millis(c.AskedAt) }},
	{"asks", "text", true, func(c *Conversation) any { return c.Asks }},
	{"asked_seq", "bigint", true, func(c *Conversation) any { return c.AskedSeq }},
	{"memory", "text", true, func(c *Conversation) any { return c.Memory }},
	{"review_at", "bigint", false, func(c *Conversation) any { return db.Millis(c.ReviewAt) }},
	{"review_tries", "bigint", false, func(c *Conversation) any { return c.ReviewTries }},
	{"waiting_at", "bigint", false, func(c *Conversation) any { return db.Millis(c.WaitingAt) }},
	{"notice_at", "bigint", false, func(c *Conversation) any { return db.Millis(c.NoticeAt) }},
	{"unanswered", "text", false, func(c *Conversation) any { return c.Unanswered }},
	{"undo", "text", false, func(c *Conversation) any { return c.Undo }},
	{"agent_id", "text", false, func(c *Conversation) any { return c.AgentID }},
	{"state", "text", false, func(c *Conversation) any { return string(c.State) }},
	{"state_at", "bigint", false, func(c *Conversation) any { return db.Millis(c.StateAt) }},
	{"assignee", "text", false, func(c *Conversation) any { return c.Assignee }},
	{"language", "text", false, func(c *Conversation) any { return c.Language }},
	{"page", "text", false, func(c *Conversation) any { return c.Page }},
	{"tags", "text", false, func(c *Conversation) any { return string(jsonOf(append([]string{}, c.Tags...))) }},
	{"rating", "bigint", false, func(c *Conversation) any { return int64(c.Rating) }},
	{"comment", "text", false, func(c *Conversation) any { return c.Comment }},
	{"resolved_at", "bigint", false, func(c *Conversation) any { return db.Millis(c.ResolvedAt) }},
	{"rated_at", "bigint", false, func(c *Conversation) any { return db.Millis(c.RatedAt) }},
	{"handoff_at", "bigint", false, func(c *Conversation) any { return db.Millis(c.Handoff.At) }},
	{"replied_at", "bigint", false, func(c *Conversation) any { return db.Millis(c.Handoff.RepliedAt) }},
	{"replied_by", "text", false, func(c *Conversation) any { return c.Handoff.By }},
}

// The statements: for SQLite one for a conversation with new turns and one for other changes; for PostgreSQL one for
// all conversations of a transaction.
//
//nolint:gochecknoglobals // read only
var (
	updateSaid = updateOne(true)
	updateAll  = updateOne(false)
	updateMany = updateFrom()
)

func updateOne(said bool) string {
	var set []string
	for _, f := range fields {
		if f.said || !said {
			set = append(set, f.name+" = $"+strconv.Itoa(len(set)+2))
		}
	}
	// OR FAIL: a failure ends the whole transaction (db.Bulk).
	return "UPDATE OR FAIL conversation SET " + strings.Join(set, ", ") + " WHERE id = $1"
}

func updateFrom() string {
	set, from := make([]string, len(fields)), []string{"unnest($1::text[]) AS id"}
	for i, f := range fields {
		set[i] = f.name + " = x." + f.name
		from = append(from, "unnest($"+strconv.Itoa(i+2)+"::"+f.kind+"[]) AS "+f.name)
	}
	return "UPDATE conversation AS c SET " + strings.Join(set, ", ") + " FROM (SELECT " + strings.Join(from, ", ") +
		") AS x WHERE c.id = x.id"
}

// updateRows writes conversations.
func updateRows(ctx context.Context, tx *db.Tx, rows []*changedRow) error {
	if len(rows) == 0 {
		return nil
	}
	write := updateEach
	if !tx.SQLite() {
		write = updateTogether
	}
	err := write(ctx, tx, rows)
	if db.Duplicate(err) {
		return carillon.InConflict("The contact has another open conversation")
	}
	return db.Wrap(err, "write conversation")
}

// updateEach omits unchanged columns: SQLite writes every index of a column that is set.
func updateEach(ctx context.Context, tx *db.Tx, rows []*changedRow) error {
	for _, row := range rows {
		said := true
		for _, f := range fields {
			said = said && (f.said || f.value(row.stored) == f.value(row.have))
		}
		query, args := updateAll, make([]any, 1, len(fields)+1)
		if said {
			query = updateSaid
		}
		args[0] = row.have.ID
		for _, f := range fields {
			if f.said || !said {
				args = append(args, f.value(row.have))
			}
		}
		if _, err := tx.Exec(ctx, query, args...); err != nil {
			return err
		}
	}
	return nil
}

func updateTogether(ctx context.Context, tx *db.Tx, rows []*changedRow) error {
	ids := make([]string, len(rows))
	args := []any{ids}
	for i, row := range rows {
		ids[i] = row.have.ID
	}
	for _, f := range fields {
		args = append(args, f.array(rows))
	}
	_, err := tx.Exec(ctx, updateMany, args...)
	return err
}

// array returns the column in all rows.
func (f *field) array(rows []*changedRow) any {
	if f.kind == "text" {
		return gather[string](f, rows)
	}
	return gather[int64](f, rows)
}

func gather[T any](f *field, rows []*changedRow) []T {
	all := make([]T, len(rows))
	for i, row := range rows {
		all[i], _ = f.value(row.have).(T)
	}
	return all
}
