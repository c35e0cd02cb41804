package faults

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"
)

// standby creates a streaming replica of a cluster and waits until it follows.
func (c *cluster) standby(t *testing.T) *cluster {
	t.Helper()
	r := emptyCluster(t, "")
	r.tool("pg_basebackup", "-h", c.dir, "-U", "carillon", "-D", r.data(), "-X", "stream", "-R", "--checkpoint=fast", "--no-sync")
	r.configure("unix_socket_directories = '" + r.dir + "'")
	r.start()
	if !await(t.Context(), time.Minute, func() bool {
		n, err := c.query("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'")
		return err == nil && n == "1"
	}) {
		t.Fatal("the replica does not follow")
	}
	return r
}

// replicated returns a site whose PostgreSQL has a replica.
func replicated(t *testing.T, name, engine string) *site {
	t.Helper()
	c := newCluster(t, "", "wal_level = replica", "max_wal_senders = 5", "wal_keep_size = 128MB", "hot_standby = on")
	s := newSiteOn(t, name, engine, t.TempDir(), c.url())
	s.cluster = c
	return s
}

// both starts two nodes that reach the database through one address, which a failover redirects.
func both(s *site) {
	s.t.Helper()
	s.proxy = newProxy(s.t, s.url)
	s.a, s.b = s.node(s.proxy.url), s.node(s.proxy.url)
	s.front.set(s.a, s.b)
	s.a.start()
	s.b.start()
	s.owners(2)
}

// failover kills the primary under load and promotes its synchronous replica.
func (s *site) failover(name string) {
	s.t.Helper()
	next := s.cluster.standby(s.t)
	for _, text := range []string{"ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"} {
		if out, err := s.cluster.query(text); err != nil {
			s.t.Fatal(out)
		}
	}
	if !await(s.t.Context(), time.Minute, func() bool {
		state, err := s.cluster.query("SELECT sync_state FROM pg_stat_replication")
		return err == nil && state == "sync"
	}) {
		s.t.Fatal("the replica is not synchronous")
	}
	s.disturb(name, size, 4*time.Second, func(ctx context.Context) {
		pause(ctx, s.d.between(500*time.Millisecond, 2*time.Second))
		begin := time.Now()
		s.kills++
		_ = s.cluster.cmd.Process.Kill()
		s.cluster.stop(syscall.SIGQUIT)
		s.proxy.cut()
		next.tool("pg_ctl", "promote", "-D", next.data(), "-w")
		s.proxy.lead(next.url())
		s.proxy.mend()
		s.note("failover", time.Since(begin))
	})
	_ = os.RemoveAll(s.cluster.dir)
	s.cluster = next
	s.reopen("pgx", next.url())
	s.owners(2)
}

func TestFaultsSynchronousReplicaPromoted(t *testing.T) {
	scenario{
		name: "synchronous replica promoted", engines: []string{"postgres"}, open: replicated, setup: both, rules: databaseRules,
		round: func(s *site, name string) { s.failover(name) },
	}.run(t)
}
