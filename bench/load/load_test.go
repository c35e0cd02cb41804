package load

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestQuantilesOfLatencies(t *testing.T) {
	l := &Latencies{}
	if l.Milliseconds(0.99) != 0 {
		t.Error("no latencies have a p99")
	}
	for i := range 1000 {
		l.Add(time.Duration(1000-i) * time.Millisecond)
	}
	for q, want := range map[float64]float64{0.001: 1, 0.5: 500, 0.99: 990, 1: 1000} {
		if got := l.Milliseconds(q); got != want {
			t.Errorf("quantile %v: %v ms, want %v", q, got, want)
		}
	}
}

// serve starts a server and returns its address.
func serve(t *testing.T, handle http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handle)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func TestOpenLoopCountsTheWaitForAConnection(t *testing.T) {
	var first sync.Once
	addr := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		first.Do(func() {
			timer := time.NewTimer(400 * time.Millisecond)
			<-timer.C
		})
		_, _ = w.Write([]byte("ok"))
	})
	l := Load{Addr: addr, Conns: 1, For: 200 * time.Millisecond, Rate: 100, Request: Always(Request("GET", "/", ""))}
	r, err := l.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.OK.Count() != 20 {
		t.Errorf("%d responses of 20", r.OK.Count())
	}
	// The first response took 0.4 s, during which all others were scheduled.
	if shortest := r.OK.Milliseconds(0.01); shortest < 150 {
		t.Errorf("a request that waited for the connection counts %v ms", shortest)
	}
}

func TestCountEndsTheLoadAfterSoManyRequests(t *testing.T) {
	addr := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	var mu sync.Mutex
	var sent []string
	l := Load{
		Addr: addr, Conns: 4, Count: 10, Request: func(conn, k int) []byte { return Request("POST", "/", strconv.Itoa(k*4+conn)) },
		OnResponse: func(r Response) {
			mu.Lock()
			defer mu.Unlock()
			sent = append(sent, string(r.Body))
		},
	}
	if _, err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	slices.Sort(sent)
	if got := strings.Join(sent, ""); got != "0123456789" {
		t.Errorf("sent %s", got)
	}
}

func TestTolerantLoadCountsOtherStatusesSeparately(t *testing.T) {
	var n atomic.Int64
	addr := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1)%2 == 0 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte("later"))
			return
		}
		_, _ = w.Write([]byte("ok"))
	})
	var retry atomic.Int64
	l := Load{
		Addr: addr, Conns: 2, For: 200 * time.Millisecond, Tolerant: true, Request: Always(Request("POST", "/", "{}")),
		OnResponse: func(r Response) {
			if r.RetryAfter {
				retry.Add(1)
			}
		},
	}
	r, err := l.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if ok, other := r.OK.Count(), r.Other.Count(); ok == 0 || other == 0 || retry.Load() != int64(other) {
		t.Errorf("%d with 200, %d with another status, %d with Retry-After", ok, other, retry.Load())
	}
}

func TestLoadEndsAtTheFirstError(t *testing.T) {
	addr := serve(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusTeapot) })
	l := Load{Addr: addr, Conns: 4, For: time.Minute, Request: Always(Request("GET", "/", ""))}
	if _, err := l.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "418") {
		t.Errorf("ended with %v", err)
	}
}

func TestBrokenConnectionsAreCountedAndReplaced(t *testing.T) {
	var n atomic.Int64
	addr := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1) == 1 {
			c, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_ = c.(*net.TCPConn).Close()
			}
			return
		}
		_, _ = w.Write([]byte("ok"))
	})
	l := Load{Addr: addr, Conns: 1, For: 200 * time.Millisecond, Tolerant: true, Request: Always(Request("GET", "/", ""))}
	r, err := l.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.Broken.Load() != 1 || r.OK.Count() == 0 {
		t.Errorf("%d broken, %d responses", r.Broken.Load(), r.OK.Count())
	}
}
