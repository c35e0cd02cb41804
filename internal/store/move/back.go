package move

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/db"
)

// stageName is the folder in the data folder in which a SQLite database is made.
const stageName = ".moving"

// quietFor is the time for which the beats of nodes without a session are watched; a living node beats every second.
const quietFor = 3 * time.Second

// ToSQLite moves an installation from PostgreSQL, where no node runs, into a data folder: an empty one, or one from which
// the installation was moved before. That former database is kept under another name. If the command fails before the
// move, the nodes can be started again. It may be repeated after it was interrupted at any point.
func ToSQLite(ctx context.Context, o Options) (r Result, err error) {
	o.defaults()
	begin := time.Now()
	c, err := connect(ctx, o.URL)
	if err != nil {
		return r, err
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	if err := lockDatabase(ctx, c); err != nil {
		return r, err
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return r, fmt.Errorf("make the data folder: %w", err)
	}
	lock, err := db.LockFolder(o.Dir)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	mark, err := checkPostgres(ctx, c, o.MasterKey)
	if err != nil {
		return r, err
	}
	b := back{o: o, control: c, stage: filepath.Join(o.Dir, stageName)}
	if mark.State == store.MoveMoved {
		return b.finish(ctx, mark)
	}
	if err := b.free(ctx); err != nil {
		return r, err
	}
	if r, err = b.move(ctx); err != nil {
		return r, refused(err)
	}
	r.Took = time.Since(begin)
	r.Pause = r.Took
	return r, nil
}

// checkPostgres returns the mark of a database that this program can move, and checks the schema and the master key.
func checkPostgres(ctx context.Context, c *pgx.Conn, key [32]byte) (m store.MoveMark, err error) {
	newest, err := db.NewestSchema(store.Migrations())
	if err != nil {
		return m, err
	}
	var version int64
	if err := c.QueryRow(ctx, "SELECT MAX(version_id) FROM goose_db_version").Scan(&version); err != nil {
		return m, fmt.Errorf("the PostgreSQL database has no installation: %w", err)
	}
	if err := sameSchema(version, newest); err != nil {
		return m, err
	}
	sealed, err := metaOf(ctx, c, "master-key")
	if err == nil {
		err = store.CheckMasterKey(key, sealed)
	}
	if err != nil {
		return m, err
	}
	if m, err = markIn(metaOf(ctx, c, store.MoveMarkName)); err != nil {
		return m, err
	}
	if m.State == store.MoveCopying || m.State == store.MoveCopied {
		return m, store.ErrMoving
	}
	return m, nil
}

// back moves from PostgreSQL to SQLite.
type back struct {
	o       Options
	control *pgx.Conn
	stage   string // folder of the database that is being made
	former  string // new name of the database in the folder; empty if there is none
}

// free returns an error if the folder has a database that is in use, and removes the remains of earlier moves.
func (b *back) free(ctx context.Context) error {
	if err := b.keep(ctx); err != nil {
		return err
	}
	if b.former != "" && exists(b.former) {
		return fmt.Errorf("%s exists already", b.former)
	}
	return db.Wrap(os.RemoveAll(b.stage), "remove the remains of an earlier move")
}

// keep chooses another name for the database that the installation was moved from. There may be none, and no other.
func (b *back) keep(ctx context.Context) error {
	name := filepath.Join(b.o.Dir, db.FileName)
	if !exists(name) {
		return nil
	}
	m, err := markOf(ctx, name) // closing it also ends its write-ahead log
	switch {
	case err != nil:
		return err
	case m.State != store.MoveMoved:
		return fmt.Errorf("the data folder %s has an installation: name a new folder, or the one that was moved", b.o.Dir)
	case exists(name + "-wal"): // it would be applied to the new database
		return fmt.Errorf("%s is open in another program", name)
	}
	b.former = name + ".moved-" + m.At.Format("20060102T150405Z")
	return nil
}

func (b *back) move(ctx context.Context) (r Result, err error) {
	if err := b.quiet(ctx); err != nil {
		return r, err
	}
	tables, err := tablesOf(ctx, b.control)
	if err != nil {
		return r, err
	}
	tx, err := b.freeze(ctx, tables)
	if err != nil {
		return r, err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // after a commit it does nothing
	mark := store.MoveMark{ID: carillon.NewID(time.Now()), State: store.MoveCopied, At: time.Now().UTC()}
	if r, err = b.copy(ctx, tables, mark); err != nil {
		return r, err
	}
	for _, name := range []string{filepath.Join(b.stage, db.FileName), b.stage, b.o.Dir} {
		if err := syncName(name); err != nil {
			return r, err
		}
	}
	r.MovedAt = time.Now().UTC()
	moved := store.MoveMark{ID: mark.ID, State: store.MoveMoved, At: r.MovedAt}
	ctx = context.WithoutCancel(ctx)
	if err := markPostgres(ctx, tx, moved); err != nil {
		return r, err
	}
	if err := tx.Commit(ctx); err != nil {
		return r, fmt.Errorf("mark the source (run the command again: it finds out whether that succeeded): %w", err)
	}
	r.Former = b.former
	return r, b.arrive(ctx, mark)
}

// quiet returns an error if a node is alive: its process has a session, or its beat changes.
func (b *back) quiet(ctx context.Context) error {
	if err := noNode(ctx, b.control); err != nil {
		return err
	}
	const beats = "SELECT COALESCE(string_agg(id || beat, ',' ORDER BY id), '') FROM node"
	var before, after string
	if err := b.control.QueryRow(ctx, beats).Scan(&before); err != nil || before == "" {
		return db.Wrap(err, "look for nodes")
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(quietFor):
	}
	err := b.control.QueryRow(ctx, beats).Scan(&after)
	if err == nil && before != after {
		err = errInUse
	}
	return db.Wrap(err, "look for nodes")
}

// freeze locks all tables against writes until the transaction ends, so that no node can start: it first writes a row.
func (b *back) freeze(ctx context.Context, tables []*table) (pgx.Tx, error) {
	tx, err := b.control.Begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("lock the tables: %w", err)
	}
	names := []string{"node"}
	for _, t := range tables {
		names = append(names, quoted(t.name))
	}
	_, err = tx.Exec(ctx, "LOCK TABLE "+strings.Join(names, ", ")+" IN SHARE MODE NOWAIT")
	if err == nil {
		err = noNode(ctx, b.control)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock the tables: %w", err), tx.Rollback(context.WithoutCancel(ctx)))
	}
	return tx, nil
}

// copy makes the database with the rows of the tables.
func (b *back) copy(ctx context.Context, tables []*table, mark store.MoveMark) (r Result, err error) {
	d, err := db.Open(ctx, db.Options{Dir: b.stage, Migrations: store.Migrations(), Logger: b.o.Logger})
	if err == nil {
		err = d.Close()
	}
	if err != nil {
		return r, fmt.Errorf("make the database: %w", err)
	}
	to, err := openStage(ctx, filepath.Join(b.stage, db.FileName))
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, to.close()) }()
	if err := to.empty(ctx, tables); err != nil {
		return r, err
	}
	if err := to.has(ctx, tables); err != nil {
		return r, err
	}
	from, err := openPostgres(ctx, b.o.URL, b.o.Workers)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, from.close()) }()
	c := newCopier(from, to, tables, &b.o)
	if err := c.copyAll(ctx); err != nil {
		return r, err
	}
	c.begin(Comparing, 0)
	if err := c.verifyCounts(ctx); err != nil {
		return r, err
	}
	if err := to.sound(ctx); err != nil {
		return r, err
	}
	c.begin(Finishing, 0)
	r.Tables = len(c.tables)
	r.Rows, r.Bytes = c.rows()
	return r, to.mark(ctx, mark)
}

