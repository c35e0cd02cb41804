package call_test

import (
	"testing"
	"time"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/storetest"
)

// underWay returns the number of the phone's current calls.
func (p *phone) underWay() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

// pair returns two nodes on one PostgreSQL, with a call in progress on one of them.
func pair(t *testing.T, p *phone) (runs, other *node, id string) {
	t.Helper()
	o := store.Options{DatabaseURL: storetest.PatientPostgres(t)}
	a, b := newNode(t, o, p), newNode(t, o, p)
	a.setUp(nil)
	b.company, b.line = a.company, a.line
	a.stop, b.stop = a.start(), b.start()
	id = a.call("34600111001")
	await(t, "the answer", a.ended([]string{id}, carillon.StateInProgress))
	if a.record(id).Node == b.queue.ID() {
		return b, a, id
	}
	return a, b, id
}

func TestACallOfAnotherNodeIsHungUp(t *testing.T) {
	t.Parallel()
	runs, other, id := pair(t, &phone{lasts: time.Hour})
	defer runs.stop()
	defer other.stop()
	if state, err := other.calls.HangUp(t.Context(), other.company.ID, id); state != carillon.StateInProgress || err != nil {
		t.Fatal(state, err)
	}
	await(t, "its end", other.ended([]string{id}, carillon.StateCompleted))
	if c := other.record(id); c.EndedBy != "system" || c.Node != runs.queue.ID() {
		t.Errorf("%+v", c.Call)
	}
}

// A stopping node gives the shards to the other node at once, but keeps the calls that it placed.
func TestAStopWaitsForTheCallsInProgress(t *testing.T) {
	t.Parallel()
	p := &phone{talk: make(chan struct{}), lasts: 200 * time.Millisecond}
	runs, other, id := pair(t, p)
	defer other.stop()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		runs.stop()
	}()
	await(t, "another call, on the other node", func() bool {
		next := other.call("34600111002")
		await(t, "its answer", other.ended([]string{next}, carillon.StateInProgress))
		return other.record(next).Node == other.queue.ID()
	})
	select {
	case <-stopped:
		t.Error("the node has stopped before its call ended")
	default:
	}
	if c := other.record(id); c.State != carillon.StateInProgress {
		t.Errorf("the call is %s while its node stops", c.State)
	}
	close(p.talk)
	<-stopped
	if c := other.record(id); c.State != carillon.StateCompleted || c.EndedBy != "callee" {
		t.Errorf("%+v", c.Call)
	}
}

// A node that cannot prove to the others that it is alive hangs up before they count its calls as ended.
func TestANodeWhoseLeaseHasLapsedHangsUp(t *testing.T) {
	t.Parallel()
	p := &phone{lasts: time.Hour}
	o := store.Options{DatabaseURL: storetest.PatientPostgres(t)}
	n := newNode(t, o, p)
	n.calls.HangUpAfter(time.Second)
	n.setUp(nil)
	defer n.start()()
	id := n.call("34600111001")
	await(t, "the answer", n.ended([]string{id}, carillon.StateInProgress))
	storetest.Exec(t, o.DatabaseURL, "ALTER TABLE node RENAME TO away")
	defer storetest.Exec(t, o.DatabaseURL, "ALTER TABLE away RENAME TO node")
	await(t, "the end of its lease", func() bool { return !n.queue.Holds() })
	await(t, "that it hangs up", func() bool { return p.underWay() == 0 })
}
