package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"

	"carillon/bench/load"
	"carillon/internal/store/rank"
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

// url returns the address of one of the cluster's databases.
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

// kind is the kind of a dataset's messages.
type kind string

const (
	scheduled kind = "scheduled" // due after the end of every run
	due       kind = "due"       // overdue
	expired   kind = "expired"   // sent, and past their retention
)

// dataset is a database with many messages of the bulk company. Nodes run on copies of it.
type dataset struct {
	engine   engine
	dir      string // SQLite: data folder
	database string // PostgreSQL: name of the database
}

// dataset returns the dataset of a size and kind, and creates it on first use.
func (b *bench) dataset(ctx context.Context, e engine, messages int, k kind) *dataset {
	name := e.name + string(k) + strconv.Itoa(messages)
	if d := b.datasets[name]; d != nil {
		return d
	}
	begin := time.Now()
	var d *dataset
	if k == scheduled {
		d = b.accepted(ctx, e, messages)
	} else {
		d = b.rewritten(ctx, e, messages, k)
	}
	b.logf("%d %s messages on %s in %s", messages, k, e.name, time.Since(begin).Round(time.Second))
	b.datasets[name] = d
	return d
}

// accepted creates a dataset of scheduled messages through the program.
func (b *bench) accepted(ctx context.Context, e engine, messages int) *dataset {
	n := b.serveEmpty(ctx, e, noProvider)
	defer n.stop()
	d := &dataset{engine: e, dir: n.dir, database: n.database}
	check(b.acceptMany(ctx, n, bulkKey, messages, never()))
	b.awaitSearch(ctx, d)
	n.waitIdle(ctx)
	n.stop()
	b.change(ctx, d)
	return d
}

// awaitSearch waits until all messages are in the search table; otherwise indexing would run on every copy.
func (b *bench) awaitSearch(ctx context.Context, d *dataset) {
	db := b.open(d)
	defer db.Close()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); {
		var behind bool
		check(db.QueryRowContext(ctx,
			"SELECT max(seq) > coalesce((SELECT value FROM meta WHERE name = 'search'), 0) FROM notification").Scan(&behind))
		if !behind {
			return
		}
		check(load.Pause(ctx, 200*time.Millisecond))
	}
	panic(failure{errors.New("the search table is not complete within five minutes")})
}

// rewritten creates a dataset of another kind from a copy of the scheduled one. Only this function bypasses the
// program: a run cannot wait for months.
func (b *bench) rewritten(ctx context.Context, e engine, messages int, k kind) *dataset {
	d := b.copy(ctx, b.dataset(ctx, e, messages, scheduled))
	const past = 1_600_000_000_000
	if k == due {
		b.change(ctx, d,
			fmt.Sprintf("UPDATE message SET due_at = %d", past),
			fmt.Sprintf("UPDATE notification SET due_at = %d", past))
		return d
	}
	b.change(ctx, d,
		fmt.Sprintf("UPDATE message SET q = 0, rank = %d, due_at = %d, sent_at = %d, attempt = 1", rank.Sent, past, past),
		fmt.Sprintf("UPDATE notification SET open = 0, due_at = %d, created_at = %d, done_at = %d", past, past, past))
	return d
}

// change executes statements on a dataset, and then the work that the engine would otherwise do on every copy:
// PostgreSQL its first vacuum and statistics, SQLite its checkpoint.
func (b *bench) change(ctx context.Context, d *dataset, statements ...string) {
	db := b.open(d)
	defer db.Close()
	db.SetMaxOpenConns(1)
	last := "PRAGMA wal_checkpoint(TRUNCATE)"
	if d.engine.postgres {
		last = "VACUUM ANALYZE"
	}
	for _, text := range append(statements, last) {
		if _, err := db.ExecContext(ctx, text); err != nil {
			panic(failure{fmt.Errorf("%s: %w", text, err)})
		}
	}
}

func (b *bench) open(d *dataset) *sql.DB {
	if d.engine.postgres {
		return must(sql.Open("pgx", b.postgres.url(d.database)))
	}
	return must(sql.Open("sqlite", "file:"+filepath.Join(d.dir, "carillon.db")+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)"))
}

// copy copies a dataset.
func (b *bench) copy(ctx context.Context, from *dataset) *dataset {
	b.seq++
	name := "copy" + strconv.Itoa(b.seq)
	d := &dataset{engine: from.engine, dir: filepath.Join(b.dir, name)}
	if from.engine.postgres {
		d.database = name
		check(b.postgres.exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+from.database))
		return d
	}
	check(os.CopyFS(d.dir, os.DirFS(from.dir)))
	return d
}

// serveCopy starts a node on a copy of a dataset once the copy is on disk: writing it would slow down the measurement.
func (b *bench) serveCopy(ctx context.Context, from *dataset, providerURL string) *node {
	d := b.copy(ctx, from)
	if d.engine.postgres {
		check(b.postgres.exec(ctx, "CHECKPOINT"))
	}
	syscall.Sync()
	return b.serve(ctx, nodeOptions{dir: d.dir, database: d.database, provider: providerURL})
}
