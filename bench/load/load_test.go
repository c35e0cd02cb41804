package load

import (
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestQuantilesAreAtMostTwoPercentTooLarge(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	h := &Hist{}
	var all []time.Duration
	for range 20_000 {
		d := time.Duration(math.Exp(rnd.Float64()*20)) * time.Microsecond
		all = append(all, d)
		h.Add(d)
	}
	slices.Sort(all)
	for _, q := range []float64{0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1} {
		want := all[max(0, int(math.Ceil(q*float64(len(all))))-1)]
		if got := h.Quantile(q); got < want || float64(got) > 1.02*float64(want) {
			t.Errorf("quantile %v: %v, want %v", q, got, want)
		}
	}
}

func TestBucketsAreContiguous(t *testing.T) {
	last := 0
	for us := range int64(1 << 16) {
		i := bucket(us)
		if i != last && i != last+1 {
			t.Fatalf("%d µs is in bucket %d, the one before in %d", us, i, last)
		}
		if top(i) < us || i > 0 && top(i-1) >= us {
			t.Fatalf("%d µs is in bucket %d, which ends at %d", us, i, top(i))
		}
		last = i
	}
	if i := bucket(math.MaxInt64); i != bucketCount-1 {
		t.Errorf("the greatest duration is in bucket %d of %d", i, bucketCount)
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
	if shortest := r.OK.Quantile(0.01); shortest < 150*time.Millisecond {
		t.Errorf("a request that waited for the connection counts %v", shortest)
	}
}

func TestBoundedLoopDropsRequestsWithoutAConnection(t *testing.T) {
	release := make(chan struct{})
	var came atomic.Int64
	addr := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if came.Add(1) == 1 {
			<-release
		}
		_, _ = w.Write([]byte("ok"))
	})
	timer := time.AfterFunc(time.Second, func() { close(release) })
	defer timer.Stop()
	l := Load{Addr: addr, Conns: 1, For: 200 * time.Millisecond, Rate: 100, Bounded: true, Request: Always(Request("GET", "/", ""))}
	r, err := l.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.OK.Count()+r.Unsent != 20 || r.Unsent == 0 {
		t.Errorf("%d responses and %d not sent, of 20", r.OK.Count(), r.Unsent)
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
	l := Load{Addr: addr, Conns: 2, For: 200 * time.Millisecond, Tolerant: true, Request: Always(Request("POST", "/", "{}")), OnResponse: func(r Response, _ time.Duration) {
		if r.RetryAfter {
			retry.Add(1)
		}
	}}
	r, err := l.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if ok, other := r.OK.Count(), r.Other.Count(); ok == 0 || other == 0 || retry.Load() != other {
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
