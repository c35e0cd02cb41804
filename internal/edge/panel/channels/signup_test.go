package channels_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/edge/panel/channels"
	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"
)

const (
	granted = `{"phone_number_id":"1","waba_id":"2","access_token":"granted","app_secret":"operators","verify_token":"generated"}`
	grant   = `{"authorization_code":"AQcode","waba_id":"2","phone_number_id":"1"}`
	at      = "/panel/v1/sender-sign-up"
)

// sender returns the stored settings of a company's sender, or nil.
func sender(w *paneltest.World, company *carillon.Company, id string) map[string]any {
	w.T.Helper()
	named, err := w.Store.Senders.SendersNamed(w.T.Context(), company.ID, id)
	if err != nil || len(named) > 1 {
		w.T.Fatal(named, err)
	}
	if len(named) == 0 {
		return nil
	}
	return channels.SettingsOf(named[0])
}

func TestANumberOfTheDialogBecomesASender(t *testing.T) {
	w := paneltest.New(t)
	acme := w.Company("acme")
	by := w.As("admin@acme.test")
	w.Cloud.Granted = provider.Granted{Number: "15555550100", Settings: []byte(granted)}
	if got := w.Want("GET", at, by, "", 200, "", ""); got["app_id"] != "3000001" || got["config_id"] != "4000001" ||
		got["version"] != "v23.0" || len(got) != 3 {
		t.Errorf("the dialog: %v", got)
	}
	w.Want("GET", at, w.As("developer@acme.test"), "", 403, "forbidden", "")
	w.Want("POST", at, w.As("developer@acme.test"), grant, 403, "forbidden", "")
	for _, x := range []struct{ body, field string }{
		{`{"waba_id":"2"}`, "authorization_code"}, {`{"authorization_code":"AQ"}`, "waba_id"},
		{strings.Replace(grant, `"1"`, `7`, 1), "phone_number_id"}, {strings.Replace(grant, "}", `,"app_secret":"x"}`, 1), "body"},
	} {
		w.Want("POST", at, by, x.body, 400, "validation_failed", x.field)
	}
	if len(w.Cloud.Grants) != 0 {
		t.Fatalf("codes were exchanged: %v", w.Cloud.Grants)
	}
	made := w.Want("POST", at, by, grant, 200, "", "")
	if made["id"] != "15555550100" || made["provider"] != "whatsapp" || strings.Contains(fmt.Sprint(made), "granted") {
		t.Errorf("the sender: %v", made)
	}
	if s := sender(w, acme, "15555550100"); s["access_token"] != "granted" || s["app_secret"] != "operators" {
		t.Errorf("its settings: %v", s)
	}
	if got := fmt.Sprint(w.Cloud.Redirected, len(w.Cloud.Subscribed)); got != "[https://panel.test/callbacks/whatsapp/15555550100] 1" {
		t.Error(got)
	}

	// Connected again, the sender gets the new token and keeps everything else.
	w.Cloud.Granted.Settings = []byte(strings.NewReplacer("granted", "again", "generated", "other").Replace(granted))
	w.Want("PUT", "/panel/v1/senders/15555550100", by,
		`{"number":"15555550100","channel":"messaging","provider":"whatsapp","per_second":5,"settings":{}}`, 200, "", "")
	if made := w.Want("POST", at, by, grant, 200, "", ""); made["id"] != "15555550100" || made["per_second"] != 5.0 {
		t.Errorf("the sender: %v", made)
	}
	if s := sender(w, acme, "15555550100"); s["access_token"] != "again" || s["verify_token"] != "generated" {
		t.Errorf("its settings: %v", s)
	}
	for _, row := range w.Want("GET", "/panel/v1/activity/changes?kind=sender", w.As("owner@acme.test"), "", 200, "", "")["data"].([]any) {
		change := fmt.Sprint(
			w.Want("GET", "/panel/v1/activity/changes/"+row.(map[string]any)["id"].(string), w.As("owner@acme.test"), "", 200, "", ""),
		)
		for _, secret := range []string{"granted", "again", "operators", "AQcode"} {
			if strings.Contains(change, secret) {
				t.Errorf("a change shows a secret: %s", change)
			}
		}
	}
}

