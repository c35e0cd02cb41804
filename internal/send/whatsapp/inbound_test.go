package whatsapp

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	gocmp "github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
)

// typeOf returns the label of a message from its members.
func typeOf(members string) string {
	for _, x := range []struct{ part, is string }{{`"nfm_reply"`, "form"}, {`_reply"`, "choice"}} {
		if strings.Contains(members, x.part) {
			return x.is
		}
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(members, `"type":"`), `"`)
	return name
}

// inboundBody returns a callback with one message. The members are added to those of every message.
func inboundBody(members string) []byte {
	return changeBody("messages",
		`{"messaging_product":"whatsapp","metadata":{"display_phone_number":"15555550100","phone_number_id":"1000001"},
		"contacts":[{"wa_id":"34600111222","profile":{"name":" Ana\n Díaz "}}],
		"messages":[{"from":"34600111222","id":"wamid.HBgL","timestamp":"1767225600",`+members+`}]}`)
}

func TestInboundMessages(t *testing.T) {
	for members, want := range map[string]provider.Inbound{
		`"type":"text","text":{"body":"Hola"},"context":{"id":"` + strings.Repeat("x", 501) +
			`"}`: {Kind: provider.InboundText, Text: "Hola"},
		`"type":"text","text":{"body":"Hola"}`: {Kind: provider.InboundText, Text: "Hola"},
		`"type":"text","text":{"body":"Sí"},"context":{"from":"15555550100","id":"wamid.OUT"}`: {
			Kind: provider.InboundText,
			Text: "Sí", ReplyTo: "wamid.OUT",
		},
		`"type":"button","button":{"payload":"p-1","text":"Details"},"context":{"id":"wamid.OUT"}`: {
			Kind: provider.InboundChoice, Text: "Details", Payload: "p-1", ReplyTo: "wamid.OUT",
		},
		`"type":"interactive","interactive":{"type":"button_reply","button_reply":{"id":"choice.1","title":"Yes"}}`: {
			Kind: provider.InboundChoice, Text: "Yes", Payload: "choice.1",
		},
		`"type":"interactive","interactive":{"type":"list_reply","list_reply":{"id":"choice.7","title":"Seven","description":"d"}}`: {
			Kind: provider.InboundChoice, Text: "Seven", Payload: "choice.7",
		},
		`"type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"name":"flow","body":"Sent","response_json":"{}"}}`: {
			Kind: provider.InboundText, Text: "Sent",
		},
		`"type":"interactive","interactive":{"type":"call_permission_reply","call_permission_reply":{"response":"reject"}}`: {
			Kind: provider.InboundEvent, Type: "call_permission_reply", Event: provider.InboundCalls, Text: "reject",
		},
		`"type":"interactive","interactive":{"type":"poll_reply"}`: {
			Kind: provider.InboundUnsupported, Type: "poll_reply", Text: "poll_reply",
		},
		`"type":"image","image":{"id":"media-1","mime_type":"image/jpeg","sha256":"x","caption":"Look"}`: {
			Kind: provider.InboundMedia, Text: "Look", File: &provider.InboundFile{ID: "media-1", Type: "image/jpeg"},
		},
		`"type":"video","video":{"id":"media-2","mime_type":"video/mp4"}`: {
			Kind: provider.InboundMedia, File: &provider.InboundFile{ID: "media-2", Type: "video/mp4"},
		},
		`"type":"audio","audio":{"id":"media-3","mime_type":"audio/ogg; codecs=opus","voice":true}`: {
			Kind: provider.InboundMedia, File: &provider.InboundFile{ID: "media-3", Type: "audio/ogg; codecs=opus"},
		},
		`"type":"document","document":{"id":"m","mime_type":"application/pdf","filename":"a\n../b.pdf"}`: {
			Kind: provider.InboundMedia, File: &provider.InboundFile{ID: "m", Type: "application/pdf", Name: "a ../b.pdf"},
		},
		`"type":"sticker","sticker":{"id":"m","mime_type":"image/webp","animated":false}`: {
			Kind: provider.InboundMedia,
			File: &provider.InboundFile{ID: "m", Type: "image/webp"},
		},
		`"type":"image","image":{"mime_type":"image/jpeg"}`: {Kind: provider.InboundUnsupported, Text: "image"},
		`"type":"location","location":{"latitude":40.4168,"longitude":-3.7038,"name":"Sol","address":"Madrid"}`: {
			Kind: provider.InboundText, Text: "📍 40.4168, -3.7038\nSol\nMadrid",
			Enclosed: provider.Enclosed{Place: &provider.Place{Latitude: 40.4168, Longitude: -3.7038, Name: "Sol", Address: "Madrid"}},
		},
		`"type":"contacts","contacts":[{"name":{"formatted_name":"Ben"},"phones":[{"phone":"+34 600"},{"phone":"+34 601"}]}]`: {
			Kind: provider.InboundText, Text: "Ben +34 600 +34 601",
			Enclosed: provider.Enclosed{Cards: []provider.Card{{Name: "Ben", Numbers: []string{"+34 600", "+34 601"}}}},
		},
		`"type":"reaction","reaction":{"message_id":"wamid.OUT","emoji":"👍"}`: {
			Kind: provider.InboundReaction, Text: "👍", ReplyTo: "wamid.OUT",
		},
		`"type":"reaction","reaction":{"message_id":"wamid.OUT"}`: {
			Kind: provider.InboundReaction, ReplyTo: "wamid.OUT",
		},
		`"type":"order","order":{"catalog_id":"1"}`: {
			Kind: provider.InboundUnsupported, Text: "order",
		},
		`"type":"system","system":{"type":"user_changed_number","wa_id":"34600999888","body":"Ana changed"}`: {
			Kind: provider.InboundNumber, Text: "34600999888", Became: &provider.Became{Number: "34600999888"},
		},
		`"type":"system","system":{"type":"user_changed_number","wa_id":"+34"}`: {
			Kind: provider.InboundEvent, Text: "user_changed_number",
		},
		`"type":"system","system":{"type":"customer_identity_changed","wa_id":"34600999888"}`: {
			Kind: provider.InboundEvent, Event: provider.InboundTelephone,
		},
		`"type":"text","text":{"body":"a\u0000b\u009b\r\n\tc"},"context":{"id":"two words"}`: {
			Kind: provider.InboundText, Text: "ab\n\tc",
		},
		`"type":"reaction","reaction":{"message_id":"w\u0000","emoji":"` + strings.Repeat("👍", 30) +
			`"}`: {Kind: provider.InboundReaction, Text: strings.Repeat("👍", 16)},
		`"type":"poll_\u0000\u202e\nnew","text":"of another type","image":[1]}],"x":[{"y":1`: {
			Kind: provider.InboundUnsupported,
			Type: "poll_new", Text: "poll_new",
		},
		`"type":"button","button":{"text":"Go","payload":"` + strings.Repeat("é", 200) +
			`"}`: {Kind: provider.InboundChoice, Text: "Go", Payload: strings.Repeat("é", 128)},
		`"type":"location","location":{"latitude":1,"longitude":2,"name":"a\nb\u202ec","address":"\u0000"}`: {
			Kind: provider.InboundText, Text: "📍 1, 2\na bc",
			Enclosed: provider.Enclosed{Place: &provider.Place{Latitude: 1, Longitude: 2, Name: "a bc"}},
		},
		`"type":"contacts","contacts":[{"name":{"formatted_name":"Ben\nEve"},"phones":[{"phone":"1\n2"}]}]`: {
			Kind: provider.InboundText, Text: "Ben Eve 1 2",
			Enclosed: provider.Enclosed{Cards: []provider.Card{{Name: "Ben Eve", Numbers: []string{"1 2"}}}},
		},
		`"type":"unsupported","errors":[{"code":131051,"title":"Message type unknown"}]`: {
			Kind: provider.InboundUnsupported,
			Text: "unsupported",
		},
		`"type":"text","text":{"body":"  "}`: {Kind: provider.InboundUnsupported, Text: "text"},
	} {
		want.Type = cmp.Or(want.Type, typeOf(members))
		want.ID, want.From, want.Name, want.At = "wamid.HBgL", "34600111222", "Ana Díaz", time.Unix(1767225600, 0).UTC()
		cb, err := ParseCallback(inboundBody(members), 7)
		if err != nil {
			t.Errorf("%s: %v", members, err)
			continue
		}
		if diff := gocmp.Diff(map[string][]provider.Inbound{"1000001": {want}}, cb.Inbound); diff != "" || cb.Ignored != 0 {
			t.Errorf("%s: %d ignored\n%s", members, cb.Ignored, diff)
		}
	}
}

