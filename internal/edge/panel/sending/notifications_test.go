package sending_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/queue"
	"carillon/internal/send/notify"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"
)

// office is a company with a sender whose notifications only advance when the test says so.
type office struct {
	*paneltest.World
	company *carillon.Company
	owner   string
	sender  *carillon.Sender
	notify  *notify.Notify
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{World: paneltest.New(t)}
	o.company = o.World.Company("acme")
	o.owner = o.As("owner@acme.test")
	o.Want(
		"POST", "/panel/v1/senders", o.owner,
		`{"id":"main","number":"15555550100","channel":"messaging","provider":"sandbox","default":true}`, 201, "", "",
	)
	senders, err := o.Store.Senders.Senders(t.Context(), o.company.ID)
	if err != nil || len(senders) != 1 {
		t.Fatal(senders, err)
	}
	o.sender = senders[0]
	o.notify = notify.New(o.Store, queue.New(o.Store, queue.Options{}), notify.Options{})
	if err := o.Store.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return settings.PutTemplate(ctx, tx, &carillon.Template{
			ID: "77", CompanyID: o.company.ID, SenderUID: o.sender.UID, Name: "hello", Language: "en", Category: "UTILITY",
			Status: carillon.TemplateApproved, ParameterFormat: "POSITIONAL",
			Components: []carillon.Component{{Type: "BODY", Text: "Hello {{1}}."}},
		}, time.Now().Add(-time.Hour))
	}); err != nil {
		t.Fatal(err)
	}
	return o
}

// send accepts a notification to numbers.
func (o *office) send(t *testing.T, campaign string, numbers ...string) string {
	t.Helper()
	contacts := make([]map[string]string, len(numbers))
	for i, n := range numbers {
		contacts[i] = map[string]string{"number": n, "name": "P" + strconv.Itoa(i)}
	}
	body, _ := json.Marshal(map[string]any{
		"contacts": contacts, "recipient_id": "main", "name_template": "hello", "language_template": "en", "notification_type": "utility",
		"campaign_name":   campaign,
		"components_push": map[string]string{"body_text_0": "{{name}}"}, "datetime_sending": "2098-01-01T10:00:00",
		"timezone": "Europe/Madrid",
	})
	r, err := o.notify.AcceptBody(t.Context(), &notify.Submission{Company: o.company, Route: "test"}, carillon.Messaging, body, false)
	if err != nil {
		t.Fatal(err)
	}
	var made struct {
		ID string `json:"notification_id"`
	}
	_ = json.Unmarshal(r.JSON, &made)
	return made.ID
}

