package httpio

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"carillon/internal/base/share"
)

func TestStreamOutlivesTheTimeoutsAndEndsWhenStreamsAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ready, ended := make(chan struct{}, 1), make(chan error, 1)
		rt := newTestRouter(Route{Pattern: "GET /events", Stream: true, Handle: func(w http.ResponseWriter, r *http.Request) error {
			s, err := OpenStream(w, r, new(share.Place))
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
		time.AfterFunc(time.Second, func() { ready <- struct{}{} }) // after both timeouts
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
		s, err := OpenStream(w, r, new(share.Place))
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

// streamWriter is a response recorder that supports deadlines.
type streamWriter struct{ *httptest.ResponseRecorder }

func (streamWriter) SetReadDeadline(time.Time) error  { return nil }
func (streamWriter) SetWriteDeadline(time.Time) error { return nil }

func TestAQuietStreamIsCheckedWithEachHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := streamWriter{httptest.NewRecorder()}
		s, err := OpenStream(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), new(share.Place))
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

// followers returns a router with the stream limits of a small node, and a client behind a trusted proxy.
func followers(t *testing.T, r share.Resource) (open func(company, session, client string) (*http.Response, error)) {
	t.Helper()
	rt := newTestRouter(Route{Pattern: "GET /events", Stream: true, Handle: func(w http.ResponseWriter, r *http.Request) error {
		place, err := Follow(r, share.Holder{Company: r.Header.Get("Company"), Session: r.Header.Get("Session")})
		if err != nil {
			return err
		}
		s, err := OpenStream(w, r, place)
		if err != nil {
			return err
		}
		defer s.Close()
		return s.Serve(make(chan struct{}), func(context.Context) ([]Event, error) { return nil, nil })
	}})
	rt.Streams, rt.Proxies = share.New(r), []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	server := httptest.NewServer(rt)
	t.Cleanup(func() {
		rt.CloseStreams()
		server.Close()
	})
	return func(company, session, client string) (*http.Response, error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/events", nil)
		if err != nil {
			return nil, err
		}
		r.Header.Set("Company", company)
		r.Header.Set("Session", session)
		r.Header.Set("X-Forwarded-For", client)
		resp, err := http.DefaultClient.Do(r)
		if err == nil {
			t.Cleanup(func() { _ = resp.Body.Close() })
		}
		return resp, err
	}
}

func TestStreamsBehindAProxyAreBoundByClientAndCompany(t *testing.T) {
	open := followers(t, share.Resource{Name: "streams", Holds: "streams", Node: 12, Company: 8, Client: 4, Session: 10, Replaces: true})
	for i, x := range []struct {
		company, session, client string
		status                   int
		bound                    string
	}{
		{"a", "1", "2001:db8:1:1::1", 200, ""},
		{"a", "2", "2001:db8:1:1::2", 200, ""},
		{"a", "3", "2001:db8:1:1::3", 200, ""},
		{"a", "4", "2001:db8:1:1::4", 200, ""},
		{"a", "5", "2001:db8:1:1::5", 429, "client"},
		{"a", "6", "2001:db8:1:2::1", 200, ""},
		{"a", "7", "192.0.2.1", 200, ""},
		{"a", "8", "192.0.2.2", 200, ""},
		{"a", "9", "192.0.2.3", 200, ""},
		{"a", "10", "192.0.2.4", 429, "company"},
		{"b", "11", "192.0.2.4", 200, ""},
		{"c", "12", "192.0.2.4", 200, ""},
		{"d", "13", "192.0.2.4", 200, ""},
		{"e", "14", "192.0.2.5", 200, ""},
		{"f", "15", "192.0.2.6", 503, "node"},
	} {
		resp, err := open(x.company, x.session, x.client)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != x.status {
			t.Fatalf("stream %d is a %d, want %d", i, resp.StatusCode, x.status)
		}
		if x.status == http.StatusOK {
			continue
		}
		body, _ := io.ReadAll(resp.Body)
		if !strings.Contains(string(body), `"bound":"`+x.bound+`"`) || resp.Header.Get("Retry-After") == "" {
			t.Errorf("stream %d is refused by %s", i, body)
		}
		if policy := resp.Header.Get("RateLimit-Policy"); (x.status == http.StatusTooManyRequests) != strings.HasPrefix(policy,
			`"concurrent";q=`) {
			t.Errorf("stream %d is refused by the policy %s", i, policy)
		}
	}
}

func TestAnotherStreamOfASessionEndsItsOldest(t *testing.T) {
	open := followers(t, share.Resource{Node: 10, Session: 2, Replaces: true})
	first, err := open("a", "visitor", "192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		resp, err := open("a", "visitor", "192.0.2.1")
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatal(resp, err)
		}
	}
	text, err := io.ReadAll(first.Body)
	if err != nil || !strings.HasSuffix(string(text), "\n\nretry: 30000\n\n") { // it ends normally, with a delay before reconnecting
		t.Errorf("the oldest stream ended with %v after %q", err, text)
	}
}
