package company

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"carillon/internal/store/db"
	"carillon/internal/store/tuple"
)

// snapshot reads the database as it was at one moment. It is used by one goroutine.
type snapshot struct {
	sqlite *sql.Tx // nil on PostgreSQL
	pg     pgx.Tx
	end    func() error
}

// closeWait bounds the closing of a connection.
const closeWait = time.Second

func newSnapshot(ctx context.Context, d *db.DB) (*snapshot, error) {
	if d.SQLite() {
		tx, err := d.Pool().BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return nil, fmt.Errorf("begin to read: %w", err)
		}
		return &snapshot{sqlite: tx, end: tx.Rollback}, nil
	}
	c, err := d.Connect(ctx)
	if err != nil {
		return nil, err
	}
	s := &snapshot{end: func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWait)
		defer cancel()
		return c.Close(ctx)
	}}
	s.pg, err = c.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	// The rows of a parent are read along the index of their key.
	for _, set := range []string{
		"statement_timeout = 0", "idle_in_transaction_session_timeout = 0", "enable_seqscan = off", "enable_bitmapscan = off", "jit = off",
	} {
		if err == nil {
			_, err = s.pg.Exec(ctx, "SET LOCAL "+set)
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("begin to read: %w", err), s.end())
	}
	return s, nil
}

func (s *snapshot) close() error {
	if err := s.end(); !errors.Is(err, sql.ErrTxDone) { // it ends with its context
		return err
	}
	return nil
}

// each calls row with the tuple of each row of a query, which is valid during the call.
func (s *snapshot) each(
	ctx context.Context, kinds []tuple.Kind, row func(data []byte) error, query string, args ...any,
) (err error) {
	defer func() {
		if ctx.Err() != nil { // the driver may report a consequence of it
			err = ctx.Err()
		}
	}()
	if s.sqlite != nil {
		return s.eachSQLite(ctx, kinds, row, query, args)
	}
	rows, err := s.pg.Query(ctx, query,
		append([]any{pgx.QueryExecModeDescribeExec, pgx.QueryResultFormats{pgx.BinaryFormatCode}}, args...)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	var data []byte
	for rows.Next() {
		data = tuple.AppendRaw(data[:0], rows.RawValues())
		if err := row(data); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (s *snapshot) eachSQLite(ctx context.Context, kinds []tuple.Kind, row func(data []byte) error, query string, args []any) (err error) {
	rows, err := s.sqlite.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	values, into := make([]any, len(kinds)), make([]any, len(kinds))
	for i := range values {
		into[i] = &values[i]
	}
	var data []byte
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		data = tuple.Begin(data[:0], len(kinds))
		for i, v := range values {
			if data, err = tuple.AppendField(data, kinds[i], v); err != nil {
				return err
			}
		}
		if err := row(data); err != nil {
			return err
		}
	}
	return rows.Err()
}

// number returns the result of a query for one number.
func (s *snapshot) number(ctx context.Context, query string, args ...any) (n int64, err error) {
	err = s.each(ctx, []tuple.Kind{tuple.Int8}, func(data []byte) error {
		return tuple.Each(data, 1, func(_ []byte, fields [][]byte) error {
			if v, ok := tuple.Value(tuple.Int8, fields[0]).(int64); ok {
				n = v
			}
			return nil
		})
	}, query, args...)
	return n, err
}

// rows calls row with the tuple of each row of a company in a table.
func (s *snapshot) rows(ctx context.Context, t *table, companyID string, row func(data []byte) error) error {
	var err error
	if t.Found == InDocuments {
		err = s.documents(ctx, t, companyID, row)
	} else {
		err = s.each(ctx, t.kinds(), row, "SELECT "+t.names("t.")+t.from(), companyID)
	}
	return db.Wrap(err, "read "+t.Name)
}
