package panel_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel"
	"carillon/web"
)

func TestBrowsersGetAPage(t *testing.T) {
	pages, root := panel.Pages(web.In(fstest.MapFS{}), nil, false)
	rt := httpio.NewRouter(
		slog.New(slog.DiscardHandler), nil, append(pages, httpio.Route{Pattern: "GET /{$}", Access: "none", Handle: root})...,
	)
	for _, c := range []struct{ path, lang, want string }{
		{"/", "", `<html lang="en">`},
		{"/panel", "es-MX,es;q=0.9", "Carillon está en marcha"},
		{"/panel/", "", "Carillon is running"},
		{"/", "pt-BR, en;q=0.5", "O Carillon está funcionando"},
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
	for _, path := range []string{
		"//", "/other", "/other/", "/panel//", "/panel/v1", "/panel/v1/", "/panel/v1/other", "/panel/assets/none.js",
	} {
		rec := httptest.NewRecorder()
		rt.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://x"+path, nil))
		if rec.Code != http.StatusNotFound || !strings.Contains(rec.Body.String(), `"error":"not_found"`) {
			t.Errorf("%s: %d %s", path, rec.Code, rec.Body)
		}
	}
}

func TestTheBuiltPanelIsServedUnderAStrictPolicy(t *testing.T) {
	files := web.In(fstest.MapFS{
		"panel/index.html": {
			Data: []byte(`<script nonce="CSP_NONCE"></script><meta content="CARILLON_WIDGETS"><meta content="CARILLON_BASE">`),
		},
		"panel/assets/a-1234.js": {Data: []byte("1")},
	})
	addresses := func() (string, string) { return "https://panel.test", `https://widgets.test/"><script>` }
	pages, root := panel.Pages(files, addresses, false)
	rt := httpio.NewRouter(
		slog.New(slog.DiscardHandler), nil, append(pages, httpio.Route{Pattern: "GET /{$}", Access: "none", Handle: root})...,
	)
	get := func(method, path string) *httptest.ResponseRecorder {
		rec := httptest.NewRecorder()
		rt.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), method, path, nil))
		return rec
	}
	nonces := map[string]bool{}
	for _, path := range []string{
		"/panel", "/panel/", "/panel/keys", "/panel/keys/", "/panel/inbox/0190", "/panel//evil.test", "/panel/..%2fv1",
	} {
		rec := get("GET", path)
		if strings.Contains(path, "//") || strings.Contains(path, "..") {
			if rec.Code != http.StatusNotFound { // never a redirect
				t.Errorf("%s: %d %v", path, rec.Code, rec.Header())
			}
			continue
		}
		policy := rec.Header().Get("Content-Security-Policy")
		_, rest, _ := strings.Cut(policy, "script-src 'nonce-")
		nonce, _, _ := strings.Cut(rest, "'")
		if rec.Code != http.StatusOK || len(nonce) < 20 || nonces[nonce] || !strings.Contains(rec.Body.String(), `<script nonce="`+
			nonce+`">`) {
			t.Errorf("%s: %d %q\n%s", path, rec.Code, policy, rec.Body)
		}
		nonces[nonce] = true
		for _, want := range []string{
			"default-src 'none'", "frame-ancestors 'none'", "frame-src https://widgets.test;", "base-uri 'none'", "form-action 'none'",
			"' https://panel.test/panel/assets/ example.com/panel/assets/; ", "connect-src 'self' wss://panel.test;",
		} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: no %s in %s", path, want, policy)
			}
		}
		if strings.Contains(policy, "unsafe") || rec.Header().Get("X-Frame-Options") != "DENY" ||
			rec.Header().Get("Cache-Control") != "no-store" || strings.Contains(rec.Body.String(), `"><script>`) {
			t.Errorf("%s: %v\n%s", path, rec.Header(), rec.Body)
		}
	}
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/panel", nil)
	r.Host = "evil.test; script-src *"
	rec := httptest.NewRecorder()
	rt.ServeHTTP(rec, r)
	if policy := rec.Header().Get("Content-Security-Policy"); strings.Contains(policy, "evil") {
		t.Errorf("the policy takes over a host: %s", policy)
	}
	if rec := get("GET", "/panel/assets/a-1234.js"); rec.Code != http.StatusOK ||
		!strings.Contains(rec.Header().Get("Cache-Control"), "immutable") {
		t.Errorf("a hashed file: %d %v", rec.Code, rec.Header())
	}
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/panel/v1/other", 404},
		{"GET", "/panel/assets/none.js", 404},
		{"POST", "/panel/v1/other", 404},
		{"DELETE", "/panel/keys", 404},
		{"POST", "/panel", 405},
	} {
		if rec := get(c.method, c.path); rec.Code != c.status || !strings.Contains(rec.Body.String(), `"request_id"`) {
			t.Errorf("%s %s: %d %s, want %d", c.method, c.path, rec.Code, rec.Body, c.status)
		}
	}
	if body := get("GET", "/").Body.String(); !strings.Contains(body, `href="/panel"`) {
		t.Errorf("the page at the installation's address does not lead to the panel:\n%s", body)
	}
}

func TestOnlyThePageOfTheSignUpMayLoadFacebooksScripts(t *testing.T) {
	files := web.In(fstest.MapFS{"panel/index.html": {Data: []byte(`<script nonce="CSP_NONCE"></script>`)}})
	for _, signUp := range []bool{true, false} {
		pages, _ := panel.Pages(files, func() (string, string) { return "https://panel.test", "https://widgets.test" }, signUp)
		rt := httpio.NewRouter(slog.New(slog.DiscardHandler), nil, pages...)
		for path, extended := range map[string]bool{
			"/panel/senders/sign-up": signUp, "/panel/senders/sign-up/": false, "/panel/senders/new": false, "/panel": false,
		} {
			rec := httptest.NewRecorder()
			rt.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
			policy, opener := rec.Header().Get("Content-Security-Policy"), "same-origin"
			if extended {
				opener = "same-origin-allow-popups"
			}
			for _, source := range []string{
				"/panel/assets/ https://connect.facebook.net; worker-src",
				" https://www.facebook.com https://graph.facebook.com; media-src",
				"frame-src https://widgets.test https://www.facebook.com https://web.facebook.com; base-uri",
			} {
				if strings.Contains(policy, source) != extended {
					t.Errorf("%s, %t: %s", path, signUp, policy)
				}
			}
			if strings.Contains(policy, "facebook") != extended || strings.Contains(policy, "unsafe") ||
				rec.Header().Get("Cross-Origin-Opener-Policy") != opener {
				t.Errorf("%s, %t: %v", path, signUp, rec.Header())
			}
		}
	}
}
