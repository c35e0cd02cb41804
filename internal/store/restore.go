package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"carillon"
	"carillon/internal/store/audit"
	"carillon/internal/store/db"
	"carillon/internal/store/messages"
	"carillon/internal/store/work"
)

// RestoreOptions are the source and destination of a restore.
type RestoreOptions struct {
	From      string   // the backup, next to its manifest
	Dir       string   // the data folder: new, or empty except for a master key
	MasterKey [32]byte // the backup's master key
	Now       time.Time
	Copied    Progress // bytes copied and verified
	Held      Progress // messages held so far, with an unknown total
}

// Restore copies a verified backup into a data folder and holds due messages (Mark). The database gets its name only
// after all of that is done and synced; an interrupted restore can be repeated on the same folder.
func Restore(ctx context.Context, o RestoreOptions) (m Manifest, r *Restored, err error) {
	if m, err = ReadManifest(o.From); err != nil {
		return m, nil, fmt.Errorf("read the backup's manifest: %w", err)
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return m, nil, fmt.Errorf("make the data folder: %w", err)
	}
	lock, err := db.LockFolder(o.Dir)
	if err != nil {
		return m, nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := refuseUsed(o.Dir); err != nil {
		return m, nil, err
	}
	work, err := os.MkdirTemp(o.Dir, restoring)
	if err != nil {
		return m, nil, fmt.Errorf("make a folder to restore in: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	name := filepath.Join(work, db.FileName)
	if err := copyBackup(ctx, o, m, name); err != nil {
		return m, nil, err
	}
	if err := verifyCopy(ctx, name, m); err != nil {
		return m, nil, err
	}
	if r, err = markCopy(ctx, o, work); err != nil {
		return m, nil, err
	}
	return m, r, moveInto(o.Dir, work)
}

// restoring is the prefix of a restore's temporary folders.
const restoring = ".restore-"

// refuseUsed returns an error for a folder with anything but a master key and the remains of earlier restores, which
// it deletes.
func refuseUsed(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case name == "master.key" || name == "carillon.lock":
		case e.IsDir() && len(name) > len(restoring) && name[:len(restoring)] == restoring:
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				return err
			}
		default:
			return fmt.Errorf("the data folder %s is not empty (%s): restore into a new one, which may hold the master key", dir, name)
		}
	}
	return nil
}