// empty deletes the rows that the migrations inserted.
func (s *sqlite) empty(ctx context.Context, tables []*table) error {
	for _, t := range tables {
		statement := "DELETE FROM " + quoted(t.name) //nolint:gosec // a name of the schema
		if _, err := s.pool.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("empty %s: %w", t.name, err)
		}
	}
	return nil
}

// sound checks the foreign keys of all rows, and the structure of the file.
func (s *sqlite) sound(ctx context.Context) error {
	var broken int
	if err := s.pool.QueryRowContext(ctx, "SELECT COUNT(*) FROM pragma_foreign_key_check").Scan(&broken); err != nil {
		return fmt.Errorf("check the foreign keys: %w", err)
	}
	var verdict string
	if err := s.pool.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil {
		return fmt.Errorf("check the database: %w", err)
	}
	if broken > 0 || verdict != "ok" {
		return fmt.Errorf("the new database is damaged: %d rows without the row that they refer to, %s", broken, verdict)
	}
	return nil
}

// finish completes a move whose command was interrupted after the source had been marked.
func (b *back) finish(ctx context.Context, source store.MoveMark) (r Result, err error) {
	r = Result{MovedAt: source.At, Already: true}
	staged, err := markOf(ctx, filepath.Join(b.stage, db.FileName))
	if err != nil {
		return r, err
	}
	if staged.ID == source.ID {
		err = b.keep(ctx)
		r.Former = b.former
		if err == nil {
			err = b.arrive(ctx, staged)
		}
		return r, err
	}
	present, err := markOf(ctx, filepath.Join(b.o.Dir, db.FileName))
	if err == nil && present.ID != source.ID {
		err = fmt.Errorf("%w to SQLite in another data folder at %s", store.ErrMoved, source.At.Format(time.RFC3339))
	}
	return r, err
}

// markOf returns the mark of a database; the zero mark if there is none.
func markOf(ctx context.Context, name string) (m store.MoveMark, err error) {
	if !exists(name) {
		return m, nil
	}
	s, err := openFile(ctx, name, "_pragma=synchronous(FULL)")
	if err != nil {
		return m, err
	}
	m, err = markIn(s.meta(ctx, store.MoveMarkName))
	return m, errors.Join(err, s.close())
}

// arrive frees the complete database and gives it its name.
func (b *back) arrive(ctx context.Context, m store.MoveMark) error {
	from, to := filepath.Join(b.stage, db.FileName), filepath.Join(b.o.Dir, db.FileName)
	s, err := openFile(ctx, from, "_pragma=synchronous(FULL)")
	if err != nil {
		return err
	}
	m.State = store.MoveArrived
	if err := errors.Join(s.mark(ctx, m), s.close(), syncName(from)); err != nil {
		return err
	}
	if b.former != "" {
		if err := os.Rename(to, b.former); err != nil {
			return fmt.Errorf("rename the former database: %w", err)
		}
	}
	if err := os.Rename(from, to); err != nil {
		return fmt.Errorf("give the database its name: %w", err)
	}
	return errors.Join(syncName(b.o.Dir), os.RemoveAll(b.stage))
}

// syncName makes a file, or the names in a folder, durable.
func syncName(name string) error {
	f, err := os.Open(name) //nolint:gosec // in the operator's folder
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
