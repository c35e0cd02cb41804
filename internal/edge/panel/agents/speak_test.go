package agents_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"carillon/internal/agent"
	"carillon/internal/base/audio"
	"carillon/internal/edge/panel/paneltest"
)

func TestAnAgentIsHeardAsTheFormHasIt(t *testing.T) {
	t.Parallel()
	w := paneltest.New(t)
	w.Company("acme")
	admin := w.As("admin@acme.test")
	made := w.Want("POST", "/panel/v1/agents", admin, `{"name":"Reception","language":"es","engine":"builtin"}`, 201, "", "")
	path := "/panel/v1/agents/" + made["id"].(string) + "/speak"
	hear := func(body string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
		r.Header.Set("Authorization", admin)
		r.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		w.Router.ServeHTTP(rec, r)
		return rec
	}
	rec := hear(`{"text":" Hola\n"}`)
	pcm, rate, err := audio.ReadWAV(rec.Body, 1<<20)
	if rec.Code != http.StatusOK || rec.Header().Get("Content-Type") != "audio/wav" || err != nil || len(pcm) != 3000 || rate != 16000 {
		t.Errorf("%d %v: %d samples at %d, %v", rec.Code, rec.Header(), len(pcm), rate, err)
	}
	hear(
		`{"text":"Hello","language":"en","agent":{"name":"R","language":"es","engine":"builtin","voice":{"speaker":"espeak",` +
			`"transcriber":"none","speed":1.5,"silence_ms":600}}}`,
	)
	w.Talks.Mu.Lock()
	said := w.Talks.Spoken
	w.Talks.Mu.Unlock()
	if len(said) != 2 || said[0].Text != "Hola" || said[0].Language != "es" || said[0].Voice.Speed != 1 || said[1].Language != "en" ||
		said[1].Voice.Speed != 1.5 {
		t.Errorf("spoken: %+v", said)
	}
	w.Want("POST", path, admin, `{}`, 400, "validation_failed", "text")
	w.Want("POST", path, admin, `{"text":"`+strings.Repeat("a", 501)+`"}`, 400, "validation_failed", "text")
	w.Want("POST", path, admin, `{"text":"fails"}`, 503, "service_unavailable", "")
	w.Want(
		"POST", path, admin,
		`{"text":"x","agent":{"name":"R","language":"es","engine":"builtin","voice":{"speaker":"openai","transcriber":"none",`+
			`"speaker_service":{"base_url":"https://speech.example/v1","model":"m"}}}}`,
		503, "service_unavailable", "",
	)
	w.Want("POST", "/panel/v1/agents/"+agent.Kind().Name+"/speak", admin, `{"text":"x"}`, 404, "not_found", "")
}
