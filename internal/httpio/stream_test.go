package httpio

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestStreamOutlivesTheTimeoutsAndEndsWhenStreamsAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ready, ended := make(chan struct{}, 1), make(chan error, 1)
		rt := newTestRouter(Route{Pattern: "GET /events", Stream: true, Handle: func(w http.ResponseWriter, r *http.Request) error {
			s, err := OpenStream(w, r)
			if err != nil {
				return err
			}
			n := 0
			err = s.Serve(ready, func(context.Context) ([]Event, error) {
				n++
				return []Event{{ID: strings.Repeat("1", n), Name: "turn", Data: []byte(`{"a":1}`)}}, nil
			})
			ended <- err
			return err
		}})
		client, _ := serveInBubble(t, rt)
		resp, err := client.Get("http://carillon.test/events")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		if got := resp.Header.Get("Content-Type"); got != "text/event-stream" || resp.Header.Get("Cache-Control") != "no-store" {
			t.Fatalf("the headers are %v", resp.Header)
		}
		time.AfterFunc(time.Second, func() { ready <- struct{}{} }) // past both timeouts
		var got []string
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			got = append(got, lines.Text())
			if lines.Text() == "id: 11" {
				rt.CloseStreams()
				rt.CloseStreams()
			}
		}
		if want := ": open||id: 1|event: turn|data: {\"a\":1}||id: 11|event: turn|data: {\"a\":1}|"; strings.Join(got, "|") != want {
			t.Errorf("the stream was %q, want %q", strings.Join(got, "|"), want)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestClientThatLeavesEndsTheStream(t *testing.T) {
	ended := make(chan error, 1)
	rt := newTestRouter(Route{Pattern: "GET /events", Stream: true, Handle: func(w http.ResponseWriter, r *http.Request) error {
		s, err := OpenStream(w, r)
		if err == nil {
			err = s.Serve(make(chan struct{}), func(context.Context) ([]Event, error) { return nil, nil })
		}
		ended <- err
		return err
	}})
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(rt)
	t.Cleanup(server.Close)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	_ = resp.Body.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// streamWriter is a response that is written to at once.
type streamWriter struct{ *httptest.ResponseRecorder }

func (streamWriter) SetReadDeadline(time.Time) error  { return nil }
func (streamWriter) SetWriteDeadline(time.Time) error { return nil }

func TestAQuietStreamIsCheckedWithEachHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := streamWriter{httptest.NewRecorder()}
		s, err := OpenStream(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
		if err != nil {
			t.Fatal(err)
		}
		removed := errors.New("no member any more")
		begin, calls := time.Now(), 0
		err = s.Serve(make(chan struct{}), func(context.Context) ([]Event, error) {
			if calls++; calls > 3 {
				return nil, removed
			}
			return nil, nil
		})
		if !errors.Is(err, removed) || time.Since(begin) > 3*heartbeat || time.Since(begin) < 2*heartbeat+heartbeat/2 {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
		if got := w.Body.String(); got != ": open\n\n:\n\n:\n\n:\n\n" {
			t.Errorf("%q", got)
		}
	})
}
