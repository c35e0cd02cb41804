package web_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"

	"carillon"
	"carillon/web"
)

func TestServeChoosesTheCodingThatTheClientAccepts(t *testing.T) {
	f := web.In(fstest.MapFS{
		"panel/assets/a-1.js":    {Data: []byte("plain")},
		"panel/assets/a-1.js.br": {Data: []byte("brotli")},
		"panel/assets/a-1.js.gz": {Data: []byte("gzip")},
		"panel/assets/b-2.js":    {Data: []byte("small")},
	})
	for _, c := range []struct{ name, accepted, coding, body string }{
		{"assets/a-1.js", "", "", "plain"},
		{"assets/a-1.js", "gzip, deflate, br;q=0.9", "br", "brotli"},
		{"assets/a-1.js", "gzip, br;q=0", "gzip", "gzip"},
		{"assets/b-2.js", "gzip, br", "", "small"},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Encoding", c.accepted)
		if err := f.Serve(w, r, web.Panel, c.name, web.Forever); err != nil {
			t.Fatalf("%s with %q: %v", c.name, c.accepted, err)
		}
		if got := w.Header().Get("Content-Encoding"); got != c.coding || w.Body.String() != c.body {
			t.Errorf("%s with %q: coding %q, body %q; want %q, %q", c.name, c.accepted, got, w.Body, c.coding, c.body)
		}
		if got := w.Header().Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
			t.Errorf("Cache-Control %q", got)
		}
		again := httptest.NewRecorder()
		r.Header.Set("If-None-Match", w.Header().Get("ETag"))
		if err := f.Serve(again, r, web.Panel, c.name, web.Forever); err != nil || again.Code != http.StatusNotModified {
			t.Errorf("%s asked for again: %d, %v", c.name, again.Code, err)
		}
	}
}

func TestServeHasOnlyFilesOfTheApp(t *testing.T) {
	f := web.In(fstest.MapFS{
		"panel/index.html": {Data: []byte("page")}, "chat/chat-assets/a.js": {Data: []byte("x")},
		"panel/assets/a.js.br": {Data: []byte("x")},
	})
	if !f.Built() {
		t.Error("not built")
	}
	for _, name := range []string{"index.html", "../chat/chat-assets/a.js", "assets/a.js", "assets", "", "assets/a.js.br", "../../web.go"} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
		var e *carillon.Error
		if err := f.Serve(w, r, web.Panel, name, 0); !errors.As(err, &e) || e.Code != carillon.NotFound {
			t.Errorf("%q: %v, want not_found", name, err)
		}
	}
	if web.In(fstest.MapFS{".gitkeep": {}}).Built() {
		t.Error("a folder without pages is built")
	}
}
