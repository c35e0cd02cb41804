package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// bulk writes many rows of one table. It is one of the few places where the statement differs by engine: on SQLite a
// prepared INSERT of 64, 8 or 1 rows with `?` (long statements with `$n` cost quadratic time in its driver), on
// PostgreSQL one INSERT from arrays.
type bulk struct {
	table  string
	suffix string // ON CONFLICT …, or empty
	names  []string
	types  []string // PostgreSQL's array element types
	cols   []column
}

type column struct {
	text  []string
	ints  []int64
	bools []bool
	null  bool // zero values are stored as NULL
}

const (
	typeText = "text"
	typeInt  = "bigint"
	typeBool = "boolean"
)

// newBulk takes columns as `name:type`, with `?` after the type where a zero value means NULL.
func newBulk(table, suffix string, columns ...string) *bulk {
	b := &bulk{table: table, suffix: suffix, cols: make([]column, len(columns))}
	for i, c := range columns {
		name, kind, _ := strings.Cut(c, ":")
		kind, b.cols[i].null = strings.CutSuffix(kind, "?")
		b.names = append(b.names, name)
		b.types = append(b.types, kind)
	}
	return b
}

// add takes one row: string, int, int64 or bool by the column's type.
func (b *bulk) add(values ...any) {
	for i, v := range values {
		c := &b.cols[i]
		switch v := v.(type) {
		case string:
			c.text = append(c.text, v)
		case int:
			c.ints = append(c.ints, int64(v))
		case int64:
			c.ints = append(c.ints, v)
		case bool:
			c.bools = append(c.bools, v)
		}
	}
}

func (b *bulk) rows() int { return max(len(b.cols[0].text), len(b.cols[0].ints)) }

func (b *bulk) write(ctx context.Context, tx *Tx) error {
	if b.rows() == 0 {
		return nil
	}
	var err error
	if tx.s.d.sqlite {
		err = b.writeSQLite(ctx, tx)
	} else {
		err = b.writePostgres(ctx, tx)
	}
	if err != nil {
		return fmt.Errorf("insert into %s: %w", b.table, err)
	}
	return nil
}

func (b *bulk) writeSQLite(ctx context.Context, tx *Tx) error {
	args := make([]any, 0, 64*len(b.cols))
	for at, left := 0, b.rows(); left > 0; {
		n := 1
		switch {
		case left >= 64:
			n = 64
		case left >= 8:
			n = 8
		}
		args = args[:0]
		for i := at; i < at+n; i++ {
			for k := range b.cols {
				args = append(args, b.cols[k].value(i, b.types[k]))
			}
		}
		if _, err := tx.exec(ctx, b.sqlite(n), args...); err != nil {
			return err
		}
		at, left = at+n, left-n
	}
	return nil
}

func (c *column) value(i int, kind string) any {
	switch kind {
	case typeText:
		if c.null && c.text[i] == "" {
			return nil
		}
		return c.text[i]
	case typeBool:
		return c.bools[i]
	default:
		if c.null && c.ints[i] == 0 {
			return nil
		}
		return c.ints[i]
	}
}

func (b *bulk) sqlite(n int) string {
	row := "(" + strings.Repeat("?,", len(b.names)-1) + "?)"
	return "INSERT INTO " + b.table + " (" + strings.Join(b.names, ", ") + ") VALUES " +
		strings.Repeat(row+",", n-1) + row + " " + b.suffix
}

func (b *bulk) writePostgres(ctx context.Context, tx *Tx) error {
	st := b.postgres()
	_, err := tx.exec(ctx, st.query, st.args...)
	return err
}

// postgres is the statement that writes all rows; more are the arguments that the suffix names behind the columns.
func (b *bulk) postgres(more ...any) statement {
	var q strings.Builder
	q.WriteString("INSERT INTO " + b.table + " (" + strings.Join(b.names, ", ") + ") SELECT ")
	args := make([]any, len(b.cols), len(b.cols)+len(more))
	for i := range b.cols {
		if i > 0 {
			q.WriteString(", ")
		}
		place := "$" + strconv.Itoa(i+1) + "::" + b.types[i] + "[]"
		switch {
		case b.cols[i].null && b.types[i] == typeText:
			q.WriteString("NULLIF(unnest(" + place + "), '')")
		case b.cols[i].null:
			q.WriteString("NULLIF(unnest(" + place + "), 0)")
		default:
			q.WriteString("unnest(" + place + ")")
		}
		args[i] = b.cols[i].array(b.types[i])
	}
	q.WriteString(" " + b.suffix)
	return statement{q.String(), append(args, more...)}
}

func (c *column) array(kind string) any {
	switch kind {
	case typeText:
		return c.text
	case typeBool:
		return c.bools
	default:
		return c.ints
	}
}
