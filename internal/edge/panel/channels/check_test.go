package channels_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/edge/panel/channels"
	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/messages"
)

const cloudSender = `{"id":"main","number":"15555550100","channel":"messaging","provider":"whatsapp","default":true,"settings":{` +
	cloud + `}}`

// The channel itself can prove a number; a server named by the company cannot.
func TestACheckByTheChannelItselfProvesANumber(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	other := w.Company("other")
	by := w.As("admin@acme.test")
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
		w.Cloud.Found = provider.Inspection{Findings: []provider.Finding{x.finding}}
		w.Want(
			"POST", "/panel/v1/senders", by,
			`{"id":"s`+number+`","number":"`+number+`","channel":"messaging","provider":"whatsapp","settings":{`+cloud+x.base+`}}`, 201,
			"", "",
		)
		w.Want("POST", "/panel/v1/senders/s"+number+"/check", by, "", 200, "", "")
		if got, err := w.Store.Senders.ProvedElsewhere(t.Context(), other.ID, number); got != x.want || err != nil {
			t.Errorf("%+v: proved %t, %v", x, got, err)
		}
	}
}

func TestASenderIsCheckedAndItsStateKept(t *testing.T) {
	w := paneltest.New(t)
	acme := w.Company("acme")
	w.Company("other")
	by := w.As("admin@acme.test")
	w.Want("POST", "/panel/v1/senders", by, cloudSender, 201, "", "")
	state := func() map[string]any {
		return w.Want("GET", "/panel/v1/senders/main/state", w.As("viewer@acme.test"), "", 200, "", "")
	}
	if got := state(); got["report"].(map[string]any)["checked_at"] != nil || got["waiting"].(map[string]any)["messages"] != 0.0 {
		t.Error(got)
	}
	w.Cloud.Found = provider.Inspection{
		Quality: "YELLOW", Limit: "TIER_2K", Callback: "https://elsewhere.example/hook?token=theirs",
		Findings: []provider.Finding{
			{Item: "phone_number_id", State: provider.FindingOK, Code: "phone_ok", Values: map[string]string{"name": "Acme Clinic"}},
			{Item: "quality", State: provider.FindingWarn, Code: "quality_yellow"},
		},
	}
	for _, x := range []struct{ who, path string }{
		{"developer@acme.test", "/main/check"},
		{"owner@other.test", "/main/check"},
		{"owner@other.test", "/main/subscribe"},
		{"viewer@acme.test", "/check"},
	} {
		if got, _ := w.Do("POST", "/panel/v1/senders"+x.path, w.As(x.who), cloudSender); got != 403 && got != 404 {
			t.Errorf("%+v: %d", x, got)
		}
	}
	if len(w.Cloud.Asked) != 0 {
		t.Fatal(w.Cloud.Asked)
	}
	got := w.Want("POST", "/panel/v1/senders/main/check", by, "", 200, "", "")
	if got["worst"] != "bad" || got["quality"] != "YELLOW" || got["messages"] != "TIER_2K" || got["name"] != "Acme Clinic" ||
		got["checked_at"] == nil {
		t.Error(got)
	}
	if text := fmt.Sprint(got); !strings.Contains(text, "callback_elsewhere") || !strings.Contains(text, "elsewhere.example") ||
		strings.Contains(text, "theirs") {
		t.Error(text)
	}
	if got := state()["report"].(map[string]any); got["worst"] != "bad" || len(got["findings"].([]any)) != 3 {
		t.Error(got)
	}
	rows := w.Want("GET", "/panel/v1/senders?channel=messaging", by, "", 200, "", "")["data"].([]any)
	if row := rows[0].(map[string]any)["report"].(map[string]any); row["quality"] != "YELLOW" || row["worst"] != "bad" ||
		row["findings"] != nil {
		t.Error(row)
	}
	sender, err := w.Store.Senders.SendersNamed(t.Context(), acme.ID, "main")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Store.Senders.KeepNotice(t.Context(), sender[0], provider.Notice{
		Event: "FLAGGED", Limit: "TIER_250", At: time.Now(),
	}); err != nil {
		t.Fatal(err)
	}
	if got := state()["report"].(map[string]any); got["notice"] != "FLAGGED" || got["messages"] != "TIER_250" {
		t.Error(got)
	}
	// Callbacks received after the check count.
	w.Cloud.Found.Callback = ""
	if got := w.Want("POST", "/panel/v1/senders/main/check", by, "", 200, "", ""); !strings.Contains(fmt.Sprint(got), "callback_never") {
		t.Error(got)
	}
	if err := w.Store.Senders.KeepCallback(t.Context(), sender[0], time.Now()); err != nil {
		t.Fatal(err)
	}
	if got := state()["report"].(map[string]any); got["worst"] != "warn" || !strings.Contains(fmt.Sprint(got), "callback_received") {
		t.Error(got)
	}
	w.Want("POST", "/panel/v1/senders/main/subscribe", by, "", 204, "", "")
	if len(w.Cloud.Subscribed) != 1 {
		t.Error(w.Cloud.Subscribed)
	}
}

