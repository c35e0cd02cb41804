package tracing

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"

	"carillon"
)

func environment(pairs map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { value, ok := pairs[name]; return value, ok }
}

func TestTracingIsOffWithoutACollector(t *testing.T) {
	x, err := New(t.Context(), Options{Lookup: environment(nil), Log: slog.New(slog.DiscardHandler)})
	if x != nil || err != nil {
		t.Fatal(x, err)
	}
	next := http.NotFoundHandler()
	if got := x.Handler(next); got == nil {
		t.Error("no handler")
	}
	x.Answered(t.Context(), "GET /", 200, "")
	x.Accepted(t.Context(), "n", "c", 1, time.Now())
	x.Attempt(carillon.Ref{}, 1, time.Now(), time.Now(), "sent", "")
	x.Sent(carillon.Ref{}, "sandbox", time.Now(), carillon.Outcome{})
	x.Received(t.Context(), make([]carillon.Receipt, 1))
	if err := x.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestStandardVariablesNameTheCollectorAndItsHeaders(t *testing.T) {
	var asked atomic.Pointer[http.Request]
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked.Store(r) }))
	defer s.Close()
	for name, url := range map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": s.URL + "/base", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": s.URL + "/base/v1/traces"} {
		x, err := New(t.Context(), Options{
			Lookup: environment(map[string]string{name: url, "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20b, other=c"}), Log: slog.New(slog.DiscardHandler),
		})
		if err != nil || x == nil {
			t.Fatal(x, err)
		}
		x.Accepted(t.Context(), carillon.NewID(time.Now()), "c", 1, time.Now())
		if err := x.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		r := asked.Swap(nil)
		if r == nil || r.URL.Path != "/base/v1/traces" || r.Header.Get("Api-Key") != "a b" || r.Header.Get("Other") != "c" {
			t.Errorf("%s: asked %+v", name, r)
		}
	}
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": "localhost:4318", "OTEL_TRACES_SAMPLER": "jaeger_remote", "OTEL_TRACES_SAMPLER_ARG": "2",
	} {
		env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": s.URL, "OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.5", name: value}
		if _, err := New(t.Context(), Options{Lookup: environment(env), Log: slog.New(slog.DiscardHandler)}); err == nil {
			t.Errorf("%s=%s is taken", name, value)
		}
	}
}

// A collector that hangs or refuses must cost the program nothing but its traces.
func TestSpansAreDroppedRatherThanWaitedFor(t *testing.T) {
	hang := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { <-hang; w.WriteHeader(http.StatusTeapot) }))
	defer s.Close()
	var log strings.Builder
	x, err := New(t.Context(), Options{URL: s.URL, Lookup: environment(nil), Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan struct{})
	go func() {
		defer close(told)
		for range 3 * queued {
			x.Accepted(context.Background(), carillon.NewID(time.Now()), "c", 1, time.Now())
		}
	}()
	select {
	case <-told:
	case <-time.After(time.Minute):
		t.Error("the collector holds the program up")
	}
	close(hang)
	if err := x.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if n := strings.Count(log.String(), "send traces"); n != 1 {
		t.Errorf("the log tells of it %d times:\n%s", n, log.String())
	}
}

func TestEveryNodeChoosesTheSameTraces(t *testing.T) {
	half := sampledBy(0.5)
	chosen := 0
	for range 2000 {
		var x Tracing
		x.sampled = half
		c := x.context(carillon.NewID(time.Now()), ofAccept)
		if c.IsSampled() != half(c.TraceID()) {
			t.Fatal("a span differs from its trace")
		}
		if c.IsSampled() {
			chosen++
		}
	}
	if chosen < 700 || chosen > 1300 {
		t.Errorf("chose %d of 2000 traces", chosen)
	}
	if sampledBy(0)(trace.TraceID{1}) || !sampledBy(1)(trace.TraceID{1}) {
		t.Error("none is not none, or all not all")
	}
}

func TestTraceHasTheIdOfItsNotification(t *testing.T) {
	id := carillon.NewID(time.Now())
	x := Tracing{sampled: sampledBy(1)}
	if got := x.context(id, ofAccept).TraceID().String(); got != strings.ReplaceAll(id, "-", "") {
		t.Error(got)
	}
	a, b := carillon.Ref{NotificationID: id, N: 1, Attempt: 2}, carillon.Ref{NotificationID: id, N: 2, Attempt: 1}
	send, again := x.of(a, ofSend).SpanID(), x.of(a, ofSend).SpanID()
	if send != again || send == x.of(b, ofSend).SpanID() || send == x.of(a, ofAttempt).SpanID() {
		t.Error("ids of spans do not follow from what they are")
	}
	text, err := json.Marshal(encode(nil))
	if err != nil || !strings.Contains(string(text), `"resourceSpans"`) {
		t.Error(string(text), err)
	}
}
