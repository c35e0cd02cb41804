package flows_test

import (
	"fmt"
	"strings"
	"testing"

	"carillon/internal/edge/panel/paneltest"
)

func TestSecretsAreWrittenAndNeverShown(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	w.Company("other")
	by, other := w.As("admin@acme.test"), w.As("owner@other.test")
	const value = "sk-live-12345678"
	body := `{"name":"shop_key","hosts":["Shop.test"],"value":"` + value + `"}`
	for _, who := range []string{"developer", "marketer", "teammate", "viewer"} {
		w.Want("POST", "/panel/v1/secrets", w.As(who+"@acme.test"), body, 403, "forbidden", "")
	}
	for _, who := range []string{"marketer", "teammate", "viewer"} {
		w.Want("GET", "/panel/v1/secrets", w.As(who+"@acme.test"), "", 403, "forbidden", "")
	}
	for body, field := range map[string]string{
		`{"hosts":["shop.test"],"value":"12345678"}`:                           "name",
		`{"name":"shop_key","value":"12345678"}`:                               "hosts",
		`{"name":"shop_key","hosts":["https://shop.test"],"value":"12345678"}`: "hosts.0",
		`{"name":"shop_key","hosts":["shop.test"],"value":"1234567"}`:          "value",
		`{"name":"shop_key","hosts":["shop.test"]}`:                            "value",
	} {
		w.Want("POST", "/panel/v1/secrets", by, body, 400, "validation_failed", field)
	}
	shown := []any{w.Want("POST", "/panel/v1/secrets", by, body, 201, "", "")}
	w.Want("POST", "/panel/v1/secrets", by, body, 409, "conflict", "")
	shown = append(
		shown, w.Want("GET", "/panel/v1/secrets/shop_key", by, "", 200, "", ""),
		w.Want("PUT", "/panel/v1/secrets/shop_key", by, `{"name":"shop_key","hosts":["shop.test"]}`, 200, "", ""),
	)
	// For other hosts, the value must be given again.
	for _, hosts := range []string{`"shop.test","evil.test"`, `"evil.test"`} {
		w.Want("PUT", "/panel/v1/secrets/shop_key", by, `{"name":"shop_key","hosts":[`+hosts+`]}`, 400, "validation_failed", "value")
	}
	shown = append(
		shown,
		w.Want(
			"PUT", "/panel/v1/secrets/shop_key", by, `{"name":"shop_key","hosts":["shop.test","api.shop.test"],"value":"`+value+`2"}`,
			200, "", "",
		),
	)
	list := w.Want("GET", "/panel/v1/secrets", w.As("developer@acme.test"), "", 200, "", "")
	row := list["data"].([]any)[0].(map[string]any)
	if row["name"] != "shop_key" || fmt.Sprint(row["hosts"]) != "[api.shop.test shop.test]" || row["set_by"] != "admin@acme.test" ||
		row["set_at"] == nil || row["used_at"] != nil || fmt.Sprint(row["flows"]) != "[]" {
		t.Error(row)
	}
	changes := w.Want("GET", "/panel/v1/activity/changes?kind=secret", by, "", 200, "", "")
	for _, c := range changes["data"].([]any) {
		shown = append(shown, c, w.Want("GET", "/panel/v1/activity/changes/"+c.(map[string]any)["id"].(string), by, "", 200, "", ""))
	}
	if text := fmt.Sprint(append(shown, list)...); strings.Contains(text, value) || strings.Contains(text, "12345678") ||
		!strings.Contains(text, "api.shop.test") {
		t.Error(text)
	}
	for _, method := range []string{"GET", "DELETE"} {
		w.Want(method, "/panel/v1/secrets/shop_key", other, "", 404, "not_found", "")
	}
	if got := fmt.Sprint(w.Want("GET", "/panel/v1/secrets", other, "", 200, "", "")); got != "map[data:[]]" {
		t.Error("another company's:", got)
	}
}

