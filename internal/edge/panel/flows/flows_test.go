package flows_test

import (
	"fmt"
	"strings"
	"testing"

	"carillon/internal/edge/panel/paneltest"
)

const greeting = `{"name":"Greeting","trigger":{"keywords":["hi"]},"steps":[{"say":"Hello {{name}}."},{"ask":"order",` +
	`"choices":["yes","no"]},` +
	`{"if":"order == 'yes'","then":[{"http":{"url":"https://shop.test/{{name}}","save":{"total":"order.total"},"status":"code"}},` +
	`{"say":"It is {{total}}."}],` +
	`"else":[{"wait":"2h"},{"set":{"late":"{{order}}!"}},{"goto":"last"}]},{"id":"last","end":true}]}`

func TestADraftIsSavedCheckedPublishedAndKept(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	w.Company("other")
	by, reads, other := w.As("developer@acme.test"), w.As("viewer@acme.test"), w.As("owner@other.test")
	w.Want("POST", "/panel/v1/flows/drafts", reads, `{"flow":{"name":"a"}}`, 403, "forbidden", "")
	w.Want("POST", "/panel/v1/flows/drafts", by, `{}`, 400, "validation_failed", "flow")
	w.Want("POST", "/panel/v1/flows/drafts", by, `{"flow":{"name":""}}`, 400, "validation_failed", "flow.name")
	w.Want("POST", "/panel/v1/flows/drafts", by, `{"flow":{"name":"a","stepz":[]}}`, 400, "validation_failed", "stepz")
	made := w.Want("POST", "/panel/v1/flows/drafts", by, `{"flow":{"name":"Greeting","trigger":{},"steps":[{"say":""}]}}`, 201, "", "")
	one := "/panel/v1/flows/" + made["id"].(string)
	if fmt.Sprint(made["flow"]) != "map[name:Greeting steps:[map[say:]] trigger:map[]]" ||
		!strings.Contains(fmt.Sprint(made["faults"]), "steps.0") || made["published"] != false {
		t.Error(made)
	}
	w.Want("GET", one, by, "", 404, "not_found", "")
	w.Want("POST", one+"/publish", by, "", 400, "validation_failed", "steps.0")
	w.Want("PUT", one+"/draft", by, `{"flow":`+greeting+`}`, 409, "conflict", "")
	saved := w.Want("PUT", one+"/draft", by, fmt.Sprintf(`{"flow":%s,"saved_at":%q}`, greeting, made["saved_at"]), 200, "", "")
	if len(saved["faults"].([]any)) != 0 || saved["saved_at"] == made["saved_at"] {
		t.Error(saved)
	}
	w.Want("PUT", one+"/draft", by, fmt.Sprintf(`{"flow":%s,"saved_at":%q}`, greeting, made["saved_at"]), 409, "conflict", "")
	for _, method := range []string{"GET", "DELETE"} {
		w.Want(method, one+"/draft", other, "", 404, "not_found", "")
	}
	w.Want("PUT", one+"/draft", other, `{"flow":`+greeting+`}`, 404, "not_found", "")
	w.Want("POST", one+"/publish", other, "", 404, "not_found", "")

	published := w.Want("POST", one+"/publish", by, "", 200, "", "")
	if published["published"] != true || published["version"] != 1.0 || published["saved_at"] != nil {
		t.Error(published)
	}
	w.Want("POST", one+"/publish", by, "", 404, "not_found", "")
	if got := w.Want("GET", one, reads, "", 200, "", ""); got["name"] != "Greeting" {
		t.Error(got)
	}
	second := strings.Replace(greeting, "Hello", "Good day", 1)
	w.Want("PUT", one+"/draft", by, `{"flow":`+second+`}`, 200, "", "")
	if got := w.Want("GET", "/panel/v1/flows/overview", reads, "", 200, "", ""); !strings.Contains(fmt.Sprint(got), "version:1]") ||
		strings.Contains(fmt.Sprint(got), "draft_at:<nil>") {
		t.Error(got)
	}
	w.Want("POST", one+"/publish", by, "", 200, "", "")
	if got := fmt.Sprint(w.Want("GET", one+"/versions", reads, "", 200, "", "")); !strings.Contains(got, "current:true version:2") &&
		!strings.Contains(got, "version:2") {
		t.Error(got)
	}
	if got := w.Want("GET", one+"/versions/1", reads, "", 200, "", ""); !strings.Contains(fmt.Sprint(got), "Hello {{name}}") {
		t.Error(got)
	}
	for _, path := range []string{"/versions/3", "/versions/0", "/versions/x"} {
		w.Want("GET", one+path, reads, "", 404, "not_found", "")
	}
	w.Want("GET", one+"/versions/1", other, "", 404, "not_found", "")
	// Publishing an earlier definition yields its earlier version number.
	w.Want("PUT", one+"/draft", by, `{"flow":`+greeting+`}`, 200, "", "")
	if got := w.Want("POST", one+"/publish", by, "", 200, "", ""); got["version"] != 1.0 {
		t.Error(got)
	}
	w.Want("PUT", one+"/draft", by, `{"flow":`+second+`}`, 200, "", "")
	w.Want("DELETE", one, by, "", 204, "", "")
	if got := fmt.Sprint(w.Want("GET", "/panel/v1/flows/overview", by, "", 200, "", "")); got != "map[data:[]]" {
		t.Error(got)
	}
}

