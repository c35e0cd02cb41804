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
	const tick = 10 * time.Millisecond // of the kernel's account
	of := func(pid int, ended bool) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return // it has ended, and its parent has its time
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(rest)
		for i, f := range fields[11:15] { // user, system, and of its ended children
			if n, err := strconv.Atoi(f); err == nil && (i < 2 || ended) {
				d += time.Duration(n) * tick
			}
		}
	}
	of(s.x.cmd.Process.Pid, false)
	master := s.cluster.cmd.Process.Pid
	of(master, true)
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well-formed
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(master) {
			if pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name))); pid != books { // a number, as it was found
				of(pid, false)
			}
		}
	}
	return d
}

// TestFaultsSnapshotHeldForLong keeps a snapshot open while messages are accepted and sent: no row that ends can be cleaned
// away, and yet what comes later must not cost more than 1.3 times as much.
func TestFaultsSnapshotHeldForLong(t *testing.T) {
	var before time.Duration // what a batch takes where no snapshot is held
	scenario{
		name: "snapshot held for long under load", quiet: true, engines: []string{"postgres"}, open: unvacuumed, setup: func(s *site) {
			p := s.providers[0]
			p.perSecond = 5000
			s.mute = true
			s.providers = s.providers[:1]
			p.begin(s.t, s.front, false)
			alone(s)
			s.batch("warm")
		},
		round: func(s *site, name string) {
			if out, err := s.cluster.query("ANALYZE"); err != nil {
				s.t.Fatal(out)
			}
			hold := time.Second // and until search knows of all
			if *rounds >= 20 && strings.HasSuffix(name, " 1") {
				hold = 10 * time.Minute
			}
			if before == 0 {
				before = s.cheapest()
			}
			release := s.snapshot()
			for begin := time.Now(); time.Since(begin) < hold; {
				s.batch("meanwhile")
				pause(s.t.Context(), 2*time.Second)
			}
			after := s.cheapest()
			release()
			if out, err := s.cluster.query("VACUUM"); err != nil {
				s.t.Fatal(out)
			}
			s.kills++
			without := before
			if float64(after) > 1.3*float64(without) { // what else the machine does may have changed, and a message's cost with it
				before = s.cheapest()
				without = max(without, before)
			}
			s.note("a message's processor time under it", after/batchSize)
			s.note("a message's processor time without", without/batchSize)
			if float64(after) > 1.3*float64(without) {
				s.t.Errorf("%d messages took %s of processor time, after a snapshot held for %s they take %s", batchSize, without, hold, after)
			}
		},
	}.run(t)
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

// cheapest is the least that a batch takes. Search follows ten seconds behind, with a third of the work: it has to be
// through with all that came before, or it would fall on one measurement and not on another.
func (s *site) cheapest() time.Duration {
	s.t.Helper()
	s.searchable()
	least := s.batch("measured")
	for range 4 {
		least = min(least, s.batch("measured"))
	}
	return least
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
