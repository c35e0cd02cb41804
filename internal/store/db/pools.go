package db

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// pools are the connections to the database.
type pools struct {
	write *sql.DB // SQLite: one connection; PostgreSQL: the same pool as read
	read  *sql.DB
	lock  *FolderLock // of SQLite's folder
}

func (p *pools) close() error {
	var errs []error
	if p.read != nil {
		errs = append(errs, closePool(p.read))
	}
	if p.write != nil && p.write != p.read {
		errs = append(errs, closePool(p.write))
	}
	if p.lock != nil {
		errs = append(errs, p.lock.Close())
	}
	return errors.Join(errs...)
}

// closeWait bounds the wait for a closed pool.
const closeWait = time.Second

// closePool closes a pool and waits until all its connections are closed. database/sql closes only idle ones
// immediately: a connection used by an abandoned read, or just being made, is closed later. On SQLite it would write
// next to the database while the next process, or a restore, already uses the folder.
func closePool(db *sql.DB) error {
	err := db.Close()
	for end := time.Now().Add(closeWait); db.Stats().OpenConnections > 0 && time.Now().Before(end); {
		<-time.After(time.Millisecond)
	}
	return err
}

// Pools returns the statistics of the connection pools by name: SQLite's writer and readers, or PostgreSQL's single
// pool.
func (h *Health) Pools() map[string]sql.DBStats {
	if h.d.read == h.d.write {
		return map[string]sql.DBStats{"postgres": h.d.write.Stats()}
	}
	return map[string]sql.DBStats{"read": h.d.read.Stats(), "write": h.d.write.Stats()}
}

// Ping reports whether the database responds.
func (h *Health) Ping(ctx context.Context) error { return h.d.read.PingContext(ctx) }

// Pool returns the read pool, for callers that need a dedicated connection.
func (p *pools) Pool() *sql.DB { return p.read }
