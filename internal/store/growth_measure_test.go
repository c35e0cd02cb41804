//go:build measure

package store_test

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/messages"
	"carillon/internal/store/rank"
	"carillon/internal/store/work"
)

// TestARowCostsNoMoreAmongMany measures the cost of a row in a commit of 1, 256 and 1,024 rows: a statement with
// quadratic cost would block the writer under load.
//
// The minimum of several commits counts, and a disturbed measurement is repeated: real growth shows every time.
func TestARowCostsNoMoreAmongMany(t *testing.T) {
	onEngines(t, func(t *testing.T, o store.Options) {
		st, err := store.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = st.Close() })
		g := growing{t: t, st: st}
		if err := st.Nodes.Join(t.Context(), "node", "a node"); err != nil {
			t.Fatal(err)
		}
		taken, err := st.Nodes.Take(t.Context(), []int{1}, "node")
		if err != nil || len(taken) != 1 {
			t.Fatal(taken, err)
		}
		g.fence = work.Fence{Shard: 1, Owner: "node", Epoch: taken[0].Epoch}
		const most = 3 // the square of the rows would make it four; less is a figure, and the machine's
		worst := map[string]float64{}
		for range 5 {
			clear(worst)
			one, some, many := g.least(1), g.least(256), g.least(1024)
			for what := range one {
				for _, x := range [][2]time.Duration{{one[what], some[what]}, {some[what], many[what]}} {
					worst[what] = max(worst[what], float64(x[1])/float64(x[0]))
				}
			}
			t.Logf("a row alone %v, among 256 %v, among 1,024 %v", one, some, many)
			if slices.Max(slices.Collect(maps.Values(worst))) <= most {
				return
			}
		}
		t.Errorf("a row takes longer among four times as many, or among any: %v times, want at most %v", worst, most)
	})
}

type growing struct {
	t     *testing.T
	st    *store.Store
	fence work.Fence
}

// least is the least that a row took in each statement, of several commits with so many rows.
func (g *growing) least(rows int) map[string]time.Duration {
	least := map[string]time.Duration{}
	note := func(what string, begin time.Time) {
		took := time.Since(begin) / time.Duration(rows)
		if had, any := least[what]; !any || took < had {
			least[what] = took
		}
	}
	for range 12 {
		begin := time.Now()
		keys := g.accept(rows)
		note("accept", begin)
		later := &work.Batch{Now: time.Now()}
		for i, k := range keys {
			later.Later = append(later.Later, work.Queued{Key: k, Number: fmt.Sprint(34600111000 + i%100), Due: begin})
		}
		begin = time.Now()
		g.deliver(later)
		note("put off", begin)
		d := &work.Batch{Fences: []work.Fence{g.fence}, Now: time.Now()}
		results := &work.Batch{Now: time.Now()}
		for _, k := range keys {
			d.Starts = append(d.Starts, &work.Start{Key: k, Shard: 1})
			results.Results = append(results.Results, work.Result{
				Key: k, Attempt: 1, Move: work.MoveDone, At: time.Now(),
				Outcome: messages.Outcome{Rank: rank.Sent, ProviderID: "wamid." + fmt.Sprint(k)},
			})
		}
		begin = time.Now()
		g.deliver(d)
		note("start", begin)
		for _, s := range d.Starts {
			if s.Attempt != 1 {
				g.t.Fatalf("message %d was not started", s.Key)
			}
		}
		begin = time.Now()
		g.deliver(results)
		note("result", begin)
	}
	return least
}

// accept stores so many messages, a hundred a notification.
func (g *growing) accept(rows int) (keys []work.Key) {
	g.t.Helper()
	now := time.Now()
	var all []*messages.Accept
	for left := rows; left > 0; left -= 100 {
		n := min(left, 100)
		a := &messages.Accept{
			Notification: messages.Notification{
				ID: g.st.Notifications.NewID(now), CompanyID: "ours", Channel: carillon.Messaging, SenderUID: 1, Total: n, Open: n,
				CreatedAt: now, DueAt: now, Body: "{}",
			},
			Messages: make([]messages.NewMessage, n), Quota: messages.Quota{Day: "2027-01-15", Charge: n},
		}
		for i := range n {
			a.Messages[i].Number = fmt.Sprint(34600111000 + i)
			keys = append(keys, work.Key(a.Notification.Seq().Message(i)))
		}
		all = append(all, a)
	}
	var callers sync.WaitGroup
	for _, a := range all {
		callers.Go(func() {
			if err := g.st.Notifications.Accept(g.t.Context(), a); err != nil {
				g.t.Error(err)
			}
		})
	}
	callers.Wait()
	return keys
}

func (g *growing) deliver(d *work.Batch) {
	g.t.Helper()
	if err := g.st.Messages.Commit(g.t.Context(), d); err != nil {
		g.t.Fatal(err)
	}
}
