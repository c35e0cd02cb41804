package whatsapp

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/provider"
	"carillon/internal/send/whatsapp/graphtest"
)

// author holds the fields of an inbound message that identify its author.
type author struct {
	From, UserID, Name, Username, Shared string
	Kind                                 provider.InboundKind
	Became                               provider.Became
}

func TestInboundMessagesSayWhoWroteThem(t *testing.T) {
	const hello = `"type":"text","text":{"body":"Hola"}`
	for name, tc := range map[string]struct {
		contacts, message string
		want              author
	}{
		"number and id": {
			`[{"wa_id":"34600111222","user_id":"US.1","profile":{"name":"Ana","username":"ana.r"}}]`,
			`"from":"34600111222","from_user_id":"US.1",` + hello,
			author{From: "34600111222", UserID: "US.1", Name: "Ana", Username: "ana.r"},
		},
		"id alone": {
			`[{"user_id":"US.1","profile":{"name":"Ana","username":"ana.r"}}]`, `"from_user_id":"US.1",` + hello,
			author{UserID: "US.1", Name: "Ana", Username: "ana.r"},
		},
		"another form of the number in the contact": {
			`[{"wa_id":"5215512345601","user_id":"MX.1","profile":{"name":"Ana"}}]`, `"from":"525512345601",` + hello,
			author{From: "525512345601", UserID: "MX.1", Name: "Ana"},
		},
		"number in the contact alone": {
			`[{"wa_id":"34600111222","user_id":"ES.1","profile":{"name":"Ana"}}]`, `"from_user_id":"ES.1",` + hello,
			author{From: "34600111222", UserID: "ES.1", Name: "Ana"},
		},
		"contact of somebody else": {
			`[{"wa_id":"34600111333","user_id":"ES.2","profile":{"name":"Ben"}}]`, `"from_user_id":"ES.1",` + hello, author{UserID: "ES.1"},
		},
		"parent alone":          {`[]`, `"from_parent_user_id":"US.ENT.1",` + hello, author{UserID: "US.ENT.1"}},
		"id in the place of it": {`[]`, `"from":"US.1",` + hello, author{UserID: "US.1"}},
		"id of another form":    {`[]`, `"from":"34600111222","from_user_id":"no id",` + hello, author{From: "34600111222"}},
		"long username": {
			`[{"user_id":"US.1","profile":{"username":"` + strings.Repeat("u", 300) + `"}}]`, `"from_user_id":"US.1",` + hello,
			author{UserID: "US.1", Username: strings.Repeat("u", 200)},
		},
		"number changed": {
			`null`, `"from":"34600111222","type":"system","system":{"type":"user_changed_number","wa_id":"34600999888",` +
				`"user_id":"US.9","previous_user_id":"US.1"}`,
			author{
				From: "34600111222", UserID: "US.1", Kind: provider.InboundNumber,
				Became: provider.Became{Number: "34600999888", UserID: "US.9"},
			},
		},
		"id changed": {
			`null`, `"type":"system","system":{"type":"user_changed_user_id","user_id":"US.9","previous_user_id":"US.1"}`,
			author{UserID: "US.1", Kind: provider.InboundIdentity, Became: provider.Became{UserID: "US.9"}},
		},
		"id changed to none": {
			`null`, `"type":"system","system":{"type":"user_changed_user_id","user_id":"x","previous_user_id":"US.1"}`,
			author{UserID: "US.1", Kind: provider.InboundEvent},
		},
		"number given": {
			`[]`, `"from_user_id":"US.1","type":"contacts",` +
				`"contacts":[{"origin":"contact_request","phones":[{"phone":"+34 600-111-222"}]}]`,
			author{UserID: "US.1", Shared: "34600111222"},
		},
		"number given, as the channel has it": {
			`[]`, `"from_user_id":"US.1","type":"contacts","contacts":[{"origin":"contact_request","phones":[{"phone":"+52 55",` +
				`"wa_id":"5215512345601"}]}]`,
			author{UserID: "US.1", Shared: "5215512345601"},
		},
		"card of somebody": {
			`[]`, `"from_user_id":"US.1","type":"contacts","contacts":[{"origin":"other","phones":[{"phone":"+34600111222",` +
				`"wa_id":"34600111222"}]}]`,
			author{UserID: "US.1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			cb, err := ParseCallback(changeBody("messages",
				`{"messaging_product":"whatsapp","metadata":{"phone_number_id":"1000001"},"contacts":`+tc.contacts+
					`,"messages":[{"id":"wamid.1","timestamp":"1767225600",`+tc.message+`}]}`), 7)
			if err != nil || len(cb.Inbound["1000001"]) != 1 {
				t.Fatalf("%+v, %v", cb, err)
			}
			x := cb.Inbound["1000001"][0]
			got := author{From: x.From, UserID: x.UserID, Name: x.Name, Username: x.Username, Shared: x.Shared}
			if x.Kind != provider.InboundText {
				got.Kind = x.Kind
			}
			if x.Became != nil {
				got.Became = *x.Became
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestMessagesMayNameNoAuthor(t *testing.T) {
	for _, from := range []string{
		``, `"from":"us.1234567",`, `"from":3.4e10,`, `"from":"++34600111222",`,
		`"from":["34600111222"],`, `"from":"",`,
		`"from":null,"from_user_id":null,`, `"from":"no number","from_user_id":"no id",`, `"from_user_id":7,`,
	} {
		cb, err := ParseCallback(changeBody("messages", `{"metadata":{"phone_number_id":"1000001"},"messages":[{`+from+
			`"id":"wamid.1","timestamp":"1767225600","type":"text","text":{"body":"Hola"}}]}`), 7)
		if err != nil || len(cb.Inbound) != 0 || len(cb.Unnamed) != 1 || cb.Unnamed[0].Label() != "text" {
			t.Errorf("%s: %+v, %v", from, cb, err)
		}
	}
	cb, err := ParseCallback(changeBody("messages",
		`{"metadata":{"phone_number_id":"1000001"},"messages":[{},null,7,"Hola",[[]],true]}`), 7)
	if err != nil || len(cb.Inbound) != 0 || len(cb.Unnamed) != 6 || cb.Unnamed[0].Label() != "other" {
		t.Errorf("what is no message: %+v, %v", cb, err)
	}
}

func TestStatusesSayWhomTheyAreOf(t *testing.T) {
	for members, want := range map[string][2]string{
		`"recipient_id":"34600111222","recipient_user_id":"ES.1"`: {"34600111222", "ES.1"},
		`"recipient_user_id":"ES.1"`:                              {"", "ES.1"},
		`"recipient_id":"ES.1"`:                                   {"", "ES.1"},
		`"recipient_id":"34600111222"`:                            {"34600111222", ""},
		`"recipient_id":7,"recipient_user_id":["ES.1"]`:           {"", ""},
		`"recipient_id":"","recipient_user_id":""`:                {"", ""},
	} {
		cb, err := ParseCallback([]byte(statusBody(
			`{"id":"wamid.X","timestamp":"1767225600","status":"delivered","biz_opaque_callback_data":"`+refText+`",`+members+`}`)), 7)
		if err != nil || len(cb.Receipts) != 1 || cb.Ignored != 0 {
			t.Errorf("%s: %+v, %v", members, cb, err)
			continue
		}
		if r := cb.Receipts[0]; r.State != carillon.StateDelivered || r.Number != want[0] || r.UserID != want[1] {
			t.Errorf("%s: %+v", members, r)
		}
	}
}

// The channel accepts an id in place of a number, but delivers to nobody.
func TestRepliesGoToTheIDOfWhoHasNoNumber(t *testing.T) {
	s, sender := graph(t, graphtest.Options{})
	c := client(t, Options{})
	s.InboundBody("Ana", graphtest.Inbound{"from_user_id": "US.1", "id": "wamid.1", "timestamp": "4102444800"})
	m := &provider.Reply{
		Ref: provider.ReplyRef{ConversationID: "0199f000-0000-7000-8000-000000000001", Seq: 3, Attempt: 1}, UserID: "US.1", Text: "Hola",
	}
	if out := c.SendReply(t.Context(), sender, m); out.Verdict != provider.Sent || out.Number != "" {
		t.Fatalf("%+v", out)
	}
	var body map[string]any
	if err := json.Unmarshal(s.Posts(m.Ref.String())[0].Body, &body); err != nil || body["recipient"] != "US.1" ||
		body["recipient_type"] != "individual" || body["to"] != nil {
		t.Errorf("%v, %v", body, err)
	}
	m.To, m.Ref.Seq = "34600111222", 4
	text, err := json.Marshal(replyMessage(m))
	if err != nil || !strings.Contains(string(text), `"to":"34600111222"`) || strings.Contains(string(text), "recipient\":") {
		t.Errorf("%s, %v", text, err)
	}
}

// An id in to would be accepted and lost: the stand-in refuses it, and messages to people have it in recipient.
func TestTemplatesGoToTheIDOfWhoHasNoNumber(t *testing.T) {
	all := templates()
	code := template("code", "en", content.Positional, carillon.Component{
		Type: content.TypeBody, Text: "Your code is {{1}}.", Example: &carillon.ComponentExample{BodyText: [][]string{{"1"}}},
	})
	code.Category = "AUTHENTICATION"
	s, sender := graph(t, graphtest.Options{Templates: append(all, code)})
	c := client(t, Options{})
	m := kinds()[0].message(7)
	m.Number, m.UserID = "", "US.ENT.1"
	if out := c.Send(t.Context(), sender, m); out.Verdict != provider.Sent || out.Number != "" {
		t.Fatalf("%+v", out)
	}
	s.Shows("US.2", "16505550100")
	m.UserID, m.Ref.N = "US.2", 8
	if out := c.Send(t.Context(), sender, m); out.Verdict != provider.Sent || out.Number != "16505550100" {
		t.Errorf("%+v", out)
	}
	var sent map[string]any
	if err := json.Unmarshal(s.Posts(m.Ref.String())[0].Body, &sent); err != nil || sent["recipient"] != "US.2" || sent["to"] != nil {
		t.Errorf("%v, %v", sent, err)
	}
	m.Number, m.UserID, m.Ref.N = "US.2", "", 9
	if out := c.Send(t.Context(), sender, m); out.Verdict != provider.Refused || !strings.HasPrefix(out.Detail, "100 ") {
		t.Errorf("an id in to: %+v", out)
	}
	m.Number, m.UserID, m.Ref.N, m.Template, m.Content = "", "US.2", 10, &code, provider.Content{Body: []string{"123456"}}
	if out := c.Send(t.Context(), sender, m); out.Verdict != provider.Refused || out.Reason != carillon.ReasonNumberRequired {
		t.Errorf("a code to an id: %+v", out)
	}
}

// A request for the number is only a message, without anything else.
func TestTheChannelAsksForTheNumber(t *testing.T) {
	s, sender := graph(t, graphtest.Options{})
	c := client(t, Options{})
	s.InboundBody("Ana", graphtest.Inbound{"from_user_id": "US.1", "id": "wamid.1", "timestamp": "4102444800"})
	m := &provider.Reply{
		Ref: provider.ReplyRef{ConversationID: "0199f000-0000-7000-8000-000000000001", Seq: 3, Attempt: 1}, UserID: "US.1",
		Text: "May we call you?", AskNumber: true,
	}
	if out := c.SendReply(t.Context(), sender, m); out.Verdict != provider.Sent {
		t.Fatalf("%+v", out)
	}
	body := string(s.Posts(m.Ref.String())[0].Body)
	if !strings.Contains(body, `"action":{"name":"request_contact_info"}`) || !strings.Contains(body, `"type":"request_contact_info"`) {
		t.Error(body)
	}
	a, err := c.account(sender)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`"action":{"name":"request_contact_info"}`, `"action":{"name":"send_location"}`},
		{`"action":{"name":"request_contact_info"}`, `"action":{"name":"request_contact_info","button":"Share"}`},
		{`"text":"May we call you?"`, `"text":""`},
	} {
		got, err := c.exchange(t.Context(), a, http.MethodPost, a.messages, []byte(strings.Replace(body, change[0], change[1], 1)))
		if err != nil || got.status != http.StatusBadRequest {
			t.Errorf("%s: %d, %v", change[1], got.status, err)
		}
	}
}

func TestNoticesAreOfANumberInAnyForm(t *testing.T) {
	settings := json.RawMessage(`{"phone_number_id":"1000001","waba_id":"2000001","access_token":"t","app_secret":"s","verify_token":"v"}`)
	cb := Callback{Notices: []Notice{{WABAID: "2000001", Number: "551187654321", Notice: provider.Notice{Event: "FLAGGED"}}}}
	if cb.Newest(settings, "5511987654321") == nil || cb.Newest(settings, "34600111222") != nil {
		t.Error("a notice is of another number than the one that it names")
	}
}
