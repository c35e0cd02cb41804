package faults

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// spent is the processor time that the node and its PostgreSQL have used: unlike the clock's it does not depend on what
// else the machine does. What the test itself asks is not counted: it reads the whole table of messages, dead rows too. It
// has one session for that, and its helpers would be counted among the ended.
func (s *site) spent() (d time.Duration) {
	s.t.Helper()
	var books int
	if err := s.books.db.QueryRowContext(s.t.Context(), `SELECT pg_backend_pid() FROM
		(SELECT set_config('max_parallel_workers_per_gather', '0', FALSE)) AS alone`).Scan(&books); err != nil {
		s.t.Fatal(err)
	}
	master := s.cluster.cmd.Process.Pid
	d = ran(s.x.cmd.Process.Pid) + ran(master)
	fields := func(pid int) []string { // of the kernel's account, from the parent on
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return nil // it has ended, and its parent has its time
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		return strings.Fields(rest)[1:]
	}
	const tick = 10 * time.Millisecond
	for _, f := range fields(master)[12:14] { // of its ended children
		if n, err := strconv.Atoi(f); err == nil {
			d += time.Duration(n) * tick
		}
	}
	all, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well-formed
	for _, dir := range all {
		pid, _ := strconv.Atoi(filepath.Base(dir)) // a number, as it was found
		if f := fields(pid); pid != books && len(f) > 0 && f[0] == strconv.Itoa(master) {
			d += ran(pid)
		}
	}
	return d
}

// ran is how long a process's threads have run.
func ran(pid int) (d time.Duration) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid)) // the pattern is well-formed
	for _, name := range threads {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		first, _, _ := strings.Cut(string(text), " ")
		if n, err := strconv.ParseInt(first, 10, 64); err == nil {
			d += time.Duration(n)
		}
	}
	return d
}

// yardstick is the processor time of a piece of work that is always the same: half of it decodes JSON, half calls the
// kernel. A machine that is shared runs at half its speed within minutes.
func yardstick(t *testing.T) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var pipe [2]int
	if err := unix.Pipe(pipe[:]); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = unix.Close(pipe[0]), unix.Close(pipe[1]) }()
	used := func() time.Duration {
		var u unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	text := []byte(`{"template_id": "hello", "recipients": ["346000000000", "346000000001"], "variables": {"body": [
		{"type": "text", "text": "some longer text that is read"}]}, "attempts": [1, 2, 3, 4, 5, 6, 7], "scheduled": null}`)
	begin := used()
	for range 10_000 {
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
	}
	for range 50_000 {
		if _, err := unix.Write(pipe[1], text); err != nil {
			t.Fatal(err)
		}
		if _, err := unix.Read(pipe[0], text); err != nil {
			t.Fatal(err)
		}
	}
	return used() - begin
}

// TestFaultsSnapshotHeldForLong keeps a snapshot open while messages are accepted and sent: no row that ends can be cleaned
// away, and yet what comes later must not cost more than 1.3 times as much as without, in the median of all rounds so far.
func TestFaultsSnapshotHeldForLong(t *testing.T) {
	var first time.Duration     // the yardstick's, at whose speed all costs are told
	var without []time.Duration // what a message costs where no snapshot is held, before each round and after it
	cost := func(s *site) time.Duration { return s.cost(first) }
	scenario{
		name: "snapshot held for long under load", quiet: true, engines: []string{"postgres"}, open: unvacuumed, setup: func(s *site) {
			p := s.providers[0]
			p.perSecond = 5000
			s.mute = true
			s.providers = s.providers[:1]
			p.begin(s.t, s.front, false)
			alone(s)
			s.batch("warm")
			s.vacuum()
			first = yardstick(s.t)
			without = append(without, cost(s))
		},
		round: func(s *site, name string) {
			hold := time.Second // and until search knows of all
			if *rounds >= 20 && strings.HasSuffix(name, " 1") {
				hold = 10 * time.Minute
			}
			release := s.snapshot()
			for begin := time.Now(); time.Since(begin) < hold; {
				s.batch("meanwhile")
				pause(s.t.Context(), 2*time.Second)
			}
			under := cost(s)
			release()
			s.vacuum()
			without = append(without, cost(s))
			s.kills++
			usual := middle(without)
			s.note("a message's processor time under it", under)
			s.note("a message's processor time without", usual)
			s.t.Logf("a message takes %s of processor time under a snapshot held for %s, %s without (%s)", under, hold, usual, without)
			if float64(under) > 1.3*float64(usual) {
				s.t.Errorf("a message takes %s of processor time without a snapshot, %s after one was held for %s", usual, under, hold)
			}
		},
	}.run(t)
}

