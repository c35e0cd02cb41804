package panel

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"carillon/internal/httpio"
)

func TestBrowsersGetAPage(t *testing.T) {
	pages, root := Pages()
	rt := httpio.NewRouter(slog.New(slog.DiscardHandler), nil, append(pages, httpio.Route{Pattern: "GET /{$}", Access: "none", Handle: root})...)
	for _, c := range []struct{ path, lang, want string }{
		{"/", "", `<html lang="en">`},
		{"/panel", "es-MX,es;q=0.9", "Carillon está en marcha"},
		{"/", "pt-BR, en;q=0.5", "O Carillon está a funcionar"},
		{"/", "de, fr;q=0.5", "Carillon is running"},
		{"/", "\"><script>", `<html lang="en">`},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, c.path, nil)
		r.Header.Set("Accept-Language", c.lang)
		rec := httptest.NewRecorder()
		rt.ServeHTTP(rec, r)
		policy := rec.Header().Get("Content-Security-Policy")
		if body := rec.Body.String(); rec.Code != http.StatusOK || !strings.Contains(body, c.want) || strings.Contains(body, "<script") ||
			!strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s in %q: %d, %s\n%s", c.path, c.lang, rec.Code, policy, body)
		}
	}
	for _, path := range []string{"/panel/", "//", "/other"} {
		rec := httptest.NewRecorder()
		rt.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://x"+path, nil))
		if rec.Code != http.StatusNotFound || !strings.Contains(rec.Body.String(), `"error":"not_found"`) {
			t.Errorf("%s: %d %s", path, rec.Code, rec.Body)
		}
	}
}
