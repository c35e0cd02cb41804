package move

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"carillon/internal/store"
	"carillon/internal/store/db"
)

const (
	readMeta  = "SELECT text FROM meta WHERE name = $1"
	writeMark = `INSERT INTO meta (name, value, text) VALUES ($1, 0, $2)
		ON CONFLICT (name) DO UPDATE SET text = excluded.text`
	// writeMoved also makes the schema one that no program serves: a node that was away during the move stops at its next
	// heartbeat, and versions that do not know the mark refuse to start.
	writeMoved = `INSERT INTO meta (name, value, text) VALUES ($1, 0, $2), ('schema', 1000000000, '')
		ON CONFLICT (name) DO UPDATE SET value = excluded.value, text = excluded.text`
)

func statementOf(m store.MoveMark) string {
	if m.State == store.MoveMoved {
		return writeMoved
	}
	return writeMark
}

// meta reads a row of the table meta; "" if there is none.
func (s *sqlite) meta(ctx context.Context, name string) (text string, err error) {
	err = s.pool.QueryRowContext(ctx, readMeta, name).Scan(&text)
	return text, db.Wrap(db.Ignore(err), "read what the database is")
}

// metaOf reads a row of the table meta on PostgreSQL; "" if there is none.
func metaOf(ctx context.Context, c *pgx.Conn, name string) (text string, err error) {
	err = c.QueryRow(ctx, readMeta, name).Scan(&text)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return text, db.Wrap(err, "read what the database is")
}

// markIn returns the mark in the text of its row; the zero mark if there is none.
func markIn(text string, err error) (m store.MoveMark, _ error) {
	if err != nil || text == "" {
		return m, err
	}
	p, err := store.ParseMoveMark(text)
	if err != nil {
		return m, err
	}
	return *p, nil
}

func markText(m store.MoveMark) string {
	text, _ := json.Marshal(m) // texts and a time
	return string(text)
}

// mark writes the mark, durably.
func (s *sqlite) mark(ctx context.Context, m store.MoveMark) error {
	_, err := s.pool.ExecContext(ctx, statementOf(m), store.MoveMarkName, markText(m))
	return db.Wrap(err, "mark the database")
}

// markPostgres writes the mark on PostgreSQL.
func markPostgres(ctx context.Context, by interface {
	Exec(ctx context.Context, statement string, args ...any) (pgconn.CommandTag, error)
}, m store.MoveMark,
) error {
	_, err := by.Exec(ctx, statementOf(m), store.MoveMarkName, markText(m))
	return db.Wrap(err, "mark the database")
}

// leave removes the nodes of a data folder that no process uses, so that the nodes of the target find every shard free.
func (s *sqlite) leave(ctx context.Context) error {
	tx, err := s.pool.BeginTx(ctx, nil)
	if err == nil {
		err = exec(ctx, tx, "DELETE FROM node", "UPDATE shard SET owner = NULL, epoch = epoch + 1 WHERE owner IS NOT NULL")
	}
	return db.Wrap(err, "free the shards")
}

// exec runs statements in a transaction and ends it.
func exec(ctx context.Context, tx *sql.Tx, statements ...string) error {
	for _, s := range statements {
		if _, err := tx.ExecContext(ctx, s); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", s, err), tx.Rollback())
		}
	}
	return tx.Commit()
}
