package faults

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// spent returns the processor time used by the node and its PostgreSQL. Unlike elapsed time, it does not depend on
// other work of the machine. The test's own queries do not count, since they read the whole message table including
// dead rows. They use one session without parallel workers, whose time would count as that of ended children.
func (s *site) spent() (d time.Duration) {
	s.t.Helper()
	var books int
	if err := s.books.db.QueryRowContext(s.t.Context(), `SELECT pg_backend_pid() FROM
		(SELECT set_config('max_parallel_workers_per_gather', '0', FALSE)) AS alone`).Scan(&books); err != nil {
		s.t.Fatal(err)
	}
	master := s.cluster.cmd.Process.Pid
	d = ran(s.x.cmd.Process.Pid) + ran(master)
	fields := func(pid int) []string { // of /proc/PID/stat, from the parent on
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return nil // ended: its parent has its time
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		return strings.Fields(rest)[1:]
	}
	const tick = 10 * time.Millisecond
	own := fields(master)
	if len(own) < 14 {
		s.t.Fatal("PostgreSQL has ended")
	}
	for _, f := range own[12:14] { // of its ended children
		if n, err := strconv.Atoi(f); err == nil {
			d += time.Duration(n) * tick
		}
	}
	all, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well-formed
	for _, dir := range all {
		pid, _ := strconv.Atoi(filepath.Base(dir)) // always a number
		if f := fields(pid); pid != books && len(f) > 0 && f[0] == strconv.Itoa(master) {
			d += ran(pid)
		}
	}
	return d
}

// ran returns how long a process's threads have run.
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

// TestFaultsSnapshotHeldForLong keeps a snapshot open while messages are accepted and sent. Dead rows cannot be
// vacuumed, and yet later messages must not cost more than 1.3 times as much as without a snapshot. The cost without
// is measured on a second site with the same history, alternately: on a shared machine the same message may take half
// as long again a minute later.
func TestFaultsSnapshotHeldForLong(t *testing.T) {
	var without *site
	start := func(s *site) {
		p := s.providers[0]
		p.perSecond = 5000
		s.mute = true
		s.providers = s.providers[:1]
		p.begin(s.t, s.front, false)
		alone(s)
		s.batch("warm")
		s.vacuum()
	}
	scenario{
		name: "snapshot held for long under load", quiet: true, engines: []string{"postgres"}, open: unvacuumed, setup: func(s *site) {
			start(s)
			without = unvacuumed(s.t, "no snapshot held", s.engine)
			start(without)
		},
		round: func(s *site, name string) {
			hold := time.Second // plus the time until the search index is up to date
			if *rounds >= 20 && strings.HasSuffix(name, " 1") {
				hold = 10 * time.Minute
			}
			release := s.snapshot()
			for begin := time.Now(); time.Since(begin) < hold; pause(s.t.Context(), time.Second) {
				s.batch("meanwhile")
				without.batch("meanwhile")
			}
			s.searchable()
			without.searchable()
			const batches = 8
			var took [2]time.Duration
			sites := []*site{s, without}
			for i := range 2 * batches {
				k := (i + 1) / 2 % 2 // alternates which one goes first
				took[k] += sites[k].batch("measured")
			}
			release()
			s.vacuum()
			without.vacuum()
			s.kills++
			const messages = batches * batchSize
			s.t.Logf("%s a message under a snapshot held for %s, %s without", took[0]/messages, hold, took[1]/messages)
			s.note("a message's processor time under it", took[0]/messages)
			s.note("a message's processor time without", took[1]/messages)
			if float64(took[0]) > 1.3*float64(took[1]) {
				s.t.Errorf("%d messages took %s of processor time, under a snapshot held for %s they take %s", messages, took[1],
					hold, took[0])
			}
		},
	}.run(t)
}

func (s *site) vacuum() {
	s.t.Helper()
	if out, err := s.cluster.query("VACUUM (ANALYZE)"); err != nil {
		s.t.Fatal(out)
	}
}

const batchSize = 2000

// unvacuumed returns a site whose PostgreSQL runs without autovacuum. While the test holds a snapshot open, autovacuum
// could remove no rows, and its retries would distort the measurement.
func unvacuumed(t *testing.T, name, engine string) *site {
	t.Helper()
	c := newCluster(t, "", "autovacuum = off")
	s := newSiteOn(t, name, engine, t.TempDir(), c.url())
	s.cluster = c
	return s
}

// batch accepts and sends a number of messages and returns the processor time.
func (s *site) batch(name string) time.Duration {
	s.t.Helper()
	begin := s.spent()
	s.flood(fmt.Sprintf("%s %d", name, len(s.asks)), s.providers[0].id, "hello_utility", "utility", batchSize, s.nextNumber, 0)
	if !awaitEnd(s.t.Context(), s.books, s.patience, true, s.back) {
		s.t.Fatal("not everything ended in time")
	}
	return s.spent() - begin
}

// searchable waits until all notifications are in the search index. Indexing lags ten seconds behind and causes a
// third of the work: it must finish with earlier notifications, or it would distort one measurement.
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

// snapshot opens a transaction that keeps the present snapshot of the database.
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
