package realtime_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"carillon/internal/event/realtime"
	"carillon/internal/store"
	"carillon/internal/store/storetest"
)

// node is a bus with its own store.
type node struct {
	*realtime.Bus
	received chan []realtime.Item
}

func openStore(t *testing.T, url string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{DatabaseURL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func runBus(t *testing.T, b *realtime.Bus) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { _ = b.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		done.Wait()
	})
}

const due = "due"

func newNode(t *testing.T, url string) *node {
	t.Helper()
	n := &node{received: make(chan []realtime.Item, 10_000)}
	n.Bus = realtime.NewBus(openStore(t, url).DB, slog.New(slog.DiscardHandler), realtime.Kind{
		Name: due, Merge: func(a, b int64) int64 { return min(a, b) }, Receive: func(items []realtime.Item) { n.received <- items },
	})
	return n
}

func startNode(t *testing.T, url string) *node {
	t.Helper()
	n := newNode(t, url)
	runBus(t, n.Bus)
	if items := n.next(t); items != nil {
		t.Fatalf("before anything was published it received %v", items)
	}
	return n
}

func (n *node) next(t *testing.T) []realtime.Item {
	t.Helper()
	select {
	case items := <-n.received:
		return items
	case <-time.After(time.Minute):
		t.Fatal("received nothing")
		return nil
	}
}

func TestItemsOfOneKeyAreMerged(t *testing.T) {
	url := storetest.PatientPostgres(t)
	a, b := startNode(t, url), startNode(t, url)
	a.Publish(due, realtime.Item{Key: "7/1", Value: 9}, realtime.Item{Key: "7/1", Value: 5})
	if got := b.next(t); len(got) != 1 || got[0] != (realtime.Item{Key: "7/1", Value: 5}) {
		t.Errorf("received %v, want the least of one key", got)
	}
}

func TestManyItemsAreCutToFitAndAllArrive(t *testing.T) {
	url := storetest.PatientPostgres(t)
	a, b := startNode(t, url), startNode(t, url)
	const n = 2000
	items := make([]realtime.Item, n)
	for i := range items {
		items[i] = realtime.Item{Key: fmt.Sprintf("key of number %d", i), Value: int64(i)}
	}
	a.Publish(due, items...)
	seen := map[string]bool{}
	for len(seen) < n {
		for _, x := range b.next(t) {
			if x.Key != fmt.Sprintf("key of number %d", x.Value) {
				t.Fatalf("an item came as %v", x)
			}
			seen[x.Key] = true
		}
	}
}

func TestTooManyItemsAskTheOthersToReadEverything(t *testing.T) {
	url := storetest.PatientPostgres(t)
	a, b := newNode(t, url), startNode(t, url)
	for i := range 10_000 {
		a.Publish(due, realtime.Item{Key: fmt.Sprint(i)})
	}
	runBus(t, a.Bus)
	if got := b.next(t); got != nil {
		t.Errorf("received %d items", len(got))
	}
}

func TestALostConnectionIsReplacedAndReported(t *testing.T) {
	url := storetest.PatientPostgres(t)
	a, b := startNode(t, url), startNode(t, url)
	storetest.Exec(t, url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = "+
		"current_database()")
	if items := b.next(t); items != nil {
		t.Fatalf("after its connection was lost it received %v before the new subscription", items)
	}
	a.Publish(due, realtime.Item{Key: "x"})
	if got := b.next(t); len(got) != 1 || got[0].Key != "x" {
		t.Errorf("on the new connection it received %v", got)
	}
}

func TestWhatAStoppingNodeAnnouncesArrives(t *testing.T) {
	url := storetest.PatientPostgres(t)
	b, leaving := startNode(t, url), newNode(t, url)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	leaving.Publish(due, realtime.Item{Key: "free"})
	if err := leaving.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if got := b.next(t); len(got) != 1 || got[0].Key != "free" {
		t.Errorf("received %v", got)
	}
}
