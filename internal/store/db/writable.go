package db

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// recent is the time for which a commit shows that the database is writable, and a failed write that it has no room.
const recent = 5 * time.Second

// Writable checks that the database accepts writes: its files are in place and have room, and there was a recent
// commit, or a small write succeeds. ctx bounds the wait.
func (h *Health) Writable(ctx context.Context) error {
	if err := h.d.files.inPlace(); err != nil {
		return err
	}
	if h.d.SQLite() {
		if err := hasRoom(h.d.dir); err != nil {
			return err
		}
	}
	switch now := time.Now(); {
	case now.Sub(time.UnixMilli(h.d.room.refusedAt.Load())) < recent:
		return errNoRoom
	case now.Sub(time.UnixMilli(h.d.room.wroteAt.Load())) < recent:
		return nil
	}
	return h.Probe(ctx)
}

// Probe makes a small write.
func (h *Health) Probe(ctx context.Context) error {
	_, err := h.d.Exec(ctx, `INSERT INTO meta (name, value) VALUES ('probe', 1) ON CONFLICT (name) DO UPDATE
		SET value = meta.value + 1 WHERE meta.name = 'probe'`)
	return Wrap(err, "write a probe")
}

// room records when writes last succeeded and last found the database's disk full, in milliseconds. On a full disk
// small writes, such as a probe, may still fit.
type room struct{ wroteAt, refusedAt atomic.Int64 }

var errNoRoom = errors.New("the database had no room for a write")

func (r *room) observe(err error) {
	if noRoom(err) {
		r.refusedAt.Store(time.Now().UnixMilli())
	}
}

// noRoom reports whether a write failed because the disk is full or read-only.
func noRoom(err error) bool {
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pe.Code == "53100"
	}
	var se interface{ Code() int }
	if errors.As(err, &se) {
		code := se.Code() & 0xff
		return code == 10 || code == 13 // SQLITE_IOERR, SQLITE_FULL
	}
	return false
}

// files are the files that SQLite opened, by name. It continues to write to a deleted or replaced file, and those
// commits are lost when the program ends.
type files map[string]fs.FileInfo

func readFiles(dir string) (files, error) {
	all := files{}
	for _, end := range []string{"", "-wal", "-shm"} {
		name := filepath.Join(dir, FileName+end)
		info, err := os.Stat(name)
		if err != nil {
			return nil, fmt.Errorf("read the database's files: %w", err)
		}
		all[name] = info
	}
	return all, nil
}

func (f files) inPlace() error {
	for name, opened := range f {
		there, err := os.Stat(name)
		if err != nil {
			return fmt.Errorf("a file of the database is gone: %w", err)
		}
		if !os.SameFile(opened, there) {
			return fmt.Errorf("%s was replaced while the database is open", name)
		}
	}
	return nil
}

// probeSize is the room that must be left on the disk.
const probeSize = 256 << 10

// hasRoom writes a file of the probe's size next to the database, and deletes it: it detects a quota or a limit of the
// process as well as a full disk.
func hasRoom(dir string) error {
	name := filepath.Join(dir, "carillon.probe")
	err := os.WriteFile(name, make([]byte, probeSize), 0o600)
	if left := os.Remove(name); !errors.Is(left, fs.ErrNotExist) {
		err = errors.Join(err, left)
	}
	return Wrap(err, "write next to the database")
}
