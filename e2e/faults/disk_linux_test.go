package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"carillon/internal/base/need"
)

// smallDisk mounts a separate file system of the given size in MiB for the test.
func smallDisk(t *testing.T, mebibytes string) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "carillon-faults-disk-") //nolint:usetesting // accessible to PostgreSQL
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(dir) })
	err = syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+mebibytes+"m")
	need.That(t, err == nil, fmt.Sprint("the right to mount a small disk: ", err))
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// fill leaves no block free, and returns a function that frees them.
func (s *site) fill(disk string) (free func()) {
	s.t.Helper()
	name := filepath.Join(disk, "ballast")
	f, err := os.Create(name)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 64<<10)
	for len(block) > 0 {
		if _, err := f.Write(block); errors.Is(err, syscall.ENOSPC) {
			block = block[:len(block)/2]
		} else if err != nil && !errors.Is(err, io.ErrShortWrite) {
			s.t.Fatal(err)
		}
	}
	s.kills++
	return func() {
		if err := os.Remove(name); err != nil {
			s.t.Error(err)
		}
	}
}

// fullDisk fills the disk under load, and sometimes kills the program while it is full.
func (s *site) fullDisk(name, disk string, after func()) {
	s.t.Helper()
	s.disturb(name, size, 3*time.Second, func(ctx context.Context) {
		pause(ctx, s.d.between(300*time.Millisecond, time.Second))
		free := s.fill(disk)
		pause(ctx, s.d.between(time.Second, 3*time.Second))
		if s.d.chance(30) {
			s.x.kill()
			s.kills++
			free()
			after()
			s.x.start()
			return
		}
		free()
		after()
	})
	s.held()
	busy := 0
	for _, a := range s.asks { // of all rounds: a log that has grown before has space for a round with few requests
		busy += a.busy
	}
	if busy == 0 {
		s.t.Error("nobody was ever answered 503 while the disk was full")
	}
}

func TestFaultsDiskFull(t *testing.T) {
	var disk string // of the scenario being set up
	scenario{
		name: "disk full", engines: []string{"sqlite"}, rules: rules{},
		open: func(t *testing.T, name, engine string) *site {
			disk = smallDisk(t, "24")
			return newSiteOn(t, name, engine, disk, "")
		},
		setup: func(s *site) {
			s.x = s.node("")
			s.x.log = filepath.Join(s.t.TempDir(), "log")
			s.front.set(s.x)
			s.x.start()
		},
		round: func(s *site, name string) { s.fullDisk(name, disk, func() {}) },
	}.run(t)
}

// TestFaultsDiskOfPostgreSQLFull fills the disk of the database, which then shuts down, and restarts it when there is
// space.
func TestFaultsDiskOfPostgreSQLFull(t *testing.T) {
	var disk string // of the scenario being set up
	scenario{
		name: "disk full", engines: []string{"postgres"}, rules: databaseRules,
		open: func(t *testing.T, name, engine string) *site {
			disk = smallDisk(t, "160")
			c := newCluster(t, disk, "max_wal_size = 32MB")
			s := newSiteOn(t, name, engine, t.TempDir(), c.url())
			s.cluster = c
			return s
		},
		setup: alone,
		round: func(s *site, name string) {
			s.fullDisk(name, disk, func() {
				if await(s.t.Context(), 10*time.Second, s.cluster.answers) {
					return
				}
				s.cluster.stop(syscall.SIGQUIT)
				s.cluster.start()
			})
		},
	}.run(t)
}
