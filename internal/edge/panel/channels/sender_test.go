package channels_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/edge/panel/channels"
	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"
)

const cloud = `"phone_number_id":"1","waba_id":"2","access_token":"tokentoken","app_secret":"appsecret","verify_token":"verifytoken"`

func TestASenderIsAddedShownReplacedAndRemoved(t *testing.T) {
	w := paneltest.New(t)
	acme := w.Company("acme")
	w.Company("other")
	by, other := w.As("admin@acme.test"), w.As("owner@other.test")
	body := `{"id":"main","number":"15555550100","channel":"messaging","provider":"whatsapp","default":true,"settings":{` + cloud + `}}`
	made := w.Want("POST", "/panel/v1/senders", by, body, 201, "", "")
	want := map[string]any{
		"id": "main", "number": "15555550100", "channel": "messaging", "provider": "whatsapp", "default": true, "per_second": 80.0,
		"per_recipient_interval": "6s", "max_concurrent": 0.0, "media_check": "full",
		"unknown_outcome": map[string]any{"transactional": "retry", "utility": "retry", "marketing": "fail", "after": "10m0s"},
		"settings":        map[string]any{"phone_number_id": "1", "waba_id": "2"},
		"secrets":         []any{"access_token", "app_secret", "verify_token"},
		"callback":        map[string]any{"url": "https://panel.test/callbacks/whatsapp/main", "public": true},
		"breaker":         map[string]any{"state": "closed", "class": nil, "detail": nil, "since": nil, "until": nil},
	}
	if d := cmp.Diff(want, made); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(made, w.Want("GET", "/panel/v1/senders/main", w.As("viewer@acme.test"), "", 200, "", "")); d != "" {
		t.Error(d)
	}
	w.Want("POST", "/panel/v1/senders", by, body, 409, "conflict", "id")
	w.Want("POST", "/panel/v1/senders", by, strings.Replace(body, `"main"`, `"twin"`, 1), 409, "conflict", "number")

	// Omitted secrets keep their values.
	w.Want(
		"PUT", "/panel/v1/senders/main", by,
		`{"number":"15555550100","channel":"messaging","provider":"whatsapp","per_second":5,"settings":{"access_token":"fresh"}}`, 200,
		"", "",
	)
	named, err := w.Store.Senders.SendersNamed(t.Context(), acme.ID, "main")
	if err != nil || len(named) != 1 || named[0].PerSecond != 5 ||
		string(named[0].Settings) != `{"access_token":"fresh","app_secret":"appsecret","phone_number_id":"1",`+
			`"verify_token":"verifytoken","waba_id":"2"}` {
		t.Errorf("%+v, %v", named, err)
	}
	for _, row := range w.Want("GET", "/panel/v1/activity/changes?kind=sender", w.As("owner@acme.test"), "", 200, "", "")["data"].([]any) {
		change := fmt.Sprint(
			w.Want("GET", "/panel/v1/activity/changes/"+row.(map[string]any)["id"].(string), w.As("owner@acme.test"), "", 200, "", ""),
		)
		for _, secret := range []string{"tokentoken", "fresh", "appsecret", "verifytoken"} {
			if strings.Contains(change, secret) {
				t.Errorf("a change shows a secret: %s", change)
			}
		}
	}
	for _, method := range []string{"GET", "PUT", "DELETE"} {
		w.Want(method, "/panel/v1/senders/main", other, strings.Replace(body, "15555550100", "15555550199", 1), 404, "not_found", "")
	}
	w.Want("DELETE", "/panel/v1/senders/main", by, "", 204, "", "")
	w.Want("GET", "/panel/v1/senders/main", by, "", 404, "not_found", "")
	w.Want("DELETE", "/panel/v1/senders/main", w.As("developer@acme.test"), "", 403, "forbidden", "")
	w.Want("POST", "/panel/v1/senders", by, `{"number":"15555550100","channel":"messaging","provider":"sandbox"}`, 201, "", "")
}

