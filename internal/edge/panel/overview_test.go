package panel

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"carillon/internal/store/messages"

	"carillon"
	"carillon/internal/store/hooks"
)

// acceptedBy stores a notification of a company's sender and counts it.
func (w *world) acceptedBy(companyID, campaign string, numbers ...string) {
	w.t.Helper()
	senders, err := w.store.Senders.Senders(w.t.Context(), companyID)
	if err != nil {
		w.t.Fatal(err)
	}
	now := time.Now()
	a := &messages.Accept{
		Notification: messages.Notification{
			ID: w.store.Notifications.NewID(now), CompanyID: companyID, Channel: carillon.Messaging, SenderUID: senders[0].UID, TemplateID: "1", Class: carillon.Marketing,
			Campaign: campaign, Labels: messages.Labels{TemplateName: "greeting", Language: "es"}, Total: len(numbers), Open: len(numbers), CreatedAt: now, DueAt: now,
		},
		Quota: messages.Quota{Day: now.UTC().Format(time.DateOnly), Charge: len(numbers)},
	}
	for _, n := range numbers {
		a.Messages = append(a.Messages, messages.NewMessage{Number: n})
	}
	if err := w.store.Notifications.Accept(w.t.Context(), a); err != nil {
		w.t.Fatal(err)
	}
	for more := true; more; {
		if more, err = w.store.Stats.Step(w.t.Context(), time.Now()); err != nil {
			w.t.Fatal(err)
		}
	}
}

func TestOverviewCountsWhatItsFiltersLeave(t *testing.T) {
	w := newWorld(t)
	acme := w.company("acme")
	owner := w.as("owner@acme.test")
	w.want("POST", "/panel/v1/senders", owner, `{"id":"main","number":"15555550100","channel":"messaging","provider":"sandbox","settings":{}}`, 201, "", "")
	w.acceptedBy(acme.ID, "spring & more", "34600000001", "34600000002")
	w.acceptedBy(acme.ID, "other", "34600000003")
	for query, want := range map[string]int{
		"": 3, "campaign=spring+%26+more": 2, "campaign=nothing": 0, "type=marketing": 3, "type=utility": 0, "template=greeting&language=es": 3, "template=none": 0,
		"sender=main": 3, "sender=nobody": 0, "channel=voice": 0, "channel=messaging": 3, "from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z": 0,
	} {
		got := w.want("GET", "/panel/v1/overview?"+query, owner, "", 200, "", "")
		if n := got["total"].(map[string]any)["accepted"]; n != float64(want) {
			t.Errorf("%s counts %v, want %d", query, n, want)
		}
	}
	got := w.want("GET", "/panel/v1/overview", owner, "", 200, "", "")
	for list, want := range map[string]string{
		"campaigns": "[other 1 spring & more 2]", "types": "[marketing 3]", "templates": "[greeting 3]", "senders": "[main 3]", "hours": "[3]",
	} {
		var rows []any
		for _, row := range got[list].([]any) {
			row := row.(map[string]any)
			for _, name := range []string{"campaign", "type", "template", "sender"} {
				if row[name] != nil {
					rows = append(rows, row[name])
				}
			}
			rows = append(rows, row["accepted"])
		}
		if fmt.Sprint(rows) != want {
			t.Errorf("%s: %v, want %s", list, rows, want)
		}
	}
	for query, field := range map[string]string{
		"from=yesterday": "from", "from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z": "from", "from=2020-01-01T00:00:00Z": "from", "type=other": "type",
		"channel=mail": "channel", "campaign=%00": "campaign", "template=%ff": "template",
	} {
		w.want("GET", "/panel/v1/overview?"+query, owner, "", 400, "validation_failed", field)
	}
	u := w.want("GET", "/panel/v1/usage", owner, "", 200, "", "")
	if u["used"] != 3.0 || len(u["days"].([]any)) != 1 {
		t.Error(u)
	}
}

func TestFirstStepsFollowTheDatabase(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	owner := w.as("owner@acme.test")
	done := func() (steps []string) {
		for _, x := range w.want("GET", "/panel/v1/overview/first-steps", owner, "", 200, "", "")["data"].([]any) {
			if x := x.(map[string]any); x["done"] == true {
				steps = append(steps, x["step"].(string))
			}
		}
		return steps
	}
	before := len(done())
	w.want("POST", "/panel/v1/senders", owner, `{"id":"main","number":"15555550100","channel":"messaging","provider":"sandbox","settings":{}}`, 201, "", "")
	w.want("POST", "/panel/v1/keys", owner, `{"label":"x"}`, 201, "", "")
	if after := done(); len(after) != before+2 {
		t.Error(before, after)
	}
	if all := w.want("GET", "/panel/v1/overview/attention", owner, "", 200, "", "")["data"].([]any); len(all) > 0 {
		t.Error("nothing is wrong, and it needs attention:", all)
	}
}

