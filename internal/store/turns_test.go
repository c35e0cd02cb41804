package store

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"
)

// committing is a committer that nothing empties, with its turns.
func committing(waiting ...*work) (*committer, *turns) {
	c := &committer{in: make(chan *work, 2*len(waiting)+1), behind: make(chan *work, len(waiting)+1), backlog: backlog{most: 1000}}
	for _, w := range waiting {
		c.put(w)
	}
	return c, &turns{c: c, in: c.in, behind: c.behind}
}

func (c *committer) put(w *work) {
	_ = c.enter(w)
	if w.callers() {
		c.in <- w
	} else {
		c.behind <- w
	}
}

// told is what a batch holds, a letter a write.
func told(batch []*work) string {
	var b strings.Builder
	for _, w := range batch {
		b.WriteByte("sarxx"[w.kind])
	}
	return b.String()
}

func kind(k workKind) *work {
	w := &work{kind: k}
	if k == workAccept {
		w.accept = &Accept{}
	}
	return w
}

func TestCallersGoFirstAndTheRestHasItsTurns(t *testing.T) {
	var batch []*work
	_, ts := committing(kind(workStart), kind(workAlone), kind(workStart), kind(workAccept), kind(workReceipt))
	var got []string
	for _, come := range []int{2, 2, 1, 0, 0} {
		batch = ts.next(batch[:0])
		got = append(got, told(batch))
		for range come {
			ts.c.put(kind(workAccept))
		}
	}
	if want := []string{"ar", "s", "aaaa", "x", "a"}; !slices.Equal(got, want) {
		t.Errorf("batches %q, want %q", got, want)
	}
	close(ts.c.in)
	close(ts.c.behind)
	if left := told(ts.next(batch[:0])); left != "s" {
		t.Errorf("the last is %q", left)
	}
	if n := ts.c.own.Load() + ts.c.requests.Load(); n != 0 {
		t.Errorf("%d places are not given back", n)
	}
}

func TestWhereManyWaitTheyShareATransaction(t *testing.T) {
	all := []*work{kind(workStart), kind(workAlone), kind(workStart)}
	for range togetherFrom + 1 {
		all = append(all, kind(workAccept))
	}
	_, ts := committing(all...)
	first := told(ts.next(nil))
	if want := strings.Repeat("a", togetherFrom+1) + "s"; first != want {
		t.Errorf("the first batch is %q", first)
	}
	if second, third := told(ts.next(nil)), told(ts.next(nil)); second != "x" || third != "s" {
		t.Errorf("then come %q and %q", second, third)
	}
}

func TestACommitterThatClosesRunsWhatWaits(t *testing.T) {
	c, ts := committing(kind(workAccept), kind(workStart), kind(workAlone), kind(workStart))
	close(c.in)
	close(c.behind)
	var got []string
	for range 5 {
		got = append(got, told(ts.next(nil)))
	}
	if want := []string{"a", "s", "x", "s", ""}; !slices.Equal(got, want) {
		t.Errorf("batches %q, want %q", got, want)
	}
}

func TestAnAcceptGetsItsTurnBetweenDeliveries(t *testing.T) {
	s, err := Open(t.Context(), Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var order []string
	done := make(chan error, 5)
	begun, release := make(chan struct{}), make(chan struct{})
	run := func(name string, k workKind, hold bool) {
		w := &work{kind: k, run: func(context.Context, *Tx) error {
			if hold {
				close(begun)
				<-release
			}
			order = append(order, name)
			return nil
		}}
		go func() { done <- s.accepts.do(t.Context(), w) }()
	}
	run("first", workAlone, true)
	<-begun
	run("alone 1", workAlone, false)
	run("alone 2", workAlone, false)
	for len(s.accepts.behind) < 2 {
		<-time.After(time.Millisecond) // the two are on their way
	}
	run("receipt", workReceipt, false)
	for len(s.accepts.in) < 1 {
		<-time.After(time.Millisecond)
	}
	close(release)
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if at := slices.Index(order, "receipt"); at != 1 {
		t.Errorf("ran in the order %q", order)
	}
}