func TestReceiptsOfReplies(t *testing.T) {
	const conversation = "0199f000-0000-7000-8000-000000000001"
	cb, err := ParseCallback([]byte(statusBody(
		`{"id":"wamid.R","status":"delivered","timestamp":"1767225600","biz_opaque_callback_data":"reply.`+conversation+`.12.2"}`)), 7)
	want := []provider.ReplyReceipt{{
		Ref: provider.ReplyRef{ConversationID: conversation, Seq: 12, Attempt: 2}, ProviderID: "wamid.R", State: carillon.StateDelivered,
	}}
	if diff := gocmp.Diff(want, cb.Replies); diff != "" || err != nil || cb.Ignored != 0 {
		t.Error(diff, err)
	}
	for _, data := range []string{
		"reply." + conversation + ".12", "reply." + conversation + ".012.1", "reply.x.1.1", "reply." + conversation + ".-1.1",
		conversation + ".12.2.3",
	} {
		if r, err := provider.ParseReplyRef(data); err == nil {
			t.Errorf("%s is %+v", data, r)
		}
	}
}

func TestRepliesAreInTheChannelsForm(t *testing.T) {
	ref := provider.ReplyRef{ConversationID: "0199f000-0000-7000-8000-000000000001", Seq: 3, Attempt: 1}
	long := strings.Repeat("é", 40)
	for want, m := range map[string]provider.Reply{
		`"text":{"body":"Hola","preview_url":false},"to":"34600111222","type":"text"}`: {Text: "Hola"},
		`"interactive":{"action":{"buttons":[{"reply":{"id":"choice.1","title":"Sí"},"type":"reply"},{"reply":{"id":"choice.2",` +
			`"title":"No"},"type":"reply"}]},"body":{"text":"¿?"},"type":"button"}`: {Text: "¿?", Choices: []string{"Sí", "No"}},
		`"interactive":{"action":{"button":"Elegir","sections":[{"rows":[{"description":"` + long + `","id":"choice.1","title":"` +
			long[:46] + `…"}]}]},"body":{"text":"…"},"type":"list"}`: {Choices: []string{long}, Language: "es-MX"},
		`"document":{"caption":"Here","filename":"a.pdf","link":"https://x.test/a"}`: {
			Text: "Here", File: &provider.ReplyFile{URL: "https://x.test/a", Type: "application/pdf", Name: "a.pdf"},
		},
		`"caption":"` + strings.Repeat("é", 1023) + `…"`: {
			Text: strings.Repeat("é", 1025), File: &provider.ReplyFile{URL: "https://x.test/a", Type: "image/png"},
		},
		`"body":"` + strings.Repeat("é", 4095) + `…"`: {Text: strings.Repeat("é", 5000)},
		`"audio":{"link":"https://x.test/a"}`: {
			Text: "Here", File: &provider.ReplyFile{URL: "https://x.test/a", Type: "audio/ogg"},
		},
	} {
		m.Ref, m.To = ref, "34600111222"
		text, err := json.Marshal(replyMessage(&m))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s\nlacks %s", text, want)
		}
	}
}

