package db

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Bulk writes many rows of one table. It is one of the few places where the statement differs by engine: on SQLite a
// prepared INSERT of some rows with `?` (long statements with `$n` cost quadratic time in its driver), on PostgreSQL one
// INSERT from arrays.
type Bulk struct {
	table  string
	Suffix string // ON CONFLICT …, or empty
	cols   []column
	fixed  []string // columns that have one value in all rows, as `name`, `value`
	values []any    // row after row
}

type column struct {
	name string
	kind string // PostgreSQL's type of it
	null bool   // zero values are stored as NULL
}

const (
	typeText = "text"
	typeInt  = "bigint"
	typeBool = "boolean"
)

// NewBulk takes columns as `name:type`, with `?` after the type where a zero value means NULL, or as `name=value` where
// all rows have the same.
func NewBulk(table, suffix string, columns ...string) *Bulk {
	b := &Bulk{table: table, Suffix: suffix, cols: make([]column, 0, len(columns))}
	for _, c := range columns {
		if name, value, same := strings.Cut(c, "="); same {
			b.fixed = append(b.fixed, name, value)
			continue
		}
		var col column
		col.name, col.kind, _ = strings.Cut(c, ":")
		col.kind, col.null = strings.CutSuffix(col.kind, "?")
		b.cols = append(b.cols, col)
	}
	return b
}

// Add takes one row: string, int64 or bool by the column's type.
func (b *Bulk) Add(values ...any) { b.values = append(b.values, values...) }

func (b *Bulk) Rows() int { return len(b.values) / len(b.cols) }

func (b *Bulk) Write(ctx context.Context, tx *Tx) error {
	if b.Rows() == 0 {
		return nil
	}
	var err error
	if tx.SQLite() {
		err = b.writeSQLite(ctx, tx)
	} else {
		st := b.Statement()
		_, err = tx.Exec(ctx, st.SQL, st.Args...)
	}
	if err != nil {
		return fmt.Errorf("insert into %s: %w", b.table, err)
	}
	return nil
}

// MostRows is the size of the longest INSERT on SQLite; the others are its halves, down to one row.
const MostRows = 64

func (b *Bulk) writeSQLite(ctx context.Context, tx *Tx) error {
	for i := range b.values {
		if b.cols[i%len(b.cols)].null && (b.values[i] == "" || b.values[i] == int64(0)) {
			b.values[i] = nil
		}
	}
	args := make([]driver.NamedValue, 0, min(MostRows, b.Rows())*len(b.cols))
	for left, n := b.values, MostRows; len(left) > 0; {
		if n*len(b.cols) > len(left) {
			n /= 2
			continue
		}
		args = args[:0]
		for i, v := range left[:n*len(b.cols)] {
			args = append(args, driver.NamedValue{Ordinal: i + 1, Value: v})
		}
		left = left[len(args):]
		if err := tx.Insert(ctx, b.sqlite(n), args); err != nil {
			return err
		}
	}
	return nil
}

func (b *Bulk) sqlite(n int) string {
	places := slices.Repeat([]string{"?"}, len(b.cols))
	for i := 1; i < len(b.fixed); i += 2 {
		places = append(places, b.fixed[i])
	}
	row := "(" + strings.Join(places, ",") + ")"
	// OR FAIL: what fails ends the whole transaction, so that SQLite need not copy each page it changes to undo half of a
	// statement.
	return "INSERT OR FAIL" + b.into() + " VALUES " + strings.Repeat(row+",", n-1) + row + " " + b.Suffix
}

// into names the table and its columns, those with one value last, behind an INSERT.
func (b *Bulk) into() string {
	names := make([]string, 0, len(b.cols)+len(b.fixed)/2)
	for i := range b.cols {
		names = append(names, b.cols[i].name)
	}
	for i := 0; i < len(b.fixed); i += 2 {
		names = append(names, b.fixed[i])
	}
	return " INTO " + b.table + " (" + strings.Join(names, ", ") + ")"
}

// Statement is what writes all rows on PostgreSQL; more are the arguments that the suffix names behind the columns.
func (b *Bulk) Statement(more ...any) Statement {
	places := make([]string, 0, len(b.cols)+len(b.fixed)/2)
	args := make([]any, 0, len(b.cols)+len(more))
	for i := range b.cols {
		c := &b.cols[i]
		place := "unnest($" + strconv.Itoa(i+1) + "::" + c.kind + "[])"
		switch {
		case c.null && c.kind == typeText:
			place = "NULLIF(" + place + ", '')"
		case c.null:
			place = "NULLIF(" + place + ", 0)"
		}
		places = append(places, place)
		args = append(args, b.array(i))
	}
	for i := 1; i < len(b.fixed); i += 2 {
		places = append(places, b.fixed[i])
	}
	return Statement{SQL: "INSERT" + b.into() + " SELECT " + strings.Join(places, ", ") + " " + b.Suffix, Args: append(args, more...)}
}

// array is one column of all rows.
func (b *Bulk) array(col int) any {
	switch b.cols[col].kind {
	case typeText:
		return gather[string](b, col)
	case typeBool:
		return gather[bool](b, col)
	default:
		return gather[int64](b, col)
	}
}

func gather[T any](b *Bulk, col int) []T {
	all := make([]T, 0, b.Rows())
	for i := col; i < len(b.values); i += len(b.cols) {
		v, _ := b.values[i].(T)
		all = append(all, v)
	}
	return all
}
