package agents_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/chats"
)

// asking is a company with an agent that was asked questions.
type asking struct {
	*paneltest.World
	company, agent string
	at             time.Time
}

func newAsking(t *testing.T) *asking {
	t.Helper()
	w := paneltest.New(t)
	acme := w.Company("acme")
	w.Company("other")
	owner := w.As("owner@acme.test")
	w.Want("POST", "/panel/v1/knowledge", owner, faq, 201, "", "")
	staff := `{"id":"staff","articles":[{"title":"Opening the till","text":"With the key."}]}`
	w.Want("POST", "/panel/v1/knowledge", owner, staff, 201, "", "")
	id := w.Want("POST", "/panel/v1/agents", owner, `{"name":"Ann","knowledge":["faq"]}`, 201, "", "")["id"].(string)
	return &asking{w, acme.ID, id, time.UnixMilli(1_800_000_000_000).UTC()}
}

// ask records a question of an agent, and returns its id.
func (w *asking) ask(agent, text string, change ...func(q *chats.Question)) string {
	w.T.Helper()
	w.at = w.at.Add(time.Second)
	q := &chats.Question{
		ID: carillon.NewID(w.at), CompanyID: w.company, AgentID: agent, Words: strings.ToLower(text), Text: text, Language: "en",
		LastAt: w.at, ConversationID: "c",
	}
	for _, c := range change {
		c(q)
	}
	if err := w.Store.Questions.Record(w.T.Context(), q); err != nil {
		w.T.Fatal(err)
	}
	return q.ID
}

func (w *asking) groups(query string) []map[string]any {
	w.T.Helper()
	got := w.Want("GET", "/panel/v1/questions/groups?"+query, w.As("viewer@acme.test"), "", 200, "", "")
	var all []map[string]any
	for _, g := range got["data"].([]any) {
		all = append(all, g.(map[string]any))
	}
	return all
}

func body(fields map[string]any) string {
	text, _ := json.Marshal(fields)
	return string(text)
}

func TestQuestionsAboutOneSubjectAreOneGroupWithTheNearestArticle(t *testing.T) {
	w := newAsking(t)
	owner := w.As("owner@acme.test")
	staff := w.Want("POST", "/panel/v1/agents", owner, `{"name":"Bob","knowledge":["staff"]}`, 201, "", "")["id"].(string)
	first := w.ask(w.agent, "Opening on zyxwv holidays?")
	w.ask(w.agent, "Opening on zyxwv holidays?")
	w.ask(w.agent, "zyxwv holidays: opening", func(q *chats.Question) { q.Language = "de"; q.Offered = 1 })
	w.ask(w.agent, "May luggage come?", func(q *chats.Question) {
		q.Wrong, q.Source = 1, chats.Passage{Knowledge: "faq", Title: "Luggage", Text: "One bag."}
	})
	w.ask(staff, "opening zyxwv holidays")
	all := w.groups("")
	if len(all) != 3 {
		t.Fatalf("%d groups: %v", len(all), all)
	}
	g := all[0]
	if g["id"] != first || g["count"] != 3. || g["offered"] != 1. || len(g["questions"].([]any)) != 2 || len(g["examples"].([]any)) != 2 {
		t.Error(g)
	}
	if diff := cmp.Diff([]any{"en", "de"}, g["languages"]); diff != "" {
		t.Error(diff)
	}
	near, _ := g["nearest"].(map[string]any)
	if near["knowledge"] != "faq" || near["article"] != 0. || near["title"] != "Opening hours" || near["passage"] == "" ||
		near["confidence"].(float64) <= 0 {
		t.Error(near)
	}
	for _, g := range all[1:] {
		switch g["agents"].([]any)[0] {
		case "Bob":
			if near, _ := g["nearest"].(map[string]any); near["knowledge"] != "staff" {
				t.Error("in the bases of its agent:", near)
			}
		case "Ann":
			answer := g["examples"].([]any)[0].(map[string]any)["answer"].(map[string]any)
			if g["nearest"] != nil {
				t.Error("the article with the wrong answer is the nearest:", g["nearest"])
			}
			if g["wrong"] != 1. || answer["title"] != "Luggage" || answer["text"] != "One bag." {
				t.Error(g)
			}
		}
	}
	if got := w.groups("agent_id=" + staff); len(got) != 1 || got[0]["agents"].([]any)[0] != "Bob" {
		t.Error(got)
	}
	page := w.Want("GET", "/panel/v1/questions/groups?limit=2", owner, "", 200, "", "")
	next := "&cursor=" + url.QueryEscape(page["next_cursor"].(string))
	rest := w.Want("GET", "/panel/v1/questions/groups?limit=2"+next, owner, "", 200, "", "")
	if len(page["data"].([]any)) != 2 || len(rest["data"].([]any)) != 1 || rest["next_cursor"] != nil || page["groups"] != 3. ||
		page["questions"] != 4. {
		t.Error(page, rest)
	}
	if got := w.Want("GET", "/panel/v1/questions/groups", w.As("owner@other.test"), "", 200, "", ""); len(got["data"].([]any)) != 0 {
		t.Error("another company sees", got)
	}
	w.Want("GET", "/panel/v1/questions/groups?agent_id=x", owner, "", 400, "validation_failed", "agent_id")
	w.Want("GET", "/panel/v1/questions/groups?cursor=x", owner, "", 400, "validation_failed", "cursor")
}

