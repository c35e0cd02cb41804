package agents_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/share"
	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/chats"
)

const faq = `{"id":"faq","articles":[{"title":"Opening hours","text":"We are open from nine to five.",` +
	`"url":"https://acme.test/hours"},{"title":"Luggage","text":"One bag."}]}`

func TestKnowledgeIsTried(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	w.Company("other")
	owner, viewer := w.As("owner@acme.test"), w.As("viewer@acme.test")
	w.Want("POST", "/panel/v1/knowledge", owner, faq, 201, "", "")
	w.Want("POST", "/panel/v1/knowledge", owner, `{"id":"more","articles":[{"title":"Open air","text":"Concerts in July."}]}`, 201, "", "")
	got := w.Want("GET", "/panel/v1/knowledge/search?q=opening+hours&language=en", viewer, "", 200, "", "")
	results := got["results"].([]any)
	if len(results) != 2 {
		t.Fatal(got)
	}
	for _, result := range results {
		if r := result.(map[string]any); r["knowledge"] == "faq" {
			delete(r, "score")
			if diff := cmp.Diff(map[string]any{
				"knowledge": "faq", "title": "Opening hours", "text": "We are open from nine to five.", "url": "https://acme.test/hours",
				"answers": true, "offered": false,
			}, r); diff != "" {
				t.Error(diff)
			}
		}
	}
	if got := w.Want("GET", "/panel/v1/knowledge/search?q=open&knowledge=faq", viewer, "", 200, "", ""); len(got["results"].([]any)) != 1 {
		t.Error(got)
	}
	if got := w.Want(
		"GET", "/panel/v1/knowledge/search?q=open&knowledge=faq", w.As("owner@other.test"), "", 200, "", "",
	); len(got["results"].([]any)) != 0 {
		t.Error("another company found", got)
	}
	for query, field := range map[string]string{
		"": "q", "q=+": "q", "q=" + strings.Repeat("x", 1001): "q", "q=x&limit=0": "limit", "q=x&limit=21": "limit", "q=x&limit=x": "limit",
		"q=x&knowledge=a+b":        "knowledge",
		"q=x&language=no+language": "language", "q=x" + strings.Repeat("&knowledge=a", 101): "knowledge", "q=%ff": "q",
	} {
		w.Want("GET", "/panel/v1/knowledge/search?"+query, viewer, "", 400, "validation_failed", field)
	}
}

func TestArticlesAreImported(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	owner := w.As("owner@acme.test")
	pages := http.NewServeMux()
	serve := func(path, kind, body string) {
		pages.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write([]byte(body))
		})
	}
	serve("/returns", "text/html", `<title>Returns</title><main><p>Within 30 days.</p></main>`)
	serve("/latin", "text/html; charset=iso-8859-1", "<title>Env\xedos</title><p>Ma\xf1ana</p>")
	serve("/text", "text/plain; charset=utf-8", "# Payment\n\nBy card.")
	serve("/empty", "text/html", "<script>x</script>")
	serve("/image", "image/png", "\x89PNG")
	serve("/large", "text/html", strings.Repeat("<p>x</p>", 20_000))
	pages.HandleFunc("GET /moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/returns", http.StatusFound) })
	pages.HandleFunc("GET /away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://10.0.0.1/", http.StatusFound)
	})
	site := httptest.NewServer(pages)
	defer site.Close()
	for path, want := range map[string]map[string]any{
		"/returns":       {"title": "Returns", "text": "Within 30 days."},
		"/returns?a=b#c": {"title": "Returns", "text": "Within 30 days.", "url": site.URL + "/returns?a=b"},
		"/latin":         {"title": "Envíos", "text": "Mañana"},
		"/text":          {"title": "Payment", "text": "By card."},
		"/moved":         {"title": "Returns", "text": "Within 30 days."},
	} {
		if want["url"] == nil {
			want["url"] = site.URL + path
		}
		got := w.Want("POST", "/panel/v1/knowledge/import", owner, fmt.Sprintf(`{"url":%q}`, site.URL+path), 200, "", "")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	for _, path := range []string{"/empty", "/image", "/large", "/missing", "/away"} {
		w.Want("POST", "/panel/v1/knowledge/import", owner, fmt.Sprintf(`{"url":%q}`, site.URL+path), 400, "validation_failed", "url")
	}
	for body, field := range map[string]string{
		`{"url":"ftp://acme.test/"}`: "url", `{"url":"https://u:p@acme.test/"}`: "url", `{"url":"http://169.254.169.254/latest"}`: "url",
		`{"url":"x"}`: "url", `{"url":1}`: "url",
		`{}`: "body", `{"url":"https://acme.test","markdown":"x"}`: "body", `{"text":"x"}`: "body",
		`{"markdown":"# only a title"}`: "markdown",
	} {
		w.Want("POST", "/panel/v1/knowledge/import", owner, body, 400, "validation_failed", field)
	}
	got := w.Want("POST", "/panel/v1/knowledge/import", owner, `{"markdown":"# Returns\n\nWithin **30** days."}`, 200, "", "")
	if diff := cmp.Diff(map[string]any{"title": "Returns", "text": "Within **30** days.", "url": ""}, got); diff != "" {
		t.Error(diff)
	}
	if got := w.Want("GET", "/panel/v1/knowledge", owner, "", 200, "", ""); len(got["data"].([]any)) != 0 {
		t.Error("an import stored", got)
	}
}