// receive reports a receipt of a message, as if it had been sent.
func (o *office) receive(t *testing.T, id string, n int, state carillon.State, reason carillon.Reason, detail, providerID string) {
	t.Helper()
	if err := o.Store.Config.Update(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		_, err := tx.Exec(
			ctx, "UPDATE message SET attempt = 1, started_at = 1 WHERE id = $1 AND attempt = 0", int64(carillon.SeqOf(id).Message(n)),
		)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := o.Store.Messages.Receive(t.Context(), []provider.Receipt{{
		Ref: provider.Ref{NotificationID: id, N: n}, SenderUID: o.sender.UID, ProviderID: providerID, State: state, At: time.Now(),
		Reason: reason, Detail: detail,
	}}); err != nil {
		t.Fatal(err)
	}
}

func rowsOf(body map[string]any) []map[string]any {
	var all []map[string]any
	for _, x := range body["data"].([]any) {
		all = append(all, x.(map[string]any))
	}
	return all
}

func TestANotificationIsShownWithWhatBecameOfEach(t *testing.T) {
	o := newOffice(t)
	id := o.send(t, "spring", "34600000001", "34600000002", "34600000003")
	o.receive(t, id, 0, carillon.StateRead, "", "", "wamid.HBgLMzQ2MDAwMDAwMDEVAgARGBI=")
	o.receive(t, id, 1, carillon.StateFailed, carillon.ReasonUndeliverable, "131026 undeliverable", "wamid.opaque")
	list := rowsOf(o.Want("GET", "/panel/v1/notifications?campaign=spring", o.owner, "", 200, "", ""))
	if len(list) != 1 || fmt.Sprint(list[0]["counts"]) != "map[failed:1 read:1 scheduled:1]" || list[0]["total"] != 3.0 {
		t.Errorf("the list has %v", list)
	}
	if again := rowsOf(
		o.Want("GET", "/panel/v1/notifications?ids="+id+","+carillon.NewID(time.Now()), o.owner, "", 200, "", ""),
	); len(again) != 1 {
		t.Errorf("found by id: %v", again)
	}
	o.send(t, "spring", "34600000001")
	if some := rowsOf(o.Want("GET", "/panel/v1/notifications?failed=true", o.owner, "", 200, "", "")); len(some) != 1 {
		t.Errorf("with failures: %v", some)
	}
	o.Want("GET", "/panel/v1/notifications?failed=no", o.owner, "", 400, "validation_failed", "failed")
	page := o.Want("GET", "/panel/v1/notifications/"+id, o.owner, "", 200, "", "")
	failed := page["recipients"].([]any)[1].(map[string]any)
	if failed["name"] != "P1" || failed["detail"] != "131026 undeliverable" || failed["reason"] != "undeliverable" || page["kept"] != true {
		t.Errorf("the failed recipient is %v", failed)
	}
	filled := o.Want("GET", "/panel/v1/notifications/"+id+"/filled?n=2", o.owner, "", 200, "", "")
	if fmt.Sprint(filled["values"]) != "map[body_text_0:P2]" {
		t.Errorf("the template has the values %v", filled["values"])
	}
	o.Want("GET", "/panel/v1/notifications/"+id+"/filled?n=3", o.owner, "", 404, "not_found", "")
	o.Want("GET", "/panel/v1/notifications?ids=x", o.owner, "", 400, "validation_failed", "ids")
	o.Want("GET", "/panel/v1/notifications?state=failed", o.owner, "", 400, "validation_failed", "state")
	for q, want := range map[string]string{
		id: "notification -1", strings.ToUpper(id): "notification -1", id + ".1": "message 1", id + ".7": "",
		"sandbox." + id + ".2.1": "message 2", "+34 600 000 001": "number 0",
		"34600000009": "", "wamid.HBgLMzQ2MDAwMDAwMDEVAgARGBI=": "message 0", "wamid.opaque": "message 1", "wamid.unknown": "",
		carillon.NewID(time.Now()): "", "what ever it is": "",
	} {
		got := ""
		if hits := rowsOf(
			o.Want(
				"GET", "/panel/v1/notifications/lookup?q="+strings.ReplaceAll(strings.ReplaceAll(q, "+", "%2B"), " ", "%20"), o.owner,
				"", 200, "", "",
			),
		); len(hits) > 0 {
			n := hits[0]["n"].(float64)
			if hits[0]["kind"] == "notification" {
				n = -1
			}
			got = fmt.Sprint(hits[0]["kind"], " ", n)
		}
		if got != want {
			t.Errorf("%q belongs to %q, not %q", q, got, want)
		}
	}
}

func TestAWaitingNotificationIsMovedAndCanceled(t *testing.T) {
	o := newOffice(t)
	id := o.send(t, "spring", "34600000001", "34600000002")
	path := "/panel/v1/notifications/" + id
	for body, field := range map[string]string{
		`{}`: "datetime_sending", `{"datetime_sending":"2020-01-01T00:00:00"}`: "datetime_sending",
		`{"datetime_sending":"2098-01-01T00:00:00","timezone":"Mars"}`: "timezone", `{"at":1}`: "body",
	} {
		o.Want("POST", path+"/move", o.owner, body, 400, "validation_failed", field)
	}
	if moved := o.Want(
		"POST", path+"/move", o.owner, `{"datetime_sending":"2098-02-01T09:00:00","timezone":"America/Lima"}`, 200, "", "",
	); moved["scheduled_time"] != "2098-02-01T14:00:00Z" {
		t.Error(moved)
	}
	if canceled := o.Want("POST", path+"/cancel", o.owner, "", 200, "", ""); canceled["canceled"] != 2.0 {
		t.Error(canceled)
	}
	o.Want("POST", path+"/cancel", o.owner, "", 409, "conflict", "")
	o.Want("POST", path+"/move", o.owner, `{"datetime_sending":"2098-02-01T09:00:00"}`, 409, "conflict", "")
}

func TestTheFailedAreSentToAgainOnce(t *testing.T) {
	o := newOffice(t)
	numbers := []string{"34600000001", "34600000002", "34600000003", "34600000004", "34600000005"}
	id := o.send(t, "spring", numbers...)
	for n, reason := range []carillon.Reason{
		carillon.ReasonUndeliverable, carillon.ReasonRecipientOptedOut, carillon.ReasonChannelLimited, carillon.ReasonAttemptsExhausted,
	} {
		o.receive(t, id, n, carillon.StateFailed, reason, "", "")
	}
	if err := o.Store.Suppressions.Suppress(t.Context(), o.company.ID, settings.SuppressAll, "asked", time.Now(), numbers[3]); err != nil {
		t.Fatal(err)
	}
	path := "/panel/v1/notifications/" + id + "/resend"
	listed := func() string {
		var all []string
		for _, r := range rowsOf(o.Want("GET", path, o.owner, "", 200, "", "")) {
			all = append(all, fmt.Sprint(r["n"], " ", r["not"], " ", r["caution"]))
		}
		return strings.Join(all, "; ")
	}
	if got := listed(); got != "0 <nil> hopeless; 1 opted_out <nil>; 2 limited <nil>; 3 suppressed <nil>" {
		t.Errorf("they may be sent to again: %s", got)
	}
	for body, field := range map[string]string{
		`{"recipients":[]}`: "recipients", `{"recipients":[1]}`: "recipients", `{"recipients":[4]}`: "recipients",
		`{"recipients":["0"]}`: "recipients", `{"recipients":[-1]}`: "recipients", `{"recipients":[0,0]}`: "recipients",
		`{"all":true}`: "body",
	} {
		o.Want("POST", path, o.owner, body, 400, "validation_failed", field)
	}
	again := o.Want("POST", path, o.owner, `{"recipients":[0]}`, 200, "", "")["notification_id"].(string)
	if twice := o.Want("POST", path, o.owner, `{"recipients":[0]}`, 200, "", "")["notification_id"]; twice != again {
		t.Errorf("the repeated resend is %v, not %s", twice, again)
	}
	page := o.Want("GET", "/panel/v1/notifications/"+again, o.owner, "", 200, "", "")
	if page["resend_of"] != id || page["total"] != 1.0 || page["number"] != numbers[0] || page["scheduled_time"] != nil ||
		page["campaign_name"] != "spring" {
		t.Errorf("the resend is %v", page)
	}
	if as := o.Want("GET", "/panel/v1/notifications/"+id, o.owner, "", 200, "", "")["resent_as"]; fmt.Sprint(as) != "["+again+"]" {
		t.Errorf("the first one says %v", as)
	}
	if got := listed(); !strings.HasPrefix(got, "0 resent") {
		t.Errorf("after that: %s", got)
	}
}

func TestNobodyWhomAResendReachedGetsItTwice(t *testing.T) {
	o := newOffice(t)
	id := o.send(t, "spring", "34600000001", "34600000002", "34600000003")
	for n := range 3 {
		o.receive(t, id, n, carillon.StateFailed, carillon.ReasonAttemptsExhausted, "", "")
	}
	resend := func(id, body string) string {
		t.Helper()
		as, _ := o.Want("POST", "/panel/v1/notifications/"+id+"/resend", o.owner, body, 200, "", "")["notification_id"].(string)
		return as
	}
	refused := func(id, body string) {
		t.Helper()
		o.Want("POST", "/panel/v1/notifications/"+id+"/resend", o.owner, body, 400, "validation_failed", "recipients")
	}
	first := resend(id, `{"recipients":[0]}`)
	refused(id, `{"recipients":[0,1]}`)
	o.Execute("DELETE FROM idempotency") // idempotency keys expire after a while
	refused(id, `{"recipients":[0,1]}`)
	if again := resend(id, `{"recipients":[0]}`); again != first {
		t.Errorf("the repeated resend is %s, not %s", again, first)
	}

	// A resend that failed can be sent again, from the first notification or from its resend, but not from both.
	o.receive(t, first, 0, carillon.StateFailed, carillon.ReasonAttemptsExhausted, "", "")
	second := resend(first, `{"recipients":[0]}`)
	if second == first {
		t.Error("a failed resend is not sent again")
	}
	refused(id, `{"recipients":[0,1]}`)
	o.receive(t, second, 0, carillon.StateDelivered, "", "", "")
	refused(id, `{"recipients":[0,1]}`)

	// A forced resend is always allowed, once per key.
	forced := `{"recipients":[0],"reached":true}`
	third := resend(id, forced)
	if third == first || third == second {
		t.Error("a forced resend sends nothing")
	}
	for range 2 {
		if status, body, _ := with(o.World, "/panel/v1/notifications/"+id+
			"/resend", o.owner, forced, "Idempotency-Key", "k"); status != 200 {
			t.Fatal(status, body)
		}
	}
	if as := o.Want("GET", "/panel/v1/notifications/"+id, o.owner, "", 200, "", "")["resent_as"].([]any); len(as) != 3 {
		t.Errorf("the first one was sent again as %v", as)
	}
}

func TestAResendWhoseNodeWasKilledIsKnown(t *testing.T) {
	o := newOffice(t)
	id := o.send(t, "spring", "34600000001", "34600000002")
	for n := range 2 {
		o.receive(t, id, n, carillon.StateFailed, carillon.ReasonAttemptsExhausted, "", "")
	}
	x := notify.Sent{Store: o.Store}
	s, _, err := x.Resend(t.Context(), o.company.ID, id, notify.Again{Recipients: []int{0}}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	s.Company = o.company
	if _, err := o.notify.Accept(t.Context(), s); err != nil { // the link to the original is missing
		t.Fatal(err)
	}
	o.Want("POST", "/panel/v1/notifications/"+id+"/resend", o.owner, `{"recipients":[0,1]}`, 400, "validation_failed", "recipients")
	o.Want("POST", "/panel/v1/notifications/"+id+"/resend", o.owner, `{"recipients":[1]}`, 200, "", "")
}

func TestUnderMaintenanceNothingIsSentAgain(t *testing.T) {
	o := newOffice(t)
	id := o.send(t, "spring", "34600000001")
	o.receive(t, id, 0, carillon.StateFailed, carillon.ReasonAttemptsExhausted, "", "")
	if err := o.Store.Accounts.SetMaintenance(t.Context(), accounts.Maintenance{
		From: time.Now().Add(-time.Minute), Until: time.Now().Add(time.Hour),
	}); err != nil {
		t.Fatal(err)
	}
	o.Want("POST", "/panel/v1/notifications/"+id+"/resend", o.owner, `{"recipients":[0]}`, 503, "service_unavailable", "")
	if err := o.Store.Accounts.SetMaintenance(t.Context(), accounts.Maintenance{}); err != nil {
		t.Fatal(err)
	}
	o.Want("POST", "/panel/v1/notifications/"+id+"/resend", o.owner, `{"recipients":[0]}`, 200, "", "")
}

func TestACampaignsRecipientsArePagedCountedAndExported(t *testing.T) {
	o := newOffice(t)
	var all []string
	for i := range 3 {
		var numbers []string
		for n := range 40 {
			numbers = append(numbers, strconv.Itoa(34600000000+i*100+n))
		}
		all = slices.Concat(numbers, all) // newest notification first
		o.send(t, "spring", numbers...)
		o.send(t, "other", "34699999999")
	}
	id := o.send(t, "spring", "34611111111")
	all = append([]string{"34611111111"}, all...)
	o.receive(t, id, 0, carillon.StateFailed, carillon.ReasonUndeliverable, "=HYPERLINK(1)", "")
	var got []string
	for cursor := ""; ; {
		page := o.Want("GET", "/panel/v1/campaigns/recipients?name=spring&limit=7"+cursor, o.owner, "", 200, "", "")
		for _, r := range rowsOf(page) {
			got = append(got, r["number"].(string))
		}
		if page["next_cursor"] == nil {
			break
		}
		cursor = "&cursor=" + page["next_cursor"].(string)
	}
	if !slices.Equal(got, all) {
		t.Errorf("the pages have %d recipients, not %d", len(got), len(all))
	}
	if rows := rowsOf(
		o.Want("GET", "/panel/v1/campaigns/recipients?name=spring&state=failed,skipped&reason=undeliverable", o.owner, "", 200, "", ""),
	); len(rows) != 1 || rows[0]["number"] != "34611111111" {
		t.Errorf("the failed recipients are %v", rows)
	}
	why := o.Want("GET", "/panel/v1/campaigns/reasons?name=spring", o.owner, "", 200, "", "")
	if fmt.Sprint(why["reasons"]) != "map[undeliverable:1]" || why["looked"] != float64(len(all)) || why["next_cursor"] != nil {
		t.Errorf("the reasons are %v", why)
	}
	for path, field := range map[string]string{
		"recipients": "name", "recipients?name=spring&state=lost": "state", "recipients?name=spring&cursor=x": "cursor",
		"export": "name", "one": "name", "reasons?name=spring&cursor=x": "cursor",
	} {
		o.Want("GET", "/panel/v1/campaigns/"+path, o.owner, "", 400, "validation_failed", field)
	}
	o.Want("GET", "/panel/v1/campaigns/one?name=nothing", o.owner, "", 404, "not_found", "")
	r := httptest.NewRequest("GET", "/panel/v1/campaigns/export?name=spring", nil)
	r.Header.Set("Authorization", o.owner)
	w := httptest.NewRecorder()
	o.Router.ServeHTTP(w, r)
	lines := strings.Split(strings.TrimSpace(w.Body.String()), "\n")
	if len(lines) != len(all)+1 || !strings.HasPrefix(lines[1], "34611111111,failed,undeliverable,'=HYPERLINK(1),1,") {
		t.Errorf("%d lines, the first is %s", len(lines), lines[1])
	}
}
