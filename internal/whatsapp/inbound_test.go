package whatsapp

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/identity"
	"carillon/internal/provider"
)

// inboundBody is a callback with one message, whose members are added to those that every message has.
func inboundBody(members string) []byte {
	return changeBody("messages", `{"messaging_product":"whatsapp","metadata":{"display_phone_number":"15555550100","phone_number_id":"1000001"},
		"contacts":[{"wa_id":"34600111222","profile":{"name":" Ana\n Díaz "}}],
		"messages":[{"from":"34600111222","id":"wamid.HBgL","timestamp":"1767225600",`+members+`}]}`)
}

func TestInboundMessages(t *testing.T) {
	for members, want := range map[string]provider.Inbound{
		`"type":"text","text":{"body":"Hola"},"context":{"id":"` + strings.Repeat("x", 501) + `"}`: {Kind: provider.InboundText, Text: "Hola"},
		`"type":"text","text":{"body":"Hola"}`:                                                     {Kind: provider.InboundText, Text: "Hola"},
		`"type":"text","text":{"body":"Sí"},"context":{"from":"15555550100","id":"wamid.OUT"}`:     {Kind: provider.InboundText, Text: "Sí", ReplyTo: "wamid.OUT"},
		`"type":"button","button":{"payload":"p-1","text":"Details"},"context":{"id":"wamid.OUT"}`: {
			Kind: provider.InboundChoice, Text: "Details", Payload: "p-1", ReplyTo: "wamid.OUT",
		},
		`"type":"interactive","interactive":{"type":"button_reply","button_reply":{"id":"choice.1","title":"Yes"}}`: {Kind: provider.InboundChoice, Text: "Yes", Payload: "choice.1"},
		`"type":"interactive","interactive":{"type":"list_reply","list_reply":{"id":"choice.7","title":"Seven","description":"d"}}`: {
			Kind: provider.InboundChoice, Text: "Seven", Payload: "choice.7",
		},
		`"type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"name":"flow","body":"Sent","response_json":"{}"}}`: {Kind: provider.InboundText, Text: "Sent"},
		`"type":"interactive","interactive":{"type":"call_permission_reply"}`:                                                    {Kind: provider.InboundUnsupported, Text: "call_permission_reply"},
		`"type":"image","image":{"id":"media-1","mime_type":"image/jpeg","sha256":"x","caption":"Look"}`: {
			Kind: provider.InboundMedia, Text: "Look", File: &provider.InboundFile{ID: "media-1", Type: "image/jpeg"},
		},
		`"type":"video","video":{"id":"media-2","mime_type":"video/mp4"}`:                                {Kind: provider.InboundMedia, File: &provider.InboundFile{ID: "media-2", Type: "video/mp4"}},
		`"type":"audio","audio":{"id":"media-3","mime_type":"audio/ogg; codecs=opus","voice":true}`:      {Kind: provider.InboundMedia, File: &provider.InboundFile{ID: "media-3", Type: "audio/ogg; codecs=opus"}},
		`"type":"document","document":{"id":"m","mime_type":"application/pdf","filename":"a\n../b.pdf"}`: {Kind: provider.InboundMedia, File: &provider.InboundFile{ID: "m", Type: "application/pdf", Name: "a ../b.pdf"}},
		`"type":"sticker","sticker":{"id":"m","mime_type":"image/webp","animated":false}`:                {Kind: provider.InboundMedia, File: &provider.InboundFile{ID: "m", Type: "image/webp"}},
		`"type":"image","image":{"mime_type":"image/jpeg"}`:                                              {Kind: provider.InboundUnsupported, Text: "image"},
		`"type":"location","location":{"latitude":40.4168,"longitude":-3.7038,"name":"Sol","address":"Madrid"}`: {
			Kind: provider.InboundText, Text: "📍 40.4168, -3.7038\nSol\nMadrid",
		},
		`"type":"contacts","contacts":[{"name":{"formatted_name":"Ben"},"phones":[{"phone":"+34 600"},{"phone":"+34 601"}]}]`: {Kind: provider.InboundText, Text: "Ben +34 600 +34 601"},
		`"type":"reaction","reaction":{"message_id":"wamid.OUT","emoji":"👍"}`:                                                 {Kind: provider.InboundReaction, Text: "👍", ReplyTo: "wamid.OUT"},
		`"type":"reaction","reaction":{"message_id":"wamid.OUT"}`:                                                             {Kind: provider.InboundReaction, ReplyTo: "wamid.OUT"},
		`"type":"order","order":{"catalog_id":"1"}`:                                                                           {Kind: provider.InboundUnsupported, Text: "order"},
		`"type":"system","system":{"type":"user_changed_number","wa_id":"34600999888","body":"Ana changed"}`:                  {Kind: provider.InboundNumber, Text: "34600999888", Became: &provider.Became{Number: "34600999888"}},
		`"type":"system","system":{"type":"user_changed_number","wa_id":"+34"}`:                                               {Kind: provider.InboundUnsupported, Text: "system"},
		`"type":"system","system":{"type":"customer_identity_changed","wa_id":"34600999888"}`:                                 {Kind: provider.InboundUnsupported, Text: "system"},
		`"type":"text","text":{"body":"a\u0000b\u009b\r\n\tc"},"context":{"id":"two words"}`:                                  {Kind: provider.InboundText, Text: "ab\n\tc"},
		`"type":"reaction","reaction":{"message_id":"w\u0000","emoji":"` + strings.Repeat("👍", 30) + `"}`:                     {Kind: provider.InboundReaction, Text: strings.Repeat("👍", 16)},
		`"type":"poll_\u0000\u202e\nnew","text":"of another type","image":[1]}],"x":[{"y":1`:                                  {Kind: provider.InboundUnsupported, Text: "poll_ new"},
		`"type":"button","button":{"text":"Go","payload":"` + strings.Repeat("é", 200) + `"}`:                                 {Kind: provider.InboundChoice, Text: "Go", Payload: strings.Repeat("é", 128)},
		`"type":"location","location":{"latitude":1,"longitude":2,"name":"a\nb\u202ec","address":"\u0000"}`:                   {Kind: provider.InboundText, Text: "📍 1, 2\na bc"},
		`"type":"contacts","contacts":[{"name":{"formatted_name":"Ben\nEve"},"phones":[{"phone":"1\n2"}]}]`:                   {Kind: provider.InboundText, Text: "Ben Eve 1 2"},
		`"type":"unsupported","errors":[{"code":131051,"title":"Message type unknown"}]`:                                      {Kind: provider.InboundUnsupported, Text: "unsupported"},
		`"type":"text","text":{"body":"  "}`:                                                                                  {Kind: provider.InboundUnsupported, Text: "text"},
	} {
		want.ID, want.From, want.Name, want.At = "wamid.HBgL", "34600111222", "Ana Díaz", time.Unix(1767225600, 0).UTC()
		cb, err := ParseCallback(inboundBody(members), 7)
		if err != nil {
			t.Errorf("%s: %v", members, err)
			continue
		}
		if diff := cmp.Diff(map[string][]provider.Inbound{"1000001": {want}}, cb.Inbound); diff != "" || cb.Ignored != 0 {
			t.Errorf("%s: %d ignored\n%s", members, cb.Ignored, diff)
		}
	}
	for _, members := range []string{
		`"type":"text","text":{"body":"Hola"},"id":""`, `"type":"text","text":{"body":"Hola"},"id":"two words"`, `"type":"text","text":{"body":"Hola"},"from":"+34600111222"`,
		`"type":"text","text":{"body":"Hola"},"from":"us.1234567"`,
	} {
		if cb, err := ParseCallback(inboundBody(members), 7); err != nil || len(cb.Inbound) > 0 || cb.Ignored != 1 {
			t.Errorf("%s: %+v, %v", members, cb.Inbound, err)
		}
	}
}