func TestOpenQuestionsAreListed(t *testing.T) {
	w := paneltest.New(t)
	acme := w.Company("acme")
	w.Company("other")
	owner, viewer := w.As("owner@acme.test"), w.As("viewer@acme.test")
	id := w.Want("POST", "/panel/v1/agents", owner, `{"name":"Ann"}`, 201, "", "")["id"].(string)
	at := time.UnixMilli(1_800_000_000_000).UTC()
	for i, words := range []string{"when", "where", "when"} {
		q := &chats.Question{
			ID: carillon.NewID(at), CompanyID: acme.ID, AgentID: id, Words: words, Text: words + "?", Language: "en",
			LastAt: at.Add(time.Duration(i) * time.Second), ConversationID: "c",
		}
		if err := w.Store.Questions.Record(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	got := w.Want("GET", "/panel/v1/questions?limit=1&agent_id="+id, viewer, "", 200, "", "")
	row := got["data"].([]any)[0].(map[string]any)
	if diff := cmp.Diff(map[string]any{
		"id": row["id"], "agent_id": id, "agent_name": "Ann", "question": "when?", "language": "en", "count": 2., "conversation_id": "c",
		"first_at": "2027-01-15T08:00:00Z", "last_at": "2027-01-15T08:00:02Z",
	}, row); diff != "" {
		t.Error(diff)
	}
	rest := w.Want("GET", "/panel/v1/questions?limit=1&cursor="+got["next_cursor"].(string), viewer, "", 200, "", "")
	if rest["next_cursor"] != nil || len(rest["data"].([]any)) != 1 || rest["data"].([]any)[0].(map[string]any)["question"] != "where?" {
		t.Error(rest)
	}
	w.Want("GET", "/panel/v1/questions?agent_id=x", viewer, "", 400, "validation_failed", "agent_id")
	w.Want("GET", "/panel/v1/questions?cursor=x", viewer, "", 400, "validation_failed", "cursor")
	one := "/panel/v1/questions/" + row["id"].(string)
	w.Want("DELETE", one, w.As("owner@other.test"), "", 404, "not_found", "")
	w.Want("DELETE", one, owner, "", 204, "", "")
	w.Want("DELETE", one, owner, "", 404, "not_found", "")
}

func TestAnAgentIsTriedInThePlayground(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	w.Company("other")
	owner := w.As("owner@acme.test")
	w.Want("POST", "/panel/v1/knowledge", owner, faq, 201, "", "")
	id := w.Want("POST", "/panel/v1/agents", owner, `{"name":"Ann","knowledge":["faq"]}`, 201, "", "")["id"].(string)
	path := "/panel/v1/agents/" + id + "/playground"
	got := w.Want("POST", path, owner, `{"said":[{"contact":true,"text":"When do you open?"}]}`, 200, "", "")
	delete(got, "ms")
	source := got["sources"].([]any)[0].(map[string]any)
	if source["confidence"].(float64) < 0.5 {
		t.Error(source)
	}
	delete(source, "confidence")
	if diff := cmp.Diff(map[string]any{
		"title": "Opening hours", "url": "https://acme.test/hours", "knowledge": "faq", "passage": "We are open from nine to five.",
	}, source); diff != "" {
		t.Error(diff)
	}
	delete(got, "sources")
	if diff := cmp.Diff(map[string]any{
		"text":    "We are open from nine to five.",
		"choices": []any{}, "end": false, "unanswered": false, "outcome": "answered",
	}, got); diff != "" {
		t.Error(diff)
	}
	got = w.Want(
		"POST", path, owner,
		`{"said":[{"contact":true,"text":"When do you open?"}],"language":"es","agent":{"name":"Ann","knowledge":[]}}`, 200, "", "",
	)
	const unknown = "No he encontrado esa información. ¿Quiere hablar con nuestro equipo?"
	if got["text"] != unknown || got["unanswered"] != true || len(got["choices"].([]any)) != 1 || got["asks"] != "-person" {
		t.Error("with changes that are not stored:", got)
	}
	got = w.Want(
		"POST", path, owner,
		`{"said":[{"contact":true,"text":"xyzzy"},{"contact":false,"text":"I couldn't find that. Would you like to talk to our team?"},`+
			`{"contact":true,"text":"yes"}],"asked":"-person"}`,
		200, "", "",
	)
	if got["handoff"] == nil {
		t.Error(got)
	}
	if got := w.Want("GET", "/panel/v1/questions", owner, "", 200, "", ""); len(got["data"].([]any)) != 0 {
		t.Error("the playground listed", got)
	}
	for body, field := range map[string]string{
		`{}`: "said", `{"said":[]}`: "said", `{"said":[{"contact":false,"text":"x"}]}`: "said",
		`{"said":[{"contact":true}]}`: "said.0.text", `{"said":["x"]}`: "said.0",
		`{"said":[{"contact":"x","text":"x"}]}`:                                                                 "said.0.contact",
		`{"said":[{"contact":true,"text":"` + strings.Repeat("x", 4001) + `"}]}`:                                "said.0.text",
		`{"said":[` + strings.Repeat(`{"text":"x"},`, 50) + `{"contact":true,"text":"x"}]}`:                     "said",
		`{"said":[{"contact":true,"text":"x"}],"language":"no language"}`:                                       "language",
		`{"said":[{"contact":true,"text":"x"}],"agent":{"name":"A","engine":"steam"}}`:                          "engine",
		`{"said":[{"contact":true,"text":"x"}],"agent":{"id":"` + carillon.NewID(time.Now()) + `","name":"A"}}`: "id",
	} {
		w.Want("POST", path, owner, body, 400, "validation_failed", field)
	}
	w.Want("POST", path, w.As("owner@other.test"), `{"said":[{"contact":true,"text":"x"}]}`, 404, "not_found", "")
}

func TestImportsAtOnceAreBounded(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	owner := w.As("owner@acme.test")
	w.Company("other")
	other := w.As("owner@other.test")
	most := int(share.Imports.Company)
	asked, goOn := make(chan struct{}, most), make(chan struct{})
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		<-goOn
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write([]byte("text"))
	}))
	defer site.Close()
	body := fmt.Sprintf(`{"url":%q}`, site.URL)
	var group sync.WaitGroup
	for range most {
		group.Go(func() { w.Want("POST", "/panel/v1/knowledge/import", owner, body, 200, "", "") })
	}
	for range most {
		<-asked
	}
	w.Want("POST", "/panel/v1/knowledge/import", owner, body, 429, "rate_limit_exceeded", "")
	w.Want("POST", "/panel/v1/knowledge/import", other, `{"markdown":"text"}`, 200, "", "")
	close(goOn)
	group.Wait()
	w.Want("POST", "/panel/v1/knowledge/import", owner, `{"markdown":"text"}`, 200, "", "")
}
