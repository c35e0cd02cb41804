package notify

import (
	"errors"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/request"
	"carillon/internal/store"
)

func bulkEntry(total int) *entry { return &entry{n: &store.Notification{Total: total}} }

func TestANotificationIsReadOnceForAllItsRecipients(t *testing.T) {
	var c entryCache
	_, first, lead := c.find(1)
	if !lead {
		t.Fatal("nobody reads")
	}
	if _, r, lead := c.find(1); lead || r != first {
		t.Error("the second recipient reads too")
	}
	first.e = bulkEntry(2)
	c.end(1, first)
	<-first.done
	if e, _, _ := c.find(1); e != first.e {
		t.Error("it is not kept")
	}
	_, single, _ := c.find(2)
	single.e = bulkEntry(1)
	c.end(2, single)
	if e, _, lead := c.find(2); e != nil || !lead {
		t.Error("a notification of one recipient is kept")
	}
	_, failed, _ := c.find(3)
	failed.err = errors.New("no database")
	c.end(3, failed)
	if _, _, lead := c.find(3); !lead {
		t.Error("a failed reading is kept")
	}
}

func TestAnEntryThatWasDroppedWhileItWasReadIsNotKept(t *testing.T) {
	var c entryCache
	_, old, _ := c.find(1)
	c.drop(1) // it has changed
	_, anew, lead := c.find(1)
	if !lead {
		t.Fatal("what was read before the change is waited for")
	}
	old.e, anew.e = bulkEntry(2), bulkEntry(2)
	c.end(1, anew)
	c.end(1, old)
	if e, _, _ := c.find(1); e != anew.e {
		t.Error("what was read before the change is kept")
	}
}

func TestOnlyTheLastEntriesAreKept(t *testing.T) {
	var c entryCache
	for i := range 2 * entriesMax {
		seq := carillon.Seq(i)
		_, r, _ := c.find(seq)
		r.e = bulkEntry(2)
		c.end(seq, r)
	}
	if len(c.m) != entriesMax || len(c.order) != entriesMax || len(c.reading) != 0 {
		t.Errorf("%d entries, %d in order, %d being read", len(c.m), len(c.order), len(c.reading))
	}
}

func TestWhatWasJustAcceptedIsNotReadAgain(t *testing.T) {
	var c entryCache
	at := time.Date(2026, 3, 1, 9, 0, 0, 1_500_000, time.UTC)
	var made carillon.Sequence
	ids := make([]string, 2*freshMax)
	for i := range ids {
		ids[i] = made.Next(at)
		c.add(store.Notification{ID: ids[i], Total: 1, CreatedAt: at, DueAt: at}, &request.Request{})
	}
	if len(c.fresh) != freshMax {
		t.Errorf("%d are kept", len(c.fresh))
	}
	last := carillon.SeqOf(ids[len(ids)-1])
	e, _, _ := c.find(last)
	if e == nil || !e.n.CreatedAt.Equal(at.Truncate(time.Millisecond)) {
		t.Fatalf("found %+v", e)
	}
	if _, _, lead := c.find(last); !lead {
		t.Error("one for a single recipient is kept after it was asked for")
	}
	if _, _, lead := c.find(carillon.SeqOf(ids[0])); !lead {
		t.Error("an old one is kept")
	}
	long := made.Next(at)
	c.add(store.Notification{ID: long, Total: 1, Body: strings.Repeat("x", freshBody+1)}, &request.Request{})
	if _, _, lead := c.find(carillon.SeqOf(long)); !lead {
		t.Error("a long one is kept")
	}
	bulk := made.Next(at)
	c.add(store.Notification{ID: bulk, Total: 2}, &request.Request{})
	c.find(carillon.SeqOf(bulk))
	if e, _, _ := c.find(carillon.SeqOf(bulk)); e == nil {
		t.Error("one of several recipients is not kept")
	}
	changed := made.Next(at)
	c.add(store.Notification{ID: changed, Total: 1}, &request.Request{})
	c.drop(carillon.SeqOf(changed))
	if _, _, lead := c.find(carillon.SeqOf(changed)); !lead {
		t.Error("what was accepted before the change is kept")
	}
}
