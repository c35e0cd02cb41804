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
	"carillon/internal/edge/panel/member"
	"carillon/internal/edge/panel/paneltest"
	"carillon/web"
)

// forms returns header sets of requests that pages of other sites can send without a preflight: content types, each
// with the origins that browsers report.
func forms() (all [][]string) {
	for _, kind := range []string{
		"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json", "",
	} {
		for _, from := range [][]string{
			{"Origin", "https://evil.test", "Sec-Fetch-Site", "cross-site"},
			{"Origin", "https://evil.panel.test", "Sec-Fetch-Site", "same-site"},
			{"Origin", "null", "Sec-Fetch-Site", "cross-site"},
			{},
			{"Origin", "https://panel.test", "Sec-Fetch-Site", "same-origin"},
		} {
			all = append(all, append([]string{"Content-Type", kind}, from...))
		}
	}
	// In addition, requests that only a script on a permitted page can send.
	return append(
		all, paneltest.FromPage("Origin", "https://evil.test"), []string{member.PageHeader, "1", "Sec-Fetch-Site", "cross-site"},
		[]string{member.PageHeader, "1", "Origin", "null"},
	)
}

// TestNoFormOfAnotherSiteChangesAnything covers every route of the panel except GET, including future ones. Even a
// form on the panel's own origin lacks the required header.
func TestNoFormOfAnotherSiteChangesAnything(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	b := paneltest.SignedIn(w, "owner@acme.test")
	tried := 0
	for _, route := range w.Routes {
		method, path, _ := strings.Cut(route.Pattern, " ")
		if method == http.MethodGet {
			continue
		}
		tried++
		path = strings.ReplaceAll(path, "{id}", "0190b4a0-0000-7000-8000-000000000001")
		for _, header := range forms() {
			if status, got := b.Send(method, path, `{}`, header...); status != http.StatusForbidden || got["error"] != "forbidden" {
				t.Errorf("%s with %q: %d %v", route.Pattern, header, status, got)
			}
		}
	}
	if tried < 90 {
		t.Errorf("only %d routes were tried", tried)
	}
	if status, got := b.Send("GET", "/panel/v1/session", ""); status != http.StatusOK {
		t.Error("the session:", status, got)
	}
}

// A GET changes nothing, and no other origin may read its response.
func TestNoOtherOriginReadsAnything(t *testing.T) {
	w := paneltest.New(t)
	for _, route := range w.Routes {
		method, path, _ := strings.Cut(strings.ReplaceAll(route.Pattern, "{id}", "nothing"), " ")
		for _, method := range []string{method, http.MethodOptions} {
			r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
			r.Header.Set("Origin", "https://evil.test")
			r.Header.Set("Access-Control-Request-Method", "POST")
			r.Header.Set("Access-Control-Request-Headers", member.PageHeader)
			rec := httptest.NewRecorder()
			w.Router.ServeHTTP(rec, r)
			for name := range rec.Header() {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("%s %s responds with %s", method, path, name)
				}
			}
			if method == http.MethodOptions && rec.Code != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: %d", method, path, rec.Code)
			}
		}
	}
}

func TestNoPageOfThePanelIsShownInAFrame(t *testing.T) {
	for name, files := range map[string]fstest.MapFS{
		"built": {"panel/index.html": {Data: []byte(`<script nonce="CSP_NONCE"></script>`)}}, "not built": {},
	} {
		pages, root := panel.Pages(web.In(files), func() (string, string) { return "https://panel.test", "https://widgets.test" }, false)
		rt := httpio.NewRouter(
			slog.New(slog.DiscardHandler), nil, append(pages, httpio.Route{Pattern: "GET /{$}", Access: "none", Handle: root})...,
		)
		for _, path := range []string{
			"/", "/panel", "/panel/sign-in", "/panel/sign-in?next=//evil.test", "/panel/set-up", "/panel/invitation",
			"/panel/forgotten", "/panel/keys", "/panel/nowhere",
		} {
			rec := httptest.NewRecorder()
			rt.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
			h := rec.Header()
			if rec.Code != http.StatusOK || h.Get("X-Frame-Options") != "DENY" ||
				!strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") ||
				h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" {
				t.Errorf("%s, %s: %d %v", path, name, rec.Code, h)
			}
		}
	}
}
