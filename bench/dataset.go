package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"

	"carillon"
	"carillon/bench/load"
	"carillon/internal/store/storetest"
)

// cluster is PostgreSQL with durable settings.
type cluster struct {
	dsn  string
	stop func() error
}

func startCluster() (*cluster, error) {
	dsn, stop, err := storetest.Durable()
	return &cluster{dsn, stop}, err
}

// create makes an empty database after checking that the cluster is durable.
func (c *cluster) create(ctx context.Context, name string) error {
	db, err := sql.Open("pgx", c.dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, setting := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
		var value string
		if err := db.QueryRowContext(ctx, "SELECT current_setting($1)", setting).Scan(&value); err != nil {
			return err
		}
		if value != "on" {
			return errors.New("PostgreSQL runs with " + setting + " " + value)
		}
	}
	return c.exec(ctx, "CREATE DATABASE "+name)
}

// url is the address of one of the cluster's databases.
func (c *cluster) url(name string) string {
	u, err := url.Parse(c.dsn)
	if err != nil {
		return "" // impossible: exec has connected to it
	}
	u.Path = "/" + name
	return u.String()
}

// exec executes one statement.
func (c *cluster) exec(ctx context.Context, statement string) error {
	db, err := sql.Open("pgx", c.dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// kind is what the messages of a dataset are.
type kind string

const (
	scheduled kind = "scheduled" // due after the end of every run
	due       kind = "due"       // due for a long time
	expired   kind = "expired"   // sent, and past their retention
)

// dataset is a database with many messages of the bulk company. Nodes are started on copies of it.
type dataset struct {
	engine   engine
	dir      string // SQLite: the data folder
	database string // PostgreSQL: the database's name
}

// dataset returns the dataset of a size and kind, which is made the first time.
func (b *bench) dataset(ctx context.Context, e engine, messages int, k kind) (*dataset, error) {
	name := e.name + string(k) + strconv.Itoa(messages)
	if d := b.datasets[name]; d != nil {
		return d, nil
	}
	begin := time.Now()
	make := b.accepted
	if k != scheduled {
		make = func(ctx context.Context, e engine, messages int) (*dataset, error) {
			return b.rewritten(ctx, e, messages, k)
		}
	}
	d, err := make(ctx, e, messages)
	if err != nil {
		return nil, fmt.Errorf("make %d %s messages on %s: %w", messages, k, e.name, err)
	}
	b.logf("%d %s messages on %s in %s", messages, k, e.name, time.Since(begin).Round(time.Second))
	b.datasets[name] = d
	return d, nil
}

// accepted makes a dataset of scheduled messages through the program.
func (b *bench) accepted(ctx context.Context, e engine, messages int) (*dataset, error) {
	n, err := b.serveEmpty(ctx, e, noProvider)
	if err != nil {
		return nil, err
	}
	defer n.stop()
	d := &dataset{engine: e, dir: n.dir, database: n.database}
	if err := b.acceptMany(ctx, n, bulkKey, messages, never()); err != nil {
		return nil, err
	}
	if err := b.awaitSearch(ctx, d); err != nil {
		return nil, err
	}
	if err := n.waitIdle(ctx); err != nil {
		return nil, err
	}
	n.stop()
	return d, b.change(ctx, d)
}

// awaitSearch waits until all messages are in the search table: the work would run on every copy.
func (b *bench) awaitSearch(ctx context.Context, d *dataset) error {
	db, err := b.open(d)
	if err != nil {
		return err
	}
	defer db.Close()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); {
		var behind bool
		err := db.QueryRowContext(ctx, "SELECT max(seq) > coalesce((SELECT value FROM meta WHERE name = 'search'), 0) FROM notification").Scan(&behind)
		if err != nil || !behind {
			return err
		}
		if err := load.Pause(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
	return errors.New("the search table is not complete within five minutes")
}

// rewritten makes a dataset of another kind from a copy of the scheduled one. It is the only thing that bypasses the
// program: a run cannot wait for months.
func (b *bench) rewritten(ctx context.Context, e engine, messages int, k kind) (*dataset, error) {
	from, err := b.dataset(ctx, e, messages, scheduled)
	if err != nil {
		return nil, err
	}
	d, err := b.copy(ctx, from)
	if err != nil {
		return nil, err
	}
	const past = 1_600_000_000_000
	if k == due {
		return d, b.change(ctx, d,
			fmt.Sprintf("UPDATE message SET due_at = %d", past),
			fmt.Sprintf("UPDATE notification SET due_at = %d", past))
	}
	return d, b.change(ctx, d,
		fmt.Sprintf("UPDATE message SET q = 0, rank = %d, due_at = %d, sent_at = %d, attempt = 1", carillon.RankSent, past, past),
		fmt.Sprintf("UPDATE notification SET open = 0, due_at = %d, created_at = %d, done_at = %d", past, past, past))
}

// change executes statements on a dataset, then what the engine would otherwise do on every copy: PostgreSQL its first
// vacuum and statistics, SQLite its checkpoint.
func (b *bench) change(ctx context.Context, d *dataset, statements ...string) error {
	db, err := b.open(d)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	last := "PRAGMA wal_checkpoint(TRUNCATE)"
	if d.engine.postgres {
		last = "VACUUM ANALYZE"
	}
	for _, text := range append(statements, last) {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

func (b *bench) open(d *dataset) (*sql.DB, error) {
	if d.engine.postgres {
		return sql.Open("pgx", b.postgres.url(d.database))
	}
	return sql.Open("sqlite", "file:"+filepath.Join(d.dir, "carillon.db")+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)")
}

// copy copies a dataset.
func (b *bench) copy(ctx context.Context, from *dataset) (*dataset, error) {
	b.seq++
	name := "copy" + strconv.Itoa(b.seq)
	d := &dataset{engine: from.engine, dir: filepath.Join(b.dir, name)}
	if from.engine.postgres {
		d.database = name
		return d, b.postgres.exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+from.database)
	}
	if err := os.Mkdir(d.dir, 0o700); err != nil {
		return nil, err
	}
	files, err := os.ReadDir(from.dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if f.Type().IsRegular() && !strings.HasSuffix(f.Name(), ".lock") {
			if err := copyFile(filepath.Join(d.dir, f.Name()), filepath.Join(from.dir, f.Name())); err != nil {
				return nil, err
			}
		}
	}
	return d, nil
}

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
	return errors.Join(err, out.Close())
}

// serveCopy starts a node on a copy of a dataset, once the copy is on disk: writing it would slow the measurement down.
func (b *bench) serveCopy(ctx context.Context, from *dataset, providerURL string) (*node, error) {
	d, err := b.copy(ctx, from)
	if err != nil {
		return nil, err
	}
	if d.engine.postgres {
		if err := b.postgres.exec(ctx, "CHECKPOINT"); err != nil {
			return nil, err
		}
	}
	syscall.Sync()
	return b.serve(ctx, nodeOptions{dir: d.dir, database: d.database, provider: providerURL})
}
