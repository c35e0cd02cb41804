package sending_test

import (
	"fmt"
	"testing"
	"time"

	"carillon"
	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/messages"
)

// acceptedBy stores a notification of a company's sender and counts it.
func acceptedBy(w *paneltest.World, companyID, campaign string, numbers ...string) {
	w.T.Helper()
	senders, err := w.Store.Senders.Senders(w.T.Context(), companyID)
	if err != nil {
		w.T.Fatal(err)
	}
	now := time.Now()
	a := &messages.Accept{
		Notification: messages.Notification{
			ID: w.Store.Notifications.NewID(now), CompanyID: companyID, Channel: carillon.Messaging, SenderUID: senders[0].UID,
			TemplateID: "1", Class: carillon.Marketing,
			Campaign: campaign, Labels: messages.Labels{TemplateName: "greeting", Language: "es"}, Total: len(numbers), Open: len(numbers),
			CreatedAt: now, DueAt: now,
		},
		Quota: messages.Quota{Day: now.UTC().Format(time.DateOnly), Charge: len(numbers)},
	}
	for _, n := range numbers {
		a.Messages = append(a.Messages, messages.NewMessage{Number: n})
	}
	if err := w.Store.Notifications.Accept(w.T.Context(), a); err != nil {
		w.T.Fatal(err)
	}
	for more := true; more; {
		if more, err = w.Store.Stats.Step(w.T.Context(), time.Now()); err != nil {
			w.T.Fatal(err)
		}
	}
}

func TestOverviewCountsWhatItsFiltersLeave(t *testing.T) {
	w := paneltest.New(t)
	acme := w.Company("acme")
	owner := w.As("owner@acme.test")
	w.Want(
		"POST", "/panel/v1/senders", owner,
		`{"id":"main","number":"15555550100","channel":"messaging","provider":"sandbox","settings":{}}`, 201, "", "",
	)
	acceptedBy(w, acme.ID, "spring & more", "34600000001", "34600000002")
	acceptedBy(w, acme.ID, "other", "34600000003")
	for query, want := range map[string]int{
		"": 3, "campaign=spring+%26+more": 2, "campaign=nothing": 0, "type=marketing": 3, "type=utility": 0,
		"template=greeting&language=es": 3, "template=none": 0,
		"sender=main": 3, "sender=nobody": 0, "channel=voice": 0, "channel=messaging": 3,
		"from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z": 0,
	} {
		got := w.Want("GET", "/panel/v1/overview?"+query, owner, "", 200, "", "")
		if n := got["total"].(map[string]any)["accepted"]; n != float64(want) {
			t.Errorf("%s counts %v, want %d", query, n, want)
		}
	}
	got := w.Want("GET", "/panel/v1/overview", owner, "", 200, "", "")
	for list, want := range map[string]string{
		"campaigns": "[other 1 spring & more 2]", "types": "[marketing 3]", "templates": "[greeting 3]", "senders": "[main 3]",
		"hours": "[3]",
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
		"from=yesterday": "from", "from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z": "from", "from=2020-01-01T00:00:00Z": "from",
		"type=other":   "type",
		"channel=mail": "channel", "campaign=%00": "campaign", "template=%ff": "template",
	} {
		w.Want("GET", "/panel/v1/overview?"+query, owner, "", 400, "validation_failed", field)
	}
	u := w.Want("GET", "/panel/v1/usage", owner, "", 200, "", "")
	if u["used"] != 3.0 || len(u["days"].([]any)) != 1 {
		t.Error(u)
	}
}