func TestQuestionsAreAttachedToAnArticle(t *testing.T) {
	w := newAsking(t)
	owner, viewer, other := w.As("owner@acme.test"), w.As("viewer@acme.test"), w.As("owner@other.test")
	ids := []string{
		w.ask(w.agent, "zyxwv qqfrob\nholidays?"), w.ask(w.agent, "zyxwv qqfrob: holidays"), w.ask(w.agent, "Opening hours?"),
		w.ask(w.agent, "long "+strings.Repeat("zyxwv ", 60)),
	}
	left := w.ask(w.agent, "May dogs come?")
	attach := map[string]any{"questions": ids, "knowledge": "faq", "article": 0, "title": "Opening hours"}
	change := func(field string, value any) string {
		changed := maps.Clone(attach)
		changed[field] = value
		return body(changed)
	}
	const path = "/panel/v1/questions/attach"
	w.Want("POST", path, viewer, body(attach), 403, "forbidden", "")
	w.Want("POST", path, other, body(attach), 404, "not_found", "")
	for _, x := range []struct {
		field  string
		value  any
		status int
		code   string
		fault  string
	}{
		{"questions", []string{}, 400, "validation_failed", "questions"},
		{"questions", []string{"x"}, 404, "not_found", ""},
		{"questions", slices.Repeat([]string{"x"}, 1001), 400, "validation_failed", "questions"},
		{"knowledge", "none", 404, "not_found", ""},
		{"knowledge", "a b", 404, "not_found", ""},
		{"article", 9, 409, "conflict", ""},
		{"article", "x", 400, "validation_failed", "article"},
		{"title", "Other", 409, "conflict", ""},
	} {
		w.Want("POST", path, owner, change(x.field, x.value), x.status, x.code, x.fault)
	}
	got := w.Want("POST", path, owner, body(attach), 200, "", "")
	if got["resolved"] != 4. || got["added"] != 2. { // the same words twice, and the title's
		t.Error(got)
	}
	article := w.Want("GET", "/panel/v1/knowledge/faq", owner, "", 200, "", "")["articles"].([]any)[0].(map[string]any)
	wordings := article["questions"].([]any)
	long := "long" + strings.Repeat(" zyxwv", 32)
	if len(wordings) != 2 || !slices.Contains(wordings, any(long)) || !slices.ContainsFunc(wordings, func(w any) bool {
		return strings.HasPrefix(w.(string), "zyxwv qqfrob")
	}) {
		t.Errorf("%q", wordings)
	}
	found := w.Want("GET", "/panel/v1/knowledge/search?q=zyxwv+qqfrob&knowledge=faq", owner, "", 200, "", "")["results"].([]any)
	if len(found) == 0 || found[0].(map[string]any)["title"] != "Opening hours" || found[0].(map[string]any)["answers"] != true {
		t.Error("it is not found by its wording:", found)
	}
	if all := w.groups(""); len(all) != 1 || all[0]["id"] != left {
		t.Error(all)
	}
	if log := w.Want("GET", "/panel/v1/activity/changes?kind=knowledge", owner, "", 200, "", ""); len(log["data"].([]any)) < 3 {
		t.Error("the change is not recorded:", log)
	}
	w.Want("POST", path, owner, body(attach), 404, "not_found", "") // they are off the list
	w.Want("POST", "/panel/v1/questions/resolve", other, body(map[string]any{"questions": []string{left}}), 200, "", "")
	if all := w.groups(""); len(all) != 1 {
		t.Error("another company took it off:", all)
	}
	got = w.Want("POST", "/panel/v1/questions/resolve", owner, body(map[string]any{"questions": []string{left}}), 200, "", "")
	if got["resolved"] != 1. {
		t.Error(got)
	}
}

