//go:build unix

package db

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fileLimit makes writes of this process past so many bytes of a file fail, as on a full disk; the returned function ends it.
func fileLimit(t *testing.T, bytes uint64) (lift func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	lift = func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
			t.Error(err)
		}
		signal.Reset(syscall.SIGXFSZ)
	}
	t.Cleanup(lift)
	return lift
}

func TestADatabaseWithoutRoomIsNotWritable(t *testing.T) {
	d := openSQLite(t)
	writable := func() error { return d.Health.Writable(t.Context()) }
	if _, err := d.Exec(t.Context(), "INSERT INTO thing (id, kind) VALUES (1, '')"); err != nil || writable() != nil {
		t.Fatal(err, writable())
	}
	lift := fileLimit(t, probeSize/2)
	if writable() == nil {
		t.Error("the last commit vouches for the next one although the disk is full")
	}
	lift()
	if err := writable(); err != nil {
		t.Errorf("there is room again: %v", err)
	}
}

func TestADatabaseThatHadNoRoomForAWriteIsNotWritableForAWhile(t *testing.T) {
	d := openSQLite(t)
	pages := func(n int) {
		t.Helper()
		if err := d.OnWriter(t.Context(), func(ctx context.Context, conn *sql.Conn) error {
			_, err := conn.ExecContext(ctx, fmt.Sprint("PRAGMA max_page_count = ", n))
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	insert := func(id int) error {
		_, err := d.Exec(t.Context(), "INSERT INTO thing (id, kind) VALUES ($1, $2)", id, strings.Repeat("x", 1<<20))
		return err
	}
	pages(100)
	if err := insert(1); !noRoom(err) {
		t.Fatal(err)
	}
	if err := d.Health.Probe(t.Context()); err != nil {
		t.Fatalf("what is small does not fit: %v", err)
	}
	if d.Health.Writable(t.Context()) == nil {
		t.Error("a small write vouches for larger ones")
	}
	pages(100_000)
	d.room.refusedAt.Add(-recent.Milliseconds())
	if err := d.Health.Writable(t.Context()); err != nil {
		t.Errorf("later: %v", err)
	}
	if err := insert(2); err != nil || d.Health.Writable(t.Context()) != nil {
		t.Error(err, d.Health.Writable(t.Context()))
	}
}

func TestADatabaseWhoseFilesWereDeletedOrReplacedIsNotWritable(t *testing.T) {
	for name, remove := range map[string]func(dir string) error{
		"the folder is gone":  os.RemoveAll,
		"the file is gone":    func(dir string) error { return os.Remove(filepath.Join(dir, FileName)) },
		"the log is gone":     func(dir string) error { return os.Remove(filepath.Join(dir, FileName+"-wal")) },
		"the folder is empty": func(dir string) error { _ = os.RemoveAll(dir); return os.Mkdir(dir, 0o700) },
		"the file is another": func(dir string) error {
			name := filepath.Join(dir, FileName)
			text, _ := os.ReadFile(name)
			_ = os.Remove(name)
			return os.WriteFile(name, text, 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			d, err := Open(t.Context(), Options{Dir: dir, Migrations: migrations})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = d.Close() }()
			if err := d.Health.Writable(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := remove(dir); err != nil {
				t.Fatal(err)
			}
			if d.Health.Writable(t.Context()) == nil {
				t.Error("it takes writes that are lost")
			}
		})
	}
}

func TestADatabaseThatIsBackInItsPlaceIsWritable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	for range 2 { // the second time with nothing to migrate
		d, err := Open(t.Context(), Options{Dir: dir, Migrations: migrations})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(dir, dir+"2"); err != nil {
			t.Fatal(err)
		}
		if d.Health.Writable(t.Context()) == nil {
			t.Error("it is writable elsewhere")
		}
		if err := os.Rename(dir+"2", dir); err != nil {
			t.Fatal(err)
		}
		if err := d.Health.Writable(t.Context()); err != nil {
			t.Error(err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
