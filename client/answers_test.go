package client

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestAnswersAreSentOnceAndRead(t *testing.T) {
	tries := 0
	var keys, bodies []string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.Method == http.MethodGet && r.URL.Path == Prefix+"messages/c.7":
			_, _ = io.WriteString(w, `{"id":"c.7","state":"read","type":"buttons","read_at":"2026-11-24T09:30:00Z"}`)
			return
		case r.URL.Path != Prefix+"messages":
			w.WriteHeader(http.StatusNotFound)
			return
		case strings.Contains(string(body), "34600000000"):
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, `{"error":"conflict","message":"No","details":{"window_closed_at":null}}`)
			return
		}
		bodies = append(bodies, string(body))
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		if tries++; tries == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `{"error":"service_unavailable","message":"Busy"}`)
			return
		}
		w.Header().Set("Idempotent-Replayed", "true")
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, `{"id":"c.7","state":"queued","conversation_id":"c","window_closes_at":"2026-11-25T09:30:00Z"}`)
	}, WithCompanyToken("token"))
	m := Answer{To: &Person{Number: "34600111222"}, Type: "buttons", Text: "Which?", Buttons: []AnswerOption{{ID: "3", Title: "Pier 3"}}}
	a, err := AnswersOf(c).Send(t.Context(), m)
	if err != nil || a.ID != "c.7" || !a.Replayed || a.ClosesAt.Day() != 25 {
		t.Errorf("%+v, %v", a, err)
	}
	if len(keys) != 2 || keys[0] == "" || keys[0] != keys[1] {
		t.Errorf("keys %q", keys)
	}
	const want = `{"to":{"number":"34600111222"},"type":"buttons","text":"Which?","buttons":[{"id":"3","title":"Pier 3"}]}`
	if bodies[0] != want {
		t.Errorf("sent %s", bodies[0])
	}
	if s, err := AnswersOf(c).State(t.Context(), a.ID); err != nil || s.State != "read" || s.ReadAt == nil || s.FailedAt != nil {
		t.Errorf("%+v, %v", s, err)
	}
	m.To.Number = "34600000000"
	if _, err := AnswersOf(c).Send(t.Context(), m); !errors.Is(err, Conflict) {
		t.Errorf("%v", err)
	}
	err = AnswersOf(c).MarkRead(t.Context(), "c.6", true)
	if err != nil || bodies[2] != `{"message_id":"c.6","type":"read","typing":true}` {
		t.Errorf("%v, %s", err, bodies[2])
	}
}
