package queue

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/storetest"
)

func onPostgres(t *testing.T, address string, o Options) *Queue {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{DatabaseURL: address})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return New(s, o)
}

func withSearchPath(t *testing.T, address, path string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	v := u.Query()
	v.Set("search_path", path)
	u.RawQuery = v.Encode()
	return u.String()
}

func TestNodeAheadOfTheOthersLeavesItsShardsToThem(t *testing.T) {
	t.Parallel()
	skewedNode(t, "- interval ''1 hour''", carillon.Shards, 0, true, false)
}

func TestNodeAheadOfTheOthersTakesNoShardAtItsStart(t *testing.T) {
	t.Parallel()
	skewedNode(t, "- interval ''1 hour''", carillon.Shards, 0, true, true)
}

func TestNodeFarBehindTheOthersLeavesItsShardsToThem(t *testing.T) {
	t.Parallel()
	skewedNode(t, "+ interval ''1 hour''", carillon.Shards, 0, false, false)
}

func TestNodeALittleBehindTheOthersKeepsItsShards(t *testing.T) {
	t.Parallel()
	skewedNode(t, "+ interval ''2 seconds''", carillon.Shards/2, carillon.Shards/2, false, false)
}

// skewedNode runs a node for which the database's clock is off and one whose clock is right, until they own the given
// numbers of shards, and for some more turns.
func skewedNode(t *testing.T, off string, rights, wrongs int, early, rightFirst bool) {
	t.Helper()
	address := storetest.PatientPostgres(t)
	right := onPostgres(t, address, Options{})
	for _, statement := range []string{
		"CREATE SCHEMA skewed",
		"CREATE FUNCTION skewed.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT pg_catalog.clock_timestamp() " + off + "'",
	} {
		storetest.Exec(t, address, statement)
	}
	wrong := onPostgres(t, withSearchPath(t, address, "public,skewed,pg_catalog"), Options{})
	run := func(q *Queue) func() {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- q.Run(ctx) }()
		<-q.Ready()
		return func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	owned := func(q *Queue) (n int) {
		_, shards, err := q.store.Nodes.Cluster(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range shards {
			if s.Owner == q.ID() {
				n++
			}
		}
		return n
	}
	if rightFirst {
		defer run(right)()
	}
	defer run(wrong)()
	if n := owned(wrong); rightFirst && n != wrongs || !rightFirst && n != carillon.Shards {
		t.Errorf("after its first turn it owns %d shards", n)
	}
	if !rightFirst {
		defer run(right)()
	}
	beat := func() (n int64) {
		nodes, _, err := wrong.store.Nodes.Cluster(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range nodes {
			if x.ID == wrong.ID() {
				n = x.Beat
			}
		}
		return n
	}
	deadline := time.Now().Add(2 * time.Minute)
	shared := func() {
		for owned(right) != rights || owned(wrong) != wrongs {
			if time.Now().After(deadline) {
				t.Fatalf("the node whose clock is right owns %d shards, the other one %d", owned(right), owned(wrong))
			}
			<-time.After(20 * time.Millisecond)
		}
	}
	shared()
	for last := beat() + 3; beat() < last && time.Now().Before(deadline); { // each turn compares the clocks again
		<-time.After(20 * time.Millisecond)
	}
	shared()
	if ahead, got := wrong.Clock(); ahead.Abs() < time.Second || got != early {
		t.Error(ahead, got)
	}
}

func TestNodeStopsWhenANewerProgramTookAwayWhatItNeeds(t *testing.T) {
	t.Parallel()
	address := storetest.PatientPostgres(t)
	q := onPostgres(t, address, Options{})
	done := make(chan error, 1)
	go func() { done <- q.Run(context.Background()) }()
	<-q.Ready()
	storetest.Exec(t, address, "UPDATE meta SET value = 9999 WHERE name = 'schema'")
	select {
	case err := <-done:
		if !errors.Is(err, store.ErrNewerSchema) {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("it goes on")
	}
	if _, shards, err := q.store.Nodes.Cluster(t.Context()); err != nil || shards[0].Owner != "" {
		t.Errorf("its shards belong to %q: %v", shards[0].Owner, err)
	}
}