// Whatever a person or the channel sends, the parsed message is within its bounds.
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
				if !validInboundID(m.ID) || !carillon.ValidNumber(m.From) && !identity.ValidUser(m.UserID) ||
					utf8.RuneCountInString(m.Text) > maxInboundText || !utf8.ValidString(m.Text+m.Name) || len(m.Name) > maxPersonName {
					t.Errorf("%+v", m)
				}
			}
		}
	})
}

// enclosedIn parses a message with these members.
func enclosedIn(t *testing.T, members string) provider.Inbound {
	t.Helper()
	return inboundIn(t, inboundBody(members))
}

// inboundIn returns the only message of a callback.
func inboundIn(t *testing.T, body []byte) provider.Inbound {
	t.Helper()
	cb, err := ParseCallback(body, 7)
	if err != nil || len(cb.Inbound["1000001"]) != 1 {
		t.Fatalf("%s: %+v, %v", body, cb.Inbound, err)
	}
	return cb.Inbound["1000001"][0]
}

func TestAFormsAnswersAreReadInItsOrder(t *testing.T) {
	form := func(response string) string {
		text, _ := json.Marshal(response) // cannot fail for a string
		return `"type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"name":"flow","body":"Sent","response_json":` +
			string(text) + `}}`
	}
	m := enclosedIn(t, form(`{"screen_0_Full_name_0":"Ana\nDíaz","flow_token":"t","zeta":["0_L","1_XL"],"agreed":true,"guests":2,`+
		`"none":null,"empty":"","values":{"city":"Vigo","zip":{"code":36201}},"alpha":"last"}`))
	want := []provider.Answer{
		{Name: "screen_0_Full_name_0", Question: "Full name", Answer: "Ana Díaz"},
		{Name: "zeta", Question: "zeta", Answer: "0_L, 1_XL"},
		{Name: "agreed", Question: "agreed", Answer: "true"},
		{Name: "guests", Question: "guests", Answer: "2"},
		{Name: "values.city", Question: "values city", Answer: "Vigo"},
		{Name: "values.zip.code", Question: "values zip code", Answer: "36201"},
		{Name: "alpha", Question: "alpha", Answer: "last"},
	}
	if diff := gocmp.Diff(want, m.Form); diff != "" {
		t.Error(diff)
	}
	if !strings.HasPrefix(m.Text, "Full name: Ana Díaz\nzeta: 0_L, 1_XL\nagreed: true\n") || m.Label() != "form" {
		t.Errorf("%s: %q", m.Label(), m.Text)
	}
	for _, response := range []string{"", " ", "{}", `{"flow_token":"t"}`, "null"} {
		if m := enclosedIn(t, form(response)); m.Text != "Sent" || m.Form != nil {
			t.Errorf("%s: %q, %v", response, m.Text, m.Form)
		}
	}
	for _, response := range []string{"[1]", `"x"`, `{"a":`, `{"a":1`, "Ana, 1 Main St"} { // invalid: shown as received
		if m := enclosedIn(t, form(response)); m.Text != "Sent\n"+response || m.Form != nil {
			t.Errorf("%s: %q, %v", response, m.Text, m.Form)
		}
	}
	const value = `"type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"response_json":{"name":"Ana","guests":2}}}`
	if m := enclosedIn(t, value); m.Text != "name: Ana\nguests: 2" {
		t.Errorf("answers that are no text: %q", m.Text)
	}
	many := "{"
	for i := range 500 {
		many += `"f` + strconv.Itoa(i) + `":"` + strings.Repeat("é", 2000) + `",`
	}
	if m := enclosedIn(t, form(many+`"z":1}`)); len(m.Form) != maxAnswers || len(m.Form[0].Answer) > maxAnswer ||
		utf8.RuneCountInString(m.Text) > maxInboundText {
		t.Errorf("%d answers, a text of %d bytes", len(m.Form), len(m.Text))
	}
}