// middle is the median.
func middle(all []time.Duration) time.Duration {
	all = slices.Sorted(slices.Values(all))
	n := len(all)
	return (all[(n-1)/2] + all[n/2]) / 2
}

func (s *site) vacuum() {
	s.t.Helper()
	if out, err := s.cluster.query("VACUUM (ANALYZE)"); err != nil {
		s.t.Fatal(out)
	}
}

const batchSize = 2000

// unvacuumed is a site whose PostgreSQL cleans nothing by itself: under the snapshot it could not, and what it spends in
// trying again and again is not a message's.
func unvacuumed(t *testing.T, name, engine string) *site {
	t.Helper()
	c := newCluster(t, "", "autovacuum = off")
	s := newSiteOn(t, name, engine, t.TempDir(), c.url())
	s.cluster = c
	return s
}

// batch accepts and sends a number of messages and gives the processor time they took.
func (s *site) batch(name string) time.Duration {
	s.t.Helper()
	begin := s.spent()
	s.flood(fmt.Sprintf("%s %d", name, len(s.asks)), s.providers[0].id, "hello_utility", "utility", batchSize, s.nextNumber, 0)
	if !settle(s.t.Context(), s.books, s.patience, true, s.back) {
		s.t.Fatal("not everything ended in time")
	}
	return s.spent() - begin
}

// cost is the processor time of a message, the mean of four batches, at the speed at which the yardstick takes the time
// given: each batch is beside the yardsticks before and after it. Where nothing changed these means lie within 8 % of each
// other (one standard deviation), while the batches' bare times move by half. Search follows ten seconds behind, with a
// third of the work: it has to be through with all that came before, or it would fall on one measurement and not on another.
func (s *site) cost(first time.Duration) time.Duration {
	s.t.Helper()
	s.searchable()
	const batches = 4
	sum := 0.0
	before := yardstick(s.t)
	for range batches {
		took := s.batch("measured")
		after := yardstick(s.t)
		sum += 2 * float64(took) / float64(before+after)
		before = after
	}
	return time.Duration(sum / batches / batchSize * float64(first))
}

// searchable waits until search knows of all notifications.
func (s *site) searchable() {
	s.t.Helper()
	for deadline := time.Now().Add(s.patience); time.Now().Before(deadline); pause(s.t.Context(), 100*time.Millisecond) {
		var left bool
		if err := s.books.db.QueryRowContext(s.t.Context(), `SELECT COALESCE(MAX(seq), 0) >
			COALESCE((SELECT value FROM meta WHERE name = 'search'), 0) FROM notification`).Scan(&left); err != nil {
			s.t.Fatal(err)
		}
		if !left {
			return
		}
	}
	s.t.Fatal("search does not catch up")
}

// snapshot opens a transaction that sees the database as it is now, and keeps it so.
func (s *site) snapshot() (release func()) {
	s.t.Helper()
	db, err := sql.Open("pgx", s.url)
	if err != nil {
		s.t.Fatal(err)
	}
	tx, err := db.BeginTx(context.WithoutCancel(s.t.Context()), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err == nil {
		_, err = tx.ExecContext(s.t.Context(), "SELECT COUNT(*) FROM shard")
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return func() {
		_ = tx.Rollback()
		_ = db.Close()
	}
}
