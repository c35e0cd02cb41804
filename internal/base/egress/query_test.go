package egress_test

import (
	"io"
	"net/http"
	"net/url"
	"testing"
)

// A query is escaped so that the request line is valid, whatever a user entered, and the server reads the same values.
func TestAQueryIsEscapedAsBrowsersDo(t *testing.T) {
	s, o := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); r.URL.Path == "/redirect" {
			w.Header().Set("Location", "/final?to="+to)
			w.WriteHeader(http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, r.RequestURI)
	})
	for written, sent := range map[string]string{
		"/in?x=ü":                "/in?x=%C3%BC",
		"/in?x=a b&y=日本":         "/in?x=a%20b&y=%E6%97%A5%E6%9C%AC",
		"/in?x=\"<>\"":           "/in?x=%22%3C%3E%22",
		"/in?x=\xff\x80":         "/in?x=%FF%80",
		"/in?x=%C3%BC&y=a+b&z=%": "/in?x=%C3%BC&y=a+b&z=%",
		"/ä b?c":                 "/%C3%A4%20b?c",
		"/in?":                   "/in?",
		"/in":                    "/in",
		"/redirect?to=%C3%BC":    "/final?to=%C3%BC",
	} {
		got, err := get(t, o, named(t, s, written))
		if err != nil || got != sent {
			t.Errorf("%q: %q, %v; want %q", written, got, err, sent)
			continue
		}
		a, err := url.Parse(written)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := url.Parse(got); err != nil || a.Path != "/redirect" && (a.Query().Encode() != b.Query().Encode() || a.Path != b.Path) {
			t.Errorf("%q is read as %q: %v", written, got, err)
		}
	}
}