func TestAnOrderKeepsItsNumbers(t *testing.T) {
	m := enclosedIn(t,
		`"type":"order","order":{"catalog_id":1,"text":"Soon","product_items":[{"product_retailer_id":"A","quantity":2,
			"item_price":9.90,"currency":"EUR"},
		{"product_retailer_id":7,"quantity":"1","item_price":"1200"},{"quantity":3},{"product_retailer_id":"B"}]}`)
	want := &provider.Order{Catalog: "1", Text: "Soon", Items: []provider.OrderItem{
		{Product: "A", Quantity: "2", Price: "9.90", Currency: "EUR"},
		{Product: "7", Quantity: "1", Price: "1200"},
		{Product: "B", Quantity: "1"},
	}}
	if diff := gocmp.Diff(want, m.Order); diff != "" || m.Text != "Soon\n2 × A: 9.90 EUR\n1 × 7: 1200\n1 × B" {
		t.Errorf("%q\n%s", m.Text, diff)
	}
}

func TestContactCardsKeepEveryField(t *testing.T) {
	m := enclosedIn(t, `"type":"contacts","contacts":[
		{"name":{"first_name":"Ben","last_name":"Ruiz"},"birthday":"1990-01-02","org":{"company":"Acme","title":"Sales"},
			"phones":[{"phone":"+34 600"},{"wa_id":"34601"}],
			"emails":[{"email":"ben@acme.test"}],"urls":[{"url":"https://acme.test"}],"addresses":[{"street":"1 Main St",
				"zip":"36201","city":"Vigo","country":"Spain"}]},
		{"vcard":"BEGIN:VCARD\nFN:Eva\nN:Ruiz;Eva\nitem1.TEL;type=CELL;waid=34602:\nEMAIL;TYPE=work:eva\n @acme.test\n`+
		`ORG:Acme\\, Ltd;Sales\nTITLE:Boss\nBDAY:1991\nURL:https://e.test\nADR:;;2 Main St;Lugo;;;Spain\nNOTE\nEND:VCARD"},
		{}]`)
	want := []provider.Card{
		{
			Name: "Ben Ruiz", Company: "Acme", Title: "Sales", Birthday: "1990-01-02", Numbers: []string{"+34 600", "+34601"},
			Emails: []string{"ben@acme.test"}, URLs: []string{"https://acme.test"}, Addresses: []string{"1 Main St, 36201, Vigo, Spain"},
		},
		{
			Name: "Eva", Company: "Acme, Ltd, Sales", Title: "Boss", Birthday: "1991", Numbers: []string{"+34602"},
			Emails: []string{"eva@acme.test"}, URLs: []string{"https://e.test"}, Addresses: []string{"2 Main St, Lugo, Spain"},
		},
	}
	if diff := gocmp.Diff(want, m.Cards); diff != "" {
		t.Error(diff)
	}
	if want := "Ben Ruiz +34 600 +34601 ben@acme.test Acme Sales https://acme.test 1 Main St, 36201, Vigo, Spain " +
		"1990-01-02\n"; !strings.HasPrefix(m.Text, want) {
		t.Errorf("%q", m.Text)
	}
}

