package paneltest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"

	"carillon/internal/edge/panel/member"
)

// Browser is a browser with the panel open: it keeps its cookie and sends the headers of the panel's pages.
type Browser struct {
	*World
	Cookie *http.Cookie
	last   *http.Response
}

// Send sends a request with the cookie and the given header pairs, and returns the status and the decoded response.
func (b *Browser) Send(method, path, body string, header ...string) (int, map[string]any) {
	b.T.Helper()
	r := httptest.NewRequestWithContext(b.T.Context(), method, "https://panel.test"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if b.Cookie != nil {
		r.AddCookie(&http.Cookie{Name: b.Cookie.Name, Value: b.Cookie.Value}) //nolint:gosec // of a request
	}
	rec := httptest.NewRecorder()
	b.Router.ServeHTTP(rec, r)
	b.last = rec.Result()
	for _, c := range b.last.Cookies() {
		b.Cookie = c
	}
	got := map[string]any{}
	if rec.Body.Len() > 0 {
		if err := json.Unmarshal(rec.Body.Bytes(), &got); err != nil {
			b.T.Fatalf("%s %s: %d %s: %v", method, path, rec.Code, rec.Body, err)
		}
	}
	return rec.Code, got
}

// FromPage returns the headers of a request from the panel's own page.
func FromPage(more ...string) []string {
	return append([]string{member.PageHeader, "1", "Origin", "https://panel.test", "Sec-Fetch-Site", "same-origin"}, more...)
}

func (b *Browser) SignIn(email, password string) (int, map[string]any) {
	b.T.Helper()
	body, _ := json.Marshal(map[string]string{"email": email, "password": password})
	return b.Send("POST", "/panel/v1/session", string(body), FromPage("User-Agent", "Testing/1.0")...)
}

func SignedIn(w *World, email string) *Browser {
	w.T.Helper()
	b := &Browser{World: w}
	if status, got := b.SignIn(email, Password); status != http.StatusOK {
		w.T.Fatal(status, got)
	}
	return b
}
