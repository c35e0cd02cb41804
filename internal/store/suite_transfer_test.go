package store_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store/calls"
)

func queueInOrder(t *testing.T, r *rig) {
	x := r.Incoming
	var talks []string
	for _, visitor := range []string{"one", "two", "three", "four", "five"} {
		talks = append(talks, r.opened(t, ours, visitor).Conversation.ID)
	}
	enters := func(company, agent, talk string, want bool) {
		t.Helper()
		r.now = r.now.Add(time.Millisecond)
		if ok, err := x.Enqueue(t.Context(), company, agent, talk, 3, r.now); ok != want || err != nil {
			t.Fatal(ok, err)
		}
	}
	ahead := func(talk string, want int) {
		t.Helper()
		if n, err := x.Ahead(t.Context(), ours, talk); n != want || err != nil {
			t.Errorf("%d ahead, %v, want %d", n, err, want)
		}
	}
	for _, talk := range talks[:3] {
		enters(ours, "ann", talk, true)
	}
	enters(ours, "ann", talks[3], false)
	enters(ours, "bob", talks[4], true) // another agent's
	ahead(talks[0], 0)
	ahead(talks[2], 2)
	ahead(talks[4], 0)
	for _, other := range []struct{ company, talk string }{{theirs, talks[0]}, {ours, talks[3]}} {
		if _, err := x.Ahead(t.Context(), other.company, other.talk); !carillon.IsCode(err, carillon.NotFound) {
			t.Error(err)
		}
	}
	if err := x.Dequeue(t.Context(), theirs, talks[0]); err != nil {
		t.Fatal(err)
	}
	ahead(talks[2], 2)
	if err := x.Dequeue(t.Context(), ours, talks[0]); err != nil {
		t.Fatal(err)
	}
	ahead(talks[2], 1)
	enters(ours, "ann", talks[0], true) // comes again, as the last one
	ahead(talks[0], 2)
	// A call that ends gives up its place.
	c, _ := r.rings(t, 0)
	if err := x.Answered(t.Context(), c.ID, talks[1], r.now); err != nil {
		t.Fatal(err)
	}
	if err := x.End(t.Context(), c.ID, calls.IncomingEnd{State: carillon.StateFailed, At: r.now}); err != nil {
		t.Fatal(err)
	}
	ahead(talks[2], 0)
	// A place that was left behind does not count for ever.
	r.now = r.now.Add(5 * time.Hour)
	enters(ours, "ann", talks[3], true)
	ahead(talks[3], 0)
	// Many at once get different places, and no more than there are.
	var all sync.WaitGroup
	var taken atomic.Int32
	for range 20 {
		talk := r.opened(t, ours, carillon.NewID(time.Now())).Conversation.ID
		all.Go(func() {
			ok, err := x.Enqueue(context.WithoutCancel(t.Context()), ours, "eve", talk, 7, r.now)
			if err != nil {
				t.Error(err)
			}
			if ok {
				taken.Add(1)
			}
		})
	}
	all.Wait()
	if taken.Load() != 7 {
		t.Errorf("%d places of 7", taken.Load())
	}
}
