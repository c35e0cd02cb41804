package panel

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"carillon/internal/store/messages"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/send/whatsapp"
	stored "carillon/internal/store/senders"
)

// admitChannel admits addresses of example.com, where a member chose them.
func admitChannel(_ context.Context, settings json.RawMessage) error {
	base, chosen, err := whatsapp.BaseURL(settings)
	if err == nil && chosen && !strings.HasSuffix(base.Host, "example.com") {
		err = carillon.Invalid("settings.base_url", "Must be at a public address")
	}
	return err
}

// cloudThere is a channel that finds the same of every sender.
type cloudThere struct {
	found      provider.Inspection
	asked      []string
	subscribed []string
}

func (c *cloudThere) inspect(_ context.Context, s *carillon.Sender) provider.Inspection {
	c.asked = append(c.asked, s.ID)
	return c.found
}

func (c *cloudThere) subscribe(_ context.Context, s *carillon.Sender) error {
	c.subscribed = append(c.subscribed, s.ID)
	return nil
}

const cloudSender = `{"id":"main","number":"15555550100","channel":"messaging","provider":"whatsapp","default":true,"settings":{` + cloud + `}}`

// The channel's word proves a number; that of a server which the company named does not.
func TestACheckByTheChannelItselfProvesANumber(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	other := w.company("other")
	by := w.as("admin@acme.test")
	same := provider.Finding{Item: "number", State: provider.FindingOK, Code: "number_same"}
	for i, x := range []struct {
		base    string
		finding provider.Finding
		want    bool
	}{
		{`,"base_url":"https://graph.example.com"`, same, false},
		{"", provider.Finding{Item: "number", State: provider.FindingBad, Code: "number_differs"}, false},
		{"", provider.Finding{Item: "registration", State: provider.FindingOK}, false},
		{"", same, true},
	} {
		number := fmt.Sprintf("1555555010%d", i)
		w.cloud.found = provider.Inspection{Findings: []provider.Finding{x.finding}}
		w.want("POST", "/panel/v1/senders", by, `{"id":"s`+number+`","number":"`+number+`","channel":"messaging","provider":"whatsapp","settings":{`+cloud+x.base+`}}`, 201, "", "")
		w.want("POST", "/panel/v1/senders/s"+number+"/check", by, "", 200, "", "")
		if got, err := w.store.Senders.ProvedElsewhere(t.Context(), other.ID, number); got != x.want || err != nil {
			t.Errorf("%+v: proved %t, %v", x, got, err)
		}
	}
}

