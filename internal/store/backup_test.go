package store_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/messages"
	"carillon/internal/store/settings"
)

// silent is the progress of nobody who looks.
func silent(int, int) {}

// lively is a store whose sender accepts as fast as it can until stop, which gives all that was confirmed, in order.
type lively struct {
	*store.Store
	dir    string
	sender *carillon.Sender

	mu   sync.Mutex
	done []string
}

func newLively(t *testing.T) *lively {
	t.Helper()
	l := &lively{dir: t.TempDir(), sender: &carillon.Sender{
		CompanyID: "ours", ID: "main", Number: "15555550100", Channel: carillon.Messaging, Provider: "sandbox",
		MediaCheck: "syntax", Unknown: carillon.DefaultUnknownPolicy(), Settings: []byte("{}"),
	}}
	var err error
	if l.Store, err = store.Open(t.Context(), store.Options{Dir: l.dir}); err != nil {
		t.Fatal(err)
	}
	err = l.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return errors.Join(accounts.PutCompany(ctx, tx, &carillon.Company{ID: "ours", Name: "Ours"}, time.Now()),
			settings.PutSender(ctx, tx, l.sender, time.Now()))
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *lively) accept(ctx context.Context) error {
	now := time.Now()
	a := &messages.Accept{
		Notification: messages.Notification{
			ID: l.Notifications.NewID(now), CompanyID: "ours", Channel: carillon.Messaging, SenderUID: l.sender.UID, TemplateID: "1",
			Class: carillon.Utility, Campaign: "c", Body: strings.Repeat("b", 400), Total: 2, Open: 2, CreatedAt: now, DueAt: now,
		},
		Messages: []messages.NewMessage{{Number: "34600000001"}, {Number: "34600000002"}},
		Quota:    messages.Quota{Day: "2027-01-15", Charge: 2},
	}
	err := l.Notifications.Accept(ctx, a)
	if err == nil {
		l.mu.Lock()
		l.done = append(l.done, a.Notification.ID)
		l.mu.Unlock()
	}
	return err
}

func (l *lively) confirmed() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.done)
}

// await waits until so many are confirmed.
func (l *lively) await(t *testing.T, n int) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	late := time.After(time.Minute)
	for len(l.confirmed()) < n {
		select {
		case <-tick.C:
		case <-late:
			t.Error("nothing is accepted while a backup is made")
			return
		}
	}
}

