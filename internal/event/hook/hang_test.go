package hook_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"carillon/internal/base/egress"
	"carillon/internal/event/hook"
	"carillon/internal/store/events"
)

// TestEndpointsThatHangForThreeDaysLoseNothing has endpoints that accept but never respond, that never end a body, and
// that trickle one.
func TestEndpointsThatHangForThreeDaysLoseNothing(t *testing.T) {
	r := newRigOf(t, egress.Options{Timeout: 200 * time.Millisecond})
	var mu sync.Mutex
	mended := false
	begin := func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
	}
	hangs := map[string]func(w http.ResponseWriter, x *http.Request){
		"no response": func(_ http.ResponseWriter, x *http.Request) { <-x.Context().Done() },
		"no end": func(w http.ResponseWriter, x *http.Request) {
			begin(w)
			<-x.Context().Done()
		},
		"a trickle": func(w http.ResponseWriter, x *http.Request) {
			begin(w)
			for tick := time.NewTicker(20 * time.Millisecond); ; {
				select {
				case <-x.Context().Done():
					tick.Stop()
					return
				case <-tick.C:
					_, _ = w.Write([]byte("x"))
					_ = http.NewResponseController(w).Flush()
				}
			}
		},
	}
	ends, keys := map[string]*endpoint{}, map[string]events.EndpointKey{}
	for name, hang := range hangs {
		e := serve(t)
		receive := e.Config.Handler
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, x *http.Request) {
			mu.Lock()
			hung := !mended
			mu.Unlock()
			if !hung {
				receive.ServeHTTP(w, x)
				return
			}
			receive.ServeHTTP(httptest.NewRecorder(), x) // reads the body
			hang(w, x)
		}))
		t.Cleanup(server.Close)
		ends[name], keys[name] = e, r.endpoint(hook.Webhook{URL: server.URL})
	}
	good := serve(t)
	kept := r.endpoint(hook.Webhook{URL: good.URL})
	const steps = 16
	goroutines, before := 0, int64(0)
	for i := range steps {
		r.happen(fmt.Sprint("m", i), "message.sent")
		r.after(4 * time.Hour)
		if n := len(good.all()); n < i {
			t.Errorf("the good endpoint got %d of %d", n, i+1)
		}
		if i == 3 {
			goroutines, before = runtime.NumGoroutine(), heap()
		}
	}
	if n, grown := runtime.NumGoroutine(), heap()-before; n > goroutines+50 || grown > 8<<20 {
		t.Errorf("%d goroutines, %d at first; the heap grew by %d bytes", n, goroutines, grown)
	}
	// Five failures in four rounds, and then one probe per round.
	if n := len(ends["no response"].all()); n < steps || n > steps+8 {
		t.Errorf("%d requests to an endpoint that never responds, in %d rounds", n, steps)
	}
	mu.Lock()
	mended = true
	mu.Unlock()
	settled := func() bool {
		for _, k := range append(slices.Collect(maps.Values(keys)), kept) {
			waiting, _, err := r.store.Hooks.Counts(t.Context(), k)
			behind, err2 := r.store.Hooks.Behind(t.Context(), k)
			if err := errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
			if waiting > 0 || behind > 0 {
				return false
			}
		}
		return true
	}
	// A busy machine may take longer than the timeout for some of the requests, which are sent again.
	for rounds := 0; rounds < 3 || rounds < 100 && !settled(); rounds++ {
		r.after(2 * time.Hour)
	}
	for name, e := range ends {
		seen := map[int64]bool{}
		for _, n := range e.sequences() {
			seen[n] = true
		}
		if len(seen) != steps {
			t.Errorf("%s: %d of %d events came", name, len(seen), steps)
		}
		r.want(keys[name], 0, 0, 0)
	}
	r.want(kept, 0, 0, 0)
}
