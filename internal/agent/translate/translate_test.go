package translate

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// server is a fake LibreTranslate server that refuses the same requests as the real one.
type server struct {
	*httptest.Server
	t     *testing.T
	asked atomic.Int64
	reply func(w http.ResponseWriter, q map[string]any)
}

func newServer(t *testing.T) *server {
	s := &server{t: t}
	s.reply = func(w http.ResponseWriter, q map[string]any) {
		_ = json.NewEncoder(w).Encode(map[string]any{"translatedText": q["target"].(string) + ":" + q["q"].(string)})
	}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		body, _ := io.ReadAll(r.Body)
		var q map[string]any
		known := json.NewDecoder(bytes.NewReader(body))
		if r.Method != http.MethodPost || r.URL.Path != "/translate" || r.URL.RawQuery != "" ||
			r.Header.Get("Content-Type") != "application/json" || known.Decode(&q) != nil {
			t.Errorf("%s %s %s", r.Method, r.URL, body)
		}
		for name, value := range q {
			text, isText := value.(string)
			if !strings.Contains(" q source target format api_key ", " "+name+" ") || !isText || text == "" {
				t.Errorf("the field %s of %s", name, body)
			}
		}
		if q["format"] != "text" || q["source"] == nil || q["target"] == nil || q["q"] == nil {
			t.Errorf("asked %s", body)
		}
		w.Header().Set("Content-Type", "application/json")
		s.reply(w, q)
	}))
	t.Cleanup(s.Close)
	return s
}

func TestATextIsTranslatedOnce(t *testing.T) {
	s := newServer(t)
	c := New(Options{URL: s.URL + "/"})
	t.Cleanup(c.Close)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if got := c.Translate(t.Context(), "Hello", "en", "fr"); got != "fr:Hello" {
				t.Errorf("got %q", got)
			}
		})
	}
	all.Wait()
	if n := s.asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
	for _, tt := range []struct{ text, from, to, want string }{
		{"Hello", "en", "fr-CA", "fr:Hello"},
		{"Hello", "en-GB", "en-US", "Hello"},
		{"", "en", "fr", ""},
		{"  ", "en", "fr", "  "},
		{"Hello", "en", "", "Hello"},
		{"Hello", "en", "zh-TW", "zt:Hello"},
		{"Hello", "en", "zh-Hans-CN", "zh:Hello"},
		{strings.Repeat("x", 4001), "en", "fr", strings.Repeat("x", 4001)},
		{"</script> {{x}}", "en", "fr", "fr:</script> {{x}}"},
		{"Hello", "", "de", "de:Hello"},
	} {
		if got := c.Translate(t.Context(), tt.text, tt.from, tt.to); got != tt.want {
			t.Errorf("%q from %s to %s: %q", tt.text, tt.from, tt.to, got)
		}
	}
}

func TestTheKeyIsSentAndNotLogged(t *testing.T) {
	s := newServer(t)
	var log bytes.Buffer
	s.reply = func(w http.ResponseWriter, q map[string]any) {
		if q["api_key"] != "secret-key" {
			t.Errorf("asked with %v", q["api_key"])
		}
		http.Error(w, `{"error":"Invalid API key secret-key"}`, http.StatusForbidden)
	}
	c := New(Options{URL: s.URL, Key: "secret-key", Log: slog.New(slog.NewTextHandler(&log, nil))})
	t.Cleanup(c.Close)
	if got := c.Translate(t.Context(), "Hello secret words", "en", "fr"); got != "Hello secret words" {
		t.Errorf("got %q", got)
	}
	if text := log.String(); !strings.Contains(text, "403") || strings.Contains(text, "secret") {
		t.Errorf("logged %s", text)
	}
}

func TestNothingIsSentWhereARedirectLeads(t *testing.T) {
	for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		elsewhere, s := newServer(t), newServer(t)
		s.reply = func(w http.ResponseWriter, _ map[string]any) {
			w.Header().Set("Location", elsewhere.URL+"/translate")
			w.WriteHeader(status)
		}
		c := New(Options{URL: s.URL, Key: "secret-key"})
		t.Cleanup(c.Close)
		if got := c.Translate(t.Context(), "Hello", "en", "fr"); got != "Hello" || elsewhere.asked.Load() != 0 {
			t.Errorf("%d: %q, and the other server was asked %d times", status, got, elsewhere.asked.Load())
		}
	}
}

func TestOnAnyFailureTheOriginalIsShownAndTheServerIsLeftAlone(t *testing.T) {
	for name, tt := range map[string]struct {
		reply func(w http.ResponseWriter, q map[string]any)
		after time.Duration // pause before the next request
	}{
		"an unknown language": {func(w http.ResponseWriter, _ map[string]any) {
			http.Error(w, `{"error":"xx is not supported"}`, 400)
		}, keepRefused},
		"too many requests": {func(w http.ResponseWriter, _ map[string]any) {
			http.Error(w, `{"error":"Slowdown"}`, http.StatusTooManyRequests)
		}, keepFailed},
		"a fault": {func(w http.ResponseWriter, _ map[string]any) { w.WriteHeader(500) }, keepFailed},
		"a redirect": {func(w http.ResponseWriter, _ map[string]any) {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(302)
		}, keepFailed},
		"no JSON": {func(w http.ResponseWriter, _ map[string]any) { _, _ = io.WriteString(w, "<html>") }, keepFailed},
		"no text": {func(w http.ResponseWriter, _ map[string]any) { _, _ = io.WriteString(w, `{"translatedText":null}`) }, keepFailed},
		"a list": {func(w http.ResponseWriter, _ map[string]any) {
			_, _ = io.WriteString(w, `{"translatedText":["a"]}`)
		}, keepFailed},
		"a blank text": {func(w http.ResponseWriter, _ map[string]any) { _, _ = io.WriteString(w, `{"translatedText":" "}`) }, keepFailed},
		"a flood": {func(w http.ResponseWriter, _ map[string]any) {
			_, _ = io.WriteString(w, `{"translatedText":"`+strings.Repeat("x", 1<<20))
		}, keepFailed},
		"a broken connection": {func(http.ResponseWriter, map[string]any) { panic(http.ErrAbortHandler) }, keepFailed},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.reply = tt.reply
			now := time.Now()
			c := New(Options{URL: s.URL, Now: func() time.Time { return now }})
			t.Cleanup(c.Close)
			for range 3 {
				if got := c.Translate(t.Context(), "Hello", "en", "fr"); got != "Hello" {
					t.Errorf("got %.20q", got)
				}
			}
			if now = now.Add(tt.after - time.Second); c.Translate(t.Context(), "Hello", "en", "fr") != "Hello" || s.asked.Load() != 1 {
				t.Errorf("asked %d times", s.asked.Load())
			}
			if now = now.Add(time.Second); c.Translate(t.Context(), "Hello", "en", "fr") != "Hello" || s.asked.Load() != 2 {
				t.Errorf("after %s asked %d times", tt.after, s.asked.Load())
			}
		})
	}
}

func TestAPageDoesNotWaitForAServerThatHangs(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	release := make(chan struct{})
	s.reply = func(http.ResponseWriter, map[string]any) { <-release }
	t.Cleanup(func() { close(release) })
	c := New(Options{URL: s.URL})
	t.Cleanup(c.Close)
	if got := c.Translate(t.Context(), "Hello", "en", "fr"); got != "Hello" { // it responds too late
		t.Errorf("got %q", got)
	}
}