func TestAFlowSendsOnlySecretsOfItsCompanyToTheirHosts(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	w.Company("other")
	by := w.As("developer@acme.test")
	w.Want(
		"POST", "/panel/v1/secrets", w.As("owner@acme.test"), `{"name":"shop_key","hosts":["shop.test"],"value":"sk-live-1"}`, 201, "",
		"",
	)
	w.Want(
		"POST", "/panel/v1/secrets", w.As("owner@other.test"), `{"name":"their_key","hosts":["shop.test"],"value":"sk-live-2"}`, 201,
		"", "",
	)
	flow := func(host, name string) string {
		return `{"name":"Keyed","trigger":{},"steps":[{"http":{"url":"https://` + host +
			`/orders","headers":{"Authorization":"Bearer {{secret.` + name + `}}"}}}]}`
	}
	made := w.Want("POST", "/panel/v1/flows/drafts", by, `{"flow":`+flow("shop.test", "shop_key")+`}`, 201, "", "")
	one := "/panel/v1/flows/" + made["id"].(string)
	w.Want("POST", one+"/publish", by, "", 200, "", "")
	for _, c := range [][2]string{
		{"shop.test", "none"},
		{"shop.test", "their_key"},
		{"evil.test", "shop_key"},
		{"shop.test.evil.test", "shop_key"},
		{"shop.test@evil.test", "shop_key"},
	} {
		w.Want("PUT", one+"/draft", by, `{"flow":`+flow(c[0], c[1])+`}`, 200, "", "")
		w.Want("POST", one+"/publish", by, "", 400, "validation_failed", "steps.0.http.headers.Authorization")
		w.Want("DELETE", one+"/draft", by, "", 204, "", "")
	}
	row := w.Want("GET", "/panel/v1/secrets", by, "", 200, "", "")["data"].([]any)[0].(map[string]any)
	if !strings.Contains(fmt.Sprint(row["flows"]), "name:Keyed") {
		t.Error(row)
	}
	if e := w.Want(
		"DELETE", "/panel/v1/secrets/shop_key", w.As("owner@acme.test"), "", 409, "conflict", "",
	); !strings.Contains(fmt.Sprint(e), "the flow Keyed") {
		t.Error(e)
	}
	w.Want("DELETE", one, by, "", 204, "", "")
	w.Want("DELETE", "/panel/v1/secrets/shop_key", w.As("owner@acme.test"), "", 204, "", "")
}

func TestATestRunShowsNoSecret(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	w.Want(
		"POST", "/panel/v1/secrets", w.As("owner@acme.test"), `{"name":"shop_key","hosts":["shop.test"],"value":"sk-live-1"}`, 201, "",
		"",
	)
	got := fmt.Sprint(w.Want("POST", "/panel/v1/flows/try", w.As("developer@acme.test"),
		`{"flow":{"name":"a","trigger":{},"steps":[{"http":{"method":"POST","url":"https://shop.test/?key={{secret.shop_key}}",`+
			`"headers":{"Authorization":"Bearer {{secret.shop_key}}"},"body":"{{secret.shop_key}}"}}]}}`, 200, "", ""))
	if strings.Contains(got, "sk-live-1") || !strings.Contains(got, "Authorization:Bearer •••") || !strings.Contains(got, "?key=•••") {
		t.Error(got)
	}
}

// Only members who may change flows see the requests to a company's servers, in lists, versions and runs.
func TestReadersOfFlowsGetNoQueriesAndBodies(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	by := w.As("developer@acme.test")
	const keyed = `{"flow":{"name":"Keyed","trigger":{},"steps":[{"http":{"method":"POST",` +
		`"url":"https://shop.test/orders?token=key-1","body":"key-2"}}]}}`
	made := w.Want("POST", "/panel/v1/flows/drafts", by, keyed, 201, "", "")
	one := "/panel/v1/flows/" + made["id"].(string)
	w.Want("POST", one+"/publish", by, "", 200, "", "")
	for _, path := range []string{one, one + "/draft", one + "/versions/1", "/panel/v1/flows"} {
		if got := fmt.Sprint(w.Want("GET", path, w.As("viewer@acme.test"), "", 200, "", "")); strings.Contains(got, "key-") ||
			!strings.Contains(got, "https://shop.test/orders?•••") {
			t.Error(path, got)
		}
		if got := fmt.Sprint(w.Want("GET", path, by, "", 200, "", "")); !strings.Contains(got, "key-1") || !strings.Contains(got, "key-2") {
			t.Error(path, got)
		}
	}
}
