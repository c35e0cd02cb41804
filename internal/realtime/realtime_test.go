package realtime_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/queue"
	"carillon/internal/realtime"
	"carillon/internal/store"
	"carillon/internal/store/storetest"
)

// node is a bus on a store of its own.
type node struct {
	*realtime.Bus
	heard chan []queue.Wake
}

func startNode(t *testing.T, url string) *node {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{DatabaseURL: url})
	if err != nil {
		t.Fatal(err)
	}
	n := &node{heard: make(chan []queue.Wake, 10_000)}
	n.Bus = realtime.New(s, slog.New(slog.DiscardHandler), func(ws []queue.Wake) { n.heard <- ws })
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { _ = n.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		done.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if ws := n.next(t); ws != nil {
		t.Fatalf("before anything was published it heard %v", ws)
	}
	return n
}

// next is what the node hears next; nil after a new subscription.
func (n *node) next(t *testing.T) []queue.Wake {
	t.Helper()
	select {
	case ws := <-n.heard:
		return ws
	case <-time.After(time.Minute):
		t.Fatal("heard nothing")
		return nil
	}
}

func TestNodesHearEachOthersWakes(t *testing.T) {
	url := storetest.Postgres(t)
	a, b := startNode(t, url), startNode(t, url)
	due := time.UnixMilli(1_800_000_000_123)
	a.Publish([]queue.Wake{{SenderUID: 7, Class: carillon.Utility, Due: due.Add(time.Second)}, {SenderUID: 7, Class: carillon.Utility, Due: due}})
	got := b.next(t)
	if len(got) != 1 || got[0].SenderUID != 7 || got[0].Class != carillon.Utility || !got[0].Due.Equal(due) {
		t.Errorf("heard %v, want the earlier of the two wakes of one lane", got)
	}
}

func TestManyWakesAreCutToFitAndAllArrive(t *testing.T) {
	url := storetest.Postgres(t)
	a, b := startNode(t, url), startNode(t, url)
	const n = 2000
	ws := make([]queue.Wake, n)
	for i := range ws {
		ws[i] = queue.Wake{SenderUID: int64(i), Class: carillon.Class(i % carillon.Classes), Due: time.UnixMilli(int64(1_800_000_000_000 + i))}
	}
	a.Publish(ws)
	seen := map[int64]bool{}
	for len(seen) < n {
		for _, w := range b.next(t) {
			if w.Due.UnixMilli() != 1_800_000_000_000+w.SenderUID || int64(w.Class) != w.SenderUID%carillon.Classes {
				t.Fatalf("a wake came as %v", w)
			}
			seen[w.SenderUID] = true
		}
	}
}

func TestLostConnectionIsMadeAnewAndToldOf(t *testing.T) {
	url := storetest.Postgres(t)
	a, b := startNode(t, url), startNode(t, url)
	storetest.Exec(t, url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()")
	if ws := b.next(t); ws != nil {
		t.Fatalf("after its connection was lost it heard %v before the new subscription", ws)
	}
	a.Publish([]queue.Wake{{SenderUID: 9, Due: time.UnixMilli(1)}})
	if got := b.next(t); len(got) != 1 || got[0].SenderUID != 9 {
		t.Errorf("on the new connection it heard %v", got)
	}
}

func TestNodeThatGaveShardsBackTellsTheOthersEvenAsItLeaves(t *testing.T) {
	url := storetest.Postgres(t)
	b := startNode(t, url)
	s, err := store.Open(t.Context(), store.Options{DatabaseURL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	leaving := realtime.New(s, slog.New(slog.DiscardHandler), func([]queue.Wake) {})
	leaving.Moved()
	if err := leaving.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if got := b.next(t); got == nil || len(got) != 0 {
		t.Errorf("it heard %v, want no wakes at all: shards are free", got)
	}
}
