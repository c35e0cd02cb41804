package agents_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"carillon/internal/agent/meaning"
	"carillon/internal/agent/meaning/meaningtest"
	"carillon/internal/base/egress"
	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/resources"
)

const (
	embedPath = "/panel/v1/knowledge/faq/embeddings"
	theKey    = "sk-1"
)

// embedded is a company with a base and a server for its vectors.
func embedded(t *testing.T) (w *paneltest.World, s *meaningtest.Server, body string) {
	t.Helper()
	w = paneltest.New(t)
	w.Company("acme")
	w.Company("other")
	s = meaningtest.New("words-1", 256)
	s.Key = theKey
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	w.Want("POST", "/panel/v1/knowledge", w.As("owner@acme.test"), `{"id":"faq","articles":[`+
		`{"title":"Doctors","text":"A doctor sees you at nine.","language":"en"},`+
		`{"title":"Parking","text":"Leave your car in the yard.","language":"en"},`+
		`{"title":"Pets","text":"A dog waits outside.","language":"en"},`+
		`{"title":"Invoices","text":"An invoice comes by post.","language":"en"},`+
		`{"title":"Windows","text":"They stay shut in winter.","language":"en"}]}`, 201, "", "")
	return w, s, `"base_url":"` + server.URL + `/v1/","model":"words-1"`
}

func TestABaseNamesAnEmbeddingsServer(t *testing.T) {
	w, s, server := embedded(t)
	owner, viewer := w.As("owner@acme.test"), w.As("viewer@acme.test")
	if got := w.Want("GET", embedPath, viewer, "", 200, "", ""); got["server"] != nil || got["making"] != false {
		t.Error(got)
	}
	w.Want("POST", embedPath+"/make", owner, `{}`, 404, "not_found", "")
	got := w.Want("PUT", embedPath, owner, `{`+server+`,"api_key":"`+theKey+`"}`, 200, "", "")
	if got["making"] != true || got["made"] != 0. || got["server"].(map[string]any)["model"] != "words-1" {
		t.Error(got)
	}
	for _, path := range []string{embedPath, "/panel/v1/knowledge/faq", "/panel/v1/knowledge"} {
		_, got := w.Do("GET", path, owner, "")
		if body := fmt.Sprint(got); strings.Contains(body, theKey) || !strings.Contains(body, "words-1") {
			t.Errorf("%s: %s", path, body)
		}
	}
	const search = "/panel/v1/knowledge/search?q=do+you+have+a+courtyard&language=en"
	got = w.Want("GET", search, viewer, "", 200, "", "")
	alone, _ := got["words_alone"].(map[string]any)
	if got["meaning"] != false || alone["fault"] != meaning.Making || alone["base"] != "faq" || len(got["results"].([]any)) > 0 {
		t.Error(got)
	}

	key := resources.VectorKey{CompanyID: w.CompanyOf("acme"), ID: "faq"}
	if err := vectorsOf(w).Make(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	got = w.Want("GET", embedPath, viewer, "", 200, "", "")
	if got["making"] != false || got["made"] != 5. || got["total"] != 5. || got["dimensions"] != 256. || got["fault"] != "" ||
		got["made_at"] == nil || got["searching"] != nil {
		t.Error(got)
	}

	// The key stays with its server.
	w.Want("PUT", embedPath, owner, `{`+server+`,"question_prefix":"query: "}`, 200, "", "")
	s.Inputs()
	if tried := w.Want("POST", embedPath+"/try", owner, `{`+server+`}`, 200, "", ""); tried["dimensions"] != 256. || tried["fault"] != nil {
		t.Error(tried)
	}
	tried := w.Want("POST", embedPath+"/try", owner, `{`+server+`,"api_key":"wrong"}`, 200, "", "")
	if tried["fault"] != meaning.Refused || tried["detail"] != "401" {
		t.Error(tried)
	}
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("another server gets the key")
		}
	}))
	defer thief.Close()
	tried = w.Want("POST", embedPath+"/try", owner, `{"base_url":"`+thief.URL+`","model":"words-1"}`, 200, "", "")
	if tried["fault"] != meaning.Invalid {
		t.Error(tried)
	}
	if got := w.Want("POST", embedPath+"/make", owner, `{}`, 200, "", ""); got["making"] != true {
		t.Error(got)
	}

	w.Want("DELETE", embedPath, owner, "", 204, "", "")
	if got := w.Want("GET", embedPath, viewer, "", 200, "", ""); got["server"] != nil {
		t.Error(got)
	}
	if got := w.Want("GET", search, viewer, "", 200, "", ""); got["words_alone"] != nil || got["meaning"] != false {
		t.Error(got)
	}
}

