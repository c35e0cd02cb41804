package notify

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/request"
	"carillon/internal/store"
)

// reads gets an entry, and reports whether it was read for that.
func reads(t *testing.T, c *entryCache, seq carillon.Seq, total int) (e *entry, read bool) {
	t.Helper()
	e, err := c.get(t.Context(), seq, func(context.Context) (*entry, error) {
		read = true
		return &entry{n: &store.Notification{Total: total}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return e, read
}

func TestANotificationIsReadOnceForAllItsRecipients(t *testing.T) {
	c := newEntryCache()
	first, read := reads(t, &c, 1, 2)
	if e, again := reads(t, &c, 1, 2); !read || again || e != first {
		t.Error("the second recipient reads too")
	}
	reads(t, &c, 2, 1)
	if _, read := reads(t, &c, 2, 1); !read {
		t.Error("a notification of one recipient is kept")
	}
	failure := errors.New("no database")
	if _, err := c.get(t.Context(), 3, func(context.Context) (*entry, error) { return nil, failure }); !errors.Is(err, failure) {
		t.Errorf("a failed reading returns %v", err)
	}
	if _, read := reads(t, &c, 3, 2); !read {
		t.Error("a failed reading is kept")
	}
	for i := range carillon.Seq(2 * bulkMax) {
		reads(t, &c, i, 2)
	}
	if n := c.bulk.Len(); n > bulkMax {
		t.Errorf("%d are kept", n)
	}
}

func TestAnEntryThatWasDroppedWhileItWasReadIsNotKept(t *testing.T) {
	c := newEntryCache()
	old, err := c.get(t.Context(), 1, func(context.Context) (*entry, error) {
		c.drop(1) // it has changed
		return &entry{n: &store.Notification{Total: 2}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if e, read := reads(t, &c, 1, 2); !read || e == old {
		t.Error("what was read before the change is kept")
	}
}

func TestWhatWasJustAcceptedIsNotReadAgain(t *testing.T) {
	c := newEntryCache()
	at := time.Date(2026, 3, 1, 9, 0, 0, 1_500_000, time.UTC)
	var made carillon.Sequence
	add := func(n store.Notification) carillon.Seq {
		n.ID, n.CreatedAt, n.DueAt = made.Next(at), at, at
		c.add(n, &request.Request{})
		return n.Seq()
	}
	for range 2 * freshMax {
		add(store.Notification{Total: 1})
	}
	if n := c.fresh.Len(); n > freshMax {
		t.Errorf("%d are kept", n)
	}
	last := add(store.Notification{Total: 1})
	if e, read := reads(t, &c, last, 1); read || !e.n.CreatedAt.Equal(at.Truncate(time.Millisecond)) {
		t.Fatalf("found %+v, read: %v", e, read)
	}
	if _, read := reads(t, &c, last, 1); !read {
		t.Error("one for a single recipient is kept after it was used")
	}
	if _, read := reads(t, &c, add(store.Notification{Total: 1, Body: strings.Repeat("x", freshBody+1)}), 1); !read {
		t.Error("a long one is kept")
	}
	bulk := add(store.Notification{Total: 2})
	for range 2 {
		if _, read := reads(t, &c, bulk, 2); read {
			t.Error("one of several recipients is not kept")
		}
	}
	changed := add(store.Notification{Total: 1})
	c.drop(changed)
	if _, read := reads(t, &c, changed, 1); !read {
		t.Error("what was accepted before the change is kept")
	}
}
