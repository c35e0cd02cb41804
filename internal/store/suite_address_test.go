package store_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/store/chats"
	"carillon/internal/store/purge"
)

func givingAddresses() []sentence {
	return []sentence{
		{"a signed address is good for one use, by its company and in time", addressOnce},
		{"expired addresses are purged, and go with their conversation", addressEnds},
	}
}

func (r *rig) address(t *testing.T, id string) *chats.SignedAddress {
	t.Helper()
	c := r.talk(t, ours)
	a := &chats.SignedAddress{
		ID: id, CompanyID: ours, ConversationID: c.ID, WidgetID: "w", AgentID: "a", KeyID: "k", Origin: "https://x.test",
		ExpiresAt: r.now.Add(time.Minute),
	}
	if err := r.Addresses.Add(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	return a
}

func addressOnce(t *testing.T, r *rig) {
	a, late, s := r.address(t, "one"), r.address(t, "late"), r.Addresses
	if got, err := s.Find(t.Context(), a.ID); err != nil || !cmp.Equal(got, a) {
		t.Error(cmp.Diff(a, got), err)
	}
	if x, err := s.Find(t.Context(), "none"); x != nil || err != nil {
		t.Error(x, err)
	}
	if ok, err := s.Use(t.Context(), theirs, a.ID, r.now); ok || err != nil {
		t.Error("another company uses it", err)
	}
	if ok, err := s.Use(t.Context(), ours, late.ID, late.ExpiresAt); ok || err != nil {
		t.Error("used after it expired", err)
	}
	var used atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			ok, err := s.Use(t.Context(), ours, a.ID, r.now)
			if err != nil {
				t.Error(err)
			}
			if ok {
				used.Add(1)
			}
		})
	}
	all.Wait()
	if used.Load() != 1 {
		t.Errorf("used %d times", used.Load())
	}
	if got, err := s.Find(t.Context(), a.ID); err != nil || !got.UsedAt.Equal(r.now) {
		t.Error(got, err)
	}
}

func addressEnds(t *testing.T, r *rig) {
	first, second := r.address(t, "first"), r.address(t, "second")
	p, err := r.Purges.Drop(t.Context(), purge.Addresses, first.ExpiresAt.Add(time.Millisecond), 10)
	if err != nil || p.Rows != 1 || p.More {
		t.Error(p, err)
	}
	if x, err := r.Addresses.Find(t.Context(), first.ID); x != nil || err != nil {
		t.Error(x, err)
	}
	if _, err := r.Purges.DropConversations(t.Context(), ours, r.now.Add(time.Hour), 10); err != nil {
		t.Fatal(err)
	}
	if x, err := r.Addresses.Find(t.Context(), second.ID); x != nil || err != nil {
		t.Error(x, err)
	}
}
