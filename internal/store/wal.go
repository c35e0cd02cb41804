package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

const (
	checkpointEvery = 100 * time.Millisecond
	walRestart      = 64 << 20 // past this the writer makes the log start over
)

// committed notes that there is something to checkpoint. An idle store sets no timers.
func (s *Store) committed() {
	s.wroteAt.Store(time.Now().UnixMilli())
	select {
	case s.dirty <- struct{}{}:
	default:
	}
}

// checkpoints copies the write-ahead log into the database beside the writer, at most ten times a second. PASSIVE alone
// lets the log grow under load, so past walRestart the writer itself restarts it (engine.md, section 1).
func (s *Store) checkpoints(ctx context.Context) {
	conn, err := s.checkpointer(ctx)
	if err != nil {
		if ctx.Err() == nil {
			s.log.ErrorContext(ctx, "prepare checkpoints", "error", err)
		}
		return
	}
	defer func() { _ = conn.Close() }()
	var pageSize int64
	if err := conn.QueryRowContext(ctx, "PRAGMA page_size").Scan(&pageSize); err != nil {
		if ctx.Err() == nil {
			s.log.ErrorContext(ctx, "read the page size", "error", err)
		}
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.dirty:
		}
		var busy, pages, moved int64
		if err := conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &pages, &moved); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "checkpoint", "error", err)
		}
		s.walSize.Store(pages * pageSize)
		if pages*pageSize > walRestart {
			s.restartLog(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(checkpointEvery):
		}
	}
}

// checkpointer takes a connection for checkpoints alone.
func (s *Store) checkpointer(ctx context.Context) (*sql.Conn, error) {
	conn, err := s.read.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.ExecContext(ctx, "PRAGMA query_only = 0"); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func (s *Store) restartLog(ctx context.Context) {
	err := s.accepts.do(ctx, &work{kind: workRaw, run: func(ctx context.Context, tx *Tx) error {
		var busy, pages, moved int64
		return tx.one(ctx, []any{&busy, &pages, &moved}, "PRAGMA wal_checkpoint(RESTART)")
	}})
	if err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "restart the write-ahead log", "error", err)
	}
}

// LogSize is the size of SQLite's write-ahead log in bytes as of the last checkpoint; 0 on PostgreSQL.
func (s *Store) LogSize() int64 { return s.walSize.Load() }
