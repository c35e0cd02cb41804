package move

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"carillon/internal/store"
	"carillon/internal/store/tuple"
)

// table is a table of both databases, with the columns in PostgreSQL's order.
type table struct {
	name  string
	cols  []column
	key   []int        // indexes of the primary key's columns, in its order
	where string       // rows that are copied; empty for all
	long  atomic.Int64 // bytes of a row, about; 0 before the first
}

type column struct {
	name string
	kind tuple.Kind
	null bool
}

// notCopied are the tables that stay as they are in the target, with the reason.
//
//nolint:gochecknoglobals // read only
var notCopied = map[string]string{
	"goose_db_version": "the migrations that made the tables: the target has its own",
	"node":             "the running nodes, which are others after the move",
}

// partly are the rows that are copied of a table, where they are not all.
//
//nolint:gochecknoglobals // read only
var partly = map[string]string{
	"meta": "name NOT IN ('" + store.MoveMarkName + "', '" + store.OriginName + "', '" + store.BackupName + "', 'schema')",
}

// tablesOf reads the tables of a PostgreSQL database, sorted by name.
func tablesOf(ctx context.Context, c *pgx.Conn) ([]*table, error) {
	rows, err := c.Query(ctx, `SELECT t.relname, a.attname, y.typname, NOT a.attnotnull,
			COALESCE(array_position(k.conkey, a.attnum), 0)
		FROM pg_class AS t
		JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
		JOIN pg_type AS y ON y.oid = a.atttypid
		LEFT JOIN pg_constraint AS k ON k.conrelid = t.oid AND k.contype = 'p'
		WHERE t.relkind = 'r' AND t.relnamespace = current_schema()::regnamespace
		ORDER BY t.relname COLLATE "C", a.attnum`)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	var all []*table
	var keys []map[int]int // by table: index of the column by its place in the key
	var name string
	var col column
	var place int
	_, err = pgx.ForEachRow(rows, []any{&name, &col.name, &col.kind, &col.null, &place}, func() error {
		if len(all) == 0 || all[len(all)-1].name != name {
			all = append(all, &table{name: name, where: partly[name]})
			keys = append(keys, map[int]int{})
		}
		t := all[len(all)-1]
		if place > 0 {
			keys[len(keys)-1][place] = len(t.cols)
		}
		t.cols = append(t.cols, col)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	copied := all[:0]
	for i, t := range all {
		for place := 1; place <= len(keys[i]); place++ {
			t.key = append(t.key, keys[i][place])
		}
		if notCopied[t.name] != "" {
			continue
		}
		if err := t.check(); err != nil {
			return nil, err
		}
		copied = append(copied, t)
	}
	return copied, nil
}

// check returns an error for a table that cannot be copied.
func (t *table) check() error {
	if len(t.key) == 0 {
		return fmt.Errorf("table %s has no primary key", t.name)
	}
	for _, c := range t.cols {
		switch c.kind {
		case tuple.Bool, tuple.Int4, tuple.Int8, tuple.Text, tuple.Bytes:
		default:
			return fmt.Errorf("column %s of table %s has the type %s, which is not copied", c.name, t.name, c.kind)
		}
	}
	for _, i := range t.key {
		if k := t.cols[i].kind; k == tuple.Bytes || k == tuple.Bool {
			return fmt.Errorf("column %s of table %s is part of the key and has the type %s", t.cols[i].name, t.name, k)
		}
	}
	return nil
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// columns returns the names of all columns, separated by commas.
func (t *table) columns() string {
	names := make([]string, len(t.cols))
	for i, c := range t.cols {
		names[i] = quoted(c.name)
	}
	return strings.Join(names, ", ")
}

// keys returns the names of the key's columns, separated by commas.
func (t *table) keys() string {
	names := make([]string, len(t.key))
	for i, c := range t.key {
		names[i] = quoted(t.cols[c].name)
	}
	return strings.Join(names, ", ")
}

// span is a range of keys: after (nil: from the first) up to and including upto (nil: to the last).
type span struct{ after, upto []any }

// ends reports whether a key is behind the range. Texts are compared byte by byte, as on both engines (COLLATE "C").
func (s span) ends(key []any) bool {
	if s.upto == nil {
		return false
	}
	for i, v := range key {
		order := 0
		switch v := v.(type) {
		case int64:
			order = cmp.Compare(v, s.upto[i].(int64))
		case string:
			order = strings.Compare(v, s.upto[i].(string))
		}
		if order != 0 {
			return order > 0
		}
	}
	return false
}

// read returns the query for rows from the beginning of a range on, in the order of the key. It does not name the end of
// the range: with a key of several columns, both engines would read on to the end of the first column's value.
func (t *table) read(s span, limit int) (query string, args []any) {
	var all []string
	if s.after != nil {
		places := make([]string, len(s.after))
		for i := range s.after {
			places[i] = fmt.Sprintf("$%d", i+1)
		}
		all = append(all, "("+t.keys()+") > ("+strings.Join(places, ", ")+")")
	}
	if t.where != "" {
		all = append(all, t.where)
	}
	where := ""
	if len(all) > 0 {
		where = " WHERE " + strings.Join(all, " AND ")
	}
	return fmt.Sprintf("SELECT %s FROM %s%s ORDER BY %s LIMIT %d", t.columns(), quoted(t.name), where, t.keys(), limit), s.after
}

// remove returns the statement that deletes the row with a key.
func (t *table) remove() string {
	parts := make([]string, len(t.key))
	for i, c := range t.key {
		parts[i] = fmt.Sprintf("%s = $%d", quoted(t.cols[c].name), i+1)
	}
	return "DELETE FROM " + quoted(t.name) + " WHERE " + strings.Join(parts, " AND ")
}

// count returns the query for the number of rows.
func (t *table) count() string {
	if t.where != "" {
		return "SELECT COUNT(*) FROM " + quoted(t.name) + " WHERE " + t.where
	}
	return "SELECT COUNT(*) FROM " + quoted(t.name)
}
