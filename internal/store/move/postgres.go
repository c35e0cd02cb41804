package move

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"carillon/internal/store/db"
	"carillon/internal/store/tuple"
)

// postgres is a PostgreSQL database with a few connections.
type postgres struct{ free chan *pgx.Conn }

// connectTimeout bounds a connection set-up, unless the URL does.
const connectTimeout = 10 * time.Second

// errURL does not show the URL, which may hold a password.
var errURL = errors.New("the database URL cannot be read (not shown: it may hold a password)")

// openPostgres makes connections to the server.
func openPostgres(ctx context.Context, url string, connections int) (*postgres, error) {
	p := &postgres{free: make(chan *pgx.Conn, connections)}
	for range connections {
		c, err := connect(ctx, url)
		if err != nil {
			return nil, errors.Join(err, p.close())
		}
		p.free <- c
	}
	return p, nil
}

func connect(ctx context.Context, url string) (*pgx.Conn, error) {
	to, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errURL
	}
	if to.ConnectTimeout == 0 {
		to.ConnectTimeout = connectTimeout
	}
	// Of several servers, only the one that accepts writes has all rows.
	to.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	// The ranges of a key are read along its index. The session is not one of a node, which other nodes may end.
	maps.Copy(to.RuntimeParams, map[string]string{
		"application_name": "carillon-migrate", "enable_seqscan": "off", "enable_bitmapscan": "off", "jit": "off",
		"statement_timeout": "0", "idle_in_transaction_session_timeout": "0", "synchronous_commit": "on",
	})
	c, err := pgx.ConnectConfig(ctx, to)
	return c, db.Wrap(err, "connect to PostgreSQL")
}

func (p *postgres) close() error {
	var all error
	for {
		select {
		case c := <-p.free:
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			all = errors.Join(all, c.Close(ctx))
			cancel()
		default:
			return all
		}
	}
}

// with calls do with a free connection.
func (p *postgres) with(ctx context.Context, do func(c *pgx.Conn) error) error {
	select {
	case c := <-p.free:
		defer func() { p.free <- c }()
		return do(c)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *postgres) read(ctx context.Context, t *table, s span, data []byte) (b batch, err error) {
	err = p.with(ctx, func(c *pgx.Conn) error {
		b, err = readRange(ctx, c, t, s, data)
		return err
	})
	return b, db.Wrap(err, "read "+t.name)
}

func readRange(ctx context.Context, c *pgx.Conn, t *table, s span, data []byte) (b batch, err error) {
	r := newReading(t, s, data)
	query, args := t.read(s, r.limit+1)
	args = append([]any{pgx.QueryExecModeCacheDescribe, pgx.QueryResultFormats{pgx.BinaryFormatCode}}, args...)
	rows, err := c.Query(ctx, query, args...)
	if err != nil {
		return b, err
	}
	defer rows.Close()
	for rows.Next() {
		row := rows.RawValues()
		key := make([]any, len(t.key))
		for i, c := range t.key {
			key[i] = tuple.Value(t.cols[c].kind, row[c])
		}
		if r.full(key) {
			break
		}
		r.data = tuple.AppendRaw(r.data, row)
		r.added(key)
	}
	rows.Close()
	return r.end(), rows.Err()
}

func (p *postgres) count(ctx context.Context, t *table) (n int64, err error) {
	err = p.with(ctx, func(c *pgx.Conn) error { return c.QueryRow(ctx, t.count()).Scan(&n) })
	return n, db.Wrap(err, "count "+t.name)
}

func (p *postgres) insert(ctx context.Context, t *table, b batch) error {
	err := p.with(ctx, func(c *pgx.Conn) error {
		from := io.MultiReader(strings.NewReader(tuple.Header), bytes.NewReader(b.data), strings.NewReader(tuple.Trailer))
		_, err := c.PgConn().CopyFrom(ctx, from, "COPY "+quoted(t.name)+" ("+t.columns()+") FROM STDIN (FORMAT binary)")
		return err
	})
	return db.Wrap(clean(err), "write "+t.name)
}

func (p *postgres) remove(ctx context.Context, t *table, keys [][]any) error {
	all := new(pgx.Batch)
	for _, key := range keys {
		all.Queue(t.remove(), key...)
	}
	err := p.with(ctx, func(c *pgx.Conn) error {
		return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error { return tx.SendBatch(ctx, all).Close() })
	})
	return db.Wrap(clean(err), "write "+t.name)
}

// clean removes the details of a server's error, which may contain values of the row.
func clean(err error) error {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		e.Detail, e.Where, e.InternalQuery = "", "", ""
	}
	return err
}

// duplicate reports whether a unique index refused a row.
func duplicate(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "23505"
}

// refused explains the errors of a target that an operator can correct.
func refused(err error) error {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return err
	}
	switch e.Code {
	case "42501":
		return fmt.Errorf("the database user may not do this: give it a database, or a schema, of its own: %w", err)
	case "53100":
		return fmt.Errorf("the server's disk is full: make room and run the command again, which starts over: %w", err)
	}
	return err
}
