package channels_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/call/sip"
	"carillon/internal/edge/panel/paneltest"
)

const waSender = `{"id":"main","number":"15555550100","channel":"messaging","provider":"whatsapp","settings":{` + cloud + `}}`

func TestCallsOfASenderAreSwitchedOnAndOff(t *testing.T) {
	w := paneltest.New(t)
	acme := w.Company("acme")
	w.Company("other")
	by := w.As("admin@acme.test")
	w.Want("POST", "/panel/v1/senders", by, waSender, 201, "", "")
	const path = "/panel/v1/senders/main/calls"
	off := map[string]any{"on": false, "hostname": "", "port": 5061.0, "agent": "", "line": "", "breaker": nil}
	if d := cmp.Diff(off, w.Want("GET", path, by, "", 200, "", "")); d != "" {
		t.Error(d)
	}
	for body, field := range map[string]string{
		`{"on":true}`: "hostname", `{"on":true,"hostname":"10.0.0.1"}`: "hostname",
		`{"on":true,"hostname":"sip.acme.test","port":70000}`: "port",
	} {
		w.Want("PUT", path, by, body, 400, "validation_failed", field)
	}
	const on = `{"on":true,"hostname":"sip.acme.test","port":5071}`
	got := w.Want("PUT", path, by, on, 200, "", "")
	breaker := map[string]any{"state": "closed", "class": nil, "detail": nil, "since": nil, "until": nil}
	want := map[string]any{
		"on": true, "hostname": "sip.acme.test", "port": 5071.0, "agent": "", "line": "main-calls", "breaker": breaker,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if w.Cloud.Calls != (provider.CallSettings{On: true, Hostname: "sip.acme.test", Port: 5071, Password: "madebythechannel"}) {
		t.Errorf("%+v", w.Cloud.Calls)
	}
	lines, err := w.Store.Senders.LinesByNumber(t.Context(), "15555550100")
	if err != nil || len(lines) != 1 || lines[0].CompanyID != acme.ID {
		t.Fatalf("%+v, %v", lines, err)
	}
	trunk, err := sip.TrunkOf(lines[0].Settings)
	if err != nil || trunk != (sip.Trunk{
		Host: "wa.meta.vc", Transport: "tls", Domain: "sip.acme.test", Username: "15555550100", Password: "madebythechannel",
		Realm: "wa.meta.vc", Encrypt: true, Authenticate: true, Public: true, Claimed: true, WhatsApp: "main",
	}) {
		t.Errorf("%+v, %v", trunk, err)
	}
	shown, _ := json.Marshal(w.Want("GET", "/panel/v1/senders/main-calls", by, "", 200, "", ""))
	if strings.Contains(string(shown), "madebythechannel") {
		t.Error("the password is shown")
	}
	other := strings.Replace(waSender, "15555550100", "15555550177", 1)
	w.Want("PUT", "/panel/v1/senders/main", by, other, 400, "validation_failed", "number")
	w.Want("PUT", path, w.As("owner@other.test"), on, 404, "not_found", "")
	w.Want("PUT", path, w.As("developer@acme.test"), on, 403, "forbidden", "")
	if d := cmp.Diff(off, w.Want("PUT", path, by, `{"on":false}`, 200, "", "")); d != "" || w.Cloud.Calls.On {
		t.Error(d, w.Cloud.Calls)
	}
	w.Want("GET", "/panel/v1/senders/main-calls", by, "", 404, "not_found", "")

	w.Want("PUT", path, by, on, 200, "", "")
	w.Want("DELETE", "/panel/v1/senders/main", by, "", 204, "", "")
	w.Want("GET", "/panel/v1/senders/main-calls", by, "", 404, "not_found", "")
}

func TestCallsThatCannotBeSwitchedOnStayOff(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	by := w.As("admin@acme.test")
	w.Want("POST", "/panel/v1/senders", by, waSender, 201, "", "")
	const path, on = "/panel/v1/senders/main/calls", `{"on":true,"hostname":"sip.acme.test"}`
	refused := carillon.InConflict("The channel refused")
	refused.Details = append(refused.Details, carillon.Detail{Key: "refusal", Value: "calls_limit_low"})
	w.Cloud.CallsErr = refused
	got := w.Want("PUT", path, by, on, 409, "conflict", "")
	if got["details"].(map[string]any)["refusal"] != "calls_limit_low" {
		t.Errorf("%v", got)
	}
	if got := w.Want("GET", path, by, "", 200, "", ""); got["on"] != false {
		t.Errorf("%v", got)
	}
	w.Cloud.CallsErr, w.Cloud.Calling.Closed = nil, true
	got = w.Want("PUT", path, by, on, 409, "conflict", "")
	if got["details"].(map[string]any)["refusal"] != "calls_no_tls" || w.Cloud.Calls.On {
		t.Errorf("%v, %+v", got, w.Cloud.Calls)
	}
	w.Cloud.Calling.Closed = false
	w.Want("POST", "/panel/v1/senders", by, `{"number":"15555550100","channel":"voice","provider":"sandbox"}`, 201, "", "")
	got = w.Want("PUT", path, by, on, 409, "conflict", "")
	if got["details"].(map[string]any)["refusal"] != "calls_line_exists" || w.Cloud.Calls.On {
		t.Errorf("%v, %+v", got, w.Cloud.Calls)
	}
	w.Want("POST", "/panel/v1/senders", by, `{"id":"box","number":"15555550111","channel":"messaging","provider":"sandbox"}`, 201, "", "")
	w.Want("PUT", "/panel/v1/senders/box/calls", by, on, 409, "conflict", "")
	w.Want("PUT", path, by, strings.Replace(on, "}", `,"agent":"99999999-9999-4999-8999-999999999999"}`, 1), 404, "agent_not_found", "")
}