func TestAWebhookThatGetsNothingNeedsAttention(t *testing.T) {
	w := newWorld(t)
	c := w.company("acme")
	w.company("beta")
	owner := w.as("owner@acme.test")
	id := w.want("POST", "/panel/v1/webhooks", owner, `{"url":"https://hooks.acme.test/in?token=hush"}`, 201, "", "")["id"].(string)
	attention := func(who string) []any {
		t.Helper()
		return w.want("GET", "/panel/v1/overview/attention", w.as(who), "", 200, "", "")["data"].([]any)
	}
	stands := func(e hooks.Endpoint) {
		t.Helper()
		e.CompanyID, e.WebhookID = c.ID, id
		a := hooks.Attempt{ID: carillon.NewID(time.Now()), CompanyID: c.ID, WebhookID: id, EventID: "evt_1", Kind: "message.sent", N: 1, At: time.Now(), Status: 500, Error: "It responded 500"}
		before, err := w.store.Hooks.Endpoint(t.Context(), hooks.Key{CompanyID: c.ID, WebhookID: id})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.store.Hooks.Save(t.Context(), &hooks.Round{Endpoint: &e, Since: before.FailingSince, Attempts: []hooks.Attempt{a}}); err != nil {
			t.Fatal(err)
		}
	}
	since := time.Now().Add(-time.Hour)
	for _, x := range []struct {
		e            hooks.Endpoint
		kind, detail any
	}{
		{hooks.Endpoint{Failures: 1, FailingSince: time.Now()}, nil, nil},
		{hooks.Endpoint{Failures: 5, FailingSince: since}, "webhook_failing", "It responded 500"},
		{hooks.Endpoint{Failures: 9, FailingSince: since, DisabledAt: time.Now(), DisabledWhy: "failing"}, "webhook_disabled", "It responded 500"},
		{hooks.Endpoint{Failures: 1, FailingSince: since, DisabledAt: time.Now(), DisabledWhy: "gone"}, "webhook_disabled", nil},
	} {
		stands(x.e)
		for _, who := range []string{"owner@acme.test", "developer@acme.test"} {
			all := attention(who)
			if x.kind == nil && len(all) == 0 {
				continue
			}
			if len(all) != 1 {
				t.Fatalf("%s gets %v", who, all)
			}
			got := all[0].(map[string]any)
			if got["kind"] != x.kind || got["host"] != "hooks.acme.test" || got["id"] != id || got["detail"] != x.detail || strings.Contains(fmt.Sprint(got), "hush") {
				t.Errorf("%s gets %v, want %v", who, got, x)
			}
		}
		if all := append(attention("viewer@acme.test"), attention("owner@beta.test")...); len(all) > 0 {
			t.Error("who may not see the webhook learns of it:", all)
		}
	}
	w.want("PUT", "/panel/v1/webhooks/"+id, owner, `{"url":"https://hooks.acme.test/in?token=hush","paused":true}`, 200, "", "")
	if all := attention("owner@acme.test"); len(all) > 0 {
		t.Error("it was paused on purpose:", all)
	}
}

func TestSuppressionsAreAddedFoundExportedAndLifted(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	owner := w.as("owner@acme.test")
	got := w.want("POST", "/panel/v1/suppressions", owner, `{"numbers":["34600000001","34600000002","51900000001"],"type":"marketing","reason":"=1+1"}`, 200, "", "")
	if got["added"] != 3.0 {
		t.Error(got)
	}
	got = w.want("POST", "/panel/v1/suppressions", owner, `{"numbers":["34600000001"],"type":"marketing"}`, 200, "", "")
	if got["added"] != 0.0 || got["given"] != 1.0 {
		t.Error(got)
	}
	for query, want := range map[string]int{"": 3, "number=346": 2, "number=%2B34+600": 2, "number=7": 0} {
		if rows := w.want("GET", "/panel/v1/suppressions?"+query, owner, "", 200, "", "")["data"].([]any); len(rows) != want {
			t.Errorf("%s: %v", query, rows)
		}
	}
	text := w.want("GET", "/panel/v1/suppressions/export", owner, "", 200, "", "")["csv"].(string)
	if !strings.Contains(text, "34600000001,marketing,'=1+1,owner@acme.test,20") || strings.Count(text, "\n") != 4 {
		t.Error(text)
	}
	w.want("DELETE", "/panel/v1/suppressions/34600000001", owner, "", 204, "", "")
	w.want("DELETE", "/panel/v1/suppressions/34600000001", owner, "", 404, "not_found", "")
	for body, field := range map[string]string{
		`{}`: "numbers", `{"numbers":["+34"]}`: "numbers.0", `{"numbers":["34600000001","x"]}`: "numbers.1", `{"numbers":["34600000001"],"type":"some"}`: "type",
		`{"numbers":["34600000001"],"reason":"` + strings.Repeat("x", 256) + `"}`: "reason", `{"number":"34600000001"}`: "body",
	} {
		w.want("POST", "/panel/v1/suppressions", owner, body, 400, "validation_failed", field)
	}
	w.want("GET", "/panel/v1/suppressions?number=abc", owner, "", 400, "validation_failed", "number")
}
