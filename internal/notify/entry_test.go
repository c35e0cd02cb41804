package notify

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store"
)

func bulkEntry(total int) *entry { return &entry{n: &store.Notification{Total: total}} }

func TestANotificationIsReadOnceForAllItsRecipients(t *testing.T) {
	var c entryCache
	_, first, lead := c.find("a")
	if !lead {
		t.Fatal("nobody reads")
	}
	if _, r, lead := c.find("a"); lead || r != first {
		t.Error("the second recipient reads too")
	}
	first.e = bulkEntry(2)
	c.end("a", first)
	<-first.done
	if e, _, _ := c.find("a"); e != first.e {
		t.Error("it is not kept")
	}
	_, single, _ := c.find("b")
	single.e = bulkEntry(1)
	c.end("b", single)
	if e, _, lead := c.find("b"); e != nil || !lead {
		t.Error("a notification of one recipient is kept")
	}
	_, failed, _ := c.find("c")
	failed.err = errors.New("no database")
	c.end("c", failed)
	if _, _, lead := c.find("c"); !lead {
		t.Error("a failed reading is kept")
	}
}

func TestAnEntryThatWasDroppedWhileItWasReadIsNotKept(t *testing.T) {
	var c entryCache
	_, old, _ := c.find("a")
	c.drop("a") // it has changed
	_, anew, lead := c.find("a")
	if !lead {
		t.Fatal("what was read before the change is waited for")
	}
	old.e, anew.e = bulkEntry(2), bulkEntry(2)
	c.end("a", anew)
	c.end("a", old)
	if e, _, _ := c.find("a"); e != anew.e {
		t.Error("what was read before the change is kept")
	}
}

func TestOnlyTheLastEntriesAreKept(t *testing.T) {
	var c entryCache
	for i := range 2 * entriesMax {
		id := strconv.Itoa(i)
		_, r, _ := c.find(id)
		r.e = bulkEntry(2)
		c.end(id, r)
	}
	if len(c.m) != entriesMax || len(c.order) != entriesMax || len(c.reading) != 0 {
		t.Errorf("%d entries, %d in order, %d being read", len(c.m), len(c.order), len(c.reading))
	}
}

func TestWhatWasJustAcceptedIsNotReadAgain(t *testing.T) {
	var c entryCache
	at := time.Date(2026, 3, 1, 9, 0, 0, 1_500_000, time.UTC)
	for i := range 2 * freshMax {
		c.offer(store.Notification{ID: strconv.Itoa(i), Total: 1, CreatedAt: at, DueAt: at}, &carillon.Request{})
	}
	if len(c.fresh) != freshMax {
		t.Errorf("%d are kept", len(c.fresh))
	}
	last := strconv.Itoa(2*freshMax - 1)
	e, _, _ := c.find(last)
	if e == nil || !e.n.CreatedAt.Equal(at.Truncate(time.Millisecond)) {
		t.Fatalf("found %+v", e)
	}
	if _, _, lead := c.find(last); !lead {
		t.Error("one for a single recipient is kept after it was asked for")
	}
	if _, _, lead := c.find("0"); !lead {
		t.Error("an old one is kept")
	}
	c.offer(store.Notification{ID: "long", Total: 1, Body: strings.Repeat("x", freshBody+1)}, &carillon.Request{})
	if _, _, lead := c.find("long"); !lead {
		t.Error("a long one is kept")
	}
	c.offer(store.Notification{ID: "bulk", Total: 2}, &carillon.Request{})
	c.find("bulk")
	if e, _, _ := c.find("bulk"); e == nil {
		t.Error("one of several recipients is not kept")
	}
	c.offer(store.Notification{ID: "changed", Total: 1}, &carillon.Request{})
	c.drop("changed")
	if _, _, lead := c.find("changed"); !lead {
		t.Error("what was accepted before the change is kept")
	}
}
