package queue

import (
	"context"
	"errors"
	"net/url"
	"sync/atomic"
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
	o.Sender = func(context.Context, int64) (*carillon.Sender, bool, error) { return &carillon.Sender{}, true, nil }
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

func (q *Queue) caretaker(t *testing.T) *caretaker {
	t.Helper()
	c := &caretaker{q: q, lapse: time.AfterFunc(startFor, q.lapsed)}
	t.Cleanup(func() { c.lapse.Stop() })
	return c
}

func TestLeaseCountsFromTheStartOfTheBeat(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t)
	q := onPostgres(t, address, Options{})
	c := q.caretaker(t)
	if err := q.join(t.Context()); err != nil {
		t.Fatal(err)
	}
	const slow = 300 * time.Millisecond // is what writing a beat takes from now on
	for _, statement := range []string{
		"CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.3); RETURN NEW; END'",
		"CREATE TRIGGER slow BEFORE UPDATE ON node FOR EACH ROW EXECUTE FUNCTION slow()",
	} {
		storetest.Exec(t, address, statement)
	}
	began := time.Now()
	if err := c.turn(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < slow {
		t.Fatalf("the beat took %s only", took)
	}
	if age := time.Duration(bootTime() - q.beat.last.Load()); age < slow {
		t.Errorf("when the beat was written the lease was %s old: it counts from a later instant than the beat's start", age)
	}
}

func TestLeaseEndsFourSecondsAfterItsBeat(t *testing.T) {
	var b beat
	if b.valid() {
		t.Error("valid before any beat")
	}
	b.last.Store(bootTime() - int64(startFor-time.Minute)) // a minute is left
	if !b.valid() {
		t.Error("not valid before its end")
	}
	b.last.Store(bootTime() - int64(startFor))
	if b.valid() {
		t.Error("valid four seconds after the beat began")
	}
}

func TestLeaseThatRanOutWhileTheMachineSleptIsTold(t *testing.T) {
	var lapsed atomic.Int32
	q := New(nil, Options{Lapsed: func() { lapsed.Add(1) }})
	c := q.caretaker(t)
	c.lapse.Stop()
	q.beat.last.Store(bootTime() - int64(time.Hour)) // the timer stood still since
	before := lapsed.Load()
	c.beaten(bootTime())
	if lapsed.Load() != before+1 {
		t.Error("nobody was told, so connections from before are used")
	}
}

func TestLeaseThatRunsOutIsTold(t *testing.T) {
	told := make(chan struct{}, 9)
	q := New(nil, Options{Lapsed: func() { told <- struct{}{} }})
	c := q.caretaker(t)
	c.beaten(bootTime() - int64(startFor-10*time.Millisecond))
	select {
	case <-told:
	case <-time.After(30 * time.Second):
		t.Error("nobody was told")
	}
}

func TestNodeWithAWrongClockLeavesItsShardsToAnother(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t)
	right := onPostgres(t, address, Options{})
	// For the other node's sessions the database's clock is an hour ahead.
	for _, statement := range []string{
		"CREATE SCHEMA skewed",
		"CREATE FUNCTION skewed.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT pg_catalog.clock_timestamp() + interval ''1 hour'''",
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
		_, shards, err := q.store.Cluster(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range shards {
			if s.Owner == q.id {
				n++
			}
		}
		return n
	}
	defer run(wrong)()
	if n := owned(wrong); n != carillon.Shards {
		t.Errorf("alone it owns %d shards", n)
	}
	defer run(right)()
	deadline := time.Now().Add(time.Minute)
	for owned(right) != carillon.Shards {
		if time.Now().After(deadline) {
			t.Fatalf("the node whose clock is right owns %d shards", owned(right))
		}
		<-time.After(20 * time.Millisecond)
	}
}

func TestNodeStopsWhenANewerProgramTookAwayWhatItNeeds(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t)
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
	case <-time.After(time.Minute):
		t.Fatal("it goes on")
	}
	if _, shards, err := q.store.Cluster(t.Context()); err != nil || shards[0].Owner != "" {
		t.Errorf("its shards belong to %q: %v", shards[0].Owner, err)
	}
}

// A node that was declared dead and joined anew is alive; but what it started before may be unknown to its next owner.
func TestNothingIsSentOfAShardThatWasLostMeanwhile(t *testing.T) {
	q := New(nil, Options{})
	q.beat.last.Store(bootTime())
	q.owned[1] = 7
	valid := q.validity(1, 7)
	if !valid() {
		t.Fatal("not valid though nothing happened")
	}
	q.owned[1] = 8
	if valid() {
		t.Error("valid once the shard was lost and taken again")
	}
	delete(q.owned, 1)
	if valid() {
		t.Error("valid without the shard")
	}
	q.owned[1] = 7
	q.beat.last.Store(0)
	if valid() {
		t.Error("valid without a beat")
	}
}

// The pump may hear only after it has taken a shard up again that it had been lost before.
func TestAShardThatIsOursAgainIsNotLost(t *testing.T) {
	d := owning(t)
	l := d.laneOf(1, d.shards[1])
	l.Halted = true
	d.gain(store.Shard{ID: 1, Epoch: 8}, time.Now())
	if d.lanes[1] != nil {
		t.Error("a lane goes on as it was")
	}
	lost{ID: 1, Epoch: 7}.apply(d, time.Now())
	if s := d.shards[1]; s == nil || s.epoch != 8 {
		t.Errorf("the pump has %+v", s)
	}
	lost{ID: 1, Epoch: 8}.apply(d, time.Now())
	if d.shards[1] != nil {
		t.Error("it is not lost")
	}
}
