package agents_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"carillon/internal/agent/trial"
	"carillon/internal/edge/panel/paneltest"
)

// tested is a company with an agent, its knowledge and a suite of two tests.
type tested struct {
	*paneltest.World

	admin, agent, suite string
}

const testSource = `# Questions of visitors
name: visitors
cases:
  - name: opening hours
    turns: [{say: When are you open?, expect: {article: Opening hours, outcome: answered, contains: [nine to five]}}]
  - name: dogs
    turns: [{say: Are dogs welcome on board?, expect: {outcome: unanswered, not: {article: Opening hours}}}]
`

func newTested(t *testing.T) *tested {
	t.Helper()
	w := &tested{World: paneltest.New(t)}
	w.Company("acme")
	w.admin = w.As("admin@acme.test")
	w.Want("POST", "/panel/v1/knowledge", w.admin,
		`{"id":"faq","articles":[{"title":"Opening hours","text":"We are open from nine to five.","url":"","language":"en"}]}`, 201, "", "")
	w.agent = w.Want("POST", "/panel/v1/agents", w.admin,
		`{"name":"Reception","language":"en","engine":"builtin","knowledge":["faq"],"tools":["search","handoff"]}`,
		201, "", "")["id"].(string)
	w.suite = w.Want("POST", "/panel/v1/suites", w.admin, w.body("agent", w.agent, "source", testSource), 201, "", "")["id"].(string)
	return w
}

// body encodes an object of texts.
func (w *tested) body(pairs ...string) string {
	all := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	text, err := json.Marshal(all)
	if err != nil {
		w.T.Fatal(err)
	}
	return string(text)
}

