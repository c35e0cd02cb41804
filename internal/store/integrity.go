package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"carillon/internal/store/db"
)

const (
	firstCheck = 10 * time.Minute // after the start
	everyCheck = 24 * time.Hour
)

// Integrity checks SQLite's file while the program runs, a table at a time: damage to a page that nobody reads would
// otherwise be found by the next backup, or by nobody. PostgreSQL has checksums and its own tools.
type Integrity struct {
	s *Store

	mu    sync.Mutex
	at    time.Time // end of the last check; zero before the first
	fault string    // damage that it found
}

// Last returns the end of the last check and the damage that it found; the zero time before the first.
func (i *Integrity) Last() (at time.Time, fault string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.at, i.fault
}

// Run checks daily until ctx ends.
func (i *Integrity) Run(ctx context.Context, log *slog.Logger) error {
	if !i.s.DB.SQLite() {
		return nil
	}
	for wait := firstCheck; db.Pause(ctx, wait); wait = everyCheck {
		begin := time.Now()
		fault, err := i.Check(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			log.WarnContext(ctx, "check the database's file", "error", err)
		case fault != "":
			log.ErrorContext(ctx, "the database's file is damaged: restore a backup", "damage", fault)
		default:
			log.InfoContext(ctx, "checked the database's file", "took", time.Since(begin).Round(time.Millisecond).String())
		}
	}
	return nil
}

// Check checks every table and its indexes, and returns the damage; empty if there is none. After each table it rests
// for as long as the table took.
func (i *Integrity) Check(ctx context.Context) (fault string, err error) {
	tables, err := db.Collect(ctx, i.s.DB, "tables", func(scan db.Scan) (name string, err error) {
		return name, scan(&name)
	}, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
	if err != nil && !damaged(err) {
		return "", err
	} else if err != nil {
		fault = err.Error()
	}
	for _, name := range tables {
		begin := time.Now()
		text, err := i.table(ctx, name)
		if err != nil {
			return "", err
		}
		if text != "" {
			fault = text
			break
		}
		if !db.Pause(ctx, time.Since(begin)) {
			return "", ctx.Err()
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.at, i.fault = time.Now(), fault
	return fault, nil
}

func (i *Integrity) table(ctx context.Context, name string) (fault string, err error) {
	err = i.s.DB.Pool().QueryRowContext(ctx, `PRAGMA integrity_check("`+strings.ReplaceAll(name, `"`, `""`)+`")`).Scan(&fault)
	switch {
	case err != nil && damaged(err):
		return fmt.Sprintf("table %s: %v", name, err), nil
	case err != nil:
		return "", fmt.Errorf("check table %s: %w", name, err)
	case fault == "ok":
		return "", nil
	}
	return fmt.Sprintf("table %s: %s", name, fault), nil
}

// damaged reports whether SQLite found its file malformed, or not to be a database.
func damaged(err error) bool {
	var se interface{ Code() int }
	return errors.As(err, &se) && (se.Code()&0xff == 11 || se.Code()&0xff == 26)
}
