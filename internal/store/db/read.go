package db

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"sync"

	"carillon"
)

// stmtCache prepares reads once on SQLite.
type stmtCache struct {
	m sync.Map // query → *sql.Stmt
}

func (c *stmtCache) on(ctx context.Context, db *sql.DB, query string) (*sql.Stmt, error) {
	if st, ok := c.m.Load(query); ok {
		return st.(*sql.Stmt), nil
	}
	st, err := db.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	if old, raced := c.m.LoadOrStore(query, st); raced {
		_ = st.Close()
		return old.(*sql.Stmt), nil
	}
	return st, nil
}

func (c *stmtCache) close() {
	c.m.Range(func(_, st any) bool {
		_ = st.(*sql.Stmt).Close()
		return true
	})
}

// Query runs a read on the read pool.
func (d *DB) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	args = storable(args)
	d.watched(query, args)
	if !d.SQLite() {
		rows, err := d.read.QueryContext(ctx, query, args...)
		return rows, Unavailable(err)
	}
	st, err := d.stmts.on(ctx, d.read, query)
	if err != nil {
		return nil, Unavailable(err)
	}
	rows, err := st.QueryContext(ctx, args...)
	return rows, Unavailable(err)
}

// Row scans the only row of a read; sql.ErrNoRows if there is none.
func (d *DB) Row(ctx context.Context, dest []any, query string, args ...any) error {
	args = storable(args)
	d.watched(query, args)
	if !d.SQLite() {
		return Unavailable(d.read.QueryRowContext(ctx, query, args...).Scan(dest...))
	}
	st, err := d.stmts.on(ctx, d.read, query)
	if err != nil {
		return Unavailable(err)
	}
	return Unavailable(st.QueryRowContext(ctx, args...).Scan(dest...))
}

// Absent turns sql.ErrNoRows into the caller's 404.
func Absent(err error, what string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return carillon.Absent(what)
	}
	return err
}

// NotIn returns the condition that a column has none of the values, to append to others, and the extended arguments;
// "" without values.
func NotIn(column string, values []string, args []any) (condition string, all []any) {
	if len(values) == 0 {
		return "", args
	}
	places := make([]string, len(values))
	for i, v := range values {
		args = append(args, v)
		places[i] = "$" + strconv.Itoa(len(args))
	}
	return " AND " + column + " NOT IN (" + strings.Join(places, ", ") + ")", args
}
