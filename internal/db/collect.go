package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Scan reads the columns of a row, as sql.Rows.Scan does.
type Scan = func(dest ...any) error

// Querier runs queries: a database, or a transaction.
type Querier interface {
	Query(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Collect returns the rows of a query, each as read reads it; what is the thing that an error names.
func Collect[T any](ctx context.Context, q Querier, what string, read func(scan Scan) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	defer func() { _ = rows.Close() }()
	var all []T
	for rows.Next() {
		row, err := read(rows.Scan)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", what, err)
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	return all, nil
}

// Ignore turns sql.ErrNoRows into nil, for rows that need not exist.
func Ignore(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}