func TestAnArticleTakesAHundredWordings(t *testing.T) {
	w := newAsking(t)
	owner := w.As("owner@acme.test")
	var ids []string
	for i := range 110 {
		ids = append(ids, w.ask(w.agent, fmt.Sprintf("zyxwv number %d", i)))
	}
	attach := body(map[string]any{"questions": ids, "knowledge": "faq", "article": 1, "title": "Luggage"})
	if got := w.Want("POST", "/panel/v1/questions/attach", owner, attach, 200, "", ""); got["added"] != 100. || got["resolved"] != 110. {
		t.Error(got)
	}
	attach = body(map[string]any{
		"questions": []string{w.ask(w.agent, "one more")}, "knowledge": "faq", "article": 1, "title": "Luggage",
	})
	w.Want("POST", "/panel/v1/questions/attach", owner, attach, 400, "validation_failed", "article")
	questions := strings.Repeat(`"a",`, 100) + `"a"`
	w.Want("POST", "/panel/v1/knowledge", owner, `{"id":"x","articles":[{"title":"t","text":"x","questions":[`+questions+`]}]}`,
		400, "validation_failed", "articles.0.questions")
	w.Want("POST", "/panel/v1/knowledge", owner, `{"id":"x","articles":[{"title":"t","text":"x","questions":["a\nb"]}]}`,
		400, "validation_failed", "articles.0.questions.0")
}

func TestOutcomesAreShownOverTime(t *testing.T) {
	w := newAsking(t)
	owner, viewer := w.As("owner@acme.test"), w.As("viewer@acme.test")
	now := time.Now().Truncate(time.Hour).UTC()
	for _, x := range []struct {
		company, agent string
		ago            time.Duration
		answered       int
	}{
		{w.company, w.agent, 0, 3},
		{w.company, w.agent, 30 * time.Hour, 2},
		{w.company, "gone", 30 * time.Hour, 1},
		{w.company, w.agent, 30 * 24 * time.Hour, 9},
	} {
		w.Execute(`INSERT INTO answer_count (company_id, hour, agent_id, answered, offered, handed_over, unanswered, up, down)
			VALUES ($1, $2, $3, $4, 1, 0, 2, 1, 0)`, x.company, now.Add(-x.ago).UnixMilli(), x.agent, x.answered)
	}
	got := w.Want("GET", "/panel/v1/answers", viewer, "", 200, "", "")
	want := map[string]any{"answered": 6., "offered": 3., "handed_over": 0., "unanswered": 6., "up": 3., "down": 0.}
	if diff := cmp.Diff(want, got["total"]); diff != "" {
		t.Error(diff)
	}
	hours, agents := got["hours"].([]any), got["agents"].([]any)
	if len(hours) != 2 || hours[0].(map[string]any)["answered"] != 3. || hours[1].(map[string]any)["hour"] != carillon.FormatTime(now) {
		t.Error(hours)
	}
	if len(agents) != 2 || agents[0].(map[string]any)["agent"] != "Ann" || agents[1].(map[string]any)["agent"] != "" {
		t.Error(agents)
	}
	got = w.Want("GET", "/panel/v1/answers?agent_id="+w.agent+"&from="+url.QueryEscape(carillon.FormatTime(now.Add(-60*24*time.Hour))),
		viewer, "", 200, "", "")
	if got["total"].(map[string]any)["answered"] != 14. {
		t.Error(got)
	}
	if got := w.Want("GET", "/panel/v1/answers", w.As("owner@other.test"), "", 200, "", ""); len(got["hours"].([]any)) != 0 {
		t.Error("another company sees", got)
	}
	for query, field := range map[string]string{
		"agent_id=x": "agent_id", "from=x": "from", "from=2030-01-02T00:00:00Z&to=2030-01-01T00:00:00Z": "from",
		"from=2028-01-01T00:00:00Z&to=2030-01-01T00:00:00Z": "from",
	} {
		w.Want("GET", "/panel/v1/answers?"+query, owner, "", 400, "validation_failed", field)
	}
	w.Execute(`INSERT INTO article_count (company_id, knowledge_id, title, answered, up, down, at)
		VALUES ($1, 'faq', 'Luggage', 4, 1, 2, 0)`, w.company)
	got = w.Want("GET", "/panel/v1/answers/articles?knowledge=faq", viewer, "", 200, "", "")
	if diff := cmp.Diff([]any{map[string]any{"title": "Luggage", "answered": 4., "up": 1., "down": 2.}}, got["data"]); diff != "" {
		t.Error(diff)
	}
	w.Want("GET", "/panel/v1/answers/articles", viewer, "", 400, "validation_failed", "knowledge")
}