func TestAnAdAProductAndAGroupAreKeptOfAnyType(t *testing.T) {
	const from = `,"group_id":"g 1","context":{"referred_product":{"catalog_id":"c","product_retailer_id":"p"}},` +
		`"referral":{"source_url":"https://fb.test/1","source_id":12,"source_type":"ad","headline":"Whales","body":"See\nthem",` +
		`"media_type":"image","ctwa_clid":"clid"}`
	want := provider.Enclosed{
		Group: "g 1", Writer: "34600111222", Product: &provider.Product{Catalog: "c", ID: "p"},
		Referral: &provider.Referral{
			SourceType: "ad", SourceID: "12", SourceURL: "https://fb.test/1", Headline: "Whales", Body: "See them",
			MediaType: "image", Click: "clid",
		},
	}
	for _, members := range []string{
		`"type":"text","text":{"body":"Hi"}`, `"type":"image","image":{"id":"m"}`, `"type":"reaction","reaction":{"emoji":"👍"}`,
		`"type":"unsupported"`,
	} {
		if diff := gocmp.Diff(want, enclosedIn(t, members+from).Enclosed); diff != "" {
			t.Errorf("%s: %s", members, diff)
		}
	}
}

// A message without an id from the channel is recognized by its bytes.
func TestAMessageWithoutAnIDHasOne(t *testing.T) {
	without := func(members string) []byte {
		return []byte(strings.NewReplacer(`"id":"wamid.HBgL",`, "", `"timestamp":"1767225600",`, "").Replace(string(inboundBody(members))))
	}
	ids := map[string]bool{}
	for _, members := range []string{
		`"type":"text","text":{"body":"a"},"id":""`, `"type":"text","text":{"body":"b"},"id":null`,
		`"type":"text","text":{"body":"c"},"id":7`, `"type":"text","text":{"body":"d"},"id":"two words"`,
	} {
		m := inboundIn(t, without(members))
		if again := inboundIn(t, without(members)); again.ID != m.ID || !validInboundID(m.ID) {
			t.Errorf("%s has the ids %q and %q", members, m.ID, again.ID)
		}
		ids[m.ID] = true
	}
	if len(ids) != 4 {
		t.Errorf("4 messages have the ids %v", ids)
	}
	if m := inboundIn(t, without(`"type":"text","text":{"body":"a"},"timestamp":"soon"`)); !m.At.IsZero() || m.Text != "a" {
		t.Errorf("%+v", m)
	}
}

