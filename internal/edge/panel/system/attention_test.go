package system_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/events"
)

func TestFirstStepsFollowTheDatabase(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	owner := w.As("owner@acme.test")
	done := func() (steps []string) {
		for _, x := range w.Want("GET", "/panel/v1/overview/first-steps", owner, "", 200, "", "")["data"].([]any) {
			if x := x.(map[string]any); x["done"] == true {
				steps = append(steps, x["step"].(string))
			}
		}
		return steps
	}
	before := len(done())
	w.Want(
		"POST", "/panel/v1/senders", owner,
		`{"id":"main","number":"15555550100","channel":"messaging","provider":"sandbox","settings":{}}`, 201, "", "",
	)
	w.Want("POST", "/panel/v1/keys", owner, `{"label":"x"}`, 201, "", "")
	if after := done(); len(after) != before+2 {
		t.Error(before, after)
	}
	if all := w.Want("GET", "/panel/v1/overview/attention", owner, "", 200, "", "")["data"].([]any); len(all) > 0 {
		t.Error("nothing is wrong, and it needs attention:", all)
	}
}

func TestAWebhookThatGetsNothingNeedsAttention(t *testing.T) {
	w := paneltest.New(t)
	c := w.Company("acme")
	w.Company("beta")
	owner := w.As("owner@acme.test")
	id := w.Want("POST", "/panel/v1/webhooks", owner, `{"url":"https://hooks.acme.test/in?token=hush"}`, 201, "", "")["id"].(string)
	attention := func(who string) []any {
		t.Helper()
		return w.Want("GET", "/panel/v1/overview/attention", w.As(who), "", 200, "", "")["data"].([]any)
	}
	stands := func(e events.Endpoint) {
		t.Helper()
		e.CompanyID, e.WebhookID = c.ID, id
		a := events.Attempt{
			ID: carillon.NewID(time.Now()), CompanyID: c.ID, WebhookID: id, EventID: "evt_1", Kind: "message.sent", N: 1,
			At: time.Now(), Status: 500, Error: "It responded 500",
		}
		before, err := w.Store.Hooks.Endpoint(t.Context(), events.EndpointKey{CompanyID: c.ID, WebhookID: id})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Store.Hooks.Save(t.Context(), &events.Round{
			Endpoint: &e, Since: before.FailingSince, Attempts: []events.Attempt{a},
		}); err != nil {
			t.Fatal(err)
		}
	}
	since := time.Now().Add(-time.Hour)
	for _, x := range []struct {
		e            events.Endpoint
		kind, detail any
	}{
		{events.Endpoint{Failures: 1, FailingSince: time.Now()}, nil, nil},
		{events.Endpoint{Failures: 5, FailingSince: since}, "webhook_failing", "It responded 500"},
		{
			events.Endpoint{Failures: 9, FailingSince: since, DisabledAt: time.Now(), DisabledWhy: "failing"},
			"webhook_disabled",
			"It responded 500",
		},
		{events.Endpoint{Failures: 1, FailingSince: since, DisabledAt: time.Now(), DisabledWhy: "gone"}, "webhook_disabled", nil},
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
			if got["kind"] != x.kind || got["host"] != "hooks.acme.test" || got["id"] != id || got["detail"] != x.detail ||
				strings.Contains(fmt.Sprint(got), "hush") {
				t.Errorf("%s gets %v, want %v", who, got, x)
			}
		}
		if all := append(attention("viewer@acme.test"), attention("owner@beta.test")...); len(all) > 0 {
			t.Error("members without access see the webhook's problem:", all)
		}
	}
	w.Want("PUT", "/panel/v1/webhooks/"+id, owner, `{"url":"https://hooks.acme.test/in?token=hush","paused":true}`, 200, "", "")
	if all := attention("owner@acme.test"); len(all) > 0 {
		t.Error("a paused webhook needs attention:", all)
	}
}
