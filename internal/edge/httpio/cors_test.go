package httpio

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"carillon"
)

func TestEachRouteHasItsOwnCORSPolicy(t *testing.T) {
	refuse := func(http.ResponseWriter, *http.Request) error { return carillon.Denied("no") }
	rt := newTestRouter(
		Route{Pattern: "GET /any", CORS: CORS{AnyOrigin: true}, Handle: refuse},
		Route{Pattern: "POST /any", CORS: CORS{AnyOrigin: true}, Handle: refuse},
		Route{Pattern: "GET /some/{id}", Handle: refuse, CORS: CORS{Allow: func(r *http.Request, origin string) bool {
			return origin == "https://good.test"
		}}},
		Route{Pattern: "GET /none", Handle: refuse},
	)
	for _, tt := range []struct {
		method, path, origin string
		status               int
		allowed, methods     string
	}{
		{"GET", "/any", "https://x.test", 403, "*", ""}, // errors carry the headers
		{"GET", "/any", "", 403, "*", ""},
		{"OPTIONS", "/any", "https://x.test", 204, "*", "GET, POST, OPTIONS"},
		{"GET", "/some/1", "https://good.test", 403, "https://good.test", ""},
		{"GET", "/some/1", "https://bad.test", 403, "", ""},
		{"OPTIONS", "/some/1", "https://good.test", 204, "https://good.test", "GET, OPTIONS"},
		{"OPTIONS", "/some/1", "https://bad.test", 204, "", ""},
		{"GET", "/none", "https://x.test", 403, "", ""},
		{"OPTIONS", "/none", "https://x.test", 405, "", ""},
	} {
		r := httptest.NewRequestWithContext(t.Context(), tt.method, tt.path, nil)
		if tt.origin != "" {
			r.Header.Set("Origin", tt.origin)
		}
		rec := httptest.NewRecorder()
		rt.ServeHTTP(rec, r)
		h := rec.Header()
		if rec.Code != tt.status || h.Get("Access-Control-Allow-Origin") != tt.allowed ||
			h.Get("Access-Control-Allow-Methods") != tt.methods {
			t.Errorf("%s %s from %q: %d %v", tt.method, tt.path, tt.origin, rec.Code, h)
		}
		if tt.methods != "" && (h.Get("Access-Control-Allow-Headers") != "Authorization, Content-Type, Last-Event-ID" ||
			h.Get("Access-Control-Max-Age") == "") {
			t.Errorf("%s %s: %v", tt.method, tt.path, h)
		}
	}
}
