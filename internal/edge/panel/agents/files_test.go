package agents_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/edge/panel/paneltest"
)

// drop uploads a file, and returns the status and the response.
func drop(t *testing.T, w *paneltest.World, by, name, content string) (int, map[string]any) {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", name)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = part.Write([]byte(content))
	_ = form.Close()
	server := httptest.NewServer(w.Router)
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/panel/v1/knowledge/import/file", &body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("Authorization", by)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var got map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, got
}

func TestFilesBecomeArticles(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	owner := w.As("owner@acme.test")
	status, got := drop(t, w, owner, "faq.csv", "question,answer\nWhen?,Nine\nWhere?,Here\n")
	if diff := cmp.Diff(map[string]any{"file": "faq.csv", "articles": []any{
		map[string]any{"title": "When?", "text": "Nine", "url": "", "file": "faq.csv"},
		map[string]any{"title": "Where?", "text": "Here", "url": "", "file": "faq.csv"},
	}}, got); diff != "" || status != 200 {
		t.Error(status, diff)
	}
	for _, c := range []struct {
		name, content string
		details       map[string]any
	}{
		{"a.csv", "question,answer\nWhen?,\n", map[string]any{
			"field": "file", "reason": "Line 2: The answer is missing", "fault": "no_answer", "line": 2.,
		}},
		{"a.csv", "name,number\n", map[string]any{
			"field": "file", "reason": "The first row must name a column of questions and one of answers (name, number)",
			"fault": "no_columns", "detail": "name, number",
		}},
		{"a.txt", "  ", map[string]any{"field": "file", "reason": "The file is empty", "fault": "empty"}},
	} {
		status, got := drop(t, w, owner, c.name, c.content)
		if diff := cmp.Diff(c.details, got["details"]); diff != "" || status != 400 || got["error"] != "validation_failed" {
			t.Errorf("%s: %d %s", c.name, status, diff)
		}
	}
	if status, got := drop(t, w, owner, "a.txt", strings.Repeat("x", 26<<20)); status != 413 {
		t.Error(status, got)
	}
	if status, got := drop(t, w, w.As("viewer@acme.test"), "a.txt", "x"); status != 403 {
		t.Error(status, got)
	}
	if got := w.Want("GET", "/panel/v1/knowledge", owner, "", 200, "", ""); len(got["data"].([]any)) != 0 {
		t.Error("an import stored", got)
	}
}

func TestArticlesAreChangedWithoutTheWholeBase(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	w.Company("other")
	owner := w.As("owner@acme.test")
	w.Want("POST", "/panel/v1/knowledge", owner, faq, 201, "", "")
	const path, luggage = "/panel/v1/knowledge/faq/articles", `{"title":"Luggage","text":"One bag.","url":""}`
	titles := func() (all []string) {
		for _, a := range w.Want("GET", "/panel/v1/knowledge/faq", owner, "", 200, "", "")["articles"].([]any) {
			all = append(all, a.(map[string]any)["title"].(string))
		}
		return all
	}
	w.Want("POST", path, owner, `{"add":[{"title":"Pets","text":"No dogs.","file":"rules.pdf"}]}`, 200, "", "")
	w.Want("POST", path, owner, `{"remove":[`+luggage+`],"add":[{"title":"Bags","text":"Two."},{"title":"Food","text":"None."}]}`,
		200, "", "")
	if diff := cmp.Diff([]string{"Opening hours", "Bags", "Pets", "Food"}, titles()); diff != "" {
		t.Error(diff)
	}
	w.Want("POST", path, owner, `{"remove":[{"title":"Food","text":"None."}]}`, 200, "", "")
	w.Want("POST", path, owner, `{"remove":[`+luggage+`]}`, 409, "conflict", "")
	for body, field := range map[string]string{
		`{}`: "body", `{"add":[]}`: "body", `{"add":{}}`: "add", `{"add":[{"name":"x"}]}`: "add",
		`{"add":[{"title":"x"}]}`: "articles.3.text", `{"all":[]}`: "body", `{"add":[{"text":"x","file":"a\nb"}]}`: "articles.3.file",
	} {
		w.Want("POST", path, owner, body, 400, "validation_failed", field)
	}
	w.Want("POST", "/panel/v1/knowledge/none/articles", owner, `{"add":[{"text":"x"}]}`, 404, "not_found", "")
	w.Want("POST", path, w.As("owner@other.test"), `{"add":[{"text":"x"}]}`, 404, "not_found", "")
	w.Want("POST", path, w.As("viewer@acme.test"), `{"add":[{"text":"x"}]}`, 403, "forbidden", "")
	// A base is larger than the body of a request that writes a resource.
	text := strings.Repeat("We are open. ", 4000)
	var many []string
	for i := range 60 {
		many = append(many, fmt.Sprintf(`{"title":"Article %d","text":%q}`, i, text))
	}
	w.Want("POST", path, owner, `{"add":[`+strings.Join(many, ",")+`]}`, 200, "", "")
	w.Want("POST", path, owner, `{"remove":[{"title":"Article 7","text":"`+text+`"}],"add":[{"title":"Seven","text":"x"}]}`, 200, "", "")
	if all := titles(); len(all) != 63 || all[10] != "Seven" {
		t.Error(all)
	}
}

func TestSynonymsAreChangedWithoutTheArticles(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	w.Company("other")
	owner := w.As("owner@acme.test")
	w.Want("POST", "/panel/v1/knowledge", owner, `{"id":"faq","articles":[{"title":"Luggage",`+
		`"text":"You may bring one bag.","language":"en"}]}`, 201, "", "")
	const path, search = "/panel/v1/knowledge/faq/synonyms", "/panel/v1/knowledge/search?q=Can+I+bring+a+wibble&language=en"
	before := w.Want("GET", "/panel/v1/knowledge/faq", owner, "", 200, "", "")["articles"]
	for _, x := range w.Want("GET", search, owner, "", 200, "", "")["results"].([]any) {
		if x.(map[string]any)["answers"] == true {
			t.Error("an unknown word has an answer", x)
		}
	}
	w.Want("PUT", path, owner, `{"synonyms":["wibble, luggage, bag"]}`, 200, "", "")
	got := w.Want("GET", "/panel/v1/knowledge/faq", owner, "", 200, "", "")
	if diff := cmp.Diff([]any{before, []any{"wibble, luggage, bag"}}, []any{got["articles"], got["synonyms"]}); diff != "" {
		t.Error(diff)
	}
	first := w.Want("GET", search, owner, "", 200, "", "")["results"].([]any)[0].(map[string]any)
	if first["title"] != "Luggage" || first["answers"] != true {
		t.Error("no answer with the synonym:", first)
	}
	for body, field := range map[string]string{
		`{}`: "synonyms", `{"synonyms":"a, b"}`: "synonyms", `{"synonyms":["a, b","alone"]}`: "synonyms.1",
		`{"synonyms":["a, ?"]}`: "synonyms.0", `{"all":[]}`: "body",
	} {
		w.Want("PUT", path, owner, body, 400, "validation_failed", field)
	}
	w.Want("PUT", "/panel/v1/knowledge/none/synonyms", owner, `{"synonyms":[]}`, 404, "not_found", "")
	w.Want("PUT", path, w.As("owner@other.test"), `{"synonyms":[]}`, 404, "not_found", "")
	w.Want("PUT", path, w.As("viewer@acme.test"), `{"synonyms":[]}`, 403, "forbidden", "")
	if got := w.Want("PUT", path, owner, `{"synonyms":[]}`, 200, "", ""); len(got["synonyms"].([]any)) != 0 {
		t.Error(got)
	}
}
