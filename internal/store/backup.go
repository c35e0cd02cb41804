package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"

	"carillon/internal/store/db"
)

// The writer's connection copies SQLite's pages: its own writes also reach the pages already copied, so the copy is
// the database as of its last step. No read stays open between steps, so the write-ahead log does not grow. A copy
// over another connection would keep a read open, or restart with every commit (docs/adr/0011).

// Progress is called with the number of pages copied or verified, and the total.
type Progress func(done, total int)

// ErrBackupRunning means that another backup is in progress.
var ErrBackupRunning = errors.New("a backup is being made already")

// ErrNotSQLite means that the database must be backed up and restored with PostgreSQL's own tools.
var ErrNotSQLite = errors.New("this database is PostgreSQL: use pg_dump or continuous archiving (docs/guides/backup.md)")

// Backup copies the database of a running store into the file `to`, which must not exist. The file is synced, but not
// verified, when it returns.
func (s *Store) Backup(ctx context.Context, to string, progress Progress) error {
	if !s.DB.SQLite() {
		return ErrNotSQLite
	}
	if !s.backups.running.TryLock() {
		return ErrBackupRunning
	}
	defer s.backups.running.Unlock()
	if s.backups.stopping.Load() {
		return db.Overloaded("The service is stopping", nil)
	}
	if err := makeNew(to); err != nil {
		return err
	}
	if err := s.copyTo(ctx, to, progress); err != nil {
		return errors.Join(fmt.Errorf("copy the database: %w", err), os.Remove(to))
	}
	// The backup is good even if its time cannot be written, as on a full disk.
	_, _ = s.DB.Exec(ctx, `INSERT INTO meta (name, value) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, BackupName, db.Millis(time.Now()))
	return nil
}

// BackedUpAt returns the time of the last backup by this program; the zero time if there was none.
func (s *Store) BackedUpAt(ctx context.Context) (time.Time, error) {
	var ms int64
	err := s.DB.Row(ctx, []any{&ms}, "SELECT value FROM meta WHERE name = $1", BackupName)
	return db.Instant(ms), db.Wrap(db.Ignore(err), "read the time of the last backup")
}

// backups is the backup in progress, if any.
type backups struct {
	running  sync.Mutex  // held during a backup
	stopping atomic.Bool // refuses new backups, because the store is closing
}

// end stops a running backup and waits for it, because its handle must be closed before the writer's connection.
func (b *backups) end() {
	b.stopping.Store(true)
	b.running.Lock()
	defer b.running.Unlock()
}

func (s *Store) copyTo(ctx context.Context, to string, progress Progress) error {
	var b *sqlite.Backup
	err := s.DB.OnWriter(ctx, func(_ context.Context, conn *sql.Conn) (err error) {
		b, err = beginCopy(conn, to)
		return err
	})
	if err != nil {
		return err
	}
	file, ferr := os.OpenFile(to, os.O_RDWR, 0) //nolint:gosec // the operator chose the path
	p := copyPace{pages: copyBegin, file: file}
	err = ferr
	for more := true; more && err == nil; {
		if err = ctx.Err(); err == nil && s.backups.stopping.Load() {
			err = errors.New("the program is stopping")
		}
		if err != nil {
			break
		}
		var took time.Duration
		err = s.DB.OnWriter(ctx, func(context.Context, *sql.Conn) (err error) {
			begin := time.Now()
			more, err = b.Step(p.pages)
			took = time.Since(begin)
			return err
		})
		if err == nil {
			progress(b.PageCount()-b.Remaining(), b.PageCount())
			err = p.rest(ctx, took)
		}
	}
	// The writer closes the handle in all cases.
	err = errors.Join(err, s.DB.OnWriter(context.WithoutCancel(ctx), func(context.Context, *sql.Conn) error { return b.Finish() }))
	if ferr == nil {
		err = errors.Join(err, file.Sync(), file.Close())
	}
	return err
}

// beginCopy opens the file for the copy. It is synced once, at the end, and deleted if incomplete.
func beginCopy(conn *sql.Conn, to string) (b *sqlite.Backup, err error) {
	err = conn.Raw(func(c any) error {
		from, ok := c.(interface {
			NewBackup(to string) (*sqlite.Backup, error)
		})
		if !ok {
			return errors.New("the driver cannot copy a database")
		}
		b, err = from.NewBackup(fileURI(to, "_pragma=synchronous(OFF)&_pragma=journal_mode(OFF)&_pragma=cache_size(-1024)"))
		return err
	})
	return b, err
}

// copyPace keeps the steps of a copy short, with a pause of the same length after each. Written pages are synced a few
// at a time, because syncing many together would delay other commits.
type copyPace struct {
	pages    int32
	file     *os.File
	unsynced int32 // pages
}

const (
	copyBegin  = 64
	minCopy    = 16
	maxCopy    = 512
	copyAtOnce = 4096 // without concurrent writes
	copySync   = 512
	copyTarget = 2 * time.Millisecond
)

func (p *copyPace) rest(ctx context.Context, took time.Duration) error {
	begin := time.Now()
	if p.unsynced += p.pages; p.unsynced >= copySync {
		p.unsynced = 0
		if err := p.file.Sync(); err != nil {
			return err
		}
	}
	switch {
	case took > 2*copyTarget:
		p.pages = max(p.pages/2, minCopy)
	case took < copyTarget/2:
		p.pages = min(2*p.pages, maxCopy)
	}
	select {
	case <-ctx.Done():
	case <-time.After(max(took, time.Since(begin), time.Millisecond)):
	}
	return nil
}

// BackupFolder copies the database of a data folder that no process uses into the file `to`. It does not migrate the
// schema. Errors: ErrFolderInUse.
func BackupFolder(ctx context.Context, dir, to string, progress Progress) (err error) {
	name := filepath.Join(dir, db.FileName)
	if _, err := os.Stat(name); err != nil {
		return fmt.Errorf("there is no database in %s: %w", dir, err)
	}
	lock, err := db.LockFolder(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	db, err := sql.Open("sqlite", fileURI(name, "mode=rw&_pragma=busy_timeout(5000)&_pragma=wal_autocheckpoint(0)"))
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := makeNew(to); err != nil {
		return err
	}
	if err := copyWhole(ctx, conn, to, progress); err != nil {
		return errors.Join(fmt.Errorf("copy the database: %w", err), os.Remove(to))
	}
	return nil
}

func copyWhole(ctx context.Context, conn *sql.Conn, to string, progress Progress) error {
	b, err := beginCopy(conn, to)
	if err != nil {
		return err
	}
	for more := true; more && err == nil; {
		if more, err = b.Step(copyAtOnce); err == nil {
			progress(b.PageCount()-b.Remaining(), b.PageCount())
			err = ctx.Err()
		}
	}
	if err = errors.Join(err, b.Finish()); err != nil {
		return err
	}
	return syncFile(to)
}

// fileURI returns SQLite's URI of a file, with its path escaped.
func fileURI(name, options string) string {
	return db.FileURI(name) + "?" + options
}

// makeNew creates a file that only its owner can read. It fails if the file exists.
func makeNew(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the operator chose the path
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: another backup is being written there, or one was interrupted; in that case delete it", err)
	}
	if err != nil {
		return err
	}
	return f.Close()
}

func syncFile(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0) //nolint:gosec // the operator chose the path
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// syncFolder makes the file names of a folder durable.
func syncFolder(dir string) error {
	f, err := os.Open(dir) //nolint:gosec // the operator chose the folder
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