// A flow that would ask nothing, or send a template without a value, is not published by any route.
func TestAFlowThatAsksNothingOrLacksAValueIsNotPublished(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	by := w.As("developer@acme.test")
	w.Want(
		"POST", "/panel/v1/senders", w.As("owner@acme.test"),
		`{"id":"main","number":"15555550100","channel":"messaging","provider":"sandbox","default":true}`, 201, "", "",
	)
	w.Want("POST", "/panel/v1/templates", by, `{"name":"sent","language":"en","category":"UTILITY","content":"Order {{1}} for {{2}}",`+
		`"samples":{"1":"7","2":"Ana"}}`, 201, "", "")
	const path = "/panel/v1/flows"
	flow := func(values string) string {
		return `{"name":"Send","trigger":{},"steps":[{"say":"Hello."},{"send_template":{"name":"sent","language":"en","variables":` +
			values + `}}]}`
	}
	check := func(body string) (faults, warnings string) {
		got := w.Want("POST", path+"/check", by, `{"flow":`+body+`}`, 200, "", "")
		return fmt.Sprint(got["faults"]), fmt.Sprint(got["warnings"])
	}
	const full = `{"body_text_0":"7","body_text_1":"{{first_name}}"}`
	w.Execute("UPDATE template SET status = 'approved'")
	unknown := strings.Replace(flow(`{}`), `"en"`, `"es"`, 1)
	if faults, warnings := check(unknown); faults != "[]" || !strings.Contains(warnings, "rule:template_absent") {
		t.Error(faults, warnings)
	}
	for values, want := range map[string][2]string{
		full:                                   {"", ""},
		`{"body_text_0":"7"}`:                  {"variables.body_text_1", "template_value"},
		`{"body_text_0":"","body_text_1":"7"}`: {"variables.body_text_0", "template_value"},
		`{"body_text_0":"{{x}}","body_text_1":"7"}`: {"variables.body_text_0", "text_unset"},
	} {
		faults, warnings := check(flow(values))
		if want[0] == "" {
			if faults != "[]" || warnings != "[]" {
				t.Error(values, faults, warnings)
			}
			continue
		}
		if !strings.Contains(faults, "field:steps.1.send_template."+want[0]) || !strings.Contains(faults, "rule:"+want[1]) {
			t.Error(values, faults)
		}
		field := "steps.1.send_template." + want[0]
		made := w.Want("POST", path+"/drafts", by, `{"flow":`+flow(values)+`}`, 201, "", "")
		w.Want("POST", path+"/"+made["id"].(string)+"/publish", by, "", 400, "validation_failed", field)
		w.Want("POST", path, by, flow(values), 400, "validation_failed", field)
	}
	faults, warnings := check(`{"name":"Ask","trigger":{},"steps":[{"ask":"x"},{"if":"x == yes"}]}`)
	if !strings.Contains(faults, "rule:question") || !strings.Contains(warnings, "rule:condition_unset values:map[name:yes]") {
		t.Error(faults, warnings)
	}
	w.Want("POST", path, by, `{"name":"Ask","trigger":{},"steps":[{"ask":"x"}]}`, 400, "validation_failed", "steps.0.question")
	made := w.Want("POST", path, by, flow(full), 201, "", "")
	w.Want("PUT", path+"/"+made["id"].(string), by, flow(`{}`), 400, "validation_failed", "steps.1.send_template.variables.body_text_0")
}

