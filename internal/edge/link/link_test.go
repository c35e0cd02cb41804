package link_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/share"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/link"
	"carillon/internal/send/notify"
)

// links lead to one destination, and count.
type links struct {
	destination string
	err         error
	counted     int
}

func (l *links) Visited(_ context.Context, token string) (*notify.Visit, error) {
	if token != "token" && l.err == nil {
		return nil, carillon.Absent("Link")
	}
	return &notify.Visit{Destination: l.destination}, l.err
}

func (l *links) Count(context.Context, *notify.Visit, time.Time) error {
	l.counted++
	return nil
}

// site serves links, and returns a function that requests one with headers as names and values.
func site(t *testing.T, l link.Links) func(method, token string, headers ...string) *http.Response {
	t.Helper()
	router := httpio.NewRouter(slog.New(slog.DiscardHandler), nil, link.Route(link.Deps{
		Links: l, Visits: share.New(share.LinkVisits), Log: slog.New(slog.DiscardHandler),
	}))
	return func(method, token string, headers ...string) *http.Response {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), method, "/l/"+token, nil)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		router.ServeHTTP(w, r)
		return w.Result()
	}
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAVisitIsRedirectedAndCounted(t *testing.T) {
	l := &links{destination: "https://acme.test/orders/é?a=b&c=<d>"}
	get := site(t, l)
	r := get("GET", "token", "User-Agent", "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148", "Cookie", "a=b")
	if r.StatusCode != http.StatusFound || r.Header.Get("Location") != "https://acme.test/orders/%C3%A9?a=b&c=<d>" {
		t.Errorf("%d to %s", r.StatusCode, r.Header.Get("Location"))
	}
	for name, want := range map[string]string{
		"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "Content-Length": "0", "Set-Cookie": "", "Content-Type": "",
	} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if get("GET", "token", "User-Agent", "curl/8.5.0"); l.counted != 2 {
		t.Errorf("%d are counted", l.counted)
	}
}

func TestWhatNobodyAskedForIsRedirectedButNotCounted(t *testing.T) {
	l := &links{destination: "https://acme.test/"}
	get := site(t, l)
	for name, r := range map[string]*http.Response{
		"HEAD":        get("HEAD", "token"),
		"prefetch":    get("GET", "token", "Sec-Purpose", "prefetch;prerender"),
		"older":       get("GET", "token", "Purpose", "prefetch"),
		"Firefox":     get("GET", "token", "X-Moz", "prefetch"),
		"WhatsApp":    get("GET", "token", "User-Agent", "WhatsApp/2.24.6.77 A"),
		"Facebook":    get("GET", "token", "User-Agent", "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"),
		"Meta":        get("GET", "token", "User-Agent", "meta-externalagent/1.1"),
		"Telegram":    get("GET", "token", "User-Agent", "TelegramBot (like TwitterBot)"),
		"Slack":       get("GET", "token", "User-Agent", "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"),
		"Skype":       get("GET", "token", "User-Agent", "Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5"),
		"search":      get("GET", "token", "User-Agent", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"),
		"another bot": get("GET", "token", "User-Agent", "ExampleCrawler"),
	} {
		if r.StatusCode != http.StatusFound || r.Header.Get("Location") != l.destination {
			t.Errorf("%s: %d to %q", name, r.StatusCode, r.Header.Get("Location"))
		}
	}
	if l.counted != 0 {
		t.Errorf("%d are counted", l.counted)
	}
}

func TestALinkToNothingShowsAPageInTheVisitorsLanguage(t *testing.T) {
	get := site(t, &links{})
	for language, want := range map[string]string{
		"":                        "This link doesn&#39;t work anymore",
		"de":                      "This link doesn&#39;t work anymore",
		"es-MX,es;q=0.9":          "Este enlace ya no funciona",
		"pt-BR,pt;q=0.9,en":       "Este link não funciona mais",
		"fr,pt-PT;q=0.8,en;q=0.1": "Este link não funciona mais",
	} {
		r := get("GET", "example", "Accept-Language", language)
		text := body(t, r)
		if r.StatusCode != http.StatusNotFound || !strings.Contains(text, want) || r.Header.Get("Location") != "" {
			t.Errorf("%q: %d %s", language, r.StatusCode, text)
		}
		if r.Header.Get("Cache-Control") != "no-store" || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") ||
			!strings.Contains(r.Header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%v", r.Header)
		}
	}
	if r := get("POST", "token"); r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", r.StatusCode)
	}
}

func TestWithoutTheDatabaseThePageSaysToTryAgain(t *testing.T) {
	r := site(t, &links{err: errors.New("away")})("GET", "token", "Accept-Language", "es")
	if text := body(t, r); r.StatusCode != http.StatusServiceUnavailable || r.Header.Get("Retry-After") != "60" ||
		!strings.Contains(text, "Inténtelo de nuevo") {
		t.Errorf("%d %s", r.StatusCode, text)
	}
}
