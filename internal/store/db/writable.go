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

// recent is how long a commit vouches for the next one, and a write that found no room says that there is none.
const recent = 5 * time.Second

// Writable reports whether the database takes writes: its files are in place and have room, and something was committed
// recently, or a write that changes nothing else goes through. ctx bounds the wait.
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

// Probe makes a small write of its own.
func (h *Health) Probe(ctx context.Context) error {
	_, err := h.d.Exec(ctx, `INSERT INTO meta (name, value) VALUES ('probe', 1) ON CONFLICT (name) DO UPDATE
		SET value = meta.value + 1 WHERE meta.name = 'probe'`)
	return Wrap(err, "write a probe")
}

// room is what the last writes say about the room on the database's disk, in milliseconds. On a full disk small writes, and
// with them a probe, can still fit into what is there.
type room struct{ wroteAt, refusedAt atomic.Int64 }

var errNoRoom = errors.New("the database had no room for a write")

func (r *room) observe(err error) {
	if noRoom(err) {
		r.refusedAt.Store(time.Now().UnixMilli())
	}
}

// noRoom reports whether a write failed because the disk is full, or cannot be written to at all.
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

// files are the files that SQLite opened, by name. It goes on writing to a file that was deleted or replaced, and what it
// commits there is lost when the program ends.
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

// probeSize is what must fit on the disk.
const probeSize = 256 << 10

// hasRoom writes a file of the probe's size next to the database, and deletes it: a quota or a limit of the process is
// found out as well as a full disk.
func hasRoom(dir string) error {
	name := filepath.Join(dir, "carillon.probe")
	err := os.WriteFile(name, make([]byte, probeSize), 0o600)
	if left := os.Remove(name); !errors.Is(left, fs.ErrNotExist) {
		err = errors.Join(err, left)
	}
	return Wrap(err, "write next to the database")
}