// The operator's secret signs callbacks of all companies. A member must not make the program use it at another address.
func TestTheOperatorsSecretIsNotUsedAtAnotherAddress(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	by := w.As("admin@acme.test")
	w.Cloud.Granted = provider.Granted{Number: "15555550100", Settings: []byte(granted)}
	w.Want("POST", at, by, grant, 200, "", "")
	const away = `{"number":"15555550100","channel":"messaging","provider":"whatsapp",` +
		`"settings":{"base_url":"https://graph.example.com"%s}}`
	for more, field := range map[string]string{
		"":                      "settings.access_token",
		`,"access_token":"own"`: "settings.app_secret",
	} {
		w.Want("PUT", "/panel/v1/senders/15555550100", by, fmt.Sprintf(away, more), 400, "validation_failed", field)
	}
	w.Want("PUT", "/panel/v1/senders/15555550100", by, fmt.Sprintf(away, `,"access_token":"own","app_secret":"own"`), 200, "", "")
}

func TestAFailedSignUpLeavesNothing(t *testing.T) {
	w := paneltest.New(t)
	acme, other := w.Company("acme"), w.Company("other")
	by := w.As("admin@acme.test")
	w.Cloud.Granted = provider.Granted{Number: "15555550100", Settings: []byte(granted)}
	refused := func(step, refusal string) {
		t.Helper()
		got := w.Want("POST", at, by, grant, 409, "conflict", "")
		if details := got["details"].(map[string]any); details["step"] != step || details["refusal"] != refusal {
			t.Errorf("%s: %v", step, got)
		}
		if s := sender(w, acme, "15555550100"); s != nil {
			t.Errorf("%s: %v is left", step, s)
		}
	}
	w.Cloud.SubscribeErr = carillon.InConflict("no")
	refused("subscription", "subscription_refused")
	w.Cloud.SubscribeErr = nil
	w.Cloud.RedirectErr = carillon.InConflict("no")
	refused("callbacks", "callbacks_refused")

	// The present sender keeps its former access.
	w.Want("POST", "/panel/v1/senders", by, cloudSender, 201, "", "")
	w.Want("POST", at, by, grant, 409, "conflict", "")
	if s := sender(w, acme, "main"); s["access_token"] != "tokentoken" || s["app_secret"] != "appsecret" {
		t.Errorf("the former access: %v", s)
	}
	w.Cloud.RedirectErr = nil
	if made := w.Want("POST", at, by, grant, 200, "", ""); made["id"] != "main" {
		t.Errorf("the sender: %v", made)
	}

	// A proved number of another company stays with it.
	w.Want("DELETE", "/panel/v1/senders/main", by, "", 204, "", "")
	theirs := &carillon.Sender{
		CompanyID: other.ID, ID: "theirs", Number: "15555550100", Channel: carillon.Messaging, Provider: "whatsapp", MediaCheck: "syntax",
		Unknown: carillon.DefaultUnknownPolicy(), Settings: []byte(granted),
	}
	if err := w.Store.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		if err := settings.PutSender(ctx, tx, theirs, time.Now()); err != nil {
			return err
		}
		_, err := settings.ProveNumber(ctx, tx, theirs, false, time.Now())
		return err
	}); err != nil {
		t.Fatal(err)
	}
	refused("sender", "number_taken")
}

func TestWithoutAnApplicationNothingIsConnectedByADialog(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	by := w.As("admin@acme.test")
	mux := http.NewServeMux()
	for _, route := range (channels.Senders{Gate: w.Gate(), Store: w.Store}).Routes() {
		mux.HandleFunc(route.Pattern, func(rw http.ResponseWriter, r *http.Request) {
			if err := route.Handle(rw, r); err != nil {
				http.Error(rw, err.Error(), http.StatusConflict)
			}
		})
	}
	for _, x := range []struct {
		method, body string
		status       int
	}{{"GET", "", 200}, {"POST", grant, 409}} {
		r := httptest.NewRequestWithContext(t.Context(), x.method, at, strings.NewReader(x.body))
		r.Header.Set("Authorization", by)
		r.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		mux.ServeHTTP(rec, r)
		if rec.Code != x.status || x.method == "GET" && strings.TrimSpace(rec.Body.String()) != "{}" {
			t.Errorf("%s: %d %s", x.method, rec.Code, rec.Body)
		}
	}
}
