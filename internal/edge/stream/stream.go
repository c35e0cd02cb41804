// Package stream serves topics of events to screens, as server-sent events.
package stream

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/base/share"
	"carillon/internal/edge/httpio"
	"carillon/internal/event/realtime"
	"carillon/internal/store/events"
)

// body is the data of an event on the stream.
type body struct {
	Kind    string          `json:"kind"`
	Subject string          `json:"subject,omitempty"`
	At      string          `json:"at"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// resetEvent means that some events were deleted and the screen must reload everything.
const resetEvent = "reset"

// checkEvery bounds how long a caller who lost access to a topic still receives its events.
const checkEvery = 2 * time.Second

// Topic is a topic of a company, as followed by one caller.
type Topic struct {
	CompanyID, Name string
	Session         string // id of the caller's account
	// Allowed returns an error if the caller may not follow the topic, which ends the stream. It is called again
	// before events are sent, but at most every two seconds, and at each heartbeat of an idle stream.
	Allowed func(ctx context.Context) error
	// Show converts an event for the caller, or returns false to skip it. If nil, the stream has the kind, subject,
	// time and payload.
	Show func(e *events.Event) (httpio.Event, bool)
}

// Serve streams a topic as server-sent events, starting after the seq in Last-Event-ID. Without the header it starts
// with new events; with 0, at the first stored event.
func Serve(w http.ResponseWriter, r *http.Request, hub *realtime.Hub, x Topic) error {
	if x.Show == nil {
		x.Show = func(e *events.Event) (httpio.Event, bool) {
			return EventOf(e, body{e.Kind, e.Subject, carillon.FormatTime(e.At), e.Payload}), true
		}
	}
	after, err := lastEvent(r)
	if err != nil {
		return err
	}
	place, err := httpio.Follow(r, share.Holder{Company: x.CompanyID, Session: x.Session})
	if err != nil {
		return err
	}
	defer place.Release()
	if err := x.Allowed(r.Context()); err != nil {
		return err
	}
	checked := time.Now()
	s, err := hub.Follow(r.Context(), x.CompanyID, x.Name, after)
	if err != nil {
		return err
	}
	defer s.Close()
	stream, err := httpio.OpenStream(w, r, place)
	if err != nil {
		return err
	}
	return stream.Serve(s.Ready(), func(ctx context.Context) ([]httpio.Event, error) {
		events, missed, err := s.Next(ctx)
		if err != nil {
			return nil, err
		}
		if time.Since(checked) >= checkEvery {
			if err := x.Allowed(ctx); err != nil {
				return nil, err
			}
			checked = time.Now()
		}
		var all []httpio.Event
		if missed {
			all = append(all, httpio.Event{Name: resetEvent, Data: []byte("{}")})
		}
		for i := range events {
			if e, shown := x.Show(&events[i]); shown {
				all = append(all, e)
			}
		}
		return all, nil
	})
}

// lastEvent returns the id of the client's last event.
func lastEvent(r *http.Request) (int64, error) {
	given := r.Header.Get("Last-Event-ID")
	if given == "" {
		return realtime.FromNow, nil
	}
	after, err := strconv.ParseInt(given, 10, 64)
	if err != nil || after < 0 {
		return 0, carillon.Invalid("Last-Event-ID", "Must be the id of an event of this stream, or 0")
	}
	return after, nil
}

// EventOf returns a stream event with data, whose id is the event's seq.
func EventOf(e *events.Event, data any) httpio.Event {
	text, err := json.Marshal(data)
	if err != nil {
		text = []byte(`{}`) // a payload from the table is valid JSON, so this should not happen
	}
	x := httpio.Event{Name: e.Kind, Data: text}
	if e.Seq > 0 {
		x.ID = strconv.FormatInt(e.Seq, 10)
	}
	return x
}
