package whatsapp

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/send/whatsapp/graphtest"
)

func TestCallsAreSwitchedOnAndOff(t *testing.T) {
	g, s := graph(t, graphtest.Options{})
	s.Number = "15555550100"
	c := callsOf(t)
	got, err := c.Set(t.Context(), s, provider.CallSettings{On: true, Hostname: "sip.acme.test", Port: 5061})
	now := g.Account()
	if err != nil || !got.On || got.Password == "" || got.Password != now.Server.Password || got.Port != 5061 {
		t.Fatalf("%+v, %v", got, err)
	}
	if now.SRTP != "SDES" || now.Webhooks != "ENABLED" || !slices.Equal(now.Codecs, []string{"PCMA", "PCMU"}) {
		t.Errorf("%+v", now.Calling)
	}
	if again, err := c.Set(t.Context(), s, provider.CallSettings{On: true, Hostname: "sip.acme.test", Port: 5062}); err != nil ||
		again.Password != got.Password || again.Port != 5062 {
		t.Errorf("%+v, %v", again, err)
	}
	if _, err := c.Set(t.Context(), s, provider.CallSettings{}); err != nil {
		t.Error(err)
	}
	if off, err := c.Settings(t.Context(), s); err != nil || off != (provider.CallSettings{}) {
		t.Errorf("%+v, %v", off, err)
	}
}

func TestARefusalOfCallsIsNamed(t *testing.T) {
	g, s := graph(t, graphtest.Options{})
	s.Number = "15555550100"
	c := callsOf(t)
	for _, x := range []struct {
		change  func(a *graphtest.Account)
		refusal string
	}{
		{func(a *graphtest.Account) { a.Limit = "TIER_1K" }, "calls_limit_low"},
		{func(a *graphtest.Account) { a.Limit, a.OnApp = "TIER_2K", true }, "calls_prerequisites"},
		{func(a *graphtest.Account) { a.OnApp, a.DisplayNumber = false, "+1 555-555-0177" }, "calls_other_number"},
	} {
		g.ChangeAccount(x.change)
		_, err := c.Set(t.Context(), s, provider.CallSettings{On: true, Hostname: "sip.acme.test", Port: 5061})
		if refusalOf(err) != x.refusal {
			t.Errorf("%s: %v", x.refusal, err)
		}
	}
	if _, err := c.Permission(t.Context(), s, "34600111222", ""); refusalOf(err) != "calls_disabled" {
		t.Errorf("%v", err)
	}
	g.ChangeAccount(func(a *graphtest.Account) { a.CallStatus = "ENABLED" })
	if err := c.client.request(t.Context(), s, "/calls", map[string]string{}, &struct{}{}); refusalOf(err) != "calls_over_sip" {
		t.Errorf("%v", err)
	}
}

func refusalOf(err error) any {
	if e, ok := errors.AsType[*carillon.Error](err); ok {
		return e.Details.Find(DetailRefusal)
	}
	return nil
}

func TestAPermissionToCallIsRead(t *testing.T) {
	g, s := graph(t, graphtest.Options{})
	c := callsOf(t)
	g.ChangeAccount(func(a *graphtest.Account) { a.CallStatus = "ENABLED" })
	now := time.Now().Truncate(time.Second).UTC()
	g.Allow("34600111222", graphtest.CallPermission{Status: "temporary", Expires: now.Add(time.Hour)})
	g.Allow("US.77", graphtest.CallPermission{Status: "permanent"})
	g.Allow("34600111333", graphtest.CallPermission{Requests: []time.Time{now.Add(-time.Hour)}})
	g.Allow("34600111444", graphtest.CallPermission{Status: "permanent", Calls: 100})
	for _, x := range []struct {
		number, id string
		want       provider.CallPermission
	}{
		{"34600111222", "", provider.CallPermission{Given: true, Until: now.Add(time.Hour), MayCall: true, MayAsk: true}},
		{"", "US.77", provider.CallPermission{Given: true, MayCall: true}},
		{"34600111333", "", provider.CallPermission{AskAt: now.Add(23 * time.Hour)}},
		{"34600111999", "", provider.CallPermission{MayAsk: true}},
	} {
		if got, err := c.Permission(t.Context(), s, x.number, x.id); err != nil || got != x.want {
			t.Errorf("%s%s: %+v, %v", x.number, x.id, got, err)
		}
	}
	if got, err := c.Permission(t.Context(), s, "34600111444", ""); err != nil || !got.Given || got.MayCall || got.CallAt.Before(now) {
		t.Errorf("after a hundred calls: %+v, %v", got, err)
	}
}

// The stand-in refuses what the channel refuses.
func TestTheStandInIsStrictAboutCalls(t *testing.T) {
	g, _ := graph(t, graphtest.Options{})
	for _, body := range []string{
		`{}`, `{"calling":{"status":"ON"}}`, `{"calling":{"status":"ENABLED","color":"red"}}`,
		`{"calling":{"sip":{"status":"ENABLED","servers":[]}}}`, `{"calling":{"sip":{"servers":[{"hostname":"10.0.0.1","port":5061}]}}}`,
		`{"calling":{"sip":{"servers":[{"hostname":"a.test","port":0}]}}}`, `{"calling":{"srtp_key_exchange_protocol":"NONE"}}`,
		`{"calling":{"sip":{"servers":[{"hostname":"a.test","port":1},{"hostname":"b.test","port":1}]}}}`,
		`{"calling":{"audio":{"additional_codecs":["G729"]}}}`,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.URL()+"/v23.0/1000001/settings", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer provider-token")
		r.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %d", body, res.StatusCode)
		}
	}
}