// run runs tests and returns the results and the last event.
func (w *tested) run(body string) (all []trial.Result, last string) {
	w.T.Helper()
	request := httptest.NewRequestWithContext(w.T.Context(), "POST", "/panel/v1/agents/"+w.agent+"/tests/run", strings.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", w.admin)
	r := httptest.NewRecorder()
	w.Router.ServeHTTP(streaming{r}, request)
	if r.Code != 200 {
		w.T.Fatalf("%d: %s", r.Code, r.Body)
	}
	return read(w.T, r)
}

// streaming is a recorder that accepts deadlines, as a connection does.
type streaming struct{ *httptest.ResponseRecorder }

func (streaming) SetReadDeadline(time.Time) error  { return nil }
func (streaming) SetWriteDeadline(time.Time) error { return nil }

func read(t *testing.T, r *httptest.ResponseRecorder) (all []trial.Result, last string) {
	t.Helper()
	event := ""
	for line := range strings.SplitSeq(r.Body.String(), "\n") {
		field, value, _ := strings.Cut(line, ": ")
		switch {
		case field == "event":
			event = value
		case field == "data" && event == "result":
			var x trial.Result
			if err := json.Unmarshal([]byte(value), &x); err != nil {
				t.Error(err)
			}
			all = append(all, x)
		case field == "data":
			last = event + " " + value
		}
	}
	return all, last
}

func TestTheTestsOfAnAgentRun(t *testing.T) {
	t.Parallel()
	w := newTested(t)
	all, last := w.run(`{}`)
	if len(all) != 2 || all[0].State != trial.Passed || all[1].State != trial.Passed ||
		!strings.HasPrefix(last, `done {"passed":2,"failed":0,`) {
		t.Fatalf("%+v, %s", all, last)
	}
	listed := w.Want("GET", "/panel/v1/agents/"+w.agent+"/tests", w.As("viewer@acme.test"), "", 200, "", "")
	runs := listed["runs"].([]any)
	suites := listed["suites"].([]any)
	if len(runs) != 1 || len(suites) != 1 || suites[0].(map[string]any)["source"] != testSource {
		t.Fatalf("%v", listed)
	}
	run := runs[0].(map[string]any)
	if run["origin"] != "panel" || run["passed"] != 2.0 || len(run["cases"].([]any)) != 2 {
		t.Errorf("%v", run)
	}
	one := "/panel/v1/agents/" + w.agent + "/tests/runs/" + run["id"].(string)
	shown := w.Want("GET", one, w.admin, "", 200, "", "")
	first := shown["results"].([]any)[0].(map[string]any)["turns"].([]any)[0].(map[string]any)
	if first["say"] != "When are you open?" || !strings.Contains(first["text"].(string), "nine to five") {
		t.Errorf("%v", first)
	}
	w.Company("other")
	w.Want("GET", one, w.As("owner@other.test"), "", 404, "not_found", "")
	w.Want("GET", "/panel/v1/agents/"+w.agent+"/tests/runs/x", w.admin, "", 404, "not_found", "")
	w.Want("POST", "/panel/v1/agents/"+w.agent+"/tests/run", w.As("viewer@acme.test"), `{}`, 403, "forbidden", "")
}

func TestTestsRunBeforeAChangeIsSaved(t *testing.T) {
	t.Parallel()
	w := newTested(t)
	// A draft of the agent without knowledge fails; the stored agent is unchanged.
	all, _ := w.run(`{"agent":{"name":"Reception","language":"en","engine":"builtin","knowledge":[]}}`)
	if len(all) != 2 || all[0].State != trial.Failed || all[1].State != trial.Passed {
		t.Errorf("%+v", all)
	}
	// So does a draft of the base without the article.
	all, last := w.run(`{"base":{"id":"faq","articles":[{"title":"Dogs","text":"Dogs are welcome on board.","url":"","language":"en"}]}}`)
	if len(all) != 2 || all[0].State != trial.Failed || all[1].State != trial.Failed ||
		!strings.HasPrefix(last, `done {"passed":0,"failed":2,`) {
		t.Errorf("%+v, %s", all, last)
	}
	if all, _ := w.run(`{}`); all[0].State != trial.Passed {
		t.Errorf("the draft was stored: %+v", all[0])
	}
	runs := w.Want("GET", "/panel/v1/agents/"+w.agent+"/tests", w.admin, "", 200, "", "")["runs"].([]any)
	var origins []string
	for _, r := range runs {
		origins = append(origins, r.(map[string]any)["origin"].(string))
	}
	if strings.Join(origins, " ") != "panel draft draft" {
		t.Errorf("origins %v", origins)
	}
}

func TestASuiteIsCheckedBeforeItIsStored(t *testing.T) {
	t.Parallel()
	w := newTested(t)
	check := "/panel/v1/agents/" + w.agent + "/tests/check"
	got := w.Want("POST", check, w.admin, w.body("source", "cases:\n  - nam: x\n"), 200, "", "")
	problem := got["problems"].([]any)[0].(map[string]any)
	if problem["line"] != 2.0 || problem["text"] != `unknown field "nam": did you mean name?` {
		t.Errorf("%v", got)
	}
	got = w.Want("POST", check, w.admin, w.body("source", testSource), 200, "", "")
	if got["cases"] != 2.0 || len(got["problems"].([]any)) != 0 {
		t.Errorf("%v", got)
	}
	got = w.Want("POST", check, w.admin, w.body("source", "agent: Somebody\n"+testSource), 200, "", "")
	if len(got["problems"].([]any)) != 1 {
		t.Errorf("%v", got)
	}
	w.Want("PUT", "/panel/v1/suites/"+w.suite, w.admin, w.body("agent", w.agent, "source", "cases:\n  - nam: x\n"), 400,
		"validation_failed", "source")
	w.Want("POST", "/panel/v1/suites", w.admin, w.body("agent", w.agent, "source", testSource), 409, "conflict", "")
	w.Want("POST", "/panel/v1/agents/"+w.agent+"/tests/run", w.admin, w.body("source", "cases: x"), 400, "validation_failed", "source")
	w.Want("POST", "/panel/v1/agents/"+w.agent+"/tests/run", w.admin, `{"origin":"draft"}`, 400, "validation_failed", "origin")
	w.Want("DELETE", "/panel/v1/agents/"+w.agent, w.admin, "", 409, "conflict", "")
	w.Want("DELETE", "/panel/v1/suites/"+w.suite, w.admin, "", 204, "", "")
	w.Want("POST", "/panel/v1/agents/"+w.agent+"/tests/run", w.admin, `{}`, 409, "conflict", "")
	elsewhere := w.Want("POST", "/panel/v1/agents", w.admin,
		`{"name":"Eleven","language":"es","engine":"elevenlabs","elevenlabs":{"agent_id":"a","api_key":"k"}}`, 201, "", "")["id"].(string)
	w.Want("POST", "/panel/v1/agents/"+elsewhere+"/tests/run", w.admin, w.body("source", testSource), 409, "conflict", "")
}
