package db

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // driver "sqlite"
)

// FileName is the name of the database file in the data folder.
const FileName = "carillon.db"

func (p *pools) openSQLite(ctx context.Context, dir string, readers int) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	lock, err := LockFolder(dir)
	if err != nil {
		return err
	}
	p.lock = lock
	name := filepath.Join(dir, FileName)
	if err := makePrivate(name); err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	dsn := FileURI(name) +
		"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)" +
		"&_pragma=wal_autocheckpoint(0)&_pragma=journal_size_limit(67108864)&_pragma=cache_size(-16384)&_pragma=temp_store(MEMORY)"
	if p.write, err = sql.Open("sqlite", dsn); err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	p.write.SetMaxOpenConns(1)
	if err := p.write.PingContext(ctx); err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	// Readers have a smaller cache than the writer: there are many of them, and the system caches the file's pages
	// too.
	if p.read, err = sql.Open("sqlite", dsn+"&_pragma=query_only(1)&_pragma=cache_size(-4096)"); err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	p.read.SetMaxOpenConns(readers)
	p.read.SetMaxIdleConns(readers)
	return nil
}

// FileURI returns the URI of a file for the driver, to which `?` and options can be added. In the plain name `?`, `#`
// and `%` have a special meaning.
func FileURI(name string) string {
	path := (&url.URL{Path: filepath.ToSlash(name)}).EscapedPath()
	return "file:" + strings.ReplaceAll(path, ";", "%3B")
}

// makePrivate creates a missing database file for its owner only: it holds numbers and texts, and the folder may be
// readable by others. SQLite gives the files next to it the same mode.
func makePrivate(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the operator chose the folder
	if err != nil {
		return err
	}
	return f.Close()
}
