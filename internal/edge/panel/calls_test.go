package panel

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"carillon/internal/store/configure"
	"carillon/internal/store/messages"
	senderstore "carillon/internal/store/senders"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/calls"
	"carillon/internal/store/chats"
)

// callsThere hangs up as the part that places calls does, and calls nobody.
type callsThere struct{ store *store.Store }

func (x callsThere) HangUp(ctx context.Context, companyID, id string) (carillon.State, error) {
	n, err := x.store.Notifications.Find(ctx, companyID, id)
	if err != nil || n.Channel != carillon.Voice {
		return "", err
	}
	state, _, err := x.store.Calls.HangUp(ctx, companyID, n.Seq().Message(0))
	return state, err
}

// accepted stores a call, or a message, of a company.
func (w *world) accepted(line *carillon.Sender, channel carillon.Channel, body string) string {
	w.t.Helper()
	now := time.Now()
	a := &messages.Accept{
		Notification: messages.Notification{
			ID: carillon.NewID(now), CompanyID: line.CompanyID, Channel: channel, SenderUID: line.UID, Campaign: "spring", Total: 1, Open: 1, CreatedAt: now,
			DueAt: now, Body: body, Labels: messages.Labels{RecipientID: line.ID, AgentID: "3e0f7a52-1d84-4b7c-8c39-5a2be6d41f11"},
		},
		Messages: []messages.NewMessage{{Number: "34600111222"}}, Quota: messages.Quota{Day: "2026-01-01", Charge: 1},
	}
	if err := w.store.Notifications.Accept(w.t.Context(), a); err != nil {
		w.t.Fatal(err)
	}
	return a.Notification.ID
}

