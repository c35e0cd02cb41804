package db

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Bulk writes many rows of one table. It is one of the few places where the statement differs by engine: on SQLite
// prepared INSERTs of several rows with `?` (long statements with `$n` take quadratic time in its driver), on
// PostgreSQL one INSERT from arrays.
type Bulk struct {
	table  string
	Suffix string // ON CONFLICT clause, or empty
	cols   []column
	fixed  []string // columns with the same value in all rows, as `name`, `value`
	values []any    // row by row
}

type column struct {
	name string
	kind string // PostgreSQL type
	null bool   // zero values are stored as NULL
}

const (
	typeText = "text"
	typeInt  = "bigint"
	typeBool = "boolean"
)

// NewBulk takes columns as `name:type`, with `?` after the type if the zero value means NULL, or as `name=value` for
// the same value in all rows.
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

// Add adds a row: string, int64 or bool by the column's type.
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

// MaxRows is the number of rows in the longest INSERT on SQLite; shorter ones have half as many, down to one row.
const MaxRows = 64

func (b *Bulk) writeSQLite(ctx context.Context, tx *Tx) error {
	for i := range b.values {
		if b.cols[i%len(b.cols)].null && (b.values[i] == "" || b.values[i] == int64(0)) {
			b.values[i] = nil
		}
	}
	args := make([]driver.NamedValue, 0, min(MaxRows, b.Rows())*len(b.cols))
	for left, n := b.values, MaxRows; len(left) > 0; {
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
	// OR FAIL: an error ends the whole transaction, so SQLite need not copy each changed page for undoing half of a
	// statement.
	return "INSERT OR FAIL" + b.into() + " VALUES " + strings.Repeat(row+",", n-1) + row + " " + b.Suffix
}

// into returns the table and its columns for an INSERT, those with a fixed value last.
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

// Statement returns the statement that writes all rows on PostgreSQL; more are the arguments of the suffix, numbered
// after the columns.
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

// array returns one column of all rows.
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