func callsOf(t *testing.T) Calls {
	t.Helper()
	c := New(Options{})
	t.Cleanup(c.CloseIdleConnections)
	return CallsOf(c)
}

func TestAPermissionIsAskedForAsOftenAsTheChannelAllows(t *testing.T) {
	g, s := graph(t, graphtest.Options{})
	c := callsOf(t).client
	g.ChangeAccount(func(a *graphtest.Account) { a.CallStatus = "ENABLED" })
	ask := func(number string) provider.Outcome {
		g.Wrote(number, "wamid."+number, time.Now())
		return c.SendReply(t.Context(), s, &provider.Reply{
			Ref: provider.ReplyRef{ConversationID: "0199f000-0000-7000-8000-000000000001", Seq: 1, Attempt: 1}, To: number,
			Message: &provider.Message{Type: provider.MessageCallPermission, Text: "May we call you?"},
		})
	}
	if out := ask("34600111222"); out.Verdict != provider.Sent {
		t.Errorf("%+v", out)
	}
	if out := ask("34600111222"); out.Reason != carillon.ReasonChannelLimited || !strings.Contains(out.Detail, ", until ") {
		t.Errorf("the second of a day: %+v", out)
	}
	week := time.Now().Add(-48 * time.Hour)
	g.Allow("34600111333", graphtest.CallPermission{Requests: []time.Time{week.Add(-time.Hour), week}})
	if out := ask("34600111333"); out.Verdict != provider.Refused || out.Reason != carillon.ReasonChannelLimited {
		t.Errorf("the third of a week: %+v", out)
	}
	g.Allow("34600111444", graphtest.CallPermission{Status: "permanent"})
	if out := ask("34600111444"); out.Verdict != provider.Refused || !strings.Contains(out.Detail, "permanently") {
		t.Errorf("a permanent one: %+v", out)
	}
	if n := len(g.Account().Allowed["34600111222"].Requests); n != 1 {
		t.Errorf("%d requests", n)
	}
}

func TestATemplateThatAsksForCallsIsSentWithinTheLimits(t *testing.T) {
	var asks *kind
	for _, k := range kinds() {
		if k.golden == "call_permission" {
			asks = &k
		}
	}
	if asks == nil {
		t.Fatal("no such template")
	}
	g, s := graph(t, graphtest.Options{Templates: []carillon.Template{asks.template}})
	c := callsOf(t).client
	g.ChangeAccount(func(a *graphtest.Account) { a.CallStatus = "ENABLED" })
	send := func() provider.Outcome {
		return c.Send(t.Context(), s, &provider.Outgoing{
			Ref: provider.Ref{NotificationID: notificationID, Attempt: 1}, Number: "34600111222", Template: &asks.template,
			Content: asks.content,
		})
	}
	if out := send(); out.Verdict != provider.Sent {
		t.Errorf("%+v", out)
	}
	if out := send(); out.Verdict != provider.Refused || out.Reason != carillon.ReasonChannelLimited {
		t.Errorf("the second of a day: %+v", out)
	}
}

func TestReportsAboutCallsAreRead(t *testing.T) {
	g, s := graph(t, graphtest.Options{})
	at := time.Unix(1739321024, 0).UTC()
	body := g.CallsBody(
		[]graphtest.Status{{ID: "wacid.1", State: "Ringing", To: "34600111222", At: at}, {ID: "wacid.1", State: "PAUSED", At: at}},
		graphtest.CallReport{ID: "wacid.1", Event: "call_created", Direction: "USER_INITIATED", Person: "34600111222", At: at},
		graphtest.CallReport{
			ID: "wacid.1", Event: "Terminate", Direction: "USER_INITIATED", Status: "Completed", Person: "34600111222", At: at,
			Start: at, End: at.Add(time.Minute),
		},
		graphtest.CallReport{ID: "wacid.2", Event: "terminate", Direction: "BUSINESS_INITIATED", Status: "FAILED", Person: "ES.77", At: at},
		graphtest.CallReport{ID: "wacid.3", Event: "sung", Direction: "USER_INITIATED", At: at},
	)
	cb, err := ParseCallback(body, 1)
	if err != nil || cb.Ignored != 2 {
		t.Fatalf("%d ignored, %v", cb.Ignored, err)
	}
	want := []provider.CallReport{
		{WACID: "wacid.1", Incoming: true, Number: "34600111222", At: at},
		{
			WACID: "wacid.1", Incoming: true, Number: "34600111222", Ended: true, Answered: true, At: at, Start: at,
			End: at.Add(time.Minute),
		},
		{WACID: "wacid.2", UserID: "ES.77", Ended: true, At: at},
	}
	if got := cb.CallsFor(s.Settings); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}
