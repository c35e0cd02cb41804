package system_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/audit"
)

func TestChangesHaveAuthorsAndValues(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	owner := w.As("owner@acme.test")
	key := w.Want("POST", "/panel/v1/keys", owner, `{"label":"site"}`, 201, "", "")
	w.Want("DELETE", "/panel/v1/keys/"+key["id"].(string), owner, "", 204, "", "")
	w.Want("PATCH", "/panel/v1/users/"+w.ID("viewer@acme.test"), owner, `{"role":"developer"}`, 204, "", "")
	list := w.Want("GET", "/panel/v1/activity/changes?limit=3", owner, "", 200, "", "")
	rows := list["data"].([]any)
	first := rows[0].(map[string]any)
	by, object := first["by"].(map[string]any), first["object"].(map[string]any)
	if first["action"] != "role_changed" || by["name"] != "owner@acme.test" || by["origin"] != "panel" || by["address"] == "" ||
		object["name"] != "viewer@acme.test" {
		t.Errorf("%v", first)
	}
	page := w.Want("GET", "/panel/v1/activity/changes/"+first["id"].(string), owner, "", 200, "", "")
	if fields := fmt.Sprint(page["fields"]); fields != "[map[after:developer before:viewer path:role]]" {
		t.Error(fields)
	}
	if next := w.Want("GET", "/panel/v1/activity/changes?limit=3&cursor="+
		list["next_cursor"].(string), owner, "", 200, "",
		""); next["data"].([]any)[0].(map[string]any)["id"] == rows[2].(map[string]any)["id"] {
		t.Error("the second page begins with the last row of the first")
	}
	keys := w.Want("GET", "/panel/v1/activity/changes?kind=key&author="+by["key"].(string), owner, "", 200, "", "")["data"].([]any)
	if len(keys) != 2 || strings.Contains(fmt.Sprint(keys), key["key"].(string)) {
		t.Errorf("%v", keys)
	}
	for query, field := range map[string]string{"from=yesterday": "from", "object=x": "kind", "cursor=x": "cursor", "author=" +
		strings.Repeat("a", 301): "author"} {
		w.Want("GET", "/panel/v1/activity/changes?"+query, owner, "", 400, "validation_failed", field)
	}
	w.Want("GET", "/panel/v1/activity/changes/"+carillon.NewID(time.Now()), owner, "", 404, "not_found", "")
	authors := w.Want("GET", "/panel/v1/activity/authors", owner, "", 200, "", "")["data"].([]any)
	if !strings.Contains(fmt.Sprint(authors), "owner@acme.test") {
		t.Error(authors)
	}
}

func TestCallsAreFilteredAndShownWhole(t *testing.T) {
	w := paneltest.New(t)
	acme, other := w.Company("acme"), w.Company("other")
	owner := w.As("owner@acme.test")
	key := w.Want("POST", "/panel/v1/keys", owner, `{"label":"site"}`, 201, "", "")["id"].(string)
	now := time.Now()
	call := func(company string, status int, code string) audit.APICall {
		now = now.Add(time.Millisecond)
		return audit.APICall{
			ID: carillon.NewID(now), CompanyID: company, At: now, Status: status, Code: code, Method: "POST", Path: "/functions/v1/notify",
			KeyID: key, RequestID: "req_" + code,
			Repeats: 2, Took: 1500 * time.Microsecond, Message: "No",
			APICallDetail: audit.APICallDetail{Query: "unflatten=true", Body: `{"a":1}`, BodyRead: true, Response: "{}"},
		}
	}
	if err := w.Store.APICalls.Write(t.Context(), []audit.APICall{
		call(acme.ID, 400, "validation_failed"), call(acme.ID, 429, "rate_limit_exceeded"), call(acme.ID, 503, "service_unavailable"),
		call(other.ID, 400, "validation_failed"),
	}, []audit.AcceptedChunk{{ID: carillon.NewID(now), CompanyID: acme.ID, All: []audit.AcceptedCall{
		{At: now, RequestID: "req_a", KeyID: key, NotificationID: "n1"},
		{At: now.Add(time.Second), RequestID: "req_b", KeyID: "gone", NotificationID: "n2", Voice: true},
	}}}, nil); err != nil {
		t.Fatal(err)
	}
	codes := func(path, field string) string {
		var all []string
		for _, x := range w.Want("GET", path, owner, "", 200, "", "")["data"].([]any) {
			all = append(all, fmt.Sprint(x.(map[string]any)[field]))
		}
		return strings.Join(all, " ")
	}
	for query, want := range map[string]string{
		"": "service_unavailable rate_limit_exceeded validation_failed", "status=4xx": "rate_limit_exceeded validation_failed",
		"status=5xx":             "service_unavailable",
		"code=validation_failed": "validation_failed", "request_id=req_service_unavailable": "service_unavailable", "key=none": "",
		"path=/functions/v1/n&limit=1": "service_unavailable",
	} {
		if got := codes("/panel/v1/activity/calls?"+query, "code"); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	id := w.Want("GET", "/panel/v1/activity/calls?status=5xx", owner, "", 200, "", "")["data"].([]any)[0].(map[string]any)["id"].(string)
	page := w.Want("GET", "/panel/v1/activity/calls/"+id, owner, "", 200, "", "")
	if page["body"] != `{"a":1}` || page["took_ms"] != 1.5 || page["repeats"] != 2.0 || fmt.Sprint(page["key"]) != "map[id:"+key+
		" label:site]" {
		t.Error(page)
	}
	if got := codes("/panel/v1/activity/accepted", "notification_id"); got != "n2 n1" {
		t.Error(got)
	}
	if got := codes("/panel/v1/activity/accepted?request_id=req_a", "notification_id"); got != "n1" {
		t.Error(got)
	}
	first := w.Want("GET", "/panel/v1/activity/accepted?limit=1", owner, "", 200, "", "")
	if got := codes("/panel/v1/activity/accepted?limit=1&cursor="+first["next_cursor"].(string), "notification_id"); got != "n1" {
		t.Error(got)
	}
	w.Want("GET", "/panel/v1/activity/calls?status=2xx", owner, "", 400, "validation_failed", "status")
	w.Want("GET", "/panel/v1/activity/calls/nothing", owner, "", 404, "not_found", "")
}
