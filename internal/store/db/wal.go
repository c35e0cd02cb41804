package db

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
	"time"
)

const (
	checkpointEvery = 100 * time.Millisecond
	walRestart      = 64 << 20 // the writer restarts a log larger than this
)

// wal is SQLite's write-ahead log.
type wal struct {
	dirty chan struct{} // signals a commit since the last checkpoint
	size  atomic.Int64
}

// committed signals that a checkpoint is needed. An idle database sets no timers.
func (d *DB) committed() {
	d.room.wroteAt.Store(time.Now().UnixMilli())
	select {
	case d.wal.dirty <- struct{}{}:
	default:
	}
}

// checkpoints copies the write-ahead log into the database, without stopping the writer, at most ten times a second.
// PASSIVE alone lets the log grow under load, so beyond walRestart the writer itself restarts it.
func (w *wal) checkpoints(ctx context.Context, d *DB) {
	conn, err := d.checkpointer(ctx)
	if err != nil {
		if ctx.Err() == nil {
			d.log.ErrorContext(ctx, "prepare checkpoints", "error", err)
		}
		return
	}
	defer func() { _ = conn.Close() }()
	var pageSize int64
	if err := conn.QueryRowContext(ctx, "PRAGMA page_size").Scan(&pageSize); err != nil {
		if ctx.Err() == nil {
			d.log.ErrorContext(ctx, "read the page size", "error", err)
		}
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.dirty:
		}
		var busy, pages, moved int64
		if err := conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &pages, &moved); err != nil && ctx.Err() == nil {
			d.log.WarnContext(ctx, "checkpoint", "error", err)
		}
		w.size.Store(pages * pageSize)
		if pages*pageSize > walRestart {
			restartLog(ctx, d)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(checkpointEvery):
		}
	}
}

// checkpointer takes a connection reserved for checkpoints.
func (p *pools) checkpointer(ctx context.Context) (*sql.Conn, error) {
	conn, err := p.read.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.ExecContext(ctx, "PRAGMA query_only = 0"); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func restartLog(ctx context.Context, d *DB) {
	err := d.OnWriter(ctx, func(ctx context.Context, conn *sql.Conn) error {
		var busy, pages, moved int64
		return conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(RESTART)").Scan(&busy, &pages, &moved)
	})
	if err != nil && ctx.Err() == nil {
		d.log.WarnContext(ctx, "restart the write-ahead log", "error", err)
	}
}

// LogSize returns the size of SQLite's write-ahead log in bytes at the last checkpoint; 0 on PostgreSQL.
func (h *Health) LogSize() int64 { return h.d.wal.size.Load() }
