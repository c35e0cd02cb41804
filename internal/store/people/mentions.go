package people

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"carillon/internal/store/db"
)

// pageRows is the number of rows examined in one step, and pageParts that of parts of histories, which have megabytes.
const (
	pageRows  = 200
	pageParts = 4
)

// mention is a table whose texts may mention a person.
type mention struct {
	table string
	key   string   // key columns after the company, which order the rows
	texts []string // columns to search
	// rewrite returns a text without the person; nil deletes the row.
	rewrite func(m Matcher, text, mark string) string
	// from is the condition for rows of the company, $1.
	from string
	page int // rows examined in one step; 0 means pageRows
}

const ofCompany = "company_id = $1"

var mentions = []mention{ //nolint:gochecknoglobals // read only
	{table: "api_call", key: "id", texts: []string{"path", "message", "doc"}, from: ofCompany},
	{table: "hook_attempt", key: "event_id, id", texts: []string{"subject", "request", "response", "error"}, from: ofCompany},
	{table: "audit", key: "id", texts: []string{"object_id", "object_name", "changes"}, rewrite: Matcher.Replace, from: ofCompany},
	{
		table: "past_part", key: "sender_uid, digest", texts: []string{"content"}, rewrite: withoutThreads,
		from: ofCompany + " AND due_at > 0", page: pageParts,
	},
	{table: "idempotency", key: "route, key", texts: []string{"answer"}, rewrite: Matcher.Replace, from: ofCompany},
	{
		table: "bulk_batch", key: "job_id, n", texts: []string{"cells"}, rewrite: withoutRows,
		from: "job_id IN (SELECT id FROM bulk_job WHERE company_id = $1)",
	},
	{
		table: "bulk_check", key: "job_id, n", texts: []string{"faults"}, rewrite: Matcher.Replace,
		from: "job_id IN (SELECT id FROM bulk_job WHERE company_id = $1)",
	},
}

// EraseMentions removes a person from the texts of a company's rows: rows that only record a request are deleted, in
// others the mention is replaced by a mark. It returns the numbers of rows by table.
func EraseMentions(ctx context.Context, d *db.DB, companyID string, m Matcher, mark string) (map[string]int, error) {
	erased := map[string]int{}
	for _, x := range mentions {
		n, err := x.erase(ctx, d, companyID, m, mark)
		if err != nil {
			return erased, fmt.Errorf("erase from %s: %w", x.table, err)
		}
		erased[x.table] = n
	}
	return erased, nil
}

// EraseNotes removes the person's numbers from other contacts, where teammates noted them, and returns their number.
func EraseNotes(ctx context.Context, d *db.DB, p *Person) (n int, err error) {
	err = d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		noted, err := tx.Exec(ctx, "UPDATE contact SET number = '' WHERE company_id = $1 AND number "+d.In(2), p.CompanyID, d.List(p.Keys))
		if err != nil {
			return err
		}
		n = int(noted)
		_, err = tx.Exec(ctx, "DELETE FROM contact_identity WHERE company_id = $1 AND value "+d.In(2)+" AND kind = 'claimed'",
			p.CompanyID, d.List(p.Keys))
		return err
	})
	return n, db.Wrap(err, "erase noted numbers")
}

// record is a row of such a table.
type record struct {
	key   []any
	texts []string
}

func (x *mention) keys() []string { return strings.Split(x.key, ", ") }

func (x *mention) erase(ctx context.Context, d *db.DB, companyID string, m Matcher, mark string) (n int, err error) {
	var after []any
	for {
		page, err := x.next(ctx, d, companyID, after)
		if err != nil || len(page) == 0 {
			return n, err
		}
		after = page[len(page)-1].key
		for i := range page {
			r := &page[i]
			if !m.Matches(strings.Join(r.texts, "\n")) {
				continue
			}
			n++
			if err := x.change(ctx, d, companyID, r, m, mark); err != nil {
				return n, err
			}
		}
	}
}

func (x *mention) next(ctx context.Context, d *db.DB, companyID string, after []any) ([]record, error) {
	keys := x.keys()
	where, args := x.from, []any{companyID}
	if after != nil {
		places := make([]string, len(keys))
		for i := range keys {
			places[i] = fmt.Sprintf("$%d", i+2)
		}
		where += " AND (" + x.key + ") > (" + strings.Join(places, ", ") + ")"
		args = append(args, after...)
	}
	return db.Collect(ctx, d, x.table, func(scan db.Scan) (record, error) {
		r := record{key: make([]any, len(keys)), texts: make([]string, len(x.texts))}
		var into []any
		for i := range r.key {
			into = append(into, &r.key[i])
		}
		for i := range r.texts {
			into = append(into, &r.texts[i])
		}
		err := scan(into...)
		return r, err
	}, "SELECT "+x.key+", "+strings.Join(x.texts, ", ")+" FROM "+x.table+" WHERE "+where+" ORDER BY "+x.key+
		fmt.Sprintf(" LIMIT %d", cmp.Or(x.page, pageRows)), args...)
}

func (x *mention) change(ctx context.Context, d *db.DB, companyID string, r *record, m Matcher, mark string) error {
	args := append([]any{companyID}, r.key...)
	conditions := []string{x.from}
	for i, column := range x.keys() {
		conditions = append(conditions, fmt.Sprintf("%s = $%d", column, i+2))
	}
	where := strings.Join(conditions, " AND ")
	statement := "DELETE FROM " + x.table + " WHERE " + where
	if x.rewrite != nil {
		var sets []string
		for i, column := range x.texts {
			args = append(args, x.rewrite(m, r.texts[i], mark))
			sets = append(sets, fmt.Sprintf("%s = $%d", column, len(args)))
		}
		statement = "UPDATE " + x.table + " SET " + strings.Join(sets, ", ") + " WHERE " + where
	}
	return d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, statement, args...)
		return err
	})
}

// withoutRows empties the rows of a list that mention the person: the positions of its lines have a meaning.
func withoutRows(m Matcher, text, mark string) string {
	var rows [][]string
	if json.Unmarshal([]byte(text), &rows) != nil {
		return m.Replace(text, mark)
	}
	for _, row := range rows {
		if !m.Matches(strings.Join(row[min(1, len(row)):], "\n")) { // the first cell is the line number
			continue
		}
		for i := 1; i < len(row); i++ {
			row[i] = ""
		}
	}
	return db.JSON(rows)
}

// withoutThreads removes the person's threads, messages and names from a part of a history, in any form that the channel
// sends, and other mentions.
func withoutThreads(m Matcher, text, mark string) string {
	var all []json.RawMessage
	if json.Unmarshal([]byte(text), &all) == nil {
		return m.Replace(db.JSON(m.others(all, nil)), mark)
	}
	var part map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &part) != nil {
		return m.Replace(text, mark)
	}
	for member, name := range map[string]func(json.RawMessage) string{"threads": threadID, "Messages": nil} {
		if json.Unmarshal(part[member], &all) == nil {
			part[member] = json.RawMessage(db.JSON(m.others(all, name)))
		}
	}
	return m.Replace(db.JSON(part), mark)
}

func threadID(thread json.RawMessage) string {
	var x struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(thread, &x) // without an id it is nobody's
	return x.ID
}

// others returns the values that do not mention the person, in the text that name returns; nil means in any text.
func (m Matcher) others(all []json.RawMessage, name func(json.RawMessage) string) []json.RawMessage {
	return slices.DeleteFunc(all, func(x json.RawMessage) bool {
		if name == nil {
			return m.Matches(string(x))
		}
		return m.Matches(name(x))
	})
}
