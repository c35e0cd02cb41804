package move

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"carillon/internal/store/tuple"
)

// fillRows is the number of rows in every table of a filled installation, besides those of the set-up.
const fillRows = 7

// odd are texts that are hard to copy. SQLite stores the last two, PostgreSQL refuses them.
var odd = []any{
	"", "plain", `back\slash, 'quotes' and "more"`, "line\nbreak\r\n\ttab", "\\N", "ñ 漢字 \U0001F600 \u2028", []byte("bytes in a text"),
	"nul \x00 inside", "bad \xff utf-8",
}

var choices = regexp.MustCompile(`\((\w+) = ANY \(ARRAY\['([^']*)'::text|\((\w+) = '([^']*)'::text\)|\((\w+) >= (\d+)\)`)

// fill inserts rows into every table of a SQLite database. All texts of a row that may refer to another table are the
// same, so the foreign keys hold.
func fill(ctx context.Context, t *testing.T, c *pgx.Conn, s *sqlite, tables []*table) {
	t.Helper()
	linked := map[string]bool{} // columns of keys, indexes and foreign keys
	chosen := map[string]any{}  // values that a check allows, by table and column
	rows, err := c.Query(ctx, `SELECT t.relname, a.attname FROM pg_class AS t
		JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum > 0
		WHERE t.relkind = 'r' AND t.relnamespace = current_schema()::regnamespace AND (
			EXISTS (SELECT 1 FROM pg_constraint AS k WHERE (k.conrelid = t.oid AND a.attnum = ANY(k.conkey) AND k.contype <> 'c')
				OR (k.confrelid = t.oid AND a.attnum = ANY(k.confkey)))
			OR EXISTS (SELECT 1 FROM pg_index AS i WHERE i.indrelid = t.oid AND i.indisunique AND a.attnum = ANY(i.indkey)))`)
	if err != nil {
		t.Fatal(err)
	}
	var name, col string
	if _, err := pgx.ForEachRow(rows, []any{&name, &col}, func() error { linked[name+"."+col] = true; return nil }); err != nil {
		t.Fatal(err)
	}
	rows, err = c.Query(ctx, `SELECT t.relname, pg_get_constraintdef(k.oid) FROM pg_constraint AS k JOIN pg_class AS t ON t.oid = k.conrelid
		WHERE k.contype = 'c' AND k.connamespace = current_schema()::regnamespace`)
	if err != nil {
		t.Fatal(err)
	}
	var check string
	if _, err := pgx.ForEachRow(rows, []any{&name, &check}, func() error {
		m := choices.FindStringSubmatch(check)
		switch {
		case m == nil:
			return fmt.Errorf("the check %s of %s is not understood", check, name)
		case m[1] != "":
			chosen[name+"."+m[1]] = m[2]
		case m[3] != "":
			chosen[name+"."+m[3]] = m[4]
		default:
			chosen[name+"."+m[5]] = int64(1)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, x := range tables {
		for i := range fillRows {
			insert(ctx, t, s, x, i, linked, chosen, nil)
		}
	}
	for _, x := range tables {
		if x.name == "resource" { // those that other tables refer to by one kind
			for kind := range map[string]bool{"agent": true, "widget": true, "site": true} {
				for i := range fillRows {
					insert(ctx, t, s, x, i, linked, chosen, map[string]any{"kind": kind})
				}
			}
		}
	}
}

func insert(ctx context.Context, t *testing.T, s *sqlite, x *table, i int, linked map[string]bool, chosen, own map[string]any) {
	t.Helper()
	row, places := make([]any, len(x.cols)), make([]string, len(x.cols))
	for j, c := range x.cols {
		key := x.name + "." + c.name
		places[j] = "?"
		choice, limited := chosen[key]
		set, given := own[c.name]
		switch {
		case given:
			row[j] = set
		case limited:
			row[j] = choice
		case c.null && i%3 == 2:
		case c.kind == tuple.Bool:
			row[j] = int64(i % 2)
		case c.kind == tuple.Int4 || c.kind == tuple.Int8:
			row[j] = int64(i)
			if !linked[key] && c.kind == tuple.Int8 && i == 1 {
				row[j] = int64(-1 << 62)
			}
		case c.kind == tuple.Bytes:
			row[j] = []byte{0, byte(i), 255, '\\', '\n'}
		case linked[key]:
			row[j] = fmt.Sprintf("key %d ñ", i)
		default:
			row[j] = odd[(i+j)%len(odd)]
		}
	}
	if _, err := s.pool.ExecContext(ctx, "INSERT INTO "+quoted(x.name)+" ("+x.columns()+") VALUES ("+strings.Join(places, ", ")+")",
		row...); err != nil {
		t.Fatalf("fill %s: %v", x.name, err)
	}
}