func TestASenderIsCheckedAndItsStateKept(t *testing.T) {
	w := newWorld(t)
	acme := w.company("acme")
	w.company("other")
	by := w.as("admin@acme.test")
	w.want("POST", "/panel/v1/senders", by, cloudSender, 201, "", "")
	state := func() map[string]any {
		return w.want("GET", "/panel/v1/senders/main/state", w.as("viewer@acme.test"), "", 200, "", "")
	}
	if got := state(); got["report"].(map[string]any)["checked_at"] != nil || got["waiting"].(map[string]any)["messages"] != 0.0 {
		t.Error(got)
	}
	w.cloud.found = provider.Inspection{
		Quality: "YELLOW", Limit: "TIER_2K", Callback: "https://elsewhere.example/hook?token=theirs",
		Findings: []provider.Finding{
			{Item: "phone_number_id", State: provider.FindingOK, Code: "phone_ok", Values: map[string]string{"name": "Acme Clinic"}},
			{Item: "quality", State: provider.FindingWarn, Code: "quality_yellow"},
		},
	}
	for _, x := range []struct{ who, path string }{
		{"developer@acme.test", "/main/check"}, {"owner@other.test", "/main/check"}, {"owner@other.test", "/main/subscribe"}, {"viewer@acme.test", "/check"},
	} {
		if got, _ := w.do("POST", "/panel/v1/senders"+x.path, w.as(x.who), cloudSender); got != 403 && got != 404 {
			t.Errorf("%+v: %d", x, got)
		}
	}
	if len(w.cloud.asked) != 0 {
		t.Fatal(w.cloud.asked)
	}
	got := w.want("POST", "/panel/v1/senders/main/check", by, "", 200, "", "")
	if got["worst"] != "bad" || got["quality"] != "YELLOW" || got["messages"] != "TIER_2K" || got["name"] != "Acme Clinic" || got["checked_at"] == nil {
		t.Error(got)
	}
	if text := fmt.Sprint(got); !strings.Contains(text, "callback_elsewhere") || !strings.Contains(text, "elsewhere.example") || strings.Contains(text, "theirs") {
		t.Error(text)
	}
	if got := state()["report"].(map[string]any); got["worst"] != "bad" || len(got["findings"].([]any)) != 3 {
		t.Error(got)
	}
	rows := w.want("GET", "/panel/v1/senders?channel=messaging", by, "", 200, "", "")["data"].([]any)
	if row := rows[0].(map[string]any)["report"].(map[string]any); row["quality"] != "YELLOW" || row["worst"] != "bad" || row["findings"] != nil {
		t.Error(row)
	}
	sender, err := w.store.Senders.SendersNamed(t.Context(), acme.ID, "main")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.store.Senders.KeepNotice(t.Context(), sender[0], provider.Notice{Event: "FLAGGED", Limit: "TIER_250", At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if got := state()["report"].(map[string]any); got["notice"] != "FLAGGED" || got["messages"] != "TIER_250" {
		t.Error(got)
	}
	// Callbacks that came since the check count.
	w.cloud.found.Callback = ""
	if got := w.want("POST", "/panel/v1/senders/main/check", by, "", 200, "", ""); !strings.Contains(fmt.Sprint(got), "callback_never") {
		t.Error(got)
	}
	if err := w.store.Senders.KeepCallback(t.Context(), sender[0], time.Now()); err != nil {
		t.Fatal(err)
	}
	if got := state()["report"].(map[string]any); got["worst"] != "warn" || !strings.Contains(fmt.Sprint(got), "callback_received") {
		t.Error(got)
	}
	w.want("POST", "/panel/v1/senders/main/subscribe", by, "", 204, "", "")
	if len(w.cloud.subscribed) != 1 {
		t.Error(w.cloud.subscribed)
	}
}

func TestASenderIsCheckedBeforeItIsStored(t *testing.T) {
	w := newWorld(t)
	acme := w.company("acme")
	by := w.as("owner@acme.test")
	w.cloud.found = provider.Inspection{Findings: []provider.Finding{{Item: "token", State: provider.FindingBad, Code: "token_invalid"}}}
	got := w.want("POST", "/panel/v1/senders/check", by, cloudSender, 200, "", "")
	if got["worst"] != "bad" || len(got["findings"].([]any)) != 1 || strings.Contains(fmt.Sprint(got), "tokentoken") {
		t.Error(got)
	}
	if all, err := w.store.Senders.Senders(t.Context(), acme.ID); err != nil || len(all) != 0 {
		t.Error(all, err)
	}
	w.want("POST", "/panel/v1/senders/check", by, strings.Replace(cloudSender, `"settings":{`, `"settings":{"base_url":"https://10.0.0.1",`, 1), 400, "validation_failed", "settings.base_url")
	w.want("POST", "/panel/v1/senders/check", by, `{"number":"15555550100","channel":"messaging","provider":"sandbox"}`, 409, "conflict", "")
	for range checksPerMinute {
		w.do("POST", "/panel/v1/senders/check", by, cloudSender)
	}
	w.want("POST", "/panel/v1/senders/check", by, cloudSender, 429, "rate_limit_exceeded", "")
}

func TestTheCallbackOfASenderIsJudged(t *testing.T) {
	now := time.Now()
	public := &callbackAt{URL: "https://carillon.example.com/callbacks/whatsapp/main", Public: true}
	private := &callbackAt{URL: "http://127.0.0.1:8080/callbacks/whatsapp/main"}
	for _, c := range []struct {
		own       *callbackAt
		elsewhere string
		report    stored.Report
		want      string
	}{
		{public, "", stored.Report{}, "bad callback_never"},
		{public, "", stored.Report{HandshakeAt: now}, "ok callback_confirmed"},
		{public, public.URL, stored.Report{HandshakeAt: now, CallbackAt: now}, "ok callback_received"},
		{public, "https://carillon.example.com/callbacks/whatsapp/other", stored.Report{CallbackAt: now}, "ok callback_received"},
		{public, "https://carillon.example.com.evil.test/callbacks/whatsapp/main", stored.Report{CallbackAt: now}, "bad callback_elsewhere"},
		{private, "", stored.Report{}, "bad callback_private"},
		{private, "", stored.Report{CallbackAt: now}, "ok callback_received"},
	} {
		f := callbackFinding(c.own, c.elsewhere, c.report)
		if got := string(f.State) + " " + f.Code; got != c.want || f.Item != itemCallback {
			t.Errorf("%+v: got %s, want %s", c, got, c.want)
		}
	}
	for base, want := range map[string]bool{
		"https://carillon.example.com": true, "https://1.1.1.1": true, "http://carillon.example.com": false, "https://localhost": false, "https://127.0.0.1:8443": false,
		"https://10.1.2.3": false, "https://carillon": false, "https://carillon.local": false, "": false, "https://[::1]": false,
	} {
		if reachable(base) != want {
			t.Errorf("%s: reachable is %v", base, !want)
		}
	}
}

func TestASenderWithWaitingMessagesShowsThemAndStays(t *testing.T) {
	w := newWorld(t)
	acme := w.company("acme")
	by := w.as("owner@acme.test")
	w.want("POST", "/panel/v1/senders", by, cloudSender, 201, "", "")
	named, err := w.store.Senders.SendersNamed(t.Context(), acme.ID, "main")
	if err != nil {
		t.Fatal(err)
	}
	due := time.Now().Add(-90 * time.Second)
	err = w.store.Notifications.Accept(t.Context(), &messages.Accept{
		Notification: messages.Notification{
			ID: carillon.NewID(time.Now()), CompanyID: acme.ID, Channel: carillon.Messaging, SenderUID: named[0].UID, TemplateID: "1", Class: carillon.Utility,
			Body: "{}", Total: 1, Open: 1, CreatedAt: time.Now(), DueAt: due,
		},
		Messages: []messages.NewMessage{{Number: "34600111222"}}, Quota: messages.Quota{Day: time.Now().Format(time.DateOnly), Charge: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	waiting := w.want("GET", "/panel/v1/senders/main/state", by, "", 200, "", "")["waiting"].(map[string]any)
	if late := waiting["late_ms"].(float64); waiting["messages"] != 1.0 || waiting["due"] != 1.0 || late < 90_000 || late > 600_000 {
		t.Error(waiting)
	}
	got := w.want("DELETE", "/panel/v1/senders/main", by, "", 409, "conflict", "")
	if !strings.Contains(fmt.Sprint(got["details"]), "wait") {
		t.Error(got)
	}
}