func copyBackup(ctx context.Context, o RestoreOptions, m Manifest, to string) (err error) {
	from, err := os.Open(o.From)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the operator chose the path
	if err != nil {
		return err
	}
	const mebibyte = 1 << 20
	for done, total := 0, int(m.Bytes/mebibyte)+1; err == nil; {
		if _, err = io.CopyN(f, interruptible{ctx, from}, 16*mebibyte); err == nil {
			done += 16
			o.Copied(min(done, total), total)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	err = errors.Join(err, f.Sync(), f.Close())
	return db.Wrap(err, "copy the backup")
}

// verifyCopy compares the copy on disk with the manifest.
func verifyCopy(ctx context.Context, name string, m Manifest) error {
	sum, size, err := DigestFile(ctx, name)
	if err != nil {
		return fmt.Errorf("verify the copy: %w", err)
	}
	if sum != m.SHA256 || size != m.Bytes {
		return errors.New("the backup is not what its manifest says: it was damaged or replaced since it was made")
	}
	have, err := Inspect(ctx, name)
	if err != nil {
		return err
	}
	if have.Counts != m.Counts || have.Schema != m.Schema || have.MasterKey != m.MasterKey {
		return errors.New("the backup does not hold what its manifest says")
	}
	newest, err := db.NewestSchema(migrations)
	if err != nil {
		return err
	}
	if have.Schema > newest {
		return fmt.Errorf("the backup was made by a newer version (%s, schema %d): this one knows schemas up to %d", m.Program,
			have.Schema, newest)
	}
	return nil
}

// markCopy opens the copy like the program, which migrates it and checks the master key, and marks it.
func markCopy(ctx context.Context, o RestoreOptions, dir string) (r *Restored, err error) {
	s, err := Open(ctx, Options{Dir: dir, MasterKey: o.MasterKey})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return s.Mark(ctx, o.Now, o.Held)
}

// moveInto moves the database to its final folder.
func moveInto(dir, work string) error {
	from := filepath.Join(work, db.FileName)
	if _, err := os.Stat(from + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		return errors.New("the restored database could not be closed: its write-ahead log is left")
	}
	err := syncFile(from)
	if err == nil {
		err = os.Rename(from, filepath.Join(dir, db.FileName))
	}
	if err != nil {
		return fmt.Errorf("put the database into its place: %w", err)
	}
	return syncFolder(dir)
}

// Restored is the state after a restore, until an operator has decided about all held messages.
type Restored struct {
	At     time.Time // time of the restore: messages due by then are held
	Broken bool      // the marking was interrupted and is incomplete
	Held   []HeldBack
	Failed int // messages in flight at the time of the backup; set by Mark only
}

// HeldBack is a company's number of held messages.
type HeldBack struct {
	CompanyID string
	Messages  int
}

// Total returns the number of held messages.
func (r *Restored) Total() (n int) {
	for _, h := range r.Held {
		n += h.Messages
	}
	return n
}

const (
	markBroken = "holding"
	markDone   = "held"
	underWay   = "was under way when the backup was taken" // detail of ended work
	heldDetail = "held after a restore: it may have been sent since the backup was taken"
)

// RestoredAt returns the time when this database was restored and whether the marking was interrupted; zero if there
// is nothing to decide.
func (s *Store) RestoredAt(ctx context.Context) (at time.Time, broken bool, err error) {
	var ms int64
	var text string
	err = s.DB.Row(ctx, []any{&ms, &text}, "SELECT value, text FROM meta WHERE name = 'restored'")
	return db.Instant(ms), text == markBroken, db.Wrap(db.Ignore(err), "read the mark of a restore")
}

// Restored counts the work held after a restore; nil if there is nothing to decide.
func (s *Store) Restored(ctx context.Context) (*Restored, error) {
	r := &Restored{}
	var err error
	if r.At, r.Broken, err = s.RestoredAt(ctx); err != nil || r.At.IsZero() {
		return nil, err
	}
	held := map[string]int{}
	for _, t := range s.restorable() {
		if err = s.heldIn(ctx, t.Name, held); err != nil {
			break
		}
	}
	for _, company := range slices.Sorted(maps.Keys(held)) {
		r.Held = append(r.Held, HeldBack{company, held[company]})
	}
	return r, db.Wrap(err, "count what is held after a restore")
}

// restorable describes a table of work for a restore.
type restorable struct {
	*work.Table
	flight string // condition for rows in flight, as in their index
	send   string // SQL that queues a held row
	fail   string // SQL that ends a row at $3, with the detail $4
}

// restorable are the tables of messages and of calls.
func (s *Store) restorable() []restorable {
	return []restorable{
		{
			s.Messages.Table, "q >= 2", "hold = '', detail = NULL",
			"q = 0, rank = CASE WHEN rank < 30 THEN 30 ELSE rank END, reason = 'outcome_unknown', ended_at = $3, detail = $4",
		},
		{
			s.Calls.Table, "q = 2", "hold = '', detail = ''",
			"q = 0, state = 'failed', reason = 'interrupted', ended_by = 'system', ended_at = $3, detail = $4",
		},
	}
}

// update changes at most $2 rows that match a condition.
func (t restorable) update(set, where string) string {
	return "UPDATE " + t.Name + " SET " + set + " WHERE id IN (SELECT id FROM " + t.Name + " WHERE " + where + " LIMIT $2)"
}

// heldIn counts a table's held rows by company.
func (s *Store) heldIn(ctx context.Context, table string, held map[string]int) error {
	for name := messages.RestoredPrefix; ; {
		var err error
		if name, err = messages.HoldAfter(ctx, s.DB, table, name); err != nil || name == "" || name >= messages.RestoredPast {
			return err
		}
		var n int
		if err := s.DB.Row(ctx, []any{&n}, "SELECT COUNT(*) FROM "+table+" WHERE q = 1 AND hold <> '' AND hold = $1", name); err != nil {
			return err
		}
		held[name[len(messages.RestoredPrefix):]] += n
	}
}

// Decide sends or fails up to limit of a company's held messages. It returns their notifications, and the lanes of those to be
// sent, each once.
func (s *Store) Decide(ctx context.Context, companyID string, send bool, now time.Time, limit int) (d Decided, err error) {
	d, err = db.Returning(ctx, s.DB, func(ctx context.Context, tx *db.Tx) (d Decided, err error) {
		for i, lanes := range []*[]work.Lane{&d.Lanes, &d.CallLanes} {
			if err == nil && d.Messages < limit {
				err = d.decide(ctx, tx, lanes, s.restorable()[i], companyID, send, now, limit-d.Messages)
			}
		}
		if err != nil || d.Messages == 0 {
			return d, err
		}
		e := audit.Entry{
			CompanyID: companyID, Kind: audit.Restored, Action: audit.FailDecided, After: map[string]int{"messages": d.Messages},
		}
		if send {
			e.Action = audit.SendDecided
		}
		return d, audit.Record(ctx, tx, now, e)
	})
	for _, seq := range d.Notifications {
		s.Stats.Touch(seq, err)
	}
	return d, db.Wrap(err, "decide after a restore")
}

// Decided is the result of a step of Decide.
type Decided struct {
	Messages      int
	Notifications []carillon.Seq
	Lanes         []work.Lane // lanes of messages, without times
	CallLanes     []work.Lane // lanes of calls
}

func (d *Decided) decide(ctx context.Context, tx *db.Tx, lanes *[]work.Lane, t restorable, companyID string, send bool,
	now time.Time, limit int,
) error {
	set, args := t.send, []any{messages.RestoredPrefix + companyID, limit}
	if !send {
		set, args = t.fail, append(args, db.Millis(now), "failed by the operator after a restore")
	}
	query := t.update(set, "q = 1 AND hold <> '' AND hold = $1") + " AND q + 0 = 1 AND hold || '' = $1 RETURNING id, sender, class"
	return db.Each(ctx, tx, func(scan db.Scan) error {
		var key carillon.MessageKey
		var l work.Lane
		if err := scan(&key, &l.SenderUID, &l.Class); err != nil {
			return err
		}
		d.Messages++
		id := key.Seq()
		if len(d.Notifications) == 0 || d.Notifications[len(d.Notifications)-1] != id {
			d.Notifications = append(d.Notifications, id)
		}
		if !slices.Contains(*lanes, l) {
			*lanes = append(*lanes, l)
		}
		return nil
	}, query, args...)
}

// Unmark ends the state after a restore once nothing is held, and reports whether it did.
func (s *Store) Unmark(ctx context.Context) (ended bool, err error) {
	n, err := s.DB.Exec(ctx, `DELETE FROM meta WHERE name = 'restored' AND text <> 'holding'
		AND NOT EXISTS (SELECT 1 FROM message WHERE q = 1 AND hold <> '' AND hold > 'restored/' AND hold < 'restored0')
		AND NOT EXISTS (SELECT 1 FROM call WHERE q = 1 AND hold <> '' AND hold > 'restored/' AND hold < 'restored0')`)
	return n == 1, db.Wrap(err, "end the state after a restore")
}