func TestTheRoutesOfEmbeddingsCheckWhoAndWhat(t *testing.T) {
	w, s, server := embedded(t)
	owner, viewer, stranger := w.As("owner@acme.test"), w.As("viewer@acme.test"), w.As("owner@other.test")
	full := `{` + server + `,"api_key":"` + theKey + `"}`
	for _, call := range [][2]string{{"PUT", ""}, {"DELETE", ""}, {"POST", "/try"}, {"POST", "/make"}} {
		body := full
		if call[0] == "DELETE" {
			body = ""
		}
		if call[1] == "/make" {
			body = `{}`
		}
		w.Want(call[0], embedPath+call[1], viewer, body, 403, "forbidden", "")
		w.Want(call[0], embedPath+call[1], stranger, body, 404, "not_found", "")
		w.Want(call[0], strings.Replace(embedPath, "faq", "none", 1)+call[1], owner, body, 404, "not_found", "")
	}
	w.Want("GET", embedPath, stranger, "", 404, "not_found", "")
	w.Want("GET", "/panel/v1/knowledge/-a/embeddings", owner, "", 404, "not_found", "")
	for _, path := range []string{"", "/try"} {
		method := map[string]string{"": "PUT", "/try": "POST"}[path]
		for body, field := range map[string]string{
			`{"model":"m"}`:                                                         "base_url",
			`{"base_url":"ftp://a.test"}`:                                           "base_url",
			`{"base_url":"https://a.test/v1?x=1"}`:                                  "base_url",
			`{"base_url":"https://a.test/v1"}`:                                      "model",
			`{` + server + `,"api_key":"a b"}`:                                      "api_key",
			`{` + server + `,"api_key":7}`:                                          "api_key",
			`{` + server + `,"question_prefix":"` + strings.Repeat("x", 301) + `"}`: "question_prefix",
			`{` + server + `,"passage_prefix":"` + strings.Repeat("x", 301) + `"}`:  "passage_prefix",
			`{` + server + `,"dimensions":8}`:                                       "body",
		} {
			w.Want(method, embedPath+path, owner, body, 400, "validation_failed", field)
		}
	}
	w.Want("POST", "/panel/v1/knowledge", owner, `{"id":"b","articles":[],"embeddings":{"base_url":"https://a.test/v1"}}`, 400,
		"validation_failed", "embeddings.model")
	if n := s.Requests(); n > 0 {
		t.Errorf("%d requests", n)
	}
}

// A draft of a base is searched by meaning with its own vectors: those of the stored base, and new ones of changed passages.
func TestADraftIsTestedByMeaningToo(t *testing.T) {
	w, s, server := embedded(t)
	owner := w.As("owner@acme.test")
	w.Want("PUT", embedPath, owner, `{`+server+`,"api_key":"`+theKey+`"}`, 200, "", "")
	key := resources.VectorKey{CompanyID: w.CompanyOf("acme"), ID: "faq"}
	if err := vectorsOf(w).Make(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	s.Inputs()
	agent := w.Want("POST", "/panel/v1/agents", owner,
		`{"name":"Ann","language":"en","engine":"builtin","knowledge":["faq"],"tools":["search"]}`, 201, "", "")["id"].(string)
	x := &tested{World: w, agent: agent, admin: owner}
	draft := w.Want("GET", "/panel/v1/knowledge/faq", owner, "", 200, "", "")
	draft["articles"] = append(draft["articles"].([]any), map[string]any{
		"title": "Swimming", "text": "The pool closes at eight.", "url": "", "language": "en",
	})
	body, err := json.Marshal(map[string]any{"base": draft, "source": "agent: Ann\ncases:\n" +
		"  - name: yard\n    turns: [{say: do you have a courtyard, expect: {outcome: offered, offers: [Parking]}}]\n" +
		"  - name: pool\n    turns: [{say: natación, expect: {outcome: offered, offers: [Swimming]}}]\n"})
	if err != nil {
		t.Fatal(err)
	}
	all, last := x.run(string(body))
	if !strings.HasPrefix(last, `done {"passed":2,`) {
		t.Errorf("%+v, %s", all, last)
	}
	passages := 0
	for _, text := range s.Inputs() {
		if strings.Contains(text, "\n") {
			passages++
		}
	}
	if passages != 2 { // the changed one, and one that is probed
		t.Errorf("%d passages were sent", passages)
	}

	s.Set(func(s *meaningtest.Server) { s.Key = "another" }) // by words
	if all, last := x.run(string(body)); !strings.HasPrefix(last, `done {"passed":0,"failed":2`) {
		t.Errorf("%+v, %s", all, last)
	}
}

// vectorsOf returns another node's vectors.
func vectorsOf(w *paneltest.World) *meaning.Vectors {
	return meaning.New(meaning.Options{
		Store: w.Store.Vectors, Resources: w.Store.Resources, Node: "maker", Log: slog.New(slog.DiscardHandler),
		Client: meaning.NewClient(egress.Options{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}),
	})
}
