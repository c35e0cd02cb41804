package sending_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"carillon"
	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/messages"
)

// acceptedBy stores a notification of a company's sender and counts it.
func acceptedBy(w *paneltest.World, companyID, campaign string, numbers ...string) {
	w.T.Helper()
	accepted(w, companyID, campaign, numbers, func(*messages.Notification) {})
	counted(w)
}

// accepted stores a notification that is changed before.
func accepted(w *paneltest.World, companyID, campaign string, numbers []string, change func(n *messages.Notification)) carillon.Seq {
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
	change(&a.Notification)
	for _, n := range numbers {
		a.Messages = append(a.Messages, messages.NewMessage{Number: n})
	}
	if err := w.Store.Notifications.Accept(w.T.Context(), a); err != nil {
		w.T.Fatal(err)
	}
	return a.Notification.Seq()
}

// counted counts until nothing is left.
func counted(w *paneltest.World) {
	w.T.Helper()
	for more := true; more; {
		var err error
		if more, err = w.Store.Stats.Step(w.T.Context(), time.Now()); err != nil {
			w.T.Fatal(err)
		}
	}
}

func TestOverviewAndCampaignsHaveTheSameFigures(t *testing.T) {
	w := paneltest.New(t)
	acme, owner := w.Company("acme"), w.As("owner@acme.test")
	w.Want(
		"POST", "/panel/v1/senders", owner,
		`{"id":"main","number":"15555550100","channel":"messaging","provider":"sandbox","settings":{}}`, 201, "", "",
	)
	w.Want(
		"POST", "/panel/v1/senders", owner,
		`{"id":"line","number":"15555550101","channel":"voice","provider":"sandbox","settings":{}}`, 201, "", "",
	)
	senders, err := w.Store.Senders.Senders(t.Context(), acme.ID)
	if err != nil {
		t.Fatal(err)
	}
	line := senders[slices.IndexFunc(senders, func(s *carillon.Sender) bool { return s.ID == "line" })]
	sent := accepted(w, acme.ID, "regatta", []string{"34600000001", "34600000002", "34600000003"}, func(*messages.Notification) {})
	call := accepted(w, acme.ID, "regatta", []string{"34600000004"}, func(n *messages.Notification) {
		n.Channel, n.SenderUID, n.Labels = carillon.Voice, line.UID, messages.Labels{}
	})
	w.Execute("UPDATE message SET q = 0, sent_at = due_at, delivered_at = due_at WHERE number IN ('34600000001', '34600000002')")
	w.Execute("UPDATE message SET read_at = due_at WHERE number = '34600000001'")
	w.Execute("UPDATE call SET q = 0, dials = 1, dialed_at = due_at, answered_at = due_at, state = 'completed'")
	w.Store.Stats.Touch(sent, nil)
	w.Store.Stats.Touch(call, nil)
	counted(w)
	if err := w.Store.Stats.Replied(t.Context(), acme.ID, sent.Message(0), time.Now()); err != nil {
		t.Fatal(err)
	}
	overview := w.Want("GET", "/panel/v1/overview", owner, "", 200, "", "")
	total := overview["total"].(map[string]any)
	rows := []map[string]any{
		overview["campaigns"].([]any)[0].(map[string]any),
		w.Want("GET", "/panel/v1/campaigns", owner, "", 200, "", "")["data"].([]any)[0].(map[string]any),
		w.Want("GET", "/panel/v1/campaigns/one?name=regatta", owner, "", 200, "", ""),
	}
	for name, want := range map[string]float64{
		"waiting": 1, "sent": 3, "delivered": 3, "answered": 1, "read": 1, "replied": 1, "failed": 0, "skipped": 0, "canceled": 0,
	} {
		for i, row := range append(rows, total) {
			if row[name] != want {
				t.Errorf("%d: %s is %v, want %v", i, name, row[name], want)
			}
		}
		parts := rows[2]["messages"].(map[string]any)[name].(float64) + rows[2]["calls"].(map[string]any)[name].(float64)
		if name != "answered" && parts != want {
			t.Errorf("%s of the messages and calls are %v, want %v", name, parts, want)
		}
	}
}

func TestCampaignsSayWhenTheyAreDue(t *testing.T) {
	w := paneltest.New(t)
	acme, owner := w.Company("acme"), w.As("owner@acme.test")
	w.Want(
		"POST", "/panel/v1/senders", owner,
		`{"id":"main","number":"15555550100","channel":"messaging","provider":"sandbox","settings":{}}`, 201, "", "",
	)
	due := time.Now().Add(24 * time.Hour)
	acceptedBy(w, acme.ID, "now", "34600000001")
	accepted(w, acme.ID, "tomorrow", []string{"34600000002"}, func(n *messages.Notification) { n.Scheduled, n.DueAt = true, due })
	counted(w)
	for name, want := range map[string]any{"now": nil, "tomorrow": carillon.FormatTime(due)} {
		if got := w.Want("GET", "/panel/v1/campaigns/one?name="+name, owner, "", 200, "", "")["scheduled_at"]; got != want {
			t.Errorf("%s is due at %v, want %v", name, got, want)
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
