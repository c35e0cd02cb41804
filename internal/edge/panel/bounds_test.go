package panel

import (
	"strings"
	"testing"
	"time"
)

func TestACompanyWritesItsResourcesAtABoundedRate(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	w.company("other")
	now := time.Now()
	w.limits.Now = func() time.Time { return now }
	by := w.as("developer@acme.test")
	large := `{"id":"faq","articles":[{"title":"a","text":"` + strings.Repeat("word ", 12_000) + `","url":""},{"title":"b","text":"` + strings.Repeat("word ", 12_000) + `","url":""}]}`
	w.want("POST", "/panel/v1/knowledge", by, large, 201, "", "") // counts as two
	made := w.want("POST", "/panel/v1/agents", by, `{"name":"a"}`, 201, "", "")
	one := "/panel/v1/agents/" + made["id"].(string)
	for i := range writesPerMinute - 4 {
		if status, got := w.do("PUT", one, by, `{"name":"a"}`); status != 200 {
			t.Fatal(i, status, got)
		}
		if status, got := w.do("PUT", one, by, `{}`); status != 400 { // what is refused does not count
			t.Fatal(i, status, got)
		}
	}
	w.want("PUT", "/panel/v1/knowledge/faq", by, large, 200, "", "") // of which one still fits
	w.want("PUT", "/panel/v1/knowledge/faq", by, large, 429, "rate_limit_exceeded", "")
	for _, r := range [][3]string{
		{"POST", "/panel/v1/agents", `{"name":"a"}`}, {"PUT", "/panel/v1/webhooks/x", `{}`}, {"POST", "/panel/v1/flows/drafts", `{"flow":{"name":"a"}}`},
		{"PUT", "/panel/v1/flows/x/draft", `{}`}, {"DELETE", "/panel/v1/flows/x/draft", ""}, {"POST", "/panel/v1/flows/x/publish", ""},
	} {
		if got := w.want(r[0], r[1], by, r[2], 429, "rate_limit_exceeded", ""); got["retry_after"] == nil {
			t.Error(r, got)
		}
	}
	w.want("POST", "/panel/v1/canned-replies", w.as("teammate@acme.test"), `{"shortcut":"a","text":"b"}`, 429, "rate_limit_exceeded", "")
	w.want("POST", "/panel/v1/agents", w.as("developer@other.test"), `{"name":"a"}`, 201, "", "")
	w.want("GET", "/panel/v1/knowledge/faq", by, "", 200, "", "")
	now = now.Add(time.Minute)
	w.want("PUT", "/panel/v1/knowledge/faq", by, large, 200, "", "")
}

func TestAFlowThatIsTooLargeIsRefused(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	by := w.as("developer@acme.test")
	say := `{"say":"` + strings.Repeat("x", 3900) + `"}`
	large := `{"name":"Large","trigger":{},"steps":[` + strings.Repeat(say+",", 67) + say + `]}`
	w.want("POST", "/panel/v1/flows/drafts", by, `{"flow":`+large+`}`, 400, "validation_failed", "flow")
	w.want("POST", "/panel/v1/flows", by, large, 400, "validation_failed", "body")
	w.want("POST", "/panel/v1/flows", by, strings.Replace(large, strings.Repeat(say+",", 2), "", 1), 201, "", "")
}
