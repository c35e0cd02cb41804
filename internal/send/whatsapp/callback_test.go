package whatsapp

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/send/whatsapp/graphtest"
	"carillon/internal/store/rank"
)

const refText = notificationID + ".7.2"

var ref = provider.Ref{NotificationID: notificationID, N: 7, Attempt: 2}

func messagesBody(value string) string {
	return `{"object":"whatsapp_business_account","entry":[{"id":"2000001","changes":[{"field":"messages","value":` + value + `}]}]}`
}

func statusBody(status string) string {
	return messagesBody(`{"messaging_product":"whatsapp","metadata":{"display_phone_number":"15555550100",` +
		`"phone_number_id":"1000001"},"statuses":[` + status + `]}`)
}

func TestParseCallbackReadsEachStatus(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	head := `{"id":"wamid.X","timestamp":"1767225600","recipient_id":"34600111222","biz_opaque_callback_data":"` + refText + `","status":`
	failed := func(code int) string {
		return head +
			fmt.Sprintf(`"failed","errors":[{"code":%d,"title":"T","message":"M","error_data":{"details":"D"},"href":"H"}]}`, code)
	}
	base := provider.Receipt{Ref: ref, SenderUID: 7, ProviderID: "wamid.X", At: at, Number: "34600111222"}
	with := func(change func(*provider.Receipt)) *provider.Receipt {
		r := base
		change(&r)
		return &r
	}
	for _, tc := range []struct {
		name, status string
		want         *provider.Receipt // nil if ignored
	}{
		{
			"sent", head + `"sent","conversation":{"id":"c","origin":{"type":"utility"}},"pricing":{"billable":true}}`,
			with(func(r *provider.Receipt) {
				r.State = carillon.StateSent
			}),
		},
		{"delivered", head + `"delivered"}`, with(func(r *provider.Receipt) { r.State = carillon.StateDelivered })},
		{"read", head + `"read"}`, with(func(r *provider.Receipt) { r.State = carillon.StateRead })},
		{"played", head + `"played"}`, with(func(r *provider.Receipt) { r.State = carillon.StateRead })},
		{"undeliverable", failed(131026), with(func(r *provider.Receipt) {
			r.State, r.Reason, r.Detail = carillon.StateFailed, carillon.ReasonUndeliverable, "131026 undeliverable"
		})},
		{"opted out", failed(131050), with(func(r *provider.Receipt) {
			r.State, r.Reason, r.Detail, r.OptOut = carillon.StateFailed, carillon.ReasonRecipientOptedOut,
				"131050 recipient opted out of marketing", true
		})},
		{"marketing cap", failed(131049), with(func(r *provider.Receipt) {
			r.State, r.Reason, r.Detail = carillon.StateFailed, carillon.ReasonChannelLimited,
				"131049 not delivered, to limit marketing to this recipient"
		})},
		{"dropped from a paused template", failed(132015), with(func(r *provider.Receipt) {
			r.State, r.Reason, r.Detail = carillon.StateFailed, carillon.ReasonTemplateRejected, "132015 template paused"
		})},
		{"media", failed(131053), with(func(r *provider.Receipt) {
			r.State, r.Reason, r.Detail = carillon.StateFailed, carillon.ReasonMediaRejected, "131053 media could not be fetched"
		})},
		{"a passing fault after it was taken", failed(131000), with(func(r *provider.Receipt) {
			r.State, r.Reason, r.Detail = carillon.StateFailed, carillon.ReasonProviderRefused, "131000 unknown error"
		})},
		{"failed without errors", head + `"failed"}`, with(func(r *provider.Receipt) {
			r.State, r.Reason = carillon.StateFailed, carillon.ReasonProviderRefused
		})},
		{"timestamp as number", strings.Replace(head, `"1767225600"`, `1767225600`, 1) + `"sent"}`, with(func(r *provider.Receipt) {
			r.State = carillon.StateSent
		})},
		{"a member of another type", head + `"sent","conversation":7,"errors":"none"}`, with(func(r *provider.Receipt) {
			r.State = carillon.StateSent
		})},
		{"unknown status", head + `"warped"}`, nil},
		{"no timestamp", strings.Replace(head, `"1767225600"`, `""`, 1) + `"sent"}`, nil},
		{"no data of ours", `{"id":"wamid.X","timestamp":"1767225600","status":"sent"}`, nil},
		{"data of another's", strings.Replace(head, refText, "order-7", 1) + `"sent"}`, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want := Callback{PhoneNumberIDs: []string{"1000001"}, WABAIDs: []string{"2000001"}}
			if tc.want != nil {
				want.Receipts = []provider.Receipt{*tc.want}
			} else {
				want.Ignored = 1
			}
			got, err := ParseCallback([]byte(statusBody(tc.status)), 7)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseCallbackWalksAllEntriesChangesAndItems(t *testing.T) {
	status := func(n int, state string) string {
		return fmt.Sprintf(`{"id":"w%d","status":%q,"timestamp":"1767225600","biz_opaque_callback_data":"%s.%d.1"}`, n, state,
			notificationID, n)
	}
	value := func(phone string, statuses ...string) string {
		return `{"field":"messages","value":{"metadata":{"phone_number_id":"` + phone + `"},"statuses":[` +
			strings.Join(statuses, ",") + `]}}`
	}
	body := `{"object":"whatsapp_business_account","entry":[` +
		`{"id":"1","changes":[` + value("11", status(0, "read"), status(1, "sent")) + `,` + value("12", status(2, "sent")) + `]},` +
		`{"id":"2","changes":[` + value("11", status(3, "failed")) + `,{"field":"messages","value":{"metadata":{"phone_number_id":"13"},` +
		`"contacts":[{"wa_id":"34600111222"}],"messages":[{"from":"34600111222","type":"text","text":{"body":"hola"}},{"type":"button"}],` +
		`"errors":[{"code":131031,"title":"Locked"}]}}]}]}`
	cb, err := ParseCallback([]byte(body), 7)
	if err != nil {
		t.Fatal(err)
	}
	var ns []int
	for _, r := range cb.Receipts {
		ns = append(ns, r.Ref.N)
	}
	if diff := cmp.Diff([]int{0, 1, 2, 3}, ns); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"11", "12", "13"}, cb.PhoneNumberIDs); diff != "" {
		t.Error(diff)
	}
	if cb.Ignored != 0 || len(cb.Inbound["13"]) != 1 || len(cb.Unnamed) != 1 {
		t.Errorf("%d ignored, %+v", cb.Ignored, cb.Unnamed)
	}
}

func changeBody(field, value string) []byte {
	return []byte(`{"object":"whatsapp_business_account","entry":[{"id":"2000001","time":1767225600,"changes":[{"field":"` + field +
		`","value":` + value + `}]}]}`)
}

func TestParseCallbackReadsTemplateUpdates(t *testing.T) {
	which := `"message_template_id":900000001,"message_template_name":"order_update","message_template_language":"es_ES"`
	base := provider.TemplateEvent{SenderUID: 7, ProviderID: "900000001", Name: "order_update", Language: "es_ES"}
	for event, status := range map[string]carillon.TemplateStatus{
		"PENDING": "pending", "IN_APPEAL": "pending", "APPROVED": "approved", "REINSTATED": "approved", "FLAGGED": "approved",
		"UNARCHIVED": "approved", "REJECTED": "rejected", "PAUSED": "paused", "DISABLED": "disabled", "LIMIT_EXCEEDED": "disabled",
		"ARCHIVED": "disabled", "LOCKED": "disabled", "DELETED": "disabled", "PENDING_DELETION": "disabled", "ASTONISHED": "",
	} {
		cb, err := ParseCallback(changeBody("message_template_status_update", `{"event":"`+event+`","reason":"NONE",`+which+`}`), 7)
		if err != nil {
			t.Fatal(err)
		}
		want := Callback{Ignored: 1, WABAIDs: []string{"2000001"}}
		if status != "" {
			e := base
			e.Status = status
			want = Callback{Templates: []provider.TemplateEvent{e}, WABAIDs: []string{"2000001"}}
		}
		if diff := cmp.Diff(want, cb); diff != "" {
			t.Errorf("%s: %s", event, diff)
		}
	}

	rejected := `{"event":"REJECTED","reason":"INVALID_FORMAT",` + which +
		`,"rejection_info":{"reason":"A variable leads.","recommendation":"Add a word."}}`
	recategorised := `{"previous_category":"UTILITY","new_category":"MARKETING",` + which + `}`
	first, second := base, base
	first.Status, first.Reason = carillon.TemplateRejected, "INVALID_FORMAT; A variable leads.; Add a word."
	second.Category = "MARKETING"
	for field, tc := range map[string]struct {
		value string
		want  provider.TemplateEvent
	}{
		"message_template_status_update": {rejected, first},
		"template_category_update":       {recategorised, second},
	} {
		cb, err := ParseCallback(changeBody(field, tc.value), 7)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(Callback{Templates: []provider.TemplateEvent{tc.want}, WABAIDs: []string{"2000001"}}, cb); diff != "" {
			t.Errorf("%s: %s", field, diff)
		}
	}
}

func TestParseCallbackIgnoresWhatItDoesNotKnow(t *testing.T) {
	for _, body := range []string{
		`{"object":"page","entry":[]}`, `{}`, `[]`, `{"object":7}`, string(changeBody("smb_message_echoes", `{"a":1}`)),
		string(changeBody("account_update", `{"ban_info":{"waba_ban_state":"DISABLE"}}`)),
		string(changeBody("phone_number_quality_update", `{"event":"FLAGGED"}`)),
		string(changeBody("message_template_status_update", `{"event":"APPROVED"}`)), string(changeBody("template_category_update", `{}`)),
	} {
		cb, err := ParseCallback([]byte(body), 7)
		cb.WABAIDs = nil
		if diff := cmp.Diff(Callback{Ignored: 1}, cb); err != nil || diff != "" {
			t.Errorf("%s: %v %s", body, err, diff)
		}
	}
	for _, body := range []string{``, `{`, `{"object":"whatsapp_business_account"} x`, "\xff"} {
		if _, err := ParseCallback([]byte(body), 7); !carillon.IsCode(err, carillon.ValidationFailed) {
			t.Errorf("%q: %v", body, err)
		}
	}
}

func TestVerifyTakesOnlyTheSignatureOfTheBytes(t *testing.T) {
	s, sender := graph(t, graphtest.Options{})
	body := []byte(`{"object":"whatsapp_business_account","x":"\u00f1"}`)
	good := s.Sign(body)
	for _, tc := range []struct {
		name, signature string
		body            []byte
		want            bool
	}{
		{"right", good, body, true},
		{"upper case hex", "sha256=" + strings.ToUpper(good[7:]), body, true},
		{"the same JSON in other bytes", good, []byte(`{"object":"whatsapp_business_account","x":"ñ"}`), false},
		{"no prefix", good[7:], body, false},
		{"another digest", "sha1=" + good[7:], body, false},
		{"short", good[:len(good)-2], body, false},
		{"not hex", good[:len(good)-1] + "x", body, false},
		{"none", "", body, false},
	} {
		if got := Verify(sender.Settings, tc.signature, tc.body); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
	if Verify(json.RawMessage(`{}`), good, body) {
		t.Error("settings without a secret verify")
	}
}

func TestHandshakeNeedsTheToken(t *testing.T) {
	_, sender := graph(t, graphtest.Options{})
	query := func(mode, token, challenge string) url.Values {
		return url.Values{"hub.mode": {mode}, "hub.verify_token": {token}, "hub.challenge": {challenge}}
	}
	for _, tc := range []struct {
		q    url.Values
		want string
	}{
		{query("subscribe", "provider-verify-token", "1158201444"), "1158201444"},
		{query("subscribe", "provider-verify-tokem", "1158201444"), ""},
		{query("subscribe", "", "1158201444"), ""},
		{query("unsubscribe", "provider-verify-token", "1158201444"), ""},
		{query("subscribe", "provider-verify-token", ""), ""},
		{nil, ""},
	} {
		if got, ok := Handshake(sender.Settings, tc.q); got != tc.want || ok != (tc.want != "") {
			t.Errorf("%v: %q %v", tc.q, got, ok)
		}
	}
	if _, ok := Handshake(json.RawMessage(`{}`), query("subscribe", "", "1")); ok {
		t.Error("an absent token is a token")
	}
}

// The fake posts callbacks to a real address: signed, shuffled, twice, and again after a 500.
func TestStandInPostsSignedStatusesUntilTheyAreTaken(t *testing.T) {
	var mu sync.Mutex
	seen := make(map[string]int)
	refusedOnce, all := false, make(chan struct{})
	var sender *carillon.Sender
	ready := make(chan struct{})
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-ready
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		if !refusedOnce {
			refusedOnce = true
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		if !Verify(sender.Settings, r.Header.Get("X-Hub-Signature-256"), body) {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		cb, _ := ParseCallback(body, 7)
		for _, rc := range cb.Receipts {
			seen[fmt.Sprint(rc.Ref, rc.State)]++
		}
		if len(seen) == 60 {
			select {
			case <-all:
			default:
				close(all)
			}
		}
	}))
	t.Cleanup(hook.Close)
	_, sn := graph(t, graphtest.Options{
		Templates: templates(),
		Callbacks: graphtest.Callbacks{URL: hook.URL, Delay: time.Millisecond},
	})
	sender = sn
	close(ready)
	c := client(t, Options{})
	k := kinds()[1]
	for n := range 20 {
		if out := c.Send(t.Context(), sender, k.message(n)); out.Verdict != provider.Sent {
			t.Fatalf("%+v", out)
		}
	}
	select {
	case <-all:
	case <-time.After(2 * time.Minute):
	}
	mu.Lock()
	defer mu.Unlock()
	if len(seen) != 60 {
		t.Errorf("%d statuses of 60", len(seen))
	}
}

func FuzzParseCallback(f *testing.F) {
	f.Add([]byte(statusBody(`{"id":"wamid.X","status":"failed","timestamp":"1767225600","recipient_id":"34600111222",` +
		`"biz_opaque_callback_data":"` + refText + `","errors":[{"code":131026,"title":"T","error_data":{"details":"D"}}]}`)))
	f.Add([]byte(statusBody(`{"id":"w","status":"read","timestamp":1767225600,"biz_opaque_callback_data":"` + refText + `"}`)))
	f.Add(changeBody("message_template_status_update",
		`{"event":"REJECTED","reason":"SCAM","message_template_id":1,"rejection_info":{"reason":"r"}}`))
	f.Add(changeBody("template_category_update", `{"new_category":"MARKETING","message_template_id":"1"}`))
	f.Add(changeBody("account_update", `{"event":"X","restriction_info":[{"restriction_type":"Y"}]}`))
	f.Add([]byte(messagesBody(`{"messages":[{"text":{"body":"\u00f1"}}],"errors":[{"code":1}]}`)))
	f.Add([]byte(`{"object":"whatsapp_business_account","entry":[{"changes":[{"field":7,"value":[]}]},null,3]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		cb, err := ParseCallback(body, 7)
		if (err == nil) != json.Valid(body) {
			t.Fatalf("error %v of a body that is valid: %v", err, json.Valid(body))
		}
		for _, r := range cb.Receipts {
			again, err := provider.ParseRef(r.Ref.String())
			if err != nil || again != r.Ref || r.At.IsZero() || r.SenderUID != 7 || rank.Of(r.State) == rank.None {
				t.Fatalf("receipt %+v", r)
			}
			if (r.State == carillon.StateFailed) != (r.Reason != "") || r.OptOut != (r.Reason == carillon.ReasonRecipientOptedOut) {
				t.Fatalf("reason of %+v", r)
			}
		}
		for _, e := range cb.Templates {
			if e.ProviderID == "" && e.Name == "" || e.Status == "" && e.Category == "" {
				t.Fatalf("event %+v", e)
			}
		}
	})
}
