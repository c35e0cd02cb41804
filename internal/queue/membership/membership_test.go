package membership

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/store"
	"carillon/internal/store/storetest"
	"carillon/internal/store/work"
)

// nobody is a Subscriber that ignores everything.
type nobody struct{}

func (nobody) Recover(_ context.Context, shards []work.Shard, recovered func(work.Shard)) error {
	for _, s := range shards {
		recovered(s)
	}
	return nil
}
func (nobody) Gained(work.Shard) {}
func (nobody) Lost(work.Shard)   {}
func (nobody) Rebalance(int)     {}

func (m *Membership) keeper(t *testing.T) *keeper {
	t.Helper()
	k := &keeper{m: m, lapse: time.AfterFunc(LeaseTime, m.lapsed)}
	t.Cleanup(func() { k.lapse.Stop() })
	return k
}

func TestLeaseCountsFromTheStartOfTheBeat(t *testing.T) {
	t.Parallel()
	address := storetest.PatientPostgres(t)
	s, err := store.Open(t.Context(), store.Options{DatabaseURL: address})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	q := New(s, nobody{}, Options{})
	c := q.keeper(t)
	if err := q.Join(t.Context()); err != nil {
		t.Fatal(err)
	}
	const slow = 300 * time.Millisecond // duration of writing a beat from now on
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
	if age := time.Duration(bootTime() - q.lease.last.Load()); age < slow {
		t.Errorf("when the beat was written the lease was %s old: it counts from a later instant than the beat's start", age)
	}
}

func TestLeaseEndsFourSecondsAfterItsBeat(t *testing.T) {
	var b lease
	if b.valid() {
		t.Error("valid before any beat")
	}
	b.last.Store(bootTime() - int64(LeaseTime-time.Minute)) // a minute is left
	if !b.valid() {
		t.Error("not valid before its end")
	}
	b.last.Store(bootTime() - int64(LeaseTime))
	if b.valid() {
		t.Error("valid four seconds after the beat began")
	}
}

func TestLeaseThatRanOutWhileTheMachineSleptIsReported(t *testing.T) {
	var lapsed atomic.Int32
	q := New(nil, nobody{}, Options{Lapsed: func() { lapsed.Add(1) }})
	c := q.keeper(t)
	c.lapse.Stop()
	q.lease.last.Store(bootTime() - int64(time.Hour)) // the timer has stood still since
	before := lapsed.Load()
	c.renew(bootTime())
	if lapsed.Load() != before+1 {
		t.Error("not reported, so connections from before are used")
	}
}

func TestLeaseThatRunsOutIsReported(t *testing.T) {
	reported := make(chan struct{}, 9)
	q := New(nil, nobody{}, Options{Lapsed: func() { reported <- struct{}{} }})
	c := q.keeper(t)
	c.renew(bootTime() - int64(LeaseTime-10*time.Millisecond))
	select {
	case <-reported:
	case <-time.After(2 * time.Minute):
		t.Error("not reported")
	}
}

// A node that was declared dead and joined again is alive, but its next owner may not know the messages that it
// started before.
func TestNothingIsSentOfAShardThatWasLostMeanwhile(t *testing.T) {
	q := New(nil, nobody{}, Options{})
	q.lease.last.Store(bootTime())
	q.owned[1] = 7
	valid := q.Validity(1, 7)
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
	q.lease.last.Store(0)
	if valid() {
		t.Error("valid without a beat")
	}
}