func (w *world) execute(query string, args ...any) {
	w.t.Helper()
	err := w.store.Config.Update(w.t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		_, err := tx.Exec(ctx, query, args...)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) line(companyID string) *carillon.Sender {
	w.t.Helper()
	s := &carillon.Sender{CompanyID: companyID, ID: "line", Number: "15550100101", Channel: carillon.Voice, Provider: "sandbox", MediaCheck: "full"}
	err := w.store.Config.Change(w.t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return senderstore.PutSender(ctx, tx, s, time.Now())
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func TestCallsAreListedNarrowedAndShown(t *testing.T) {
	w := newWorld(t)
	acme := w.company("acme")
	w.company("other")
	line, owner, stranger := w.line(acme.ID), w.as("owner@acme.test"), w.as("owner@other.test")
	body := `{"contact":{"number":"34600111222","first_name":"Ana","last_name":"Ruiz"},"recipient_id":"line","agent_id":"3e0f7a52-1d84-4b7c-8c39-5a2be6d41f11","notification_type":"transactional","campaign_name":"spring"}`
	first := w.accepted(line, carillon.Voice, body)
	second := w.accepted(line, carillon.Voice, body)
	message := w.accepted(line, carillon.Messaging, "{}")
	w.execute("UPDATE call SET q = 0, state = 'busy', dials = 1, cause = '486 Busy Here', ended_at = $1 WHERE id = $2", time.Now().UnixMilli(), int64(carillon.SeqOf(first).Message(0)))

	ids := func(query string) string {
		t.Helper()
		var all []string
		for _, row := range w.want("GET", "/panel/v1/calls"+query, owner, "", 200, "", "")["data"].([]any) {
			all = append(all, row.(map[string]any)["call_id"].(string))
		}
		return strings.Join(all, " ")
	}
	for query, want := range map[string]string{
		"": second + " " + first, "?state=busy": first, "?state=queued,scheduled": second, "?line=line": second + " " + first, "?line=nothing": "",
		"?number=%2B34%20600%20111%20222": second + " " + first, "?number=34600111223": "", "?campaign=spring&state=busy": first, "?campaign=autumn": "",
		"?agent=3e0f7a52-1d84-4b7c-8c39-5a2be6d41f11": second + " " + first, "?direction=outgoing": second + " " + first,
	} {
		if got := ids(query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	page := w.want("GET", "/panel/v1/calls?limit=1", owner, "", 200, "", "")
	row := page["data"].([]any)[0].(map[string]any)
	if row["name"] != "Ana Ruiz" || row["line_id"] != "line" || row["campaign_name"] != "spring" || row["state"] != "queued" || row["due_at"] == nil {
		t.Errorf("%v", row)
	}
	if got := ids("?limit=1&cursor=" + page["next_cursor"].(string)); got != first {
		t.Errorf("the second page: %s", got)
	}
	for query, field := range map[string]string{
		"?direction=incoming&cursor=x": "cursor", "?state=gone": "state", "?agent=Ann": "agent", "?number=12": "number", "?direction=up": "direction", "?cursor=x": "cursor", "?limit=0": "limit",
		"?campaign=" + strings.Repeat("x", 256): "campaign",
	} {
		w.want("GET", "/panel/v1/calls"+query, owner, "", 400, "validation_failed", field)
	}

	one := w.want("GET", "/panel/v1/calls/"+first, owner, "", 200, "", "")
	if one["cause"] != "486 Busy Here" || one["line_id"] != "line" || one["turns"] == nil || one["tries"] == nil {
		t.Errorf("%v", one)
	}
	for _, id := range []string{message, carillon.NewID(time.Now()), "nothing"} {
		w.want("GET", "/panel/v1/calls/"+id, owner, "", 404, "not_found", "")
		w.want("GET", "/panel/v1/calls/"+id+"/recording", owner, "", 404, "not_found", "")
		w.want("POST", "/panel/v1/calls/"+id+"/hangup", owner, "", 404, "not_found", "")
	}
	w.want("GET", "/panel/v1/calls/"+first+"/recording", owner, "", 404, "not_found", "")
	w.want("GET", "/panel/v1/calls/"+first, stranger, "", 404, "not_found", "")
	w.want("POST", "/panel/v1/calls/"+second+"/hangup", stranger, "", 404, "not_found", "")
	if got := w.want("GET", "/panel/v1/calls", stranger, "", 200, "", "")["data"].([]any); len(got) > 0 {
		t.Errorf("another company's: %v", got)
	}
}

func TestACallIsHungUpAndOneThatWaitsIsCanceled(t *testing.T) {
	w := newWorld(t)
	line, owner := w.line(w.company("acme").ID), w.as("owner@acme.test")
	waits, talks := w.accepted(line, carillon.Voice, "{}"), w.accepted(line, carillon.Voice, "{}")
	w.execute("UPDATE call SET q = 2, state = 'in_progress', attempt = 1 WHERE id = $1", int64(carillon.SeqOf(talks).Message(0)))
	w.want("POST", "/panel/v1/calls/"+talks+"/hangup", w.as("viewer@acme.test"), "", 403, "forbidden", "")
	w.want("POST", "/panel/v1/calls/"+talks+"/hangup", w.as("teammate@acme.test"), "", 403, "forbidden", "")
	if got := w.want("POST", "/panel/v1/calls/"+talks+"/hangup", owner, "", 200, "", ""); got["hung_up"] != float64(1) {
		t.Error(got)
	}
	if got := w.want("POST", "/panel/v1/calls/"+waits+"/hangup", owner, "", 200, "", ""); got["canceled"] != float64(1) {
		t.Error(got)
	}
	w.want("POST", "/panel/v1/calls/"+waits+"/hangup", owner, "", 409, "conflict", "")
	if c, err := w.store.Calls.Find(t.Context(), carillon.SeqOf(talks).Message(0)); err != nil || !c.UnderWay {
		t.Error(c, err)
	}
	rec := httptest.NewRecorder()
	w.router.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/panel/v1/calls/"+talks+"/recording", http.NoBody))
	if rec.Code != http.StatusUnauthorized {
		t.Errorf("without a session: %d", rec.Code)
	}
}

func TestCallsToALineAreListedApart(t *testing.T) {
	w := newWorld(t)
	acme := w.company("acme")
	w.company("other")
	line, owner := w.line(acme.ID), w.as("owner@acme.test")
	w.accepted(line, carillon.Voice, "{}")
	var ids []string
	for i := range 2 {
		at := time.Now().Add(time.Duration(i) * time.Second)
		c := &calls.IncomingCall{ID: carillon.NewID(at), CompanyID: acme.ID, SenderUID: line.UID, AgentID: "3e0f7a52-1d84-4b7c-8c39-5a2be6d41f11", Number: "34600111222", RingingAt: at}
		if full, err := w.store.Incoming.Take(t.Context(), c, 0); full || err != nil {
			t.Fatal(full, err)
		}
		ids = append(ids, c.ID)
	}
	page := w.want("GET", "/panel/v1/calls?direction=incoming&limit=1&number=34600111222&state=ringing&line=line", owner, "", 200, "", "")
	row := page["data"].([]any)[0].(map[string]any)
	if row["call_id"] != ids[1] || row["direction"] != "incoming" || row["line_id"] != "line" || row["state"] != "ringing" {
		t.Errorf("%v", row)
	}
	page = w.want("GET", "/panel/v1/calls?direction=incoming&limit=1&cursor="+page["next_cursor"].(string), owner, "", 200, "", "")
	if row = page["data"].([]any)[0].(map[string]any); row["call_id"] != ids[0] || page["next_cursor"] != nil {
		t.Errorf("%v", page)
	}
	for _, query := range []string{"campaign=spring", "line=nothing", "state=completed"} {
		if got := w.want("GET", "/panel/v1/calls?direction=incoming&"+query, owner, "", 200, "", "")["data"].([]any); len(got) > 0 {
			t.Errorf("%s: %v", query, got)
		}
	}
	one := w.want("GET", "/panel/v1/calls/"+ids[0], owner, "", 200, "", "")
	if one["direction"] != "incoming" || one["line_id"] != "line" || one["name"] != nil {
		t.Errorf("%v", one)
	}
	now := time.Now()
	o := &chats.Open{
		Contact:      chats.Contact{ID: carillon.NewID(now), CompanyID: acme.ID, VisitorID: "tel:34600111222", Name: "Ana"},
		Conversation: chats.Conversation{ID: carillon.NewID(now), Channel: "phone", State: chats.Automated}, Always: true, Now: now,
	}
	if err := errors.Join(w.store.Chats.Open(t.Context(), o), w.store.Incoming.Answered(t.Context(), ids[0], o.Conversation.ID, now)); err != nil {
		t.Fatal(err)
	}
	if one = w.want("GET", "/panel/v1/calls/"+ids[0], owner, "", 200, "", ""); one["name"] != "Ana" {
		t.Errorf("%v", one)
	}
	stranger := w.as("owner@other.test")
	w.want("GET", "/panel/v1/calls/"+ids[0], stranger, "", 404, "not_found", "")
	if got := w.want("GET", "/panel/v1/calls?direction=incoming", stranger, "", 200, "", "")["data"].([]any); len(got) > 0 {
		t.Errorf("another company's: %v", got)
	}
}