func TestASenderOverHTTPSendsNowhereElse(t *testing.T) {
	w := paneltest.New(t)
	acme := w.Company("acme")
	by := w.As("owner@acme.test")
	head := `{"number":"15555550100","channel":"messaging","provider":"whatsapp","settings":{` + cloud
	t.Setenv("HOME_OF_SECRETS", "secret")
	for _, x := range []struct{ body, field string }{
		{head + `,"base_url":"http://169.254.169.254"}}`, "settings.base_url"},
		{head + `,"colour":"red"}}`, "settings.colour"},
		{strings.Replace(head, `"tokentoken"`, `{"env":"HOME_OF_SECRETS"}`, 1) + `}}`, "settings.access_token"},
		{strings.Replace(head, `"tokentoken"`, `"token token"`, 1) + `}}`, "settings.access_token"},
		{strings.Replace(head, `"1"`, `"x"`, 1) + `}}`, "settings.phone_number_id"},
		{`{"number":"15555550101","channel":"voice","provider":"sip","settings":{"trunk":"sip:10.0.0.1"}}`, "settings.trunk"},
		{`{"number":"15555550101","channel":"voice","provider":"twilio","settings":{}}`, "provider"},
		{`{"number":"+1555","channel":"messaging","provider":"sandbox"}`, "number"},
		{
			`{"number":"15555550101","channel":"messaging","provider":"sandbox","unknown_outcome":{"marketing":"forget"}}`,
			"unknown_outcome.marketing",
		},
		{`{"number":"15555550101","channel":"messaging"}`, "provider"},
	} {
		got := w.Want("POST", "/panel/v1/senders", by, x.body, 400, "validation_failed", x.field)
		if strings.Contains(fmt.Sprint(got), "token token") {
			t.Errorf("a secret is shown: %v", got)
		}
	}
	w.Want("POST", "/panel/v1/senders", by, head+`,"base_url":"https://graph.facebook.com"}}`, 201, "", "")

	// Values from a set-up file stay, and may be sent back unchanged.
	err := w.Store.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return settings.PutSender(ctx, tx, &carillon.Sender{
			CompanyID: acme.ID, ID: "lab", Number: "15555550102", Channel: carillon.Messaging, Provider: "whatsapp", MediaCheck: "syntax",
			Unknown: carillon.DefaultUnknownPolicy(), Settings: []byte(`{"base_url":"http://127.0.0.1:1",` + cloud + `}`),
		}, time.Now())
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Want("PUT", "/panel/v1/senders/15555550100", by, head+`,"base_url":"https://graph.example.com"}}`, 200, "", "")
	w.Want(
		"PUT", "/panel/v1/senders/15555550100", by,
		strings.Replace(head, `"access_token":"tokentoken",`, "", 1)+`,"base_url":"https://graph.example.org"}}`, 400,
		"validation_failed", "settings.access_token",
	)
	w.Want("PUT", "/panel/v1/senders/15555550100", by, head+`,"base_url":"https://graph.facebook.com"}}`, 200, "", "")
	if named, err := w.Store.Senders.SendersNamed(t.Context(), acme.ID, "15555550100"); err != nil ||
		channels.SettingsOf(named[0])["public"] != "false" {
		t.Error("the usual address counts as a member's own:", err)
	}

	lab := `{"number":"15555550102","channel":"messaging","provider":"whatsapp","settings":{"base_url":"http://127.0.0.1:%d"}}`
	w.Want("PUT", "/panel/v1/senders/lab", by, fmt.Sprintf(lab, 1), 200, "", "")
	w.Want("PUT", "/panel/v1/senders/lab", by, fmt.Sprintf(lab, 2), 400, "validation_failed", "settings.access_token")
	w.Want(
		"PUT", "/panel/v1/senders/lab", by,
		strings.Replace(fmt.Sprintf(lab, 2), `"base_url"`, `"access_token":"another","base_url"`, 1), 400, "validation_failed",
		"settings.app_secret",
	)
	w.Want(
		"PUT", "/panel/v1/senders/lab", by,
		strings.Replace(fmt.Sprintf(lab, 2), `"base_url"`, `"access_token":"another","app_secret":"another","base_url"`, 1), 400,
		"validation_failed", "settings.base_url",
	)
	w.Want(
		"PUT", "/panel/v1/senders/lab", by, strings.Replace(fmt.Sprintf(lab, 1), "messaging", "voice", 1), 400, "validation_failed",
		"provider",
	)
}