func TestWishesAboutMarketing(t *testing.T) {
	body := changeBody("user_preferences",
		`{"messaging_product":"whatsapp","metadata":{"phone_number_id":"1000001"},"contacts":[{"wa_id":"34600111222",
			"user_id":"ES.1"}],"user_preferences":[
		{"wa_id":"34600111222","user_id":"ES.1","detail":"x","category":"marketing_messages","value":"resume","timestamp":1731705800},
		{"wa_id":"34600111222","category":"marketing_messages","value":"stop","timestamp":"1731705721"},
		{"user_id":"US.ENT.2","category":"marketing_messages","value":"stop","timestamp":1731705722},
		{"category":"marketing_messages","value":"stop"},{"wa_id":"34600111222","category":"marketing_messages","value":"later"},
			{"wa_id":"34600111223","category":"marketing_messages","value":"signup","signup_id":"77","timestamp":1731705900},
			{"wa_id":"34600111222","category":"other","value":"stop"},{"wa_id":"+34","user_id":"x y",
				"category":"marketing_messages","value":"stop"}]}`)
	cb, err := ParseCallback(body, 7)
	at := func(s int64) time.Time { return time.Unix(s, 0).UTC() }
	want := []provider.Preference{
		{Number: "34600111222", Stop: true, At: at(1731705721)},
		{UserID: "US.ENT.2", Stop: true, At: at(1731705722)},
		{Number: "34600111222", UserID: "ES.1", At: at(1731705800)},
		{Number: "34600111223", At: at(1731705900)},
	}
	settings := func(id string) json.RawMessage {
		return json.RawMessage(`{"phone_number_id":"` + id +
			`","waba_id":"2000001","access_token":"a-token","app_secret":"a-secret","verify_token":"a-verify-token-of-24-char"}`)
	}
	if diff := gocmp.Diff(want, cb.PreferencesFor(settings("1000001"))); diff != "" || err != nil || cb.Ignored != 4 {
		t.Errorf("%d ignored, %v\n%s", cb.Ignored, err, diff)
	}
	if got := cb.PreferencesFor(settings("1000002")); len(got) > 0 {
		t.Errorf("of another number: %v", got)
	}
}
