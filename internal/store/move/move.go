package move

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"carillon/internal/store"
	"carillon/internal/store/db"
)

// Options of a move.
type Options struct {
	Dir       string // data folder of SQLite
	URL       string // of PostgreSQL
	MasterKey [32]byte
	Workers   int // concurrent reads and writes; default 3
	Logger    *slog.Logger
	Report    func(Progress)
	// Stop stops the program that runs on the data folder, and returns when it has released it. It responds to requests
	// with 503 until end is called, with the result of the move. Only for a move to PostgreSQL.
	Stop func(ctx context.Context) (end func(moved bool), err error)
}

// Result is the result of a move.
type Result struct {
	Tables  int           `json:"tables"`
	Rows    int64         `json:"rows"`
	Bytes   int64         `json:"bytes"`
	Late    int64         `json:"rows_in_pause"` // rows of the ranges that were copied during the pause
	MovedAt time.Time     `json:"moved_at"`
	Took    time.Duration `json:"-"`
	Pause   time.Duration `json:"-"` // from the request to stop the program until the target could be used
	Former  string        `json:"former,omitempty"`
	Already bool          `json:"already,omitempty"` // an earlier command had moved the installation
}

const (
	defaultWorkers = 3
	// catchUps is the number of comparisons before the pause; they end early when few rows change in one.
	catchUps   = 3
	fewChanges = 20_000
)

func (o *Options) defaults() {
	if o.Workers == 0 {
		o.Workers = defaultWorkers
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Report == nil {
		o.Report = func(Progress) {}
	}
}

// ToPostgres moves an installation from the SQLite database of a data folder to an empty PostgreSQL database. If it
// fails before the move, the program goes on with SQLite. It may be repeated after it was interrupted at any point.
func ToPostgres(ctx context.Context, o Options) (r Result, err error) {
	o.defaults()
	begin := time.Now()
	if _, err := os.Stat(filepath.Join(o.Dir, db.FileName)); err != nil {
		return r, fmt.Errorf("there is no database in %s: %w", o.Dir, err)
	}
	source, err := openSource(ctx, o.Dir)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, source.close()) }()
	c, err := connect(ctx, o.URL)
	if err != nil {
		return r, err
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	if err := lockDatabase(ctx, c); err != nil {
		return r, err
	}
	former, err := source.check(ctx, o.MasterKey)
	if err != nil {
		return r, err
	}
	if former.State == store.MoveMoved {
		return finish(ctx, c, former)
	}
	f := folder{o: &o}
	defer func() { f.end(err == nil) }()
	if err := f.lock(); err != nil {
		return r, err
	}
	m := mover{o: o, source: source, control: c, folder: &f}
	if err = m.copy(ctx); err == nil {
		r, err = m.move(ctx)
	}
	if m.target != nil {
		err = errors.Join(err, m.target.close())
	}
	if err != nil {
		return r, refused(err)
	}
	f.end(true)
	r.Pause = time.Since(m.pausedAt)
	err = checkKeys(ctx, c)
	r.Took = time.Since(begin)
	return r, db.Wrap(err, "the installation was moved, and programs can use the target, but")
}

// check returns the mark of a database that this program can move, and checks the master key.
func (s *sqlite) check(ctx context.Context, key [32]byte) (m store.MoveMark, err error) {
	newest, err := db.NewestSchema(store.Migrations())
	if err != nil {
		return m, err
	}
	version, err := s.schema(ctx)
	if err != nil {
		return m, err
	}
	if err := sameSchema(version, newest); err != nil {
		return m, err
	}
	sealed, err := s.meta(ctx, "master-key")
	if err == nil {
		err = store.CheckMasterKey(key, sealed)
	}
	if err != nil {
		return m, err
	}
	if m, err = markIn(s.meta(ctx, store.MoveMarkName)); err != nil {
		return m, err
	}
	if m.State == store.MoveCopying || m.State == store.MoveCopied {
		return m, store.ErrMoving
	}
	return m, nil
}

// sameSchema returns an error unless a source has the schema of this program, which the target gets.
func sameSchema(version, newest int64) error {
	switch {
	case version < newest:
		return fmt.Errorf("the installation has schema %d, and this program makes %d: start this version of the program on it first",
			version, newest)
	case version > newest:
		return fmt.Errorf("%w: the installation has schema %d, this program %d", store.ErrNewerSchema, version, newest)
	}
	return nil
}

// folder is the data folder: locked by this process, or by a program that stops when it is asked to.
type folder struct {
	o       *Options
	locked  *db.FolderLock
	resume  func(moved bool)
	stopped bool
}

// lock locks the folder, unless a program that can be stopped uses it.
func (f *folder) lock() (err error) {
	if f.locked != nil {
		return nil
	}
	f.locked, err = db.LockFolder(f.o.Dir)
	if errors.Is(err, store.ErrFolderInUse) && f.o.Stop != nil && !f.stopped {
		return nil
	}
	return err
}

