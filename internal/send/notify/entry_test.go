package notify_test

import (
	"testing"
	"time"

	"carillon"
)

func TestANotificationIsReadOnceForAllItsRecipients(t *testing.T) {
	r := newRig(t, sqlite(t), nil)
	t.Cleanup(func() { _ = r.store.Close() })
	const later = `,"datetime_sending":"2099-01-01T00:00:00"`
	load := func(id string) any {
		e, err := r.notify.Load(t.Context(), carillon.SeqOf(id))
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	one, two := r.accept(body(later, "34600111001")), r.accept(body(later, "34600111001", "34600111002"))
	if load(one) == load(one) {
		t.Error("a notification of one recipient is kept")
	}
	first := load(two)
	if load(two) != first {
		t.Error("the second recipient reads too")
	}
	if _, err := r.notify.Move(t.Context(), r.company.ID, two, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if load(two) == first {
		t.Error("what was read before its time changed is kept")
	}
}