func TestAFlowIsTriedWithoutDoingAnything(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	by := w.As("developer@acme.test")
	try := func(inputs string) map[string]any {
		t.Helper()
		return w.Want(
			"POST", "/panel/v1/flows/try", by, `{"flow":`+greeting+`,"values":{"name":"Ana B"},"inputs":[`+inputs+`]}`, 200, "", "",
		)
	}
	got := try("")
	if got["state"] != "asking" || got["path"] != "steps.1" || fmt.Sprint(got["choices"]) != "[yes no]" ||
		!strings.Contains(fmt.Sprint(got["turns"]), "Hello Ana B.") {
		t.Error(got)
	}
	yes := `{"kind":"response","text":"Yes!"}`
	if got = try(yes); got["state"] != "calling" || !strings.Contains(fmt.Sprint(got["effect"]), "https://shop.test/Ana%20B") ||
		got["values"].(map[string]any)["order"] != "yes" {
		t.Error(got)
	}
	got = try(yes + `,{"kind":"outcome","status":"200","values":{"total":"7 €"}}`)
	if got["state"] != "completed" || !strings.Contains(fmt.Sprint(got["turns"]), "It is 7 €.") ||
		got["values"].(map[string]any)["code"] != "200" || got["effect"] != nil {
		t.Error(got)
	}
	if got = try(yes + `,{"kind":"outcome","text":"refused by them","refused":true}`); got["state"] != "failed" ||
		got["error"] != "steps.2.then.0: refused by them" {
		t.Error(got)
	}
	no := `{"kind":"response","text":"2"}`
	if got = try(no); got["state"] != "waiting" || got["wait_ms"] != 7200000.0 {
		t.Error(got)
	}
	if got = try(no + `,{"kind":"wait"}`); got["state"] != "completed" ||
		!strings.Contains(
			fmt.Sprint(got["turns"]), "changed:map[late:no!]",
		) || !strings.Contains(fmt.Sprint(got["turns"]), "after_ms:7.2e+06") {
		t.Error(got)
	}
	if got = try(`{"kind":"response","text":"I want to talk to a person"}`); got["state"] != "handed_off" {
		t.Error(got)
	}
	for body, field := range map[string]string{
		`{"flow":{"name":"a","steps":[{"goto":"b"}]}}`:                                                        "steps.0.goto",
		`{"flow":` + greeting + `,"inputs":[{"kind":"sing"}]}`:                                                "inputs.0.kind",
		`{"flow":` + greeting + `,"inputs":[{"kind":"response"}]}`:                                            "inputs.0.text",
		`{"flow":` + greeting + `,"inputs":[7]}`:                                                              "inputs.0",
		`{"flow":` + greeting + `,"values":{"a b":"c"}}`:                                                      "values",
		`{"flow":` + greeting + `,"values":{"a":"` + strings.Repeat("x", 4001) + `"}}`:                        "values.a",
		`{"flow":` + greeting + `,"inputs":[` + strings.Repeat(`{"kind":"wait"},`, 200) + `{"kind":"wait"}]}`: "inputs",
	} {
		w.Want("POST", "/panel/v1/flows/try", by, body, 400, "validation_failed", field)
	}
}

// Only members who may change flows may see the keys of the company's servers.
func TestReadersOfFlowsGetNoValuesOfHeaders(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	by := w.As("developer@acme.test")
	const keyed = `{"flow":{"name":"Keyed","trigger":{},"steps":[{"if":"a == 'b'","then":[{"http":{"url":"https://shop.test",` +
		`"headers":{"Authorization":"Bearer key-1"}}}]}]}}`
	made := w.Want("POST", "/panel/v1/flows/drafts", by, keyed, 201, "", "")
	one := "/panel/v1/flows/" + made["id"].(string)
	w.Want("POST", one+"/publish", by, "", 200, "", "")
	w.Want("PUT", one+"/draft", by, keyed, 200, "", "")
	for _, path := range []string{one, one + "/draft", one + "/versions/1", "/panel/v1/flows"} {
		for _, who := range []string{"viewer", "teammate", "marketer"} {
			if got := fmt.Sprint(w.Want("GET", path, w.As(who+"@acme.test"), "", 200, "", "")); strings.Contains(got, "key-1") ||
				!strings.Contains(got, "Authorization:•••") {
				t.Error(path, who, got)
			}
		}
		if got := fmt.Sprint(w.Want("GET", path, by, "", 200, "", "")); !strings.Contains(got, "Authorization:Bearer key-1") {
			t.Error(path, got)
		}
	}
}

func TestRunsOfFlowsAreListedToNoOtherCompany(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	by := w.As("viewer@acme.test")
	if got := fmt.Sprint(w.Want("GET", "/panel/v1/flow-runs", by, "", 200, "", "")); got != "map[data:[] next_cursor:<nil>]" {
		t.Error(got)
	}
	w.Want("GET", "/panel/v1/flow-runs?flow=x", by, "", 400, "validation_failed", "flow")
	w.Want("GET", "/panel/v1/flow-runs?state=x", by, "", 400, "validation_failed", "state")
	w.Want("GET", "/panel/v1/flow-runs/aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa2", by, "", 404, "not_found", "")
	w.Want("POST", "/panel/v1/flow-runs/aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa2/stop", by, "", 403, "forbidden", "")
	w.Want("POST", "/panel/v1/flow-runs/x/stop", w.As("teammate@acme.test"), "", 404, "not_found", "")
}
