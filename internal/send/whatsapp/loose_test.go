package whatsapp

import (
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"carillon/internal/base/provider"
)

// The channel sends some values either as strings or as numbers.
func TestInboundMessagesAreReadInEitherType(t *testing.T) {
	for _, tc := range []struct {
		members string
		want    provider.Inbound
	}{
		{`"from":34600111222,"type":"text","text":{"body":7}`, provider.Inbound{Kind: provider.InboundText, Text: "7"}},
		{`"from":"+34600111222","type":"text","text":{"body":"Hola"}`, provider.Inbound{Kind: provider.InboundText, Text: "Hola"}},
		{`"type":"button","button":{"payload":1,"text":2}`, provider.Inbound{Kind: provider.InboundChoice, Text: "2", Payload: "1"}},
		{
			`"type":"interactive","interactive":{"type":"button_reply","button_reply":{"id":1,"title":2}}`,
			provider.Inbound{Kind: provider.InboundChoice, Text: "2", Payload: "1"},
		},
		{
			`"type":"interactive","interactive":{"type":"list_reply","list_reply":{"id":1}}`,
			provider.Inbound{Kind: provider.InboundChoice, Text: "1", Payload: "1"},
		},
		{
			`"type":"document","document":{"id":12,"mime_type":"application/pdf","caption":3,"filename":4}`,
			provider.Inbound{
				Kind: provider.InboundMedia, Text: "3", File: &provider.InboundFile{ID: "12", Type: "application/pdf", Name: "4"},
			},
		},
		{
			`"type":"text","text":{"body":"Hola"},"group_id":120363`,
			provider.Inbound{Kind: provider.InboundText, Text: "Hola", Enclosed: provider.Enclosed{Group: "120363", Writer: "34600111222"}},
		},
		{
			`"type":"system","system":{"type":"user_changed_number","wa_id":34600999888}`,
			provider.Inbound{Kind: provider.InboundNumber, Text: "34600999888", Became: &provider.Became{Number: "34600999888"}},
		},
		{
			`"type":"edit","edit":{"original_message_id":"wamid.X","message":{"text":{"body":8}}}`,
			provider.Inbound{Kind: provider.InboundEvent, Event: provider.InboundEdited, Text: "8", ReplyTo: "wamid.X"},
		},
	} {
		want := tc.want
		want.Type = typeOf(tc.members[strings.Index(tc.members, `"type"`):])
		want.ID, want.From, want.Name, want.At = "wamid.HBgL", "34600111222", "Ana Díaz", time.Unix(1767225600, 0).UTC()
		if diff := gocmp.Diff(want, enclosedIn(t, tc.members)); diff != "" {
			t.Errorf("%s:\n%s", tc.members, diff)
		}
	}
}

func TestAListOfOneMayBeItsEntry(t *testing.T) {
	const hello = `{"from":"34600111222","id":"wamid.1","type":"text","text":{"body":"Hola"}}`
	for members, name := range map[string]string{
		`"contacts":{"wa_id":34600111222,"profile":{"name":"Ana"}},"messages":` + hello:          "Ana",
		`"contacts":[7,{"wa_id":"34600111222","profile":{"name":"Ana"}}],"messages":` + hello:    "Ana",
		`"contacts":"Ana","statuses":{"id":"x"},"user_preferences":7,"messages":[` + hello + `]`: "",
	} {
		body := `{"object":"whatsapp_business_account","entry":{"id":2000001,"changes":{"field":"messages","value":{
			"metadata":{"phone_number_id":1000001},` + members + `}}}}`
		if m := inboundIn(t, []byte(body)); m.Name != name || m.Text != "Hola" {
			t.Errorf("%s: %q of %q", members, m.Text, m.Name)
		}
	}
}

// A missing member must not be interpreted as an action of the person.
func TestAMessageWithoutItsMemberIsUnsupported(t *testing.T) {
	const calls = `"type":"interactive","interactive":{"type":"call_permission_reply"`
	for _, tc := range []struct{ members, kind string }{
		{`"type":"reaction"`, "reaction"},
		{`"type":"reaction","reaction":"👍"`, "reaction"},
		{`"type":"reaction","reaction":{"message_id":""}`, "reaction"},
		{`"type":"edit"`, "edit"},
		{`"type":"edit","edit":{"original_message_id":"wamid.X","message":{"type":"image"}}`, "edit"},
		{`"type":"interactive"`, "interactive"},
		{`"type":"interactive","interactive":[]`, "interactive"},
		{calls + `}`, "call_permission_reply"},
		{calls + `,"call_permission_reply":{"response":"later"}}`, "call_permission_reply"},
	} {
		if m := enclosedIn(t, tc.members); m.Kind != provider.InboundUnsupported || m.Text != tc.kind || m.Event != "" || !m.Written() {
			t.Errorf("%s: %+v", tc.members, m)
		}
	}
	for _, members := range []string{
		`"type":"edit","edit":{"original_message_id":"wamid.X","message":{"type":"image","image":{"id":"1"}}}`, `"type":"revoke"`,
	} {
		if m := enclosedIn(t, members); m.Kind != provider.InboundEvent || m.Event == "" {
			t.Errorf("%s: %+v", members, m)
		}
	}
}

// A truncated list is marked.
func TestALongListIsMarkedWhereItIsCutOff(t *testing.T) {
	list := func(n int, entry string) string { return strings.TrimSuffix(strings.Repeat(entry+",", n), ",") }
	for kind, members := range map[string]func(n int) string{
		"order": func(n int) string {
			return `"type":"order","order":{"product_items":[` + list(n, `{"product_retailer_id":"A"}`) + `]}`
		},
		"contacts": func(n int) string {
			return `"type":"contacts","contacts":[` + list(n, `{"name":{"first_name":"Ben"}}`) + `]`
		},
		"form": func(n int) string {
			return `"type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"response_json":{` + list(n, `"a":"b"`) + `}}}`
		},
	} {
		for n, lines := range map[int]int{100: 100, 101: 101, 150: 101} {
			m := enclosedIn(t, members(n))
			if all := strings.Split(m.Text, "\n"); len(all) != lines || (all[lines-1] == "…") != (n > 100) {
				t.Errorf("%s of %d: %d lines, the last %q", kind, n, len(all), all[len(all)-1])
			}
			if got := max(len(m.Form), len(m.Cards)); got > 100 || m.Order != nil && len(m.Order.Items) != 100 {
				t.Errorf("%s of %d has %d entries", kind, n, got)
			}
		}
	}
}
