package flows_test

import (
	"strings"
	"testing"
	"time"

	"carillon/internal/edge/panel/flows"
	"carillon/internal/edge/panel/paneltest"
)

// costly is a flow that does the maximum work of a burst after each response.
const costly = `{"name":"a","trigger":{},"steps":[{"id":"ask","say":"?"},{"ask":"x"},{"if":"x matches '([a-z]{30}){29}'"},{"goto":"ask"}]}`

func TestATestRunIsForEditorsAndMetered(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	by := w.As("developer@acme.test")
	for _, who := range []string{"marketer", "teammate", "viewer"} {
		for _, path := range []string{"/try", "/check"} {
			w.Want("POST", "/panel/v1/flows"+path, w.As(who+"@acme.test"), `{"flow":`+greeting+`}`, 403, "forbidden", "")
		}
	}
	input := `{"kind":"response","text":"` + strings.Repeat("a", 4000) + `"}`
	inputs := func(n int) string { return strings.Repeat(input+",", n-1) + input }
	if got := w.Want("POST", "/panel/v1/flows/try", by, `{"flow":`+costly+`,"inputs":[`+inputs(2)+
		`]}`, 200, "", ""); got["state"] != "asking" {
		t.Error(got)
	}
	w.Want("POST", "/panel/v1/flows/try", by, `{"flow":`+costly+`,"inputs":[`+inputs(20)+`]}`, 400, "validation_failed", "inputs.6")
	w.Want(
		"POST", "/panel/v1/flows/try", by, `{"flow":{"name":"a","steps":[{"if":"x matches 'a{600}b{600}'"}]}}`, 400,
		"validation_failed", "steps.0.if",
	)
	now := time.Now()
	w.Limits.Now = func() time.Time { return now }
	last := 0
	for range flows.TriesPerMinute + 1 {
		var got map[string]any
		if last, got = w.Do("POST", "/panel/v1/flows/try", by, `{"flow":`+greeting+`}`); last != 200 && got["retry_after"] == nil {
			t.Fatal(last, got)
		}
	}
	if last != 429 {
		t.Errorf("after %d test runs: %d", flows.TriesPerMinute+1, last)
	}
}
