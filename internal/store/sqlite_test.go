package store_test

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/store"
	"carillon/internal/store/storetest"
)

func openSQLite(t testing.TB) *store.Store {
	t.Helper()
	return open(t, store.Options{Dir: storetest.Folder(t)})
}

func TestSQLiteConforms(t *testing.T) {
	t.Parallel()
	conforms(t, openSQLite)
}

// Each reader has a cache: they go by processors, not by the threads that a program may have more.
func TestReadersGoByTheProcessors(t *testing.T) {
	for processors, want := range map[int]int{1: 4, 2: 4, 3: 6, 8: 16} {
		s := open(t, store.Options{Dir: storetest.Folder(t), Processors: processors})
		if got := s.DB.Health.Pools()["read"].MaxOpenConnections; got != want {
			t.Errorf("with %d processors there are %d readers, want %d", processors, got, want)
		}
	}
}

// Reads abandoned while the program stops have connections, or are about to get one: the write-ahead log is removed
// with the last.
func TestNoConnectionOutlivesTheStore(t *testing.T) {
	for range 30 {
		dir := storetest.Folder(t)
		s, err := store.Open(t.Context(), store.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		ctx, giveUp := context.WithCancel(t.Context())
		var readers sync.WaitGroup
		for range 16 {
			readers.Go(func() {
				for ctx.Err() == nil {
					_, _ = s.Links.FirstToken(ctx, "first_none")
				}
			})
		}
		time.Sleep(5 * time.Millisecond)
		giveUp()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*-wal")); len(left) > 0 {
			t.Fatalf("%v is still there", left)
		}
		readers.Wait()
	}
}

func TestASecondOpenOfAFolderIsRefusedUntilClose(t *testing.T) {
	o := store.Options{Dir: storetest.Folder(t)}
	for range 3 {
		first, err := store.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		_, err = store.Open(t.Context(), o)
		if !errors.Is(err, store.ErrFolderInUse) {
			t.Errorf("the second was told %v", err)
		}
		for _, part := range []string{o.Dir, "(process " + strconv.Itoa(os.Getpid()) + ")", "use PostgreSQL for several nodes"} {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%v does not say %s", err, part)
			}
		}
		if err := first.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestTheDatabaseIsItsOwnersAlone(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	open(t, store.Options{Dir: dir})
	for _, name := range []string{"carillon.db", "carillon.db-wal", "carillon.db-shm"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// folderEnv makes this test binary open the folder it names and wait to be killed.
const folderEnv = "CARILLON_TEST_STORE_FOLDER"

func TestAKilledProcessFreesItsFolder(t *testing.T) {
	if dir := os.Getenv(folderEnv); dir != "" {
		if _, err := store.Open(t.Context(), store.Options{Dir: dir}); err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("open\n")
		select {}
	}
	dir := t.TempDir()
	cmd := openElsewhere(t, dir)
	if _, err := store.Open(t.Context(), store.Options{Dir: dir}); !errors.Is(err, store.ErrFolderInUse) ||
		!strings.Contains(err.Error(), "(process "+strconv.Itoa(cmd.Process.Pid)+")") {
		t.Errorf("while it runs: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() // it was killed
	open(t, store.Options{Dir: dir})
}

// openElsewhere opens a folder in another process, until that is killed.
func openElsewhere(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAKilledProcessFreesItsFolder$")
	cmd.Env = append(os.Environ(), folderEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if said, err := bufio.NewReader(out).ReadString('\n'); said != "open\n" {
		t.Fatalf("the helper said %q, %v", said, err)
	}
	return cmd
}

func TestAFolderStaysLockedWithoutItsLockFile(t *testing.T) {
	dir := t.TempDir()
	cmd := openElsewhere(t, dir)
	for range 2 {
		if err := os.Remove(filepath.Join(dir, "carillon.lock")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		_, err := store.Open(t.Context(), store.Options{Dir: dir})
		if !errors.Is(err, store.ErrFolderInUse) || !strings.Contains(err.Error(), "by another carillon: ") {
			t.Errorf("a second process gets: %v", err)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() // it was killed
	open(t, store.Options{Dir: dir})
}

func TestAFurtherTurnLeavesTheIndexOfReviews(t *testing.T) {
	s := openSQLite(t)
	r := newRig(t, s)
	id := r.opened(t, ours, "ana").Conversation.ID
	writes := func() (schedules bool) {
		var updates []string
		s.DB.Watch(func(query string, _ []any) {
			if strings.HasPrefix(query, "UPDATE OR FAIL conversation") {
				updates = append(updates, query)
			}
		})
		defer s.DB.Watch(nil)
		r.writes(t, ours, id)
		if len(updates) != 1 {
			t.Fatal(updates)
		}
		return strings.Contains(updates[0], "review_at")
	}
	if !writes() {
		t.Error("the first turn schedules no review")
	}
	if writes() {
		t.Error("the second turn writes the index of reviews")
	}
}
