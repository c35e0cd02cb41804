package calls_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/calls"
	"carillon/internal/store/chats"
	"carillon/internal/store/configure"
	"carillon/internal/store/messages"
	"carillon/internal/store/settings"
)

// accepted stores a call or a message of a company.
func accepted(w *paneltest.World, line *carillon.Sender, channel carillon.Channel, body string) string {
	w.T.Helper()
	now := time.Now()
	a := &messages.Accept{
		Notification: messages.Notification{
			ID: carillon.NewID(now), CompanyID: line.CompanyID, Channel: channel, SenderUID: line.UID, Campaign: "spring", Total: 1,
			Open: 1, CreatedAt: now,
			DueAt: now, Body: body, Labels: messages.Labels{RecipientID: line.ID, AgentID: "3e0f7a52-1d84-4b7c-8c39-5a2be6d41f11"},
		},
		Messages: []messages.NewMessage{{Number: "34600111222"}}, Quota: messages.Quota{Day: "2026-01-01", Charge: 1},
	}
	if err := w.Store.Notifications.Accept(w.T.Context(), a); err != nil {
		w.T.Fatal(err)
	}
	return a.Notification.ID
}

func line(w *paneltest.World, companyID string) *carillon.Sender {
	w.T.Helper()
	s := &carillon.Sender{
		CompanyID: companyID, ID: "line", Number: "15550100101", Channel: carillon.Voice, Provider: "sandbox", MediaCheck: "full",
	}
	err := w.Store.Config.Change(w.T.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return settings.PutSender(ctx, tx, s, time.Now())
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return s
}

func TestCallsAreListedNarrowedAndShown(t *testing.T) {
	w := paneltest.New(t)
	acme := w.Company("acme")
	w.Company("other")
	line, owner, stranger := line(w, acme.ID), w.As("owner@acme.test"), w.As("owner@other.test")
	body := `{"contact":{"number":"34600111222","first_name":"Ana","last_name":"Ruiz"},"recipient_id":"line",` +
		`"agent_id":"3e0f7a52-1d84-4b7c-8c39-5a2be6d41f11","notification_type":"transactional","campaign_name":"spring"}`
	first := accepted(w, line, carillon.Voice, body)
	second := accepted(w, line, carillon.Voice, body)
	message := accepted(w, line, carillon.Messaging, "{}")
	w.Execute(
		"UPDATE call SET q = 0, state = 'busy', dials = 1, cause = '486 Busy Here', ended_at = $1 WHERE id = $2",
		time.Now().UnixMilli(), int64(carillon.SeqOf(first).Message(0)),
	)

	ids := func(query string) string {
		t.Helper()
		var all []string
		for _, row := range w.Want("GET", "/panel/v1/calls"+query, owner, "", 200, "", "")["data"].([]any) {
			all = append(all, row.(map[string]any)["call_id"].(string))
		}
		return strings.Join(all, " ")
	}
	for query, want := range map[string]string{
		"": second + " " + first, "?state=busy": first, "?state=queued,scheduled": second, "?line=line": second + " " + first,
		"?line=nothing":                   "",
		"?number=%2B34%20600%20111%20222": second + " " + first, "?number=34600111223": "", "?campaign=spring&state=busy": first,
		"?campaign=autumn": "",
		"?agent=3e0f7a52-1d84-4b7c-8c39-5a2be6d41f11": second + " " + first, "?direction=outgoing": second + " " + first,
	} {
		if got := ids(query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	page := w.Want("GET", "/panel/v1/calls?limit=1", owner, "", 200, "", "")
	row := page["data"].([]any)[0].(map[string]any)
	if row["name"] != "Ana Ruiz" || row["line_id"] != "line" || row["campaign_name"] != "spring" || row["state"] != "queued" ||
		row["due_at"] == nil {
		t.Errorf("%v", row)
	}
	if got := ids("?limit=1&cursor=" + page["next_cursor"].(string)); got != first {
		t.Errorf("the second page: %s", got)
	}
	for query, field := range map[string]string{
		"?direction=incoming&cursor=x": "cursor", "?state=gone": "state", "?agent=Ann": "agent", "?number=12": "number",
		"?direction=up": "direction", "?cursor=x": "cursor", "?limit=0": "limit",
		"?campaign=" + strings.Repeat("x", 256): "campaign",
	} {
		w.Want("GET", "/panel/v1/calls"+query, owner, "", 400, "validation_failed", field)
	}

	one := w.Want("GET", "/panel/v1/calls/"+first, owner, "", 200, "", "")
	if one["cause"] != "486 Busy Here" || one["line_id"] != "line" || one["turns"] == nil || one["tries"] == nil {
		t.Errorf("%v", one)
	}
	for _, id := range []string{message, carillon.NewID(time.Now()), "nothing"} {
		w.Want("GET", "/panel/v1/calls/"+id, owner, "", 404, "not_found", "")
		w.Want("GET", "/panel/v1/calls/"+id+"/recording", owner, "", 404, "not_found", "")
		w.Want("POST", "/panel/v1/calls/"+id+"/hangup", owner, "", 404, "not_found", "")
	}
	w.Want("GET", "/panel/v1/calls/"+first+"/recording", owner, "", 404, "not_found", "")
	w.Want("GET", "/panel/v1/calls/"+first, stranger, "", 404, "not_found", "")
	w.Want("POST", "/panel/v1/calls/"+second+"/hangup", stranger, "", 404, "not_found", "")
	if got := w.Want("GET", "/panel/v1/calls", stranger, "", 200, "", "")["data"].([]any); len(got) > 0 {
		t.Errorf("another company's: %v", got)
	}
}

func TestACallIsHungUpAndOneThatWaitsIsCanceled(t *testing.T) {
	w := paneltest.New(t)
	line, owner := line(w, w.Company("acme").ID), w.As("owner@acme.test")
	waits, talks := accepted(w, line, carillon.Voice, "{}"), accepted(w, line, carillon.Voice, "{}")
	w.Execute("UPDATE call SET q = 2, state = 'in_progress', attempt = 1 WHERE id = $1", int64(carillon.SeqOf(talks).Message(0)))
	w.Want("POST", "/panel/v1/calls/"+talks+"/hangup", w.As("viewer@acme.test"), "", 403, "forbidden", "")
	w.Want("POST", "/panel/v1/calls/"+talks+"/hangup", w.As("teammate@acme.test"), "", 403, "forbidden", "")
	if got := w.Want("POST", "/panel/v1/calls/"+talks+"/hangup", owner, "", 200, "", ""); got["hung_up"] != float64(1) {
		t.Error(got)
	}
	if got := w.Want("POST", "/panel/v1/calls/"+waits+"/hangup", owner, "", 200, "", ""); got["canceled"] != float64(1) {
		t.Error(got)
	}
	w.Want("POST", "/panel/v1/calls/"+waits+"/hangup", owner, "", 409, "conflict", "")
	if c, err := w.Store.Calls.Find(t.Context(), carillon.SeqOf(talks).Message(0)); err != nil || !c.UnderWay {
		t.Error(c, err)
	}
	rec := httptest.NewRecorder()
	w.Router.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/panel/v1/calls/"+talks+"/recording", http.NoBody))
	if rec.Code != http.StatusUnauthorized {
		t.Errorf("without a session: %d", rec.Code)
	}
}

func TestCallsToALineAreListedApart(t *testing.T) {
	w := paneltest.New(t)
	acme := w.Company("acme")
	w.Company("other")
	line, owner := line(w, acme.ID), w.As("owner@acme.test")
	accepted(w, line, carillon.Voice, "{}")
	var ids []string
	for i := range 2 {
		at := time.Now().Add(time.Duration(i) * time.Second)
		c := &calls.IncomingCall{
			ID: carillon.NewID(at), CompanyID: acme.ID, SenderUID: line.UID, AgentID: "3e0f7a52-1d84-4b7c-8c39-5a2be6d41f11",
			Number: "34600111222", RingingAt: at,
		}
		if full, err := w.Store.Incoming.Take(t.Context(), c, 0); full || err != nil {
			t.Fatal(full, err)
		}
		ids = append(ids, c.ID)
	}
	page := w.Want("GET", "/panel/v1/calls?direction=incoming&limit=1&number=34600111222&state=ringing&line=line", owner, "", 200, "", "")
	row := page["data"].([]any)[0].(map[string]any)
	if row["call_id"] != ids[1] || row["direction"] != "incoming" || row["line_id"] != "line" || row["state"] != "ringing" {
		t.Errorf("%v", row)
	}
	page = w.Want("GET", "/panel/v1/calls?direction=incoming&limit=1&cursor="+page["next_cursor"].(string), owner, "", 200, "", "")
	if row = page["data"].([]any)[0].(map[string]any); row["call_id"] != ids[0] || page["next_cursor"] != nil {
		t.Errorf("%v", page)
	}
	for _, query := range []string{"campaign=spring", "line=nothing", "state=completed"} {
		if got := w.Want("GET", "/panel/v1/calls?direction=incoming&"+query, owner, "", 200, "", "")["data"].([]any); len(got) > 0 {
			t.Errorf("%s: %v", query, got)
		}
	}
	one := w.Want("GET", "/panel/v1/calls/"+ids[0], owner, "", 200, "", "")
	if one["direction"] != "incoming" || one["line_id"] != "line" || one["name"] != nil {
		t.Errorf("%v", one)
	}
	now := time.Now()
	o := &chats.Open{
		Contact:      chats.Contact{ID: carillon.NewID(now), CompanyID: acme.ID, VisitorID: "tel:34600111222", Name: "Ana"},
		Conversation: chats.Conversation{ID: carillon.NewID(now), Channel: "phone", State: chats.Automated}, Always: true, Now: now,
	}
	if err := errors.Join(
		w.Store.Chats.Open(t.Context(), o), w.Store.Incoming.Answered(t.Context(), ids[0], o.Conversation.ID, now),
	); err != nil {
		t.Fatal(err)
	}
	if one = w.Want("GET", "/panel/v1/calls/"+ids[0], owner, "", 200, "", ""); one["name"] != "Ana" {
		t.Errorf("%v", one)
	}
	stranger := w.As("owner@other.test")
	w.Want("GET", "/panel/v1/calls/"+ids[0], stranger, "", 404, "not_found", "")
	if got := w.Want("GET", "/panel/v1/calls?direction=incoming", stranger, "", 200, "", "")["data"].([]any); len(got) > 0 {
		t.Errorf("another company's: %v", got)
	}
}
