package tracing

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"

	"carillon"
	"carillon/internal/base/provider"
)

func TestTracingIsOffWithoutACollector(t *testing.T) {
	x, err := New(t.Context(), Options{Log: slog.New(slog.DiscardHandler)})
	if x != nil || err != nil {
		t.Fatal(x, err)
	}
	if ctx := x.Request(t.Context(), http.MethodGet, nil); ctx != t.Context() {
		t.Error("the context has a span")
	}
	x.Responded(t.Context(), "GET /", 200, "")
	x.Accepted(t.Context(), "n", "c", 1, time.Now())
	x.Attempt(provider.Ref{}, 1, time.Now(), time.Now(), "sent", "")
	x.Sent(provider.Ref{}, "sandbox", time.Now(), provider.Outcome{})
	x.Received(t.Context(), make([]provider.Receipt, 1))
	x.Close(t.Context())
}

func TestStandardVariablesNameTheCollectorAndItsHeaders(t *testing.T) {
	var asked atomic.Pointer[http.Request]
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked.Store(r) }))
	defer s.Close()
	for name, url := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": s.URL + "/base", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": s.URL + "/base/v1/traces",
	} {
		t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b, other=c")
		t.Setenv(name, url)
		x, err := New(t.Context(), Options{Log: slog.New(slog.DiscardHandler)})
		t.Setenv(name, "")
		if err != nil || x == nil {
			t.Fatal(x, err)
		}
		x.Accepted(t.Context(), carillon.NewID(time.Now()), "c", 1, time.Now())
		x.Close(t.Context())
		r := asked.Swap(nil)
		if r == nil || r.URL.Path != "/base/v1/traces" || r.Header.Get("Api-Key") != "a b" || r.Header.Get("Other") != "c" {
			t.Errorf("%s: asked %+v", name, r)
		}
	}
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": "localhost:4318", "OTEL_TRACES_SAMPLER": "jaeger_remote", "OTEL_TRACES_SAMPLER_ARG": "2",
	} {
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", s.URL)
		t.Setenv("OTEL_TRACES_SAMPLER", "traceidratio")
		t.Setenv("OTEL_TRACES_SAMPLER_ARG", "0.5")
		t.Setenv(name, value)
		if _, err := New(t.Context(), Options{Log: slog.New(slog.DiscardHandler)}); err == nil {
			t.Errorf("%s=%s is accepted", name, value)
		}
	}
}

// A collector that hangs or refuses must not affect the program, apart from lost traces.
func TestSpansAreDroppedRatherThanWaitedFor(t *testing.T) {
	hang := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { <-hang; w.WriteHeader(http.StatusTeapot) }))
	defer s.Close()
	var log strings.Builder
	x, err := New(t.Context(), Options{URL: s.URL + "/secret-key", Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	recorded := make(chan struct{})
	go func() {
		defer close(recorded)
		for range 3 * queueSize {
			x.Accepted(context.Background(), carillon.NewID(time.Now()), "c", 1, time.Now())
		}
	}()
	select {
	case <-recorded:
	case <-time.After(time.Minute):
		t.Error("the collector delays the program")
	}
	close(hang)
	x.Close(t.Context())
	if n := strings.Count(log.String(), "cannot export traces"); n != 1 || strings.Contains(log.String(), "secret-key") {
		t.Errorf("the log has it %d times, or shows the address:\n%s", n, log.String())
	}
}

func sampling(ratio float64) *Tracing { return &Tracing{sampler: hashed{sdk.TraceIDRatioBased(ratio)}} }

func TestEveryNodeChoosesTheSameTraces(t *testing.T) {
	chosen := 0
	for range 2000 {
		x, id := sampling(0.5), carillon.NewID(time.Now())
		c := x.context(id, ofAccept)
		if c.IsSampled() != sampling(0.5).context(id, ofSend).IsSampled() {
			t.Fatal("a span differs from its trace")
		}
		if c.IsSampled() {
			chosen++
		}
	}
	if chosen < 700 || chosen > 1300 {
		t.Errorf("chose %d of 2000 traces", chosen)
	}
	id := carillon.NewID(time.Now())
	if sampling(0).context(id, ofAccept).IsSampled() || !sampling(1).context(id, ofAccept).IsSampled() {
		t.Error("none is not none, or all not all")
	}
}

func TestTraceHasTheIdOfItsNotification(t *testing.T) {
	id := carillon.NewID(time.Now())
	x := sampling(1)
	if got := x.context(id, ofAccept).TraceID().String(); got != strings.ReplaceAll(id, "-", "") {
		t.Error(got)
	}
	a, b := provider.Ref{NotificationID: id, N: 1, Attempt: 2}, provider.Ref{NotificationID: id, N: 2, Attempt: 1}
	send, again := x.of(a, ofSend).SpanID(), x.of(a, ofSend).SpanID()
	if send != again || send == x.of(b, ofSend).SpanID() || send == x.of(a, ofAttempt).SpanID() {
		t.Error("ids of spans do not follow from what they are")
	}
}
