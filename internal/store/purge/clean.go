package purge

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"carillon/internal/store/db"
)

// CleanFile writes SQLite's file again after an erasure, because a page may keep the bytes of rows that were deleted. Writes
// wait meanwhile: some ten seconds a gigabyte. A program that ended before does it at its next start.
func (s *Store) CleanFile(ctx context.Context) error {
	if !s.d.SQLite() {
		return nil
	}
	var at int64
	if err := db.Ignore(s.d.Row(ctx, []any{&at}, "SELECT value FROM meta WHERE name = 'erased'")); err != nil || at == 0 {
		return db.Wrap(err, "look for erasures")
	}
	err := s.d.OnWriter(context.WithoutCancel(ctx), func(ctx context.Context, conn *sql.Conn) error {
		// The copy is on disk: there may be no memory for it.
		if _, err := conn.ExecContext(ctx, "PRAGMA temp_store = FILE"); err != nil {
			return err
		}
		_, err := conn.ExecContext(ctx, "VACUUM")
		if _, restored := conn.ExecContext(ctx, "PRAGMA temp_store = MEMORY"); err == nil {
			err = restored
		}
		if err != nil {
			return err
		}
		return emptyLog(ctx, conn)
	})
	if err != nil {
		return db.Wrap(err, "clean the file")
	}
	// An erasure that came meanwhile has left a mark of its own.
	_, err = s.d.Exec(context.WithoutCancel(ctx), "DELETE FROM meta WHERE name = 'erased' AND value = $1", at)
	return db.Wrap(err, "clean the file")
}

// maxLogWait is the longest wait for readers and checkpoints of the write-ahead log before it is emptied.
const maxLogWait = 30 * time.Second

// emptyLog empties the write-ahead log, which has the pages from before.
func emptyLog(ctx context.Context, conn *sql.Conn) error {
	for end := time.Now().Add(maxLogWait); ; {
		var busy, pages, moved int64
		if err := conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved); err != nil {
			return err
		}
		if busy == 0 {
			return nil
		}
		if time.Now().After(end) {
			return errors.New("the write-ahead log is being read")
		}
		time.Sleep(10 * time.Millisecond)
	}
}
