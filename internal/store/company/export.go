package company

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"carillon/internal/store"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
	"carillon/internal/store/messages"
)

// Phase is a part of an export, an import or a removal.
type Phase string

// The phases.
const (
	Waiting   Phase = "waiting for work in progress"
	Writing   Phase = "writing"
	Checking  Phase = "checking the file"
	Emptying  Phase = "removing the remains of an earlier import"
	Reading   Phase = "importing"
	Comparing Phase = "comparing"
	Deleting  Phase = "removing"
)

// Progress is the state of an export, an import or a removal.
type Progress struct {
	Phase  Phase  `json:"phase"`
	Detail string `json:"detail,omitempty"` // a table, or the work in progress
	Rows   int64  `json:"rows,omitempty"`   // in this phase
	Total  int64  `json:"total,omitempty"`  // 0 if unknown
}

// ExportOptions are the options of an export.
type ExportOptions struct {
	To     string        // file to write; the key gets its name and KeySuffix
	Wait   time.Duration // bound on the wait for work in progress; default 2 min
	Grace  time.Duration // wait for the commits of requests that began before the stop; default 6 s, longer than a commit lasts
	Report func(Progress)
}

// KeySuffix is the end of the name of a key's file.
const KeySuffix = ".key"

// Done is the result of an export or import.
type Done struct {
	Header   Header   `json:"header"`
	Manifest Manifest `json:"manifest"`
	Rows     int64    `json:"rows"`
	Bytes    int64    `json:"bytes,omitempty"` // of the file
	SHA256   string   `json:"sha256,omitempty"`
}

const (
	defaultWait  = 2 * time.Minute
	defaultGrace = 6 * time.Second
)

// export is an export in progress.
type export struct {
	*Mover

	id       string
	o        ExportOptions
	key      fileKey
	header   Header
	manifest Manifest
	tables   []*table
	progress Progress
}

// Export stops a company, waits for its work in progress and writes its rows to a file. If it fails before the file is
// complete, a company that was in use is in use again. It may be repeated: the company stays stopped after it.
func (m *Mover) Export(ctx context.Context, id string, o ExportOptions) (done Done, err error) {
	if o.Wait == 0 {
		o.Wait = defaultWait
	}
	if o.Grace == 0 {
		o.Grace = defaultGrace
	}
	for _, name := range []string{o.To, o.To + KeySuffix} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return done, fmt.Errorf("%s exists already: an export never replaces a file. Remove it if an interrupted export left it", name)
		}
	}
	e := &export{Mover: m, id: id, o: o, manifest: Manifest{Tables: map[string]Content{}}}
	if e.key, err = m.sealAnew(ctx, id); err != nil {
		return done, err
	}
	stopped, code, err := m.stop(ctx, id)
	if err != nil {
		return done, err
	}
	e.header.Code = configure.Digest(code)
	defer func() {
		if err != nil && stopped {
			err = errors.Join(err, m.Resume(context.WithoutCancel(ctx), id, "", false))
		}
	}()
	s, err := e.quiet(ctx)
	if err != nil {
		return done, err
	}
	err = errors.Join(e.write(ctx, s), s.close())
	if err == nil {
		done.SHA256, done.Bytes, err = e.publish(ctx)
	}
	if err != nil {
		return done, errors.Join(err, removeFiles(o.To+partSuffix, o.To+KeySuffix+partSuffix))
	}
	done.Header, done.Manifest, done.Rows = e.header, e.manifest, e.manifest.Rows()
	return done, nil
}

const partSuffix = ".part"

func removeFiles(names ...string) (all error) {
	for _, name := range names {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			all = errors.Join(all, err)
		}
	}
	return all
}

func (e *export) report(p Progress) {
	if e.o.Report != nil {
		e.o.Report(p)
	}
}

// describe fills the header.
func (e *export) describe(ctx context.Context, s *snapshot) error {
	r, err := find(ctx, e.store.DB, e.id)
	if err != nil {
		return err
	}
	schema, err := db.NewestSchema(store.Migrations())
	if err != nil {
		return err
	}
	searched, err := messages.Horizon(ctx, e.store.DB)
	if err != nil {
		return err
	}
	e.header = Header{
		Format: format, CompanyID: e.id, Name: r.name, Schema: schema, Program: e.program, Engine: e.store.DB.Engine(),
		At: time.Now().UTC(), Searched: int64(searched), Code: e.header.Code, Check: e.key.seal(checkRow(e.id), []byte(e.id)),
	}
	all, err := tablesOf(ctx, e.store.DB)
	e.tables = exportedOf(all)
	return err
}

// write writes the rows of a snapshot, and the key, to files that do not have their names yet.
func (e *export) write(ctx context.Context, s *snapshot) (err error) {
	if err := e.describe(ctx, s); err != nil {
		return err
	}
	w, err := create(e.o.To + partSuffix)
	if err != nil {
		return fmt.Errorf("write the file: %w", err)
	}
	defer func() { err = db.Wrap(errors.Join(err, w.close()), "write the file") }()
	if err := w.json(frameHeader, e.header); err != nil {
		return err
	}
	members, err := e.accounts(ctx)
	if err == nil {
		err = w.json(frameAccounts, members)
	}
	if err != nil {
		return err
	}
	e.manifest.Accounts = len(members)
	e.progress = Progress{Phase: Writing}
	for _, t := range e.tables {
		if err := e.table(ctx, s, w, t); err != nil {
			return err
		}
	}
	e.manifest.Described = hex.EncodeToString(w.described.Sum(nil))
	if err := e.manifest.sealed(e.id, e.key); err != nil {
		return err
	}
	return w.json(frameManifest, e.manifest)
}

// table writes the rows of a table.
func (e *export) table(ctx context.Context, s *snapshot, w *writer, t *table) error {
	if err := w.json(frameTable, t.described()); err != nil {
		return err
	}
	var sum summed
	var data []byte
	e.progress.Detail = t.Name
	flush := func() error {
		if len(data) == 0 {
			return nil
		}
		err := w.frame(frameRows, data)
		data = data[:0]
		e.report(e.progress)
		return err
	}
	err := s.rows(ctx, t, e.id, func(row []byte) error {
		sum.add(row)
		e.progress.Rows++
		if data = append(data, row...); len(data) < fullRows {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if sum.rows > 0 {
		e.manifest.Tables[t.Name] = sum.content()
	}
	return err
}

// publish gives the files their names: first the key, without which the other is useless.
func (e *export) publish(ctx context.Context) (sha string, size int64, err error) {
	sum, size, err := store.DigestFile(ctx, e.o.To+partSuffix)
	if err == nil {
		err = writeSynced(e.o.To+KeySuffix+partSuffix, e.key.text())
	}
	if err == nil {
		err = os.Rename(e.o.To+KeySuffix+partSuffix, e.o.To+KeySuffix)
	}
	if err == nil {
		if err = os.Rename(e.o.To+partSuffix, e.o.To); err != nil {
			err = errors.Join(err, removeFiles(e.o.To+KeySuffix))
		}
	}
	if err == nil {
		err = syncName(filepath.Dir(e.o.To))
	}
	return sum, size, db.Wrap(err, "write the file")
}

func writeSynced(name, text string) error {
	f, err := createNew(name)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// syncName makes the names in a folder durable.
func syncName(name string) error {
	f, err := os.Open(name) //nolint:gosec // the operator chose the path
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