func TestReceiptsOfReplies(t *testing.T) {
	const conversation = "0199f000-0000-7000-8000-000000000001"
	cb, err := ParseCallback([]byte(statusBody(`{"id":"wamid.R","status":"delivered","timestamp":"1767225600","biz_opaque_callback_data":"reply.`+conversation+`.12.2"}`)), 7)
	want := []provider.ReplyReceipt{{Ref: provider.ReplyRef{ConversationID: conversation, Seq: 12, Attempt: 2}, ProviderID: "wamid.R", State: carillon.StateDelivered}}
	if diff := cmp.Diff(want, cb.Replies); diff != "" || err != nil || cb.Ignored != 0 {
		t.Error(diff, err)
	}
	for _, data := range []string{"reply." + conversation + ".12", "reply." + conversation + ".012.1", "reply.x.1.1", "reply." + conversation + ".-1.1", conversation + ".12.2.3"} {
		if r, err := provider.ParseReplyRef(data); err == nil {
			t.Errorf("%s is %+v", data, r)
		}
	}
}

func TestRepliesAreInTheChannelsForm(t *testing.T) {
	ref := provider.ReplyRef{ConversationID: "0199f000-0000-7000-8000-000000000001", Seq: 3, Attempt: 1}
	long := strings.Repeat("é", 40)
	for want, m := range map[string]provider.Reply{
		`"text":{"body":"Hola","preview_url":false},"to":"34600111222","type":"text"}`:                                                                                                                {Text: "Hola"},
		`"interactive":{"action":{"buttons":[{"reply":{"id":"choice.1","title":"Sí"},"type":"reply"},{"reply":{"id":"choice.2","title":"No"},"type":"reply"}]},"body":{"text":"¿?"},"type":"button"}`: {Text: "¿?", Choices: []string{"Sí", "No"}},
		`"interactive":{"action":{"button":"Elegir","sections":[{"rows":[{"description":"` + long + `","id":"choice.1","title":"` + long[:46] + `…"}]}]},"body":{"text":"…"},"type":"list"}`:          {Choices: []string{long}, Language: "es-MX"},
		`"document":{"caption":"Here","filename":"a.pdf","link":"https://x.test/a"}`:                                                                                                                  {Text: "Here", File: &provider.ReplyFile{URL: "https://x.test/a", Type: "application/pdf", Name: "a.pdf"}},
		`"caption":"` + strings.Repeat("é", 1023) + `…"`:                                                                                                                                              {Text: strings.Repeat("é", 1025), File: &provider.ReplyFile{URL: "https://x.test/a", Type: "image/png"}},
		`"body":"` + strings.Repeat("é", 4095) + `…"`:                                                                                                                                                 {Text: strings.Repeat("é", 5000)},
		`"audio":{"link":"https://x.test/a"}`:                                                                                                                                                         {Text: "Here", File: &provider.ReplyFile{URL: "https://x.test/a", Type: "audio/ogg"}},
	} {
		m.Ref, m.To = ref, "34600111222"
		text, err := json.Marshal(replyMessage(&m))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s\nlacks %s", text, want)
		}
	}
}

// Whatever a person or the channel writes, what is read of it is within its bounds.
func FuzzInbound(f *testing.F) {
	f.Add(`"type":"text","text":{"body":"Hola"}`)
	f.Add(`"type":"interactive","interactive":{"type":"list_reply","list_reply":{"id":"choice.7","title":"Seven"}},"context":{"id":"x"}`)
	f.Add(`"type":"document","document":{"id":"m","mime_type":"application/pdf","filename":"a"}`)
	f.Fuzz(func(t *testing.T, members string) {
		cb, err := ParseCallback(inboundBody(members), 7)
		if err != nil {
			return
		}
		for _, all := range cb.Inbound {
			for _, m := range all {
				if !validInboundID(m.ID) || !carillon.ValidNumber(m.From) && !identity.ValidUser(m.UserID) || utf8.RuneCountInString(m.Text) > maxInboundText || !utf8.ValidString(m.Text+m.Name) || len(m.Name) > maxPersonName {
					t.Errorf("%+v", m)
				}
			}
		}
	})
}
