package realtime

import (
	"context"
	"log/slog"
	"testing"

	"carillon/internal/store/events"
)

// reader is a table of events that counts how often it is read.
type reader struct {
	stored []events.Event
	reads  int
}

func (*reader) Follow(context.Context, string, string) error { return nil }

func (r *reader) EventsAfter(_ context.Context, _, _ string, seq int64, _ int) ([]events.Event, error) {
	r.reads++
	return r.stored[seq:], nil
}

func (r *reader) LastEvent(context.Context, string, string) (int64, error) {
	return int64(len(r.stored)), nil
}

// A node receives its own announcements too. Its subscribers have the events by then; only those of other nodes are read.
func TestOwnAnnouncementsAreNotReadAgain(t *testing.T) {
	t.Parallel()
	r := &reader{}
	hub := NewHub(r, slog.New(slog.DiscardHandler), func(string, ...Item) {})
	s, err := hub.Follow(t.Context(), "c", events.Calls, FromNow)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	next := func(want ...int64) {
		t.Helper()
		found, missed, err := s.Next(t.Context())
		if err != nil || missed || len(found) != len(want) {
			t.Fatalf("%d events, want %d; missed %t, %v", len(found), len(want), missed, err)
		}
		for i, e := range found {
			if e.Seq != want[i] {
				t.Errorf("event %d, want %d", e.Seq, want[i])
			}
		}
	}
	stored := func() *events.Event {
		e := events.Event{CompanyID: "c", Topic: events.Calls, Seq: int64(len(r.stored)) + 1}
		r.stored = append(r.stored, e)
		return &e
	}
	announced := func(seq int64) { hub.receive([]Item{{topic{"c", events.Calls}.key(), seq}}) }
	next()
	before := r.reads
	hub.Publish(stored())
	announced(1)
	next(1)
	if r.reads != before {
		t.Errorf("the table was read %d times for an event of this node", r.reads-before)
	}
	stored() // by another node
	announced(2)
	next(2)
	stored() // by another node, and announced after the next one of this node
	hub.Publish(stored())
	announced(4)
	announced(3)
	next(3, 4)
}
