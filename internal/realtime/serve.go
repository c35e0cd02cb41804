package realtime

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/httpio"
	"carillon/internal/store"
)

// body is the data of an event on the stream.
type body struct {
	Kind    string          `json:"kind"`
	Subject string          `json:"subject,omitempty"`
	At      string          `json:"at"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// resetEvent means that events in between are gone and the screen must load everything.
const resetEvent = "reset"

// checkEvery is how long a caller who may not follow a topic any more can still receive its events.
const checkEvery = 2 * time.Second

// Serve streams a topic of a company as server-sent events, after the seq in Last-Event-ID; without one from now on, with
// 0 from the first that is stored. allowed returns an error for a caller who may not follow it; it is asked again before
// events are sent, every two seconds at most, and with each heartbeat of a quiet stream; its error ends the stream.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request, companyID, name string, allowed func(ctx context.Context) error) error {
	if err := allowed(r.Context()); err != nil {
		return err
	}
	checked := time.Now()
	if err := h.store.Follow(r.Context(), companyID, name); err != nil {
		return err
	}
	newest, err := h.store.LastEvent(r.Context(), companyID, name)
	if err != nil {
		return err
	}
	after, gone := newest, false
	if given := r.Header.Get("Last-Event-ID"); given != "" {
		if after, err = strconv.ParseInt(given, 10, 64); err != nil || after < 0 {
			return carillon.Invalid("Last-Event-ID", "Must be the id of an event of this stream, or 0")
		}
		if gone, err = h.gone(r.Context(), companyID, name, after, newest); err != nil {
			return err
		}
		if gone {
			after = newest
		}
	}
	s, err := h.Subscribe(companyID, name, after)
	if err != nil {
		return err
	}
	defer s.Close()
	stream, err := httpio.OpenStream(w, r)
	if err != nil {
		return err
	}
	return stream.Serve(s.Ready(), func(ctx context.Context) ([]httpio.Event, error) {
		events, missed, err := s.Next(ctx)
		if err != nil {
			return nil, err
		}
		if time.Since(checked) >= checkEvery {
			if err := allowed(ctx); err != nil {
				return nil, err
			}
			checked = time.Now()
		}
		var all []httpio.Event
		if missed && after > 0 || gone {
			all, gone = append(all, httpio.Event{Name: resetEvent, Data: []byte("{}")}), false
		}
		for i := range events {
			all = append(all, eventOf(&events[i]))
		}
		return all, nil
	})
}

// gone reports whether the newest events after one are not stored: they were deleted, the topic was not followed for a time, or
// the database was restored.
func (h *Hub) gone(ctx context.Context, companyID, name string, after, newest int64) (bool, error) {
	if after == newest || after == 0 {
		return false, nil
	}
	stored, err := h.store.EventsAfter(ctx, companyID, name, newest-1, 1)
	return after > newest || len(stored) == 0, err
}

func eventOf(e *store.Event) httpio.Event {
	text, err := json.Marshal(body{e.Kind, e.Subject, carillon.FormatTime(e.At), e.Payload})
	if err != nil {
		text = []byte(`{}`) // a payload is JSON, which the table holds as it was written
	}
	x := httpio.Event{Name: e.Kind, Data: text}
	if e.Seq > 0 {
		x.ID = strconv.FormatInt(e.Seq, 10)
	}
	return x
}
