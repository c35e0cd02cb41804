package agents_test

import (
	"strings"
	"testing"
	"time"

	"carillon/internal/edge/panel/paneltest"
)

func TestACompanyWritesItsResourcesAtABoundedRate(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	w.Company("other")
	now := time.Now()
	w.Limits.Now = func() time.Time { return now }
	by := w.As("developer@acme.test")
	large := `{"id":"faq","articles":[{"title":"a","text":"` + strings.Repeat("word ", 12_000) + `","url":""},{"title":"b","text":"` +
		strings.Repeat("word ", 12_000) + `","url":""}]}`
	w.Want("POST", "/panel/v1/knowledge", by, large, 201, "", "") // counts as two writes
	made := w.Want("POST", "/panel/v1/agents", by, `{"name":"a"}`, 201, "", "")
	one := "/panel/v1/agents/" + made["id"].(string)
	const writesPerMinute = 240
	for i := range writesPerMinute - 4 {
		if status, got := w.Do("PUT", one, by, `{"name":"a"}`); status != 200 {
			t.Fatal(i, status, got)
		}
		if status, got := w.Do("PUT", one, by, `{}`); status != 400 { // refused writes do not count
			t.Fatal(i, status, got)
		}
	}
	w.Want("PUT", "/panel/v1/knowledge/faq", by, large, 200, "", "") // only part of this write still fits
	w.Want("PUT", "/panel/v1/knowledge/faq", by, large, 429, "rate_limit_exceeded", "")
	for _, r := range [][3]string{
		{"POST", "/panel/v1/agents", `{"name":"a"}`},
		{"PUT", "/panel/v1/webhooks/x", `{}`},
		{"POST", "/panel/v1/flows/drafts", `{"flow":{"name":"a"}}`},
		{"PUT", "/panel/v1/flows/x/draft", `{}`},
		{"DELETE", "/panel/v1/flows/x/draft", ""},
		{"POST", "/panel/v1/flows/x/publish", ""},
	} {
		if got := w.Want(r[0], r[1], by, r[2], 429, "rate_limit_exceeded", ""); got["retry_after"] == nil {
			t.Error(r, got)
		}
	}
	w.Want("POST", "/panel/v1/canned-replies", w.As("teammate@acme.test"), `{"shortcut":"a","text":"b"}`, 429, "rate_limit_exceeded", "")
	w.Want("POST", "/panel/v1/agents", w.As("developer@other.test"), `{"name":"a"}`, 201, "", "")
	w.Want("GET", "/panel/v1/knowledge/faq", by, "", 200, "", "")
	now = now.Add(time.Minute)
	w.Want("PUT", "/panel/v1/knowledge/faq", by, large, 200, "", "")
}

func TestAFlowThatIsTooLargeIsRefused(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	by := w.As("developer@acme.test")
	say := `{"say":"` + strings.Repeat("x", 3900) + `"}`
	large := `{"name":"Large","trigger":{},"steps":[` + strings.Repeat(say+",", 67) + say + `]}`
	w.Want("POST", "/panel/v1/flows/drafts", by, `{"flow":`+large+`}`, 400, "validation_failed", "flow")
	w.Want("POST", "/panel/v1/flows", by, large, 400, "validation_failed", "body")
	w.Want("POST", "/panel/v1/flows", by, strings.Replace(large, strings.Repeat(say+",", 2), "", 1), 201, "", "")
}
