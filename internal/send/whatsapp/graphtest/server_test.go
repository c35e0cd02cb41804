package graphtest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func post(t *testing.T, s *Server, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/v23.0/1000001/messages", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer provider-token")
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b)
}

func start(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestLooseTakesAndCountsWithoutReading(t *testing.T) {
	s := start(t, Options{Loose: true})
	for _, ref := range []string{"a", "b", "a"} {
		status, body := post(t, s, `{"to":"34600111222","biz_opaque_callback_data":"`+ref+`","anything":[1]}`)
		if status != 200 || !strings.Contains(body, `"id":"wamid.`) {
			t.Fatal(status, body)
		}
	}
	s.Fail(1, Code(500, 131000))
	if status, body := post(t, s, `{"to":"34600111222","biz_opaque_callback_data":"b"}`); status != 500 ||
		!strings.Contains(body, `"code":131000`) {
		t.Fatal(status, body)
	}
	got := make(map[string][]bool)
	for ref, posts := range s.All() {
		for _, p := range posts {
			got[ref] = append(got[ref], p.Accepted)
		}
	}
	if fmt.Sprint(got) != "map[a:[true true] b:[true false]]" || s.Total() != 4 || len(s.Posts("c")) != 0 {
		t.Error(got, s.Total())
	}
	if p := s.Posts("a"); len(p) != 2 || p[0].ID == p[1].ID || p[0].To != "34600111222" || p[0].Body != nil {
		t.Errorf("%+v", p)
	}
	if status, _ := post(t, s, `{}`); status != 400 {
		t.Error("a message to nobody was taken")
	}
}

func TestARequestOfAnotherAccountIsAnError(t *testing.T) {
	s := start(t, Options{Loose: true})
	for _, tc := range []struct{ path, token, content, code string }{
		{"/v23.0/1000001/messages", "other", "application/json", `"code":190`},
		{"/v22.0/1000001/messages", "provider-token", "application/json", `"code":2500`},
		{"/v23.0/1000002/messages", "provider-token", "application/json", `"error_subcode":33`},
		{"/v23.0/1000001/messages", "provider-token", "text/plain", `"code":100`},
	} {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, tc.path, strings.NewReader(`{"to":"34600111222"}`))
		req.Header.Set("Authorization", "Bearer "+tc.token)
		req.Header.Set("Content-Type", tc.content)
		w := httptest.NewRecorder()
		s.http.Config.Handler.ServeHTTP(w, req)
		if w.Code < 400 || !strings.Contains(w.Body.String(), tc.code) {
			t.Errorf("%s: %d %s", tc.path, w.Code, w.Body)
		}
	}
	if s.Total() != 0 {
		t.Error("a message of another account was recorded")
	}
}

func TestAMessageTakenWithoutAnAnswerHasItsStatuses(t *testing.T) {
	bodies := make(chan string, 8)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		bodies <- string(b)
	}))
	t.Cleanup(hook.Close)
	s := start(t, Options{Loose: true, Callbacks: Callbacks{URL: hook.URL, Statuses: []string{"delivered"}}})
	s.Fail(1, Failure{Kind: CloseAfter})
	s.Fail(1, Failure{Kind: CloseAfter, Accepted: true})
	for _, ref := range []string{"lost", "taken"} {
		if status, _ := post(t, s, `{"to":"34600111222","biz_opaque_callback_data":"`+ref+`"}`); status != 0 {
			t.Fatal("it was answered")
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	select {
	case b := <-bodies:
		if !strings.Contains(b, `"biz_opaque_callback_data":"taken"`) || strings.Contains(b, "lost") {
			t.Error(b)
		}
	case <-ctx.Done():
		t.Error("no status came")
	}
}