// under accepts at several places until the function it gives is called.
func (l *lively) under(t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			for ctx.Err() == nil {
				if err := l.accept(context.WithoutCancel(ctx)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	return func() {
		cancel()
		work.Wait()
	}
}

func (l *lively) fill(t *testing.T, n int) {
	t.Helper()
	var work sync.WaitGroup
	for range 8 {
		work.Go(func() {
			for range n / 8 {
				if err := l.accept(t.Context()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	work.Wait()
}

func (l *lively) close(t *testing.T) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// published makes a backup with its manifest.
func published(t *testing.T, l *lively) (file string, m store.Manifest) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "a b?%;ü.db")
	if at, err := l.BackedUpAt(t.Context()); !at.IsZero() || err != nil {
		t.Error("before the first backup:", at, err)
	}
	if err := l.Backup(t.Context(), file+".part", silent); err != nil {
		t.Fatal(err)
	}
	if at, err := l.BackedUpAt(t.Context()); at.IsZero() || err != nil {
		t.Error("after a backup:", at, err)
	}
	return file, publish(t, file)
}

func publish(t *testing.T, file string) store.Manifest {
	t.Helper()
	m, err := store.Inspect(t.Context(), file+".part")
	if err != nil {
		t.Fatal(err)
	}
	m.Program, m.TakenAt = "test", time.UnixMilli(1_800_000_000_000).UTC()
	if err := m.Publish(file+".part", file); err != nil {
		t.Fatal(err)
	}
	return m
}

func restore(t *testing.T, from, dir string) (store.Manifest, *store.Restored, error) {
	t.Helper()
	return store.Restore(t.Context(), store.RestoreOptions{From: from, Dir: dir, Now: time.Now(), Copied: silent, Held: silent})
}

func TestBackupUnderLoadHoldsWhatWasConfirmedAndRestoresHeld(t *testing.T) {
	l := newLively(t)
	l.fill(t, 800)
	stop := l.under(t)
	before := l.confirmed()
	shown := 0
	file := filepath.Join(t.TempDir(), "backup.db")
	err := l.Backup(t.Context(), file+".part", func(done, total int) {
		if shown++; done > total {
			t.Errorf("%d of %d pages are copied", done, total)
		}
		if shown == 1 {
			if err := l.Backup(t.Context(), file+".other", silent); !errors.Is(err, store.ErrBackupRunning) {
				t.Errorf("a second backup beside the first: %v", err)
			}
			l.await(t, len(before)+20)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	after := l.confirmed()
	stop()
	if shown < 2 {
		t.Errorf("it was made in %d steps: the test shows little", shown)
	}
	m := publish(t, file)
	if n := m.Counts.Notifications; n < int64(len(before)) || n > int64(len(after)+4) || m.Counts.Messages != 2*n ||
		m.Counts.Open != n || m.Counts.Companies != 1 {
		t.Errorf("%+v; %d were confirmed before, %d when it ended", m.Counts, len(before), len(after))
	}
	l.close(t)

	dir := filepath.Join(t.TempDir(), "new")
	have, r, err := restore(t, file, dir)
	if err != nil || have != m {
		t.Fatal(have, err)
	}
	if r.Total() != int(m.Counts.Messages) || len(r.Held) != 1 || r.Held[0].CompanyID != "ours" {
		t.Errorf("%+v is held of %+v", r, m.Counts)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 || entries[0].Name() != "carillon.db" ||
		entries[1].Name() != "carillon.lock" {
		t.Errorf("the restore left %v, %v", entries, err)
	}
	s := open(t, store.Options{Dir: dir})
	for _, id := range before {
		if _, err := s.Notifications.Load(t.Context(), carillon.SeqOf(id)); err != nil {
			t.Fatalf("%s was confirmed before the backup: %v", id, err)
		}
	}
	if at, broken, err := s.RestoredAt(t.Context()); at.IsZero() || broken || err != nil {
		t.Error(at, broken, err)
	}
	if lanes, err := s.Messages.Lanes(t.Context(), l.sender.Shard()); len(lanes) > 0 || err != nil {
		t.Errorf("something would be sent: %+v, %v", lanes, err)
	}
}

func TestBackupOfAFolderIsForOneThatNobodyHas(t *testing.T) {
	l := newLively(t)
	l.fill(t, 80)
	file := filepath.Join(t.TempDir(), "backup.db")
	if err := store.BackupFolder(t.Context(), l.dir, file+".part", silent); !errors.Is(err, store.ErrFolderInUse) {
		t.Errorf("while it is open: %v", err)
	}
	l.close(t)
	for _, name := range []string{file, filepath.Join(t.TempDir(), "missing", "backup.db")} {
		err := store.BackupFolder(t.Context(), l.dir, name+".part", silent)
		if (err == nil) != (name == file) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if m := publish(t, file); m.Counts.Notifications != 80 {
		t.Errorf("%+v", m)
	}
	if err := os.WriteFile(file+".part", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := store.BackupFolder(t.Context(), l.dir, file+".part", silent); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file that is there: %v", err)
	}
	if err := store.BackupFolder(t.Context(), t.TempDir(), file, silent); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of an empty folder: %v", err)
	}
}

func TestABackupEndsWithItsStore(t *testing.T) {
	l := newLively(t)
	l.fill(t, 800)
	file := filepath.Join(t.TempDir(), "backup.db")
	begun := make(chan struct{})
	var once sync.Once
	var work sync.WaitGroup
	var backed error
	work.Go(func() {
		backed = l.Backup(t.Context(), file, func(int, int) {
			once.Do(func() {
				close(begun)
				for !l.Stopping() {
					select {
					case <-t.Context().Done():
					case <-time.After(time.Millisecond):
					}
				}
			})
		})
	})
	<-begun
	l.close(t)
	work.Wait()
	if backed == nil {
		t.Error("a backup that broke off was not told so")
	}
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it left a file: %v", err)
	}
	if err := l.Backup(t.Context(), file, silent); err == nil {
		t.Error("a closed store was copied")
	}
}

func TestRestoreRefusesWhatItCannotTrust(t *testing.T) {
	l := newLively(t)
	l.fill(t, 80)
	file, m := published(t, l)
	l.close(t)
	used := t.TempDir()
	if err := os.WriteFile(filepath.Join(used, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	broken := func(change func(name string)) string {
		name := filepath.Join(t.TempDir(), "broken.db")
		for _, suffix := range []string{"", ".json"} {
			text, err := os.ReadFile(file + suffix)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name+suffix, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		change(name)
		return name
	}
	edit := func(name, old, with string) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), old) {
			t.Fatalf("%s does not say %s", name, old)
		}
		if err := os.WriteFile(name, []byte(strings.Replace(string(text), old, with, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name, from, dir string
		key             byte
		want            string
	}{
		{"a folder in use", file, l.dir, 0, "is not empty"},
		{"a folder with other things", file, used, 0, "is not empty (notes.txt)"},
		{"another master key", file, t.TempDir(), 1, "the master key does not open what is stored"},
		{"no manifest", broken(func(name string) { os.Remove(name + ".json") }), t.TempDir(), 0, "manifest"},
		{"a manifest of another format", broken(func(name string) {
			edit(name+".json", `"format": 1`, `"format": 2`)
		}), t.TempDir(), 0, "not a manifest"},
		{"a byte that changed", broken(func(name string) { edit(name, "bbbb", "bbbc") }), t.TempDir(), 0, "not what its manifest says"},
		{"a file cut short", broken(func(name string) { os.Truncate(name, m.Bytes/2) }), t.TempDir(), 0, "not what its manifest says"},
		{"counts that are others", broken(func(name string) {
			edit(name+".json", `"messages": 160`, `"messages": 161`)
		}), t.TempDir(), 0, "does not hold what its manifest says"},
	} {
		_, _, err := store.Restore(t.Context(), store.RestoreOptions{
			From: tt.from, Dir: tt.dir, MasterKey: [32]byte{tt.key}, Now: time.Now(), Copied: silent, Held: silent,
		})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if _, err := os.Stat(filepath.Join(tt.dir, "carillon.db")); tt.dir != l.dir && err == nil {
			t.Errorf("%s: a database is there", tt.name)
		}
	}
	// Remains of a refused restore, and a master key, do not prevent the next restore.
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "master.key"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, ".restore-1"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, r, err := restore(t, file, dir); err != nil || r.Total() != 160 {
		t.Error(r, err)
	}
	if _, _, err := restore(t, file, dir); err == nil {
		t.Error("a restore over a restored database")
	}
}

func TestRestoreRefusesANewerSchema(t *testing.T) {
	l := newLively(t)
	l.fill(t, 8)
	if err := l.Config.Update(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		_, err := tx.Exec(ctx, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9000, 1)")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	file, m := published(t, l)
	l.close(t)
	if _, _, err := restore(t, file, t.TempDir()); err == nil || !strings.Contains(err.Error(), "schema "+strconv.FormatInt(m.Schema, 10)) {
		t.Error(err)
	}
}
