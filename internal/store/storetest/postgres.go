//go:build unix

// Package storetest provides fresh, migrated databases of both engines for tests.
package storetest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"

	"carillon/internal/base/need"
	"carillon/internal/store"
	"carillon/internal/store/db"
)

// PostgresEnv names the variable with the address of a server to test on. Its user must be allowed to create databases.
const PostgresEnv = "CARILLON_TEST_POSTGRES"

// errNoPostgres means that there is no PostgreSQL for tests.
var errNoPostgres = errors.New("no PostgreSQL: install the Debian package postgresql, or name a server in " + PostgresEnv)

// byFile copies the files of the template, in half the time of the default, which writes all its 700 files to the log.
// Servers before version 15 do nothing else.
var byFile = sync.OnceValue(func() (option string) {
	c, err := server()
	if err != nil {
		return ""
	}
	pool, err := sql.Open("pgx", c.dsn)
	if err != nil {
		return ""
	}
	defer pool.Close()
	ctx, cancel := context.WithTimeout(context.Background(), maxStatement)
	defer cancel()
	const query = "SELECT CASE WHEN current_setting('server_version_num')::int >= 150000 THEN ' STRATEGY FILE_COPY' ELSE '' END"
	if pool.QueryRowContext(ctx, query).Scan(&option) != nil {
		return ""
	}
	return option
})

// server is the server of this test process. It starts at the first call, unless the test run has one, and ends with
// the process. The variable keeps the pipe to its keeper open.
var server = sync.OnceValues(startServer)

// migrated is the name of a migrated database of the server, the template of others.
var migrated = sync.OnceValues(func() (string, error) {
	c, err := server()
	if err != nil {
		return "", err
	}
	digest, err := schemaDigest()
	if err != nil {
		return "", err
	}
	name := "carillon_template_" + digest
	return name, template(c.dsn, name)
})

// Postgres returns the address of a fresh, migrated database, dropped at the end of the test. The server is that of
// CARILLON_TEST_POSTGRES, or else a throw-away cluster of the installed binaries. Without either the test is skipped,
// or fails if CI is set. A busy machine has a minute for a connection.
func Postgres(t testing.TB) string {
	t.Helper()
	c := reachable(t)
	from, err := migrated()
	if err != nil {
		t.Fatalf("make the database that others are copies of: %v", err)
	}
	return create(t, c, " TEMPLATE "+from+byFile())
}

// PatientPostgres is Postgres for tests that open the database themselves: a transaction that a busy machine pauses has
// a minute before the server ends its session.
func PatientPostgres(t testing.TB) string {
	t.Helper()
	return with(t, Postgres(t), "idle_in_transaction_session_timeout", "60000")
}

// EmptyPostgres is Postgres with an empty database, to test the first start of a program.
func EmptyPostgres(t testing.TB) string {
	t.Helper()
	return create(t, reachable(t), "")
}

func reachable(t testing.TB) *cluster {
	t.Helper()
	need.Postgres(t)
	c, err := server()
	switch {
	case errors.Is(err, errNoPostgres) && os.Getenv("CI") == "":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	return c
}

// create creates a database until the end of the test.
func create(t testing.TB, c *cluster, options string) (dsn string) {
	t.Helper()
	name := "carillon_test_" + strings.ToLower(rand.Text()[:16])
	if err := execute(c.dsn, "CREATE DATABASE "+name+options); err != nil {
		t.Fatalf("create a test database: %v", err)
	}
	t.Cleanup(func() {
		if err := execute(c.dsn, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("drop the test database: %v", err)
		}
	})
	dsn, err := withDatabase(c.dsn, name)
	if err != nil {
		t.Fatal(err)
	}
	return with(t, dsn, "connect_timeout", "60")
}

// with returns an address with one more setting.
func with(t testing.TB, dsn, name, value string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set(name, value)
	u.RawQuery = query.Encode()
	return u.String()
}

// template creates a database of this name with the program's schema, unless the server has it. Test processes that
// share a server wait for the first of them.
func template(admin, name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), maxStatement)
	defer cancel()
	pool, err := sql.Open("pgx", admin)
	if err != nil {
		return err
	}
	defer pool.Close()
	conn, err := pool.Conn(ctx) // this connection holds the lock until it is closed
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(hashtext($1))", name); err != nil {
		return err
	}
	var there bool
	if err := conn.QueryRowContext(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)",
		name).Scan(&there); err != nil || there {
		return err
	}
	unfinished := "carillon_unfinished_" + strings.ToLower(rand.Text()[:16]) // a process may be killed before it is complete
	if _, err := conn.ExecContext(ctx, "CREATE DATABASE "+unfinished); err != nil {
		return err
	}
	dsn, err := withDatabase(admin, unfinished)
	if err != nil {
		return err
	}
	d, err := db.Open(ctx, db.Options{URL: dsn, Migrations: store.Migrations()})
	if err != nil {
		return err
	}
	if err := d.Close(); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "ALTER DATABASE "+unfinished+" RENAME TO "+name)
	return err
}

// schemaDigest returns the digest of the text of all migrations.
func schemaDigest() (string, error) {
	names, err := fs.Glob(store.Migrations(), "migrations/*.sql")
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, name := range names {
		text, err := fs.ReadFile(store.Migrations(), name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// startServer returns the server on which databases can be created.
func startServer() (*cluster, error) {
	if dsn := os.Getenv(PostgresEnv); dsn != "" {
		return &cluster{dsn: dsn}, nil
	}
	return startCluster(throwAway)
}

// maxStatement is the time after which a statement counts as hung.
const maxStatement = 3 * time.Minute

// execute runs one statement on its own connection.
func execute(dsn, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), maxStatement)
	defer cancel()
	driver := "pgx"
	if !strings.Contains(dsn, "://") {
		driver, dsn = "sqlite", "file:"+dsn+"?_pragma=busy_timeout(60000)"
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, statement)
	return err
}

// Exec runs one statement on the database of a program under test, a PostgreSQL address or an SQLite file, to create
// states that no request can produce.
func Exec(t testing.TB, database, statement string) {
	t.Helper()
	if err := execute(database, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// withDatabase returns the address with another database.
func withDatabase(dsn, name string) (string, error) {
	u, err := url.Parse(dsn)
	if err != nil || u.Scheme == "" {
		return "", fmt.Errorf("%s is not an address of the form postgres://user@host/database", PostgresEnv)
	}
	u.Path = "/" + name
	return u.String(), nil
}
