package panel

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"carillon/internal/talk/conversation"
	"carillon/internal/talk/flow"
)

// costly does as much as a run may between two responses, for each.
const costly = `{"name":"a","trigger":{},"steps":[{"id":"ask","say":"?"},{"ask":"x"},{"if":"x matches '([a-z]{30}){29}'"},{"goto":"ask"}]}`

func TestATestRunIsForEditorsAndMetered(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	by := w.as("developer@acme.test")
	for _, who := range []string{"marketer", "teammate", "viewer"} {
		for _, path := range []string{"/try", "/check"} {
			w.want("POST", "/panel/v1/flows"+path, w.as(who+"@acme.test"), `{"flow":`+greeting+`}`, 403, "forbidden", "")
		}
	}
	input := `{"kind":"response","text":"` + strings.Repeat("a", 4000) + `"}`
	inputs := func(n int) string { return strings.Repeat(input+",", n-1) + input }
	if got := w.want("POST", "/panel/v1/flows/try", by, `{"flow":`+costly+`,"inputs":[`+inputs(2)+`]}`, 200, "", ""); got["state"] != "asking" {
		t.Error(got)
	}
	w.want("POST", "/panel/v1/flows/try", by, `{"flow":`+costly+`,"inputs":[`+inputs(20)+`]}`, 400, "validation_failed", "inputs.6")
	w.want("POST", "/panel/v1/flows/try", by, `{"flow":{"name":"a","steps":[{"if":"x matches 'a{600}b{600}'"}]}}`, 400, "validation_failed", "steps.0.if")
	now := time.Now()
	w.limits.Now = func() time.Time { return now }
	last := 0
	for range triesPerMinute + 1 {
		var got map[string]any
		if last, got = w.do("POST", "/panel/v1/flows/try", by, `{"flow":`+greeting+`}`); last != 200 && got["retry_after"] == nil {
			t.Fatal(last, got)
		}
	}
	if last != 429 {
		t.Errorf("after %d test runs: %d", triesPerMinute+1, last)
	}
}

func TestATestRunEndsWithItsRequest(t *testing.T) {
	p, err := flow.Compile(&flow.Flow{Name: "a", Steps: []flow.Step{{ID: "a", Ask: "x"}, {Goto: "a"}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if got, err := tryFlow(ctx, p, flow.Values{}, conversation.FlowWords("en"), []flowInput{{kind: "response", text: "a"}}); !errors.Is(err, context.Canceled) || got != nil {
		t.Error(got, err)
	}
}
