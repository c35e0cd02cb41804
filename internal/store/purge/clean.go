package purge

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"carillon/internal/store/db"
)

// CleanFile rewrites SQLite's file after an erasure, because pages may keep the bytes of deleted rows. Writes wait
// meanwhile, about ten seconds per gigabyte. If the program ended before, its next start does it.
func (s *Store) CleanFile(ctx context.Context) error {
	if !s.d.SQLite() {
		return nil
	}
	var at int64
	if err := db.Ignore(s.d.Row(ctx, []any{&at}, "SELECT value FROM meta WHERE name = 'erased'")); err != nil || at == 0 {
		return db.Wrap(err, "look for erasures")
	}
	err := s.d.OnWriter(context.WithoutCancel(ctx), func(ctx context.Context, conn *sql.Conn) error {
		// The copy is on disk: there may be too little memory for it.
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
	// The mark of a concurrent erasure has another value and stays.
	_, err = s.d.Exec(context.WithoutCancel(ctx), "DELETE FROM meta WHERE name = 'erased' AND value = $1", at)
	return db.Wrap(err, "clean the file")
}

// EmptyLog empties SQLite's write-ahead log, unless somebody reads it. It reports whether it did.
func (s *Store) EmptyLog(ctx context.Context) (emptied bool, err error) {
	if !s.d.SQLite() {
		return true, nil
	}
	err = s.d.OnWriter(context.WithoutCancel(ctx), func(ctx context.Context, conn *sql.Conn) error {
		var busy, pages, moved int64
		err := conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
		emptied = busy == 0
		return err
	})
	return emptied, db.Wrap(err, "empty the log")
}

// maxLogWait is the longest wait for readers and checkpoints of the write-ahead log before it is emptied.
const maxLogWait = 30 * time.Second

// emptyLog empties the write-ahead log, which contains the old pages.
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
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}