// own returns when no program uses the folder.
func (f *folder) own(ctx context.Context) (err error) {
	if err := f.lock(); err != nil || f.locked != nil {
		return err
	}
	if f.resume, err = f.o.Stop(ctx); err != nil {
		if first := err; f.lock() == nil && f.locked != nil { // it has ended
			f.o.Logger.WarnContext(ctx, "the program ended while it was asked to stop", "error", first)
			return nil
		}
		return err
	}
	f.stopped = true
	return f.lock()
}

// end releases the folder and lets a stopped program end, or go on.
func (f *folder) end(moved bool) {
	if f.locked != nil {
		_ = f.locked.Close()
		f.locked = nil
	}
	if f.resume != nil {
		f.resume(moved)
		f.resume = nil
	}
}

// mover moves from SQLite to PostgreSQL.
type mover struct {
	o        Options
	source   *sqlite
	control  *pgx.Conn
	folder   *folder
	copier   *copier
	mark     store.MoveMark
	target   *postgres
	pausedAt time.Time
}

// copy copies while the program may be running.
func (m *mover) copy(ctx context.Context) error {
	mark, tables, err := newTarget(ctx, m.control, m.o.URL, m.o.Logger)
	if err != nil {
		return err
	}
	m.mark = mark
	if err := m.source.has(ctx, tables); err != nil {
		return err
	}
	if m.target, err = openPostgres(ctx, m.o.URL, m.o.Workers); err != nil {
		return err
	}
	m.copier = newCopier(m.source, m.target, tables, &m.o)
	if err := m.copier.copyAll(ctx); err != nil || m.folder.locked != nil {
		return err
	}
	for changed := int64(fewChanges); changed >= fewChanges && m.copier.rounds < catchUps; m.copier.rounds++ {
		if changed, err = m.copier.compare(ctx, CatchingUp, false); err != nil {
			return err
		}
	}
	return nil
}

func newCopier(from, to side, tables []*table, o *Options) *copier {
	c := &copier{from: from, to: to, workers: o.Workers, report: o.Report}
	for _, t := range tables {
		c.tables = append(c.tables, &copied{table: t})
	}
	return c
}

// move stops the program, copies what differs and moves the installation.
func (m *mover) move(ctx context.Context) (r Result, err error) {
	m.copier.begin(Stopping, 0)
	m.pausedAt = time.Now()
	if err := m.folder.own(ctx); err != nil {
		return r, err
	}
	if present, err := markIn(m.source.meta(ctx, store.MoveMarkName)); err != nil || present.State == store.MoveMoved {
		return r, errors.Join(err, store.ErrMoved) // by another command meanwhile
	}
	if err := m.source.leave(ctx); err != nil {
		return r, err
	}
	if r.Late, err = m.copier.compare(ctx, Comparing, true); err != nil {
		return r, err
	}
	if err := m.copier.verifyCounts(ctx); err != nil {
		return r, err
	}
	m.copier.begin(Finishing, 0)
	if err := complete(ctx, m.control, &m.mark); err != nil {
		return r, err
	}
	r.Tables = len(m.copier.tables)
	r.Rows, r.Bytes = m.copier.rows()
	r.MovedAt = time.Now().UTC()
	moved := store.MoveMark{ID: m.mark.ID, State: store.MoveMoved, At: r.MovedAt}
	ctx = context.WithoutCancel(ctx)
	if err := m.source.mark(ctx, moved); err != nil {
		return r, err
	}
	if err := arrive(ctx, m.control, m.mark); err != nil {
		return r, fmt.Errorf("the installation is no longer used here, but the target is not free yet: run the command again: %w", err)
	}
	return r, nil
}

// finish completes a move whose command was interrupted after the source had been marked.
func finish(ctx context.Context, c *pgx.Conn, source store.MoveMark) (r Result, err error) {
	var m store.MoveMark
	var known bool
	err = c.QueryRow(ctx, "SELECT to_regclass('meta') IS NOT NULL").Scan(&known)
	if err == nil && known {
		m, err = markIn(metaOf(ctx, c, store.MoveMarkName))
	}
	if err != nil {
		return r, err
	}
	if m.ID != source.ID || m.State == store.MoveCopying {
		return r, fmt.Errorf("%w to another PostgreSQL database at %s", store.ErrMoved, source.At.Format(time.RFC3339))
	}
	if m.State == store.MoveCopied {
		if err := arrive(ctx, c, m); err != nil {
			return r, err
		}
	}
	return Result{MovedAt: source.At, Already: true}, checkKeys(ctx, c)
}

// has returns an error unless the tables have the same columns here.
func (s *sqlite) has(ctx context.Context, tables []*table) error {
	own, err := s.columnsOf(ctx)
	if err != nil {
		return err
	}
	for name := range notCopied {
		delete(own, name)
	}
	theirs := map[string][]string{}
	for _, t := range tables {
		for _, c := range t.cols {
			theirs[t.name] = append(theirs[t.name], c.name)
		}
		slices.Sort(theirs[t.name])
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if !slices.Equal(own[name], theirs[name]) {
			return fmt.Errorf("table %s has other columns on PostgreSQL", name)
		}
	}
	if len(own) != len(theirs) {
		return fmt.Errorf("the databases have %d and %d tables", len(own), len(theirs))
	}
	return nil
}

// exists reports whether a file exists.
func exists(name string) bool {
	_, err := os.Lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}
