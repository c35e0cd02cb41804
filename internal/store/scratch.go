package store

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"

	"github.com/jackc/pgx/v5"
)

// Scratch is a schema of its own in a PostgreSQL database, for measuring there without touching what the database holds.
type Scratch struct {
	Address string // of the database, so that a store opened with it lives in the schema
	Name    string
	conn    *pgx.Conn
}

// MakeScratch makes an empty schema. Its user must be allowed to create one. The caller drops it.
func MakeScratch(ctx context.Context, databaseURL string) (*Scratch, error) {
	u, err := url.Parse(databaseURL)
	if err != nil {
		return nil, errors.New("the database URL cannot be read (not shown: it may hold a password)")
	}
	random := make([]byte, 6)
	_, _ = rand.Read(random) // never fails
	s := &Scratch{Name: "carillon_bench_" + hex.EncodeToString(random)}
	q := u.Query()
	q.Set("search_path", s.Name)
	u.RawQuery = q.Encode()
	s.Address = u.String()
	if s.conn, err = pgx.Connect(ctx, s.Address); err != nil {
		return nil, fmt.Errorf("reach the database: %w", err)
	}
	name := pgx.Identifier{s.Name}.Sanitize()
	if _, err = s.conn.Exec(ctx, "CREATE SCHEMA "+name); err != nil {
		err = fmt.Errorf("make a schema to measure in: %w", err)
		return nil, errors.Join(err, s.conn.Close(ctx))
	}
	if _, err = s.conn.Exec(ctx, "CREATE TABLE bench_commit (n BIGINT)"); err != nil {
		return nil, errors.Join(fmt.Errorf("make a table to measure with: %w", err), s.Drop(ctx))
	}
	return s, nil
}

// Commit makes the smallest transaction there is, durably.
func (s *Scratch) Commit(ctx context.Context) error {
	if _, err := s.conn.Exec(ctx, "INSERT INTO bench_commit (n) VALUES ($1)", 1); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// Durable names the settings that a power loss would make one regret; empty: none.
func (s *Scratch) Durable(ctx context.Context) (off []string, err error) {
	for _, setting := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
		var value string
		if err := s.conn.QueryRow(ctx, "SELECT current_setting($1)", setting).Scan(&value); err != nil {
			return nil, fmt.Errorf("read a setting: %w", err)
		}
		if value == "off" {
			off = append(off, setting)
		}
	}
	return off, nil
}

// Drop removes the schema with all that is in it, and closes the connection.
func (s *Scratch) Drop(ctx context.Context) error {
	_, err := s.conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+pgx.Identifier{s.Name}.Sanitize()+" CASCADE")
	if err != nil {
		err = fmt.Errorf("drop the schema %s: %w", s.Name, err)
	}
	return errors.Join(err, s.conn.Close(ctx))
}
