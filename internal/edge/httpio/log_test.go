package httpio

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"carillon"
)

// A browser that navigates away ends its open requests, which is not an error of the program.
func TestAClientThatLeavesIsNoFault(t *testing.T) {
	var out strings.Builder
	rt := NewRouter(slog.New(slog.NewTextHandler(&out, nil)), nil,
		Route{Pattern: "GET /read", Handle: func(_ http.ResponseWriter, r *http.Request) error {
			SetCompany(r.Context(), "a company")
			SetKey(r.Context(), "its key")
			if err := r.Context().Err(); err != nil {
				return fmt.Errorf("read: %w", err)
			}
			return fmt.Errorf("of its own: %w", context.Canceled)
		}})
	refusals := 0
	rt.Refused = func(*http.Request, Refusal) { refusals++ }
	left, leave := context.WithCancel(t.Context())
	leave()
	for want, ctx := range map[string]context.Context{"level=INFO": left, "level=ERROR": t.Context()} {
		out.Reset()
		rt.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/read", nil))
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q, want %s", out.String(), want)
		}
	}
	if refusals != 1 {
		t.Errorf("%d requests were refused, want the one whose client is there", refusals)
	}
}

func TestOnlyWhatFailsOrIsSlowIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		fail := func(err error) Handler { return func(http.ResponseWriter, *http.Request) error { return err } }
		maintenance := &carillon.Error{
			Code: carillon.ServiceUnavailable, Message: "m", Details: carillon.Details{{Key: "maintenance_window", Value: "now"}},
		}
		rt := NewRouter(slog.New(slog.NewTextHandler(&out, nil)), nil,
			Route{Pattern: "GET /fast", Handle: Value(func(*http.Request) (any, error) { return nil, nil })},
			Route{Pattern: "GET /slow", Handle: Value(func(*http.Request) (any, error) {
				time.Sleep(1500 * time.Millisecond)
				return nil, nil
			})},
			Route{Pattern: "GET /refused", Handle: fail(carillon.Missing("x"))},
			Route{Pattern: "GET /broken", Handle: fail(errors.New("inner"))},
			Route{Pattern: "GET /maintenance", Handle: fail(maintenance)},
			Route{Pattern: "GET /probe", Probe: true, Handle: fail(maintenance)})
		for path, want := range map[string]string{
			"/fast": "", "/slow": "level=INFO", "/refused": "level=INFO", "/broken": "level=ERROR", "/maintenance": "level=INFO",
			"/probe": "",
		} {
			out.Reset()
			rt.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
			if line := out.String(); (line == "") != (want == "") || !strings.Contains(line, want) ||
				path == "/slow" && !strings.Contains(line, "took=1.5s") {
				t.Errorf("%s: %q, want %q", path, line, want)
			}
		}
	})
}

// Refusals are logged up to a limit per second, with the number of omitted lines. One company's refusals do not hide
// another's.
func TestRefusalsFillNoLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		rt := NewRouter(slog.New(slog.NewTextHandler(&out, nil)), nil,
			Route{Pattern: "GET /missing/{company}", Handle: func(_ http.ResponseWriter, r *http.Request) error {
				SetCompany(r.Context(), r.PathValue("company"))
				return carillon.Missing("x")
			}},
			Route{Pattern: "GET /broken", Handle: func(http.ResponseWriter, *http.Request) error { return errors.New("inner") }},
			Route{Pattern: "GET /slow", Handle: Value(func(*http.Request) (any, error) {
				time.Sleep(1500 * time.Millisecond)
				return nil, nil
			})})
		ask := func(path string, times int) (lines int) {
			out.Reset()
			for range times {
				rt.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
			}
			return strings.Count(out.String(), "\n")
		}
		for path, want := range map[string]int{
			"/missing/acme": maxRefusalLines, "/missing/beta": maxRefusalLines, "/nowhere": maxRefusalLines, "/broken": 1000,
		} {
			if got := ask(path, 1000); got != want {
				t.Errorf("%s: %d lines of 1000 requests, want %d", path, got, want)
			}
		}
		if got := ask("/slow", 10); got != 10 {
			t.Errorf("%d lines of 10 requests that were accepted and slow", got)
		}
		if got := ask("/missing/acme", 1); got != 1 || !strings.Contains(out.String(), "left_out=980") {
			t.Errorf("a second later: %q", out.String())
		}
		if ask("/missing/acme", 1); strings.Contains(out.String(), "left_out") {
			t.Errorf("omitted lines are counted twice: %q", out.String())
		}
		if got := ask("/missing/", 1) + ask("/missing/gamma", 1); got != 2 {
			t.Errorf("%d lines of refusals of others", got)
		}
	})
}
