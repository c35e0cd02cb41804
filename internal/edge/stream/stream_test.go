package stream_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"carillon/internal/base/share"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/stream"
	"carillon/internal/event/realtime"
	"carillon/internal/store"
	"carillon/internal/store/events"
	"carillon/internal/store/storetest"
)

// response is a response recorder that supports deadlines.
type response struct{ *httptest.ResponseRecorder }

func (response) SetReadDeadline(time.Time) error  { return nil }
func (response) SetWriteDeadline(time.Time) error { return nil }

// A caller who lost access to a topic receives its events for at most two seconds, and access is not checked for each
// event.
func TestABusyStreamIsCheckedEveryTwoSeconds(t *testing.T) {
	dir := storetest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		s, err := store.Open(t.Context(), store.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		x := &screens{store: s, hub: realtime.NewHub(s.Topics, slog.New(slog.DiscardHandler), nil)}
		company := newCompany(t, s)
		const allowed = 21 * time.Second
		removed := errors.New("no member any more")
		begin, asked := time.Now(), 0
		mayFollow := func(context.Context) error {
			if asked++; time.Since(begin) > allowed {
				return removed
			}
			return nil
		}
		ended := make(chan error, 1)
		go func() {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
			w := response{httptest.NewRecorder()}
			ended <- stream.Serve(w, r, x.hub, stream.Topic{CompanyID: company, Name: topic, Allowed: mayFollow})
		}()
		every := time.NewTicker(50 * time.Millisecond)
		defer every.Stop()
		for {
			select {
			case <-every.C:
				x.say(t, company, "again")
				continue
			case err = <-ended:
			}
			break
		}
		if took := time.Since(begin) - allowed; !errors.Is(err, removed) || took > 2*time.Second+100*time.Millisecond {
			t.Errorf("%v, %v after access was lost", err, took)
		}
		if asked > 12 {
			t.Errorf("access was checked %d times", asked)
		}
	})
}

// unusedDatabase is a database that fails the test when it is used.
type unusedDatabase struct{ t *testing.T }

func (u unusedDatabase) Follow(context.Context, string, string) error {
	u.t.Error("a topic is followed")
	return nil
}

func (u unusedDatabase) EventsAfter(context.Context, string, string, int64, int) ([]events.Event, error) {
	u.t.Error("events are read")
	return nil, nil
}

func (u unusedDatabase) LastEvent(context.Context, string, string) (int64, error) {
	u.t.Error("the last event is read")
	return 0, nil
}

// A caller who already holds the maximum number of streams keeps requesting more.
func TestARefusedStreamAsksTheDatabaseNothing(t *testing.T) {
	hub := realtime.NewHub(unusedDatabase{t}, slog.New(slog.DiscardHandler), nil)
	router := httpio.NewRouter(slog.New(slog.DiscardHandler), nil, httpio.Route{
		Pattern: "GET /", Stream: true, Handle: func(w http.ResponseWriter, r *http.Request) error {
			return stream.Serve(w, r, hub, stream.Topic{CompanyID: "a", Name: topic, Allowed: func(context.Context) error {
				t.Error("whether the caller may follow is looked up")
				return nil
			}})
		},
	})
	router.Streams = share.New(share.Resource{Name: "event_streams", Holds: "streams", Node: 10, Company: 1})
	if _, err := router.Streams.Take(share.Holder{Company: "a"}); err != nil {
		t.Fatal(err)
	}
	for header, want := range map[string]int{"": http.StatusTooManyRequests, "7": http.StatusTooManyRequests, "x": http.StatusBadRequest} {
		w := response{httptest.NewRecorder()}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		r.Header.Set("Last-Event-ID", header)
		router.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("after the event %q: %d, want %d", header, w.Code, want)
		}
	}
}
