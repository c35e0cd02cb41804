package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func serve(t *testing.T, h http.HandlerFunc, options ...Option) *Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	c, err := New(s.URL, options...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFollowGivesTheCursorToGoOnWith(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("cursor") {
		case "c1":
			_, _ = io.WriteString(w, `{"data":[{"id":"a"},{"id":"b"}],"next_cursor":"c2"}`)
		case "c2":
			_, _ = io.WriteString(w, `{"data":[],"next_cursor":"c3"}`)
		default:
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"error":"forbidden","message":"No"}`)
		}
	}, WithCompanyToken("token"))
	var got []string
	for e, err := range c.Events().Follow(t.Context(), Pull{Cursor: "c1"}) {
		got = append(got, fmt.Sprint(e.ID, e.Cursor, errors.Is(err, Forbidden)))
	}
	if want := []string{"ac1false", "bc2false", "c3true"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCallsThatNeedATokenWaitForOneRequest(t *testing.T) {
	var exchanges atomic.Int32
	release := make(chan struct{})
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/auth/company") {
			exchanges.Add(1)
			<-release
			_, _ = io.WriteString(w, `{"access_token":"token","expires_in":3600}`)
			return
		}
		_, _ = io.WriteString(w, `{"used":1}`)
	}, WithKey("key"))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := c.Usage(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Usage(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that gave up got %v", err)
	}
	close(release)
	all.Wait()
	if n := exchanges.Load(); n != 1 {
		t.Errorf("%d requests for a token, want 1", n)
	}
}

func TestARepeatedUploadSendsTheWholeFile(t *testing.T) {
	file := strings.Repeat("0123456789", 1<<19)
	tries := 0
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if tries++; tries == 1 { // refused before the file is read
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `{"error":"service_unavailable","message":"Busy"}`)
			return
		}
		part, _, err := r.FormFile("file")
		if err != nil {
			t.Error(err)
			return
		}
		got, err := io.ReadAll(part)
		if err != nil || string(got) != file {
			t.Errorf("%d bytes arrived, want %d: %v", len(got), len(file), err)
		}
		_, _ = io.WriteString(w, `{"id":"m1"}`)
	}, WithCompanyToken("token"), WithRetries(Retries{First: 1}))
	if _, err := c.Upload(t.Context(), "a.png", strings.NewReader(file)); err != nil {
		t.Error(err)
	}
}
