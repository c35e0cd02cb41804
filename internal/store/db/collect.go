package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Scan reads the columns of a row, like sql.Rows.Scan.
type Scan = func(dest ...any) error

// Querier runs queries: a database, or a transaction.
type Querier interface {
	Query(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	Row(ctx context.Context, dest []any, query string, args ...any) error
}

// Collect returns the rows of a query, each converted by read; what names the rows in errors.
func Collect[T any](ctx context.Context, q Querier, what string, read func(scan Scan) (T, error), query string, args ...any) ([]T, error) {
	var all []T
	err := Each(ctx, q, func(scan Scan) error {
		row, err := read(scan)
		all = append(all, row)
		return err
	}, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	return all, nil
}

// Find returns the first row of a query, converted by read, or nil if there is none; what names the row in errors.
func Find[T any](ctx context.Context, q Querier, what string, read func(scan Scan) (*T, error), query string, args ...any) (*T, error) {
	all, err := Collect(ctx, q, what, read, query, args...)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return all[0], nil
}

// Each calls read for each row of a query.
func Each(ctx context.Context, q Querier, read func(scan Scan) error, query string, args ...any) error {
	rows, err := q.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := read(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Ignore turns sql.ErrNoRows into nil, for optional rows.
func Ignore(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

// Wrap adds a description of the failed action to an error; nil stays nil.
func Wrap(err error, what string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
