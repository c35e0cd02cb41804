//go:build unix

// Package storetest provides fresh databases of both engines for tests.
package storetest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"

	"carillon/internal/need"
)

// PostgresEnv names the variable with the address of a server to test on. Its user must be allowed to create databases.
const PostgresEnv = "CARILLON_TEST_POSTGRES"

// errNoPostgres means that there is no PostgreSQL to test with.
var errNoPostgres = errors.New("no PostgreSQL: install the Debian package postgresql, or name a server in " + PostgresEnv)

// server is the server of this test process, so that packages tested in parallel do not share one. It starts at the first call
// and ends with the process. The variable keeps the pipe to its keeper open.
var server = sync.OnceValues(startServer)

// Postgres returns the address of a fresh, empty database, dropped at the end of the test. The server is that of
// CARILLON_TEST_POSTGRES, else a throw-away cluster of the installed binaries. Without either the test is skipped, or fails
// when CI is set.
func Postgres(t testing.TB) string {
	t.Helper()
	need.Postgres(t)
	c, err := server()
	switch {
	case errors.Is(err, errNoPostgres) && os.Getenv("CI") == "":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	admin := c.dsn
	name := "carillon_test_" + strings.ToLower(rand.Text()[:16])
	if err := execute(admin, "CREATE DATABASE "+name); err != nil {
		t.Fatalf("create a test database: %v", err)
	}
	t.Cleanup(func() {
		if err := execute(admin, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("drop the test database: %v", err)
		}
	})
	dsn, err := withDatabase(admin, name)
	if err != nil {
		t.Fatal(err)
	}
	return dsn
}

// startServer returns the server on which databases can be created.
func startServer() (*cluster, error) {
	if dsn := os.Getenv(PostgresEnv); dsn != "" {
		return &cluster{dsn: dsn}, nil
	}
	return startCluster(throwAway)
}

// execute runs one statement on its own connection, within three minutes, because creating a database waits for a checkpoint.
func execute(dsn, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
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

// Exec runs one statement on the database of a program under test, an address of PostgreSQL or a file of SQLite, for states that
// no request can produce.
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
