package httpio

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon"
)

func TestEvery429CarriesTheRateHeaders(t *testing.T) {
	for name, tt := range map[string]struct {
		err  *carillon.Error
		want map[string]string
	}{
		"a rate": {
			&carillon.Error{
				Code: carillon.RateLimitExceeded, RetryAfter: 9,
				Details: carillon.Details{{Key: "limit", Value: 600}, {Key: "window", Value: "60s"}},
			},
			map[string]string{"Retry-After": "9", "RateLimit-Policy": `"minute";q=600;w=60`, "RateLimit": `"minute";r=0;t=9`},
		},
		"a daily rate": {
			&carillon.Error{
				Code: carillon.RateLimitExceeded, RetryAfter: 99,
				Details: carillon.Details{{Key: "limit", Value: 10}, {Key: "window", Value: "86400s"}},
			},
			map[string]string{"Retry-After": "99", "RateLimit-Policy": `"daily";q=10;w=86400`, "RateLimit": `"daily";r=0;t=99`},
		},
		"a quota with some left": {
			&carillon.Error{
				Code: carillon.QuotaExceeded, RetryAfter: 7,
				Details: carillon.Details{{Key: "quota", Value: 100}, {Key: "used", Value: 97}},
			},
			map[string]string{"Retry-After": "7", "RateLimit-Policy": `"daily";q=100;w=86400`, "RateLimit": `"daily";r=3;t=7`},
		},
		"no 429": {
			&carillon.Error{Code: carillon.ServiceUnavailable, RetryAfter: 1},
			map[string]string{"Retry-After": "1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			rec := httptest.NewRecorder()
			Error(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), tt.err)
			got := map[string]string{}
			for _, h := range []string{"Retry-After", "RateLimit-Policy", "RateLimit"} {
				if v := rec.Header().Get(h); v != "" {
					got[h] = v
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestARateHasHeadersAndNoLimitHasNone(t *testing.T) {
	h := http.Header{}
	MinuteHeaders(h, 0, 0, 0)
	if len(h) != 0 {
		t.Errorf("headers of no limit: %v", h)
	}
	MinuteHeaders(h, 600, 17, 9)
	want := http.Header{"Ratelimit-Policy": {`"minute";q=600;w=60`}, "Ratelimit": {`"minute";r=17;t=9`}}
	if d := cmp.Diff(want, h); d != "" {
		t.Error(d)
	}
}

func TestPublicAnswersMayBeKeptAndOthersMayNot(t *testing.T) {
	for want, write := range map[string]func(w http.ResponseWriter) error{
		"public, max-age=60": func(w http.ResponseWriter) error {
			w.Header().Set("Cache-Control", "public, max-age=60")
			return JSON(w, http.StatusOK, 1)
		},
		"no-store": func(w http.ResponseWriter) error { return JSON(w, http.StatusOK, 1) },
	} {
		rec := httptest.NewRecorder()
		if err := write(rec); err != nil || rec.Header().Get("Cache-Control") != want || rec.Body.String() != "1" {
			t.Errorf("%q %q, want %q; %v", rec.Header().Get("Cache-Control"), rec.Body, want, err)
		}
	}
}
