package company

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/db"
	"carillon/internal/store/tuple"
)

// fillRows is the number of rows of a company in every table.
const fillRows = 5

// companies are the ids of two companies, which differ in their last digit.
var companies = []string{"01900000-0000-7000-8000-000000000001", "01900000-0000-7000-8000-000000000002"}

var choice = regexp.MustCompile(`CHECK \((\w+) (?:IN \('([^']*)'|= '([^']*)')`)

// fill inserts rows of two companies into every table that has rows of companies.
func fill(t *testing.T, s *store.Store) {
	t.Helper()
	ctx := t.Context()
	sqlite := newStore(t, "sqlite", 9) // for its schema
	allowed := map[string]string{}     // by table and column
	if err := db.Each(ctx, sqlite.DB, func(scan db.Scan) error {
		var name, text string
		err := scan(&name, &text)
		for _, m := range choice.FindAllStringSubmatch(text, -1) {
			allowed[name+"."+m[1]] = m[2] + m[3]
		}
		return err
	}, "SELECT name, sql FROM sqlite_master WHERE type = 'table'"); err != nil {
		t.Fatal(err)
	}
	tables, err := tablesOf(ctx, s.DB)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.DB.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		f := filling{s, tx, allowed}
		for c := range companies {
			if err := f.accounts(ctx, c); err != nil {
				return err
			}
		}
		for _, x := range tables {
			if x.from() == "" {
				continue
			}
			for c := range companies {
				for i := range fillRows {
					if err := f.rows(ctx, x, c, i); err != nil {
						return fmt.Errorf("fill %s: %w", x.Name, err)
					}
				}
			}
		}
		return f.counts(ctx)
	}); err != nil {
		t.Fatal(err)
	}
}

type filling struct {
	store   *store.Store
	tx      *db.Tx
	allowed map[string]string
}

func accountID(c, i int) string { return fmt.Sprintf("account-%d-%d", c, i) }

// accounts inserts the members of a company, with a session, an identity, a second factor and a recovery code.
func (f *filling) accounts(ctx context.Context, c int) error {
	for i := range fillRows {
		id := accountID(c, i)
		for _, st := range []db.Statement{
			{SQL: `INSERT INTO account (id, email, name, password_hash, confirmed_at, created_at, updated_at, proved_at)
				VALUES ($1, $2, 'A member', 'hash', 1, 2, 3, 4)`, Args: []any{id, id + "@example.com"}},
			{
				SQL:  "INSERT INTO account_identity (issuer, subject, account_id, created_at) VALUES ('https://id.example', $1, $1, 5)",
				Args: []any{id},
			},
			{
				SQL:  "INSERT INTO second_factor (account_id, sealed, confirmed_at, last_step, created_at) VALUES ($1, $2, 6, 7, 8)",
				Args: []any{id, f.store.Sealer.Seal(accounts.FactorRow(id), []byte("secret of "+id))},
			},
			{SQL: "INSERT INTO recovery_code (account_id, digest) VALUES ($1, 'digest')", Args: []any{id}},
			{SQL: "INSERT INTO session (id, account_id, created_at, expires_at) VALUES ($1, $1, 9, 10)", Args: []any{id}},
		} {
			if err := f.tx.Run(ctx, st); err != nil {
				return err
			}
		}
	}
	return nil
}

// counts inserts blocks with counts of both companies, and of each alone.
func (f *filling) counts(ctx context.Context) error {
	part := func(c int) string {
		return fmt.Sprintf(`{"o":"%s","c":"","h":3600000,"t":1,"s":%d,"v":"messaging","k":[3,0,2]}`, companies[c], c)
	}
	for block, doc := range []string{part(0), part(1), part(1) + "," + part(0)} {
		if _, err := f.tx.Exec(ctx, "INSERT INTO stat_block (block, doc, calls) VALUES ($1, $2, '')", block, "["+doc+"]"); err != nil {
			return err
		}
	}
	return nil
}

// rows inserts the rows of a company's i-th objects into a table.
func (f *filling) rows(ctx context.Context, x *table, c, i int) error {
	kinds := []string{""}
	switch {
	case x.Name == "company" && i > 0, x.Name == "company_key" && i > 0:
		return nil
	case x.Name == "company_key":
		return nil // Reseal makes it
	case x.Name == "resource" || x.Name == "resource_head":
		kinds = []string{"agent", "widget", "site"}
	}
	for _, kind := range kinds {
		row, places := make([]any, len(x.cols)), make([]string, len(x.cols))
		for j, col := range x.cols {
			places[j] = fmt.Sprintf("$%d", j+1)
			if row[j] = f.value(x, col, c, i); col.name == "kind" && kind != "" {
				row[j] = kind
			}
		}
		if _, err := f.tx.Exec(ctx, "INSERT INTO "+quoted(x.Name)+" ("+x.names("")+") VALUES ("+strings.Join(places, ", ")+")",
			row...); err != nil {
			return err
		}
	}
	return nil
}

// value returns the value of a column in the row of a company's i-th object.
func (f *filling) value(x *table, col column, c, i int) any {
	number := int64(c*1000 + i + 1)
	if v, ok := f.allowed[x.Name+"."+col.name]; ok {
		return v
	}
	switch x.Name + "." + col.name {
	case "company.id":
		return companies[c]
	case "company.hours":
		return "null"
	case "company.redial", "company.limits":
		return "{}"
	case "company.inbox":
		return `{"on_duty":["` + accountID(c, 0) + `"]}`
	case "message.id", "fallback.id":
		return number * 128
	case "call.id", "call_attempt.call":
		return number*128 + 1
	case "incoming_call.under_way", "call_transfer.under_way":
		return false
	case "event.payload":
		return `{"by":"` + accountID(c, i) + `"}`
	}
	switch col.name {
	case "company_id":
		return companies[c]
	case "account_id", "assignee", "replied_by", "inviter_id", "session_id":
		return accountID(c, i)
	case "template_id", "knowledge_id", "flow_id", "site_id", "widget_id", "agent_id", "webhook_id":
		return fmt.Sprintf("object-%d-%d", c, i)
	case "uid", "sender", "sender_uid":
		if col.kind != tuple.Text {
			return number
		}
	case "q":
		return int64(i % 2)
	}
	switch col.kind {
	case tuple.Bool:
		return i%2 == 1
	case tuple.Int4, tuple.Int8:
		return number
	case tuple.Bytes:
		return []byte{0, byte(i), 255, '\\'}
	case tuple.Text:
	}
	if strings.HasSuffix(col.name, "id") || strings.Contains(col.name, "_id") {
		return fmt.Sprintf("object-%d-%d", c, i)
	}
	return fmt.Sprintf("%s %d %d ñ 漢字 \\N\t'\n", col.name, c, i)
}