func TestASenderIsCheckedBeforeItIsStored(t *testing.T) {
	w := paneltest.New(t)
	acme := w.Company("acme")
	by := w.As("owner@acme.test")
	w.Cloud.Found = provider.Inspection{Findings: []provider.Finding{{Item: "token", State: provider.FindingBad, Code: "token_invalid"}}}
	got := w.Want("POST", "/panel/v1/senders/check", by, cloudSender, 200, "", "")
	if got["worst"] != "bad" || len(got["findings"].([]any)) != 1 || strings.Contains(fmt.Sprint(got), "tokentoken") {
		t.Error(got)
	}
	if all, err := w.Store.Senders.Senders(t.Context(), acme.ID); err != nil || len(all) != 0 {
		t.Error(all, err)
	}
	w.Want(
		"POST", "/panel/v1/senders/check", by,
		strings.Replace(cloudSender, `"settings":{`, `"settings":{"base_url":"https://10.0.0.1",`, 1), 400, "validation_failed",
		"settings.base_url",
	)
	w.Want(
		"POST", "/panel/v1/senders/check", by, `{"number":"15555550100","channel":"messaging","provider":"sandbox"}`, 409, "conflict",
		"",
	)
	for range channels.ChecksPerMinute {
		w.Do("POST", "/panel/v1/senders/check", by, cloudSender)
	}
	w.Want("POST", "/panel/v1/senders/check", by, cloudSender, 429, "rate_limit_exceeded", "")
}

func TestASenderWithWaitingMessagesShowsThemAndStays(t *testing.T) {
	w := paneltest.New(t)
	acme := w.Company("acme")
	by := w.As("owner@acme.test")
	w.Want("POST", "/panel/v1/senders", by, cloudSender, 201, "", "")
	named, err := w.Store.Senders.SendersNamed(t.Context(), acme.ID, "main")
	if err != nil {
		t.Fatal(err)
	}
	due := time.Now().Add(-90 * time.Second)
	err = w.Store.Notifications.Accept(t.Context(), &messages.Accept{
		Notification: messages.Notification{
			ID: carillon.NewID(time.Now()), CompanyID: acme.ID, Channel: carillon.Messaging, SenderUID: named[0].UID, TemplateID: "1",
			Class: carillon.Utility,
			Body:  "{}", Total: 1, Open: 1, CreatedAt: time.Now(), DueAt: due,
		},
		Messages: []messages.NewMessage{{Number: "34600111222"}}, Quota: messages.Quota{Day: time.Now().Format(time.DateOnly), Charge: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	waiting := w.Want("GET", "/panel/v1/senders/main/state", by, "", 200, "", "")["waiting"].(map[string]any)
	if late := waiting["late_ms"].(float64); waiting["messages"] != 1.0 || waiting["due"] != 1.0 || late < 90_000 || late > 600_000 {
		t.Error(waiting)
	}
	got := w.Want("DELETE", "/panel/v1/senders/main", by, "", 409, "conflict", "")
	if !strings.Contains(fmt.Sprint(got["details"]), "wait") {
		t.Error(got)
	}
}