func TestReviewsAreCounted(t *testing.T) {
	w := newAsking(t)
	now := time.Now().Truncate(time.Hour).UTC()
	for _, x := range []struct {
		kind, name, value string
		ago               time.Duration
		n                 int
	}{
		{"maker", "", "rules", 0, 5},
		{"maker", "", "openai", 2 * time.Hour, 2},
		{"maker", "", "rules", 30 * 24 * time.Hour, 40},
		{"goal", "", "yes", 0, 3},
		{"goal", "", "no", 0, 1},
		{"goal", "", "unknown", 2 * time.Hour, 2},
		{"goal", "", "no", 3 * time.Hour, -1}, // replaced outside of the range
		{"topic", "", "Prices", 0, 4},
		{"topic", "", "Dogs", 0, 1},
		{"topic", "", "Prices", 2 * time.Hour, 1},
		{"topic", "", "Gone", 2 * time.Hour, 0},
		{"result", "confirmed", "true", 0, 2},
		{"result", "confirmed", "false", 0, 3},
	} {
		w.Execute(`INSERT INTO review_count (company_id, hour, agent_id, kind, name, value, reviews) VALUES ($1, $2, 'a', $3, $4, $5, $6)`,
			w.company, now.Add(-x.ago).UnixMilli(), x.kind, x.name, x.value, x.n)
	}
	viewer := w.As("viewer@acme.test")
	got := w.Want("GET", "/panel/v1/answers/reviews", viewer, "", 200, "", "")
	delete(got, "from")
	delete(got, "to")
	count := func(value string, n float64) map[string]any { return map[string]any{"value": value, "reviews": n} }
	want := map[string]any{
		"reviews": 7., "by": []any{count("rules", 5), count("openai", 2)},
		"goals": map[string]any{"yes": 3., "no": 0., "unknown": 2.},
		"hours": []any{
			map[string]any{"hour": carillon.FormatTime(now.Add(-2 * time.Hour)), "yes": 0., "no": 0., "unknown": 2.},
			map[string]any{"hour": carillon.FormatTime(now), "yes": 3., "no": 1., "unknown": 0.},
		},
		"topics":  []any{count("Prices", 5), count("Dogs", 1)},
		"results": []any{map[string]any{"name": "confirmed", "values": []any{count("false", 3), count("true", 2)}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = w.Want("GET", "/panel/v1/answers/reviews?agent_id=0190a2b4-0000-7000-8000-000000000001", viewer, "", 200, "", "")
	if got["reviews"] != 0. || len(got["topics"].([]any)) != 0 {
		t.Error("of another agent:", got)
	}
	if got := w.Want("GET", "/panel/v1/answers/reviews", w.As("owner@other.test"), "", 200, "", ""); got["reviews"] != 0. {
		t.Error("another company sees", got)
	}
	w.Want("GET", "/panel/v1/answers/reviews?from=x", viewer, "", 400, "validation_failed", "from")
}
