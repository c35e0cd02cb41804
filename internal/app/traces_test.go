package app_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"carillon/internal/app"
	"carillon/internal/base/config"
)

// collector accepts traces as OTLP over HTTP in JSON.
type collector struct {
	mu    sync.Mutex
	spans []collected
	text  strings.Builder
}

// hexID is a hexadecimal ID in either case.
type hexID string

func (h *hexID) UnmarshalText(b []byte) error {
	*h = hexID(strings.ToLower(string(b)))
	return nil
}

type collected struct {
	TraceID, SpanID, ParentSpanID      hexID
	Name                               string
	Kind                               int
	StartTimeUnixNano, EndTimeUnixNano string
	Links                              []struct{ TraceID, SpanID hexID }
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var v struct {
		ResourceSpans []struct {
			ScopeSpans []struct{ Spans []collected }
		}
	}
	if r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/json" ||
		json.Unmarshal(body, &v) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text.Write(body)
	for _, rs := range v.ResourceSpans {
		for _, s := range rs.ScopeSpans {
			c.spans = append(c.spans, s.Spans...)
		}
	}
}

// await waits for a span that satisfies a condition.
func (c *collector) await(t *testing.T, what string, is func(s collected) bool) collected {
	t.Helper()
	var found collected
	app.Within(t, "a span of "+what, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		i := slices.IndexFunc(c.spans, is)
		if i >= 0 {
			found = c.spans[i]
		}
		return i >= 0
	})
	return found
}

// TestTraceOfANotificationReachesTheCollectorWhole sends one message with a caller's trace and one without through the
// whole program, and checks that all steps of both are traced.
func TestTraceOfANotificationReachesTheCollectorWhole(t *testing.T) {
	t.Parallel()
	var c collector
	s := httptest.NewServer(&c)
	defer s.Close()
	a, out := demo(t, func(cfg *config.Config) { cfg.TracesURL = s.URL })
	_, line, _ := strings.Cut(out.String(), "curl -s ")
	line, _, _ = strings.Cut(line, "\n")
	parts := strings.Split(line, "'")
	if !strings.HasPrefix(parts[1], a.BaseURL()) {
		t.Fatal(line)
	}
	const callers, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for _, traceparent := range []string{"", "00-" + callers + "-" + parent + "-01"} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, parts[1], strings.NewReader(parts[5]))
		req.Header.Set("Content-Type", "application/json")
		if traceparent != "" {
			req.Header.Set("Traceparent", traceparent)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		id, _ := decode(t, resp, http.StatusOK)["notification_id"].(string)
		trace := hexID(strings.ReplaceAll(id, "-", ""))
		of := func(name string) collected {
			return c.await(t, name, func(s collected) bool { return s.TraceID == trace && s.Name == name })
		}
		accept, lane, attempt, send, read := of("accept"), of("lane"), of("attempt"), of("send sandbox"), of("receipt read")
		for _, step := range []struct{ child, parent collected }{
			{lane, accept}, {attempt, accept}, {send, attempt}, {of("receipt delivered"), send}, {read, send},
		} {
			if step.child.ParentSpanID != step.parent.SpanID {
				t.Errorf("%s is a child of %s, want of %s (%s)", step.child.Name, step.child.ParentSpanID, step.parent.Name,
					step.parent.SpanID)
			}
		}
		const route = "POST /functions/v1/notify"
		if traceparent == "" {
			if request := of(route); accept.ParentSpanID != request.SpanID || request.Kind != 2 {
				t.Errorf("accept is a child of %s, want of the request %+v", accept.ParentSpanID, request)
			}
			continue
		}
		request := c.await(t, "the request", func(s collected) bool { return s.TraceID == callers && s.Name == route })
		if request.ParentSpanID != parent || len(request.Links) != 1 || request.Links[0].SpanID != accept.SpanID ||
			request.Links[0].TraceID != trace {
			t.Errorf("the request is recorded as %+v", request)
		}
		if len(accept.Links) != 1 || accept.Links[0].SpanID != request.SpanID || accept.Links[0].TraceID != callers {
			t.Errorf("accept is recorded as %+v", accept)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, secret := range []string{"access_key", "ck_", "34600111222", "Ana"} {
		if strings.Contains(c.text.String(), secret) {
			t.Errorf("the traces contain %q", secret)
		}
	}
}
