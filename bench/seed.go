package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"carillon"
)

// stock is a database with rows in it that nodes are started on copies of, so that many lines need but one.
type stock struct {
	e        engine
	rows     int
	dir      string // SQLite: the data folder
	database string // PostgreSQL: the template database's name
}

// what is in a stock's messages.
const (
	scheduled = "scheduled" // due on a day that never comes
	due       = "due"       // due since long ago
	closed    = "closed"    // ended longer ago than they are kept
)

// stock gives a database of the engine with so many messages of the company Much, in requests of a hundred.
func (b *bench) stock(ctx context.Context, e engine, rows int, kind string) (*stock, error) {
	name := e.name + kind + strconv.Itoa(rows)
	if s := b.stocks[name]; s != nil {
		return s, nil
	}
	s, err := b.fill(ctx, e, rows, kind)
	if err != nil {
		return nil, fmt.Errorf("%d %s messages on %s: %w", rows, kind, e.name, err)
	}
	if b.stocks == nil {
		b.stocks = map[string]*stock{}
	}
	b.stocks[name] = s
	return s, nil
}

func (b *bench) fill(ctx context.Context, e engine, rows int, kind string) (*stock, error) {
	if kind != scheduled {
		from, err := b.stock(ctx, e, rows, scheduled)
		if err != nil {
			return nil, err
		}
		s, err := b.copyOf(ctx, from)
		if err != nil {
			return nil, err
		}
		return s, s.rewrite(ctx, b.cluster, kind)
	}
	begin := time.Now()
	s := &stock{e: e, rows: rows}
	n, err := b.on(ctx, e, "http://127.0.0.1:9")
	if err != nil {
		return nil, err
	}
	s.dir, s.database = n.dir, n.database
	if err := b.bulk(ctx, n, "ck_bench_much", rows, never); err != nil {
		n.stop()
		return nil, err
	}
	if err = s.searchable(ctx, b.cluster); err == nil {
		err = settle(ctx, n.child)
	}
	n.stop()
	if err == nil {
		err = s.aged(ctx, b.cluster)
	}
	b.say("%d messages on %s in %s", rows, e.name, time.Since(begin).Round(time.Second))
	return s, err
}

// aged does what PostgreSQL would have done long ago with rows that are old: else a copy has its first vacuum and
// statistics made of all of them, beside what is measured.
func (s *stock) aged(ctx context.Context, c *cluster) error {
	if !s.e.postgres {
		return nil
	}
	db, err := s.open(c)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, "VACUUM ANALYZE")
	return err
}

// searchable waits until search knows of all, half a minute behind the last request, as it does of what is old: nothing
// goes before, and work that a node has still to do would disturb what is measured on a copy.
func (s *stock) searchable(ctx context.Context, c *cluster) error {
	db, err := s.open(c)
	if err != nil {
		return err
	}
	defer db.Close()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); {
		var left bool
		err := db.QueryRowContext(ctx, "SELECT max(seq) > coalesce((SELECT value FROM meta WHERE name = 'search'), 0) FROM notification").Scan(&left)
		if err != nil || !left {
			return err
		}
		if err := rest(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
	return errors.New("search does not catch up")
}

// rewrite makes of scheduled messages what they would be after a long time. It is the one thing here that is not done
// through the program: a measurement cannot wait for months.
func (s *stock) rewrite(ctx context.Context, c *cluster, kind string) error {
	db, err := s.open(c)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	const past = 1_600_000_000_000
	statements := []string{
		fmt.Sprintf("UPDATE message SET due_at = %d", past),
		fmt.Sprintf("UPDATE notification SET due_at = %d", past),
	}
	if kind == closed {
		statements = []string{
			fmt.Sprintf("UPDATE message SET q = 0, rank = %d, due_at = %d, sent_at = %d, attempt = 1", carillon.RankSent, past, past),
			fmt.Sprintf("UPDATE notification SET open = 0, due_at = %d, created_at = %d, done_at = %d", past, past, past),
		}
	}
	if s.e.postgres {
		statements = append(statements, "VACUUM ANALYZE")
	} else {
		statements = append(statements, "PRAGMA wal_checkpoint(TRUNCATE)")
	}
	for _, text := range statements {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// open opens the database, beside a node or not.
func (s *stock) open(c *cluster) (*sql.DB, error) {
	if s.e.postgres {
		return sql.Open("pgx", c.address(s.database))
	}
	return sql.Open("sqlite", "file:"+filepath.Join(s.dir, "carillon.db")+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)")
}

// size is the bytes that the database of a node that is not running takes.
func (s *stock) size(ctx context.Context, c *cluster) (float64, error) {
	db, err := s.open(c)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	question := "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
	if s.e.postgres {
		question = "SELECT pg_database_size(current_database())"
	}
	var bytes float64
	err = db.QueryRowContext(ctx, question).Scan(&bytes)
	return bytes, err
}

// copyOf makes a copy that a node may change.
func (b *bench) copyOf(ctx context.Context, from *stock) (*stock, error) {
	b.nth++
	s := &stock{e: from.e, rows: from.rows, dir: filepath.Join(b.dir, "copy"+strconv.Itoa(b.nth))}
	if from.e.postgres {
		s.database = "copy" + strconv.Itoa(b.nth)
		return s, b.cluster.run(ctx, "CREATE DATABASE "+s.database+" TEMPLATE "+from.database)
	}
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		return nil, err
	}
	files, err := os.ReadDir(from.dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if f.Type().IsRegular() && !strings.HasSuffix(f.Name(), ".lock") {
			if err := copyFile(filepath.Join(s.dir, f.Name()), filepath.Join(from.dir, f.Name())); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// copyFile copies and waits for the disk, so that the copy does not fall on what is measured next.
func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	if e := out.Close(); err == nil {
		err = e
	}
	return err
}

// onCopy starts a node on a copy of a stock.
func (b *bench) onCopy(ctx context.Context, from *stock, providerURL string) (*node, error) {
	s, err := b.copyOf(ctx, from)
	if err != nil {
		return nil, err
	}
	return b.serveStock(ctx, s, nodeOptions{provider: providerURL})
}

func (b *bench) serveStock(ctx context.Context, s *stock, o nodeOptions) (*node, error) {
	o.dir = s.dir
	if s.e.postgres {
		o.database = b.cluster.address(s.database)
	}
	syscall.Sync() // what the copy has left to write would fall on what is measured
	n, err := b.serve(ctx, o)
	if err == nil {
		n.database = s.database
	}
	return n, err
}

// retire stops a node and removes what it has kept: its rows would cost the disk, and PostgreSQL's vacuum the next line.
func (b *bench) retire(n *node) {
	n.stop()
	if err := b.discard(context.Background(), n); err != nil {
		b.say("%v", err)
	}
}

// discard removes what a stopped node has kept, where nothing needs it any more.
func (b *bench) discard(ctx context.Context, n *node) error {
	if n.database != "" {
		if err := b.cluster.run(ctx, "DROP DATABASE "+n.database+" WITH (FORCE)"); err != nil {
			return err
		}
	}
	return os.RemoveAll(n.dir)
}
