package whatsapp

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"carillon/internal/base/provider"
	"carillon/internal/send/whatsapp/graphtest"
)

// oneChange is a change to a golden body after which the channel refuses it.
type oneChange struct {
	golden, name, from, to string
	code                   string // of a message
}

// sentRefusals are messages that differ from a valid one in one detail.
func sentRefusals() []oneChange {
	return []oneChange{
		{"code_copy", "code too long", "493817", "4938171234567890", "132005"},
		{
			"code_copy", "code in the body alone",
			`,{"type":"button","sub_type":"url","index":"0","parameters":[{"type":"text","text":"493817"}]}`,
			"",
			"132000",
		},
		{"code_copy", "code in the button alone", `{"type":"body","parameters":[{"type":"text","text":"493817"}]},`, "", "132000"},
		{
			"code_copy", "two codes",
			`"index":"0","parameters":[{"type":"text","text":"493817"`,
			`"index":"0","parameters":[{"type":"text","text":"493818"`,
			"132012",
		},
		{
			"code_copy", "code as a coupon",
			`"sub_type":"url","index":"0","parameters":[{"type":"text","text":"493817"}]`,
			`"sub_type":"COPY_CODE","index":"0","parameters":[{"type":"coupon_code","coupon_code":"493817"}]`,
			"132012",
		},
		{"code_copy", "second button", `"index":"0"`, `"index":"1"`, "100"},
		{"code_copy", "code to an id", `"to":"34600111222"`, `"recipient":"US.13491208655302741918"`, "131062"},
		{"coupon", "nobody", `"to":"34600111222",`, "", "100"},
		{
			"coupon", "cards of a template without cards",
			`"components":[`,
			`"components":[{"type":"carousel","cards":[{"card_index":0,"components":[{"type":"body","parameters":[` +
				`{"type":"text","text":"x"}]}]}]},`,
			"100",
		},
		{
			"code_one_tap", "media in a code",
			`{"type":"body"`,
			`{"type":"header","parameters":[{"type":"image","image":{"link":"https://a.test/a.png"}}]},{"type":"b` +
				`ody"`,
			"100",
		},
		{"code_zero_tap", "button without sub_type", `"sub_type":"url",`, "", "132012"},
		{"code_copy", "id in the place of a number", `"to":"34600111222"`, `"to":"US.13491208655302741918"`, "100"},
		{"coupon", "id in the place of a number", `"to":"34600111222"`, `"to":"US.ENT.11815799212886844830"`, "100"},
		{"coupon", "coupon too long", "SAVE-20", "SAVE-20-SAVE-20-SAVE-", "100"},
		{"coupon", "empty coupon", "SAVE-20", "", "100"},
		{"coupon", "coupon as text", `"type":"coupon_code","coupon_code":"SAVE-20"`, `"type":"text","text":"SAVE-20"`, "132012"},
		{"coupon", "sub_type in lower case", `"sub_type":"COPY_CODE"`, `"sub_type":"copy_code"`, "100"},
		{
			"coupon", "no coupon",
			`,{"type":"button","sub_type":"COPY_CODE","index":"0","parameters":[{"type":"coupon_code","coupon_cod` +
				`e":"SAVE-20"}]}`,
			"",
			"132000",
		},
		{"coupon", "another name", `"parameter_name":"name"`, `"parameter_name":"nombre"`, "100"},
		{"coupon", "no name", `"parameter_name":"name",`, "", "100"},
		{"location", "latitude a number", `"latitude":"41.3874"`, `"latitude":41.3874`, "100"},
		{"location", "latitude a word", `"latitude":"41.3874"`, `"latitude":"north"`, "100"},
		{"location", "no address", `,"address":"1 High Street"`, "", "100"},
		{"location", "no name", `"name":"Acme",`, "", "100"},
		{"location", "no location", `"components":[{"type":"header"`, `"components":[{"type":"body"`, "132000"},
		{
			"location", "picture for a location",
			`"type":"location","location":{"latitude":"41.3874","longitude":"-2.1686","name":"Acme","address":"1 ` +
				`High Street"}`,
			`"type":"image","image":{"link":"https://a.test/a.png"}`,
			"132012",
		},
		{"offer", "end in seconds", "4102444800000", "4102444800", "100"},
		{"offer", "end a text", "4102444800000", `"4102444800000"`, "100"},
		{
			"offer", "no end",
			`{"type":"limited_time_offer","parameters":[{"type":"limited_time_offer","limited_time_offer":{"expir` +
				`ation_time_ms":4102444800000}}]},`,
			"",
			"132000",
		},
		{"offer", "buttons swapped", `"index":"0"`, `"index":"1"`, "132012"},
		{
			"offer_without_end", "end of an offer without one",
			`"components":[`,
			`"components":[{"type":"limited_time_offer","parameters":[{"type":"limited_time_offer","limited_time_` +
				`offer":{"expiration_time_ms":4102444800000}}]},`,
			"100",
		},
		{
			"media_carousel", "a card too few",
			`,{"card_index":1,"components":[{"type":"header","parameters":[{"type":"image","image":{"link":"https` +
				`://cdn.example.org/b.png"}}]},{"type":"body","parameters":[{"type":"text","text":"120"}]},{"type":"b` +
				`utton","sub_type":"url","index":"0","parameters":[{"type":"text","text":"suite"}]}]}`,
			"",
			"132012",
		},
		{"media_carousel", "wrong card_index", `"card_index":1`, `"card_index":2`, "100"},
		{"media_carousel", "card_index a text", `"card_index":1`, `"card_index":"1"`, "100"},
		{
			"media_carousel", "card without media",
			`{"type":"header","parameters":[{"type":"image","image":{"link":"https://cdn.example.org/b.png"}}]},`,
			"",
			"132000",
		},
		{
			"media_carousel", "video in a card of pictures",
			`"type":"image","image":{"link":"https://cdn.example.org/b.png"`,
			`"type":"video","video":{"link":"https://cdn.example.org/b.mp4"`,
			"132012",
		},
		{"media_carousel", "card without its text", `{"type":"body","parameters":[{"type":"text","text":"120"}]},`, "", "132000"},
		{
			"media_carousel", "card without its link",
			`,{"type":"button","sub_type":"url","index":"0","parameters":[{"type":"text","text":"suite"}]}`,
			"",
			"132000",
		},
		{"media_carousel", "no carousel", `"type":"carousel","cards"`, `"type":"carousel","card"`, "100"},
		{"product_carousel", "product without its catalog", `,"catalog_id":"900"`, "", "100"},
		{
			"product_carousel", "picture for a product",
			`"type":"product","product":{"product_retailer_id":"SKU-1","catalog_id":"900"}`,
			`"type":"image","image":{"link":"https://a.test/a.png"}`,
			"132012",
		},
		{
			"catalog", "sections of a catalog",
			`"thumbnail_product_retailer_id":"SKU-1"`,
			`"sections":[{"title":"A","product_items":[{"product_retailer_id":"SKU-1"}]}]`,
			"132012",
		},
		{"catalog", "sub_type of several products", `"sub_type":"CATALOG"`, `"sub_type":"mpm"`, "132012"},
		{"catalog_plain", "no action", `"parameters":[{"type":"action","action":{}}]`, `"parameters":[]`, "132000"},
		{"products", "no thumbnail", `"thumbnail_product_retailer_id":"SKU-1",`, "", "132012"},
		{
			"products", "no sections",
			`,"sections":[{"title":"Rooms","product_items":[{"product_retailer_id":"SKU-1"},{"product_retailer_id` +
				`":"SKU-2"}]},{"title":"Suites","product_items":[{"product_retailer_id":"SKU-3"}]}]`,
			"",
			"132012",
		},
		{"products", "section without a title", `"title":"Rooms"`, `"title":""`, "100"},
		{"products", "empty section", `"product_items":[{"product_retailer_id":"SKU-3"}]`, `"product_items":[]`, "100"},
		{
			"products", "31 products",
			`{"product_retailer_id":"SKU-3"}`,
			strings.Repeat(`{"product_retailer_id":"SKU-3"},`, 28) +
				`{"product_retailer_id":"SKU-3"}`,
			"132012",
		},
		{
			"products", "11 sections",
			`{"title":"Suites","product_items":[{"product_retailer_id":"SKU-3"}]}`,
			strings.Repeat(`{"title":"Suites","product_items":[{"product_retailer_id":"SKU-3"}]},`, 9) +
				`{"title":"Suites","product_items":[{"product_retailer_id":"SKU-3"}]}`,
			"132012",
		},
		{"product", "no product", `"components":[{"type":"header"`, `"components":[{"type":"body"`, "132000"},
		{"flow", "data a text", `{"room":"7"}`, `"room"`, "100"},
		{"flow", "thumbnail in a flow", `"flow_token":"t-1"`, `"thumbnail_product_retailer_id":"SKU-1"`, "132012"},
		{"flow", "sub_type in capitals", `"sub_type":"flow"`, `"sub_type":"FLOW"`, "100"},
		{"voice_call", "no minutes", `"ttl_minutes":60`, `"ttl_minutes":0`, "100"},
		{"voice_call", "too many minutes", `"ttl_minutes":60`, `"ttl_minutes":43201`, "100"},
		{"voice_call", "payload too long", "booking:7", strings.Repeat("b", 513), "100"},
		{
			"voice_call", "text in a call",
			`{"type":"payload","payload":"booking:7"}`,
			`{"type":"text","text":"booking:7"}`,
			"132012",
		},
		{
			"call_permission", "value of the request",
			`"components":[`,
			`"components":[{"type":"button","sub_type":"quick_reply","index":"0","parameters":[{"type":"payload",` +
				`"payload":"x"}]},`,
			"100",
		},
		{
			"contact", "value of the button",
			`"language":{"code":"en"}`,
			`"language":{"code":"en"},"components":[{"type":"button","sub_type":"quick_reply","index":"0","parame` +
				`ters":[{"type":"payload","payload":"x"}]}]`,
			"100",
		},
		{
			"named", "payload of a quick reply too long",
			`"components":[`,
			`"components":[{"type":"button","sub_type":"quick_reply","index":"0",` +
				`"parameters":[{"type":"payload","payload":"` + strings.Repeat("p", 257) + `"}]},`,
			"100",
		},
	}
}

// createdRefusals are templates that differ from a valid one in one detail.
func createdRefusals() []oneChange {
	return []oneChange{
		{
			"code_copy", "own text",
			`{"type":"BODY",`,
			`{"type":"BODY","text":"Your code is {{1}}.","example":{"body_text":[["1"]]},`,
			"",
		},
		{"code_copy", "no security text", `{"type":"BODY","add_security_recommendation":true}`, `{"type":"BODY"}`, ""},
		{"code_copy", "security text as a text", `"add_security_recommendation":true`, `"add_security_recommendation":"true"`, ""},
		{"code_copy", "expires at once", `"code_expiration_minutes":10`, `"code_expiration_minutes":0`, ""},
		{"code_copy", "expires in 91 minutes", `"code_expiration_minutes":10`, `"code_expiration_minutes":91`, ""},
		{"code_copy", "own footer", `"code_expiration_minutes":10`, `"text":"Acme"`, ""},
		{"code_copy", "a header", `"components":[`, `"components":[{"type":"HEADER","format":"TEXT","text":"Code"},`, ""},
		{
			"code_copy", "media",
			`"components":[`,
			`"components":[{"type":"HEADER","format":"IMAGE","example":{"header_handle":["4::x"]}},`,
			"",
		},
		{
			"code_copy", "another button",
			`{"type":"OTP","text":"Copy","otp_type":"COPY_CODE"}`,
			`{"type":"QUICK_REPLY","text":"Copy"}`,
			"",
		},
		{
			"code_copy", "no button",
			`{"type":"BUTTONS","buttons":[{"type":"OTP","text":"Copy","otp_type":"COPY_CODE"}]}`,
			`{"type":"BUTTONS","buttons":[]}`,
			"",
		},
		{"code_copy", "two buttons", `"otp_type":"COPY_CODE"}`, `"otp_type":"COPY_CODE"},{"type":"OTP","otp_type":"COPY_CODE"}`, ""},
		{"code_copy", "unknown otp_type", `"otp_type":"COPY_CODE"`, `"otp_type":"TWO_TAP"`, ""},
		{"code_copy", "long label", `"text":"Copy"`, `"text":"Copy the code to the clipboard"`, ""},
		{"code_copy", "marketing", `"AUTHENTICATION"`, `"MARKETING"`, ""},
		{"code_copy", "lives for 29 seconds", `"message_send_ttl_seconds":600`, `"message_send_ttl_seconds":29`, ""},
		{"code_copy", "lives for 901 seconds", `"message_send_ttl_seconds":600`, `"message_send_ttl_seconds":901`, ""},
		{
			"code_copy", "apps of a copied code",
			`"otp_type":"COPY_CODE"`,
			`"otp_type":"COPY_CODE","supported_apps":[{"package_name":"a.b","signature_hash":"K8a/AINcGX7"}]`,
			"",
		},
		{"code_one_tap", "no apps", `,"supported_apps":[{"package_name":"com.example.app","signature_hash":"K8a/AINcGX7"}]`, "", ""},
		{"code_one_tap", "hash of 10 characters", "K8a/AINcGX7", "K8a/AINcGX", ""},
		{"code_one_tap", "hash of 12 characters", "K8a/AINcGX7", "K8a/AINcGX78", ""},
		{"code_one_tap", "long package", "com.example.app", strings.Repeat("a", 225), ""},
		{
			"code_one_tap", "six apps",
			`{"package_name":"com.example.app","signature_hash":"K8a/AINcGX7"}`,
			strings.Repeat(`{"package_name":"com.example.app","signature_hash":"K8a/AINcGX7"},`, 5) +
				`{"package_name":"com.example.app","signature_hash":"K8a/AINcGX7"}`,
			"",
		},
		{"code_zero_tap", "terms not accepted", `"zero_tap_terms_accepted":true,`, "", ""},
		{"coupon", "no example", `"example":"250FF",`, "", ""},
		{"coupon", "example a list", `"example":"250FF"`, `"example":["250FF"]`, ""},
		{"coupon", "long example", "250FF", "250FF250FF250FF250FF2", ""},
		{"coupon", "own label", `"type":"COPY_CODE"`, `"type":"COPY_CODE","text":"Copy"`, ""},
		{
			"coupon", "two coupons",
			`{"example":"250FF","type":"COPY_CODE"}`,
			`{"example":"250FF","type":"COPY_CODE"},{"example":"250FF","type":"COPY_CODE"}`,
			"",
		},
		{"coupon", "sample of another name", `"param_name":"name"`, `"param_name":"nombre"`, ""},
		{"coupon", "name in capitals", "name", "NAME_X", ""},
		{"location", "text in a location", `"format":"LOCATION"`, `"format":"LOCATION","text":"Here"`, ""},
		{"location", "unknown format", `"format":"LOCATION"`, `"format":"GIF"`, ""},
		{"offer", "long text", "Ends soon!", "Ends very soon!!!", ""},
		{"offer", "no text", `"text":"Ends soon!",`, "", ""},
		{"offer", "no has_expiration", `,"has_expiration":true`, "", ""},
		{"offer", "a footer", `{"type":"BUTTONS"`, `{"type":"FOOTER","text":"Acme"},{"type":"BUTTONS"`, ""},
		{"offer", "utility", `"MARKETING"`, `"UTILITY"`, ""},
		{
			"offer", "buttons swapped",
			`[{"example":"250FF","type":"COPY_CODE"},{"type":"URL","text":"Buy","url":"https://ex.org/s/{{1}}","e` +
				`xample":["https://ex.org/s/sample"]}]`,
			`[{"type":"URL","text":"Buy","url":"https://ex.org/s/{{1}}","example":["https://ex.org/s/sample"]},{"` +
				`example":"250FF","type":"COPY_CODE"}]`,
			"",
		},
		{
			"offer", "text header",
			`{"type":"HEADER","format":"IMAGE","example":{"header_handle":["4::aW1hZ2U="]}}`,
			`{"type":"HEADER","format":"TEXT","text":"Sale"}`,
			"",
		},
		{"offer", "long body", "20 % off.", strings.Repeat("x", 600), ""},
		{"offer", "media without a handle", "4::aW1hZ2U=", "https://cdn.example.org/a.jpg", ""},
		{
			"media_carousel", "media of a card without a handle",
			`"example":{"header_handle":["4::aW1hZ2U="]}`,
			`"example":{"header_handle":[]}`,
			"",
		},
		{"media_carousel", "cards of different media", `"format":"IMAGE"`, `"format":"VIDEO"`, ""},
		{"media_carousel", "cards of different buttons", `,{"type":"QUICK_REPLY","text":"More"}`, "", ""},
		{"media_carousel", "long text of a card", "Rooms, {{1}}", "{{1}}" + strings.Repeat("x", 156), ""},
		{"media_carousel", "utility", `"MARKETING"`, `"UTILITY"`, ""},
		{"media_carousel", "a footer beside the cards", `{"type":"carousel"`, `{"type":"FOOTER","text":"Acme"},{"type":"carousel"`, ""},
		{
			"media_carousel", "text header in a card",
			`"format":"IMAGE","example":{"header_handle":["4::aW1hZ2U="]}`,
			`"format":"TEXT","text":"Room"`,
			"",
		},
		{"media_carousel", "type in capitals", `"type":"carousel"`, `"type":"CAROUSEL"`, ""},
		{
			"product_carousel", "one card",
			`,{"components":[{"type":"HEADER","format":"product"},{"type":"BUTTONS","buttons":[{"type":"SPM","tex` +
				`t":"View"}]}]}`,
			"",
			"",
		},
		{
			"product_carousel", "three cards",
			`"cards":[`,
			`"cards":[{"components":[{"type":"HEADER","format":"product"},{"type":"BUTTONS","buttons":[{"type":"S` +
				`PM","text":"View"}]}]},`,
			"",
		},
		{"catalog", "catalog beside another button", `{"type":"CATALOG"`, `{"type":"QUICK_REPLY","text":"x"},{"type":"CATALOG"`, ""},
		{"products", "no header", `{"type":"HEADER","format":"TEXT","text":"New"},`, "", ""},
		{"product", "no button of the product", `{"type":"SPM","text":"View"}`, `{"type":"QUICK_REPLY","text":"View"}`, ""},
		{"product", "long body", "Look.", strings.Repeat("x", 161), ""},
		{"flow", "no flow", `"flow_id":"7001",`, "", ""},
		{"flow", "two flows", `"flow_id":"7001"`, `"flow_id":"7001","flow_name":"booking"`, ""},
		{"flow", "long label", `"text":"Book"`, `"text":"Book your stay with us today"`, ""},
		{"voice_call", "type in capitals", `"voice_call","text"`, `"VOICE_CALL","text"`, ""},
		{
			"call_permission", "text of the request",
			`{"type":"call_permission_request"}`,
			`{"type":"call_permission_request","text":"x"}`,
			"",
		},
		{"contact", "own label", `"type":"REQUEST_CONTACT_INFO"`, `"type":"REQUEST_CONTACT_INFO","text":"x"`, ""},
		{"contact", "unknown component", `"components":[`, `"components":[{"type":"HOLOGRAM"},`, ""},
		{"contact", "unknown member", `"type":"BODY"`, `"type":"BODY","mood":"glad"`, ""},
		{"contact", "unknown button", `"REQUEST_CONTACT_INFO"`, `"TELEPORT","text":"x"`, ""},
		{"positional", "scattered quick replies", `"buttons":[`, `"buttons":[{"type":"QUICK_REPLY","text":"a"},`, ""},
		{"positional", "footer with a variable", "Acme Travel", "Acme {{1}}", ""},
		{"positional", "long header", "Pedido {{1}}", strings.Repeat("x", 61), ""},
		{"contact", "blank text", "Your number?", " ", ""},
		{"contact", "long text", "Your number?", strings.Repeat("x", 1025), ""},
		{"contact", "no buttons", `{"type":"REQUEST_CONTACT_INFO"}`, "", ""},
		{"contact", "unknown button without members", `"REQUEST_CONTACT_INFO"`, `"TELEPORT"`, ""},
		{"contact", "unknown member of the template", `"name":`, `"mood":"glad","name":`, ""},
		{"contact", "name in upper case", `"name":"contact"`, `"name":"Contact"`, ""},
		{"contact", "no language", `"language":"en",`, "", ""},
		{"contact", "unknown category", `"UTILITY"`, `"SERVICE"`, ""},
		{
			"call_permission", "component twice",
			`{"type":"call_permission_request"}`,
			`{"type":"call_permission_request"},{"type":"call_permission_request"}`,
			"",
		},
		{"offer", "time to live of marketing", `"components":[`, `"message_send_ttl_seconds":600,"components":[`, ""},
		{"code_copy", "address of a code", `"otp_type":"COPY_CODE"`, `"otp_type":"COPY_CODE","url":"https://a.test"`, ""},
		{"media_carousel", "eleven cards", `"cards":[`, `"cards":[` + strings.Repeat(anotherCard, 9), ""},
		{
			"media_carousel", everyCard + "a text header",
			`"format":"IMAGE","example":{"header_handle":["4::aW1hZ2U="]}`,
			`"format":"TEXT","text":"Room"`,
			"",
		},
		{
			"product_carousel", everyCard + "a footer",
			`{"type":"HEADER","format":"product"},`,
			`{"type":"HEADER","format":"product"},{"type":"FOOTER","text":"x"},`,
			"",
		},
		{
			"product_carousel", everyCard + "nothing",
			`{"type":"HEADER","format":"product"},{"type":"BUTTONS","buttons":[{"type":"SPM","text":"View"}]}`,
			"",
			"",
		},
		{
			"product_carousel", everyCard + "two buttons",
			`{"type":"SPM","text":"View"}`,
			`{"type":"SPM","text":"View"},{"type":"SPM","text":"View"}`,
			"",
		},
		{"product_carousel", everyCard + "another button", `{"type":"SPM","text":"View"}`, `{"type":"QUICK_REPLY","text":"View"}`, ""},
	}
}

// everyCard begins the name of a change that all cards of a carousel get, because they must have the same structure.
const everyCard = "in every card "

// anotherCard is a card of the golden media_carousel, before another one.
const anotherCard = `{"components":[{"type":"HEADER","format":"IMAGE","example":{"header_handle":["4::aW1hZ2U="]}},` +
	`{"type":"BODY","text":"Rooms, {{1}}","example":{"body_text":[["1"]]}},{"type":"BUTTONS","buttons":[` +
	`{"type":"URL","text":"See","url":"https://ex.org/r/{{1}}","example":["https://ex.org/r/sample"]},` +
	`{"type":"QUICK_REPLY","text":"More"}]}]},`

func (r *oneChange) body(t *testing.T, folder string) (whole, changed string) {
	t.Helper()
	whole = golden(t, folder+"/"+r.golden)
	changed = strings.Replace(whole, r.from, r.to, 1)
	if strings.HasPrefix(r.name, everyCard) {
		changed = strings.ReplaceAll(whole, r.from, r.to)
	}
	if r.name == "name in capitals" {
		changed = strings.ReplaceAll(whole, r.from+"}}", r.to+"}}")
		changed = strings.ReplaceAll(changed, `"param_name":"name"`, `"param_name":"NAME_X"`)
	}
	if changed == whole {
		t.Fatal("the change changes nothing")
	}
	return whole, changed
}

func TestStandInRefusesMessagesOfEveryKindThatTheChannelWould(t *testing.T) {
	s, sender := graph(t, graphtest.Options{Templates: templates()})
	c := client(t, Options{})
	a, err := c.account(sender)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range sentRefusals() {
		t.Run(tc.golden+"/"+tc.name, func(t *testing.T) {
			whole, changed := tc.body(t, "messages")
			for _, body := range []string{whole, changed} {
				got, err := c.exchange(t.Context(), a, http.MethodPost, a.messages, []byte(body))
				if err != nil {
					t.Fatal(err)
				}
				out := judge(got, 1)
				if body == whole {
					if out.Verdict != provider.Sent {
						t.Errorf("the golden body is refused: %+v", out)
					}
					continue
				}
				code, _, _ := strings.Cut(strings.ReplaceAll(out.Detail, "/", " "), " ")
				if out.Verdict == provider.Sent || code != tc.code {
					t.Errorf("answered %+v, want code %s", out, tc.code)
				}
			}
		})
	}
	if n := len(s.All()); n == 0 {
		t.Error("the posts were not recorded")
	}
}

func TestStandInRefusesTemplatesOfEveryKindThatTheChannelWould(t *testing.T) {
	c := client(t, Options{})
	for _, tc := range createdRefusals() {
		t.Run(tc.golden+"/"+tc.name, func(t *testing.T) {
			_, sender := graph(t, graphtest.Options{})
			a, err := c.account(sender)
			if err != nil {
				t.Fatal(err)
			}
			whole, changed := tc.body(t, "templates")
			create := func(body string) int {
				u, err := url.Parse(a.address(a.wabaID + "/message_templates"))
				if err != nil {
					t.Fatal(err)
				}
				got, err := c.exchange(t.Context(), a, http.MethodPost, u, []byte(body))
				if err != nil {
					t.Fatal(err)
				}
				return got.status
			}
			if status := create(changed); status != http.StatusBadRequest {
				t.Errorf("answered %d", status)
			}
			if status := create(whole); status != http.StatusOK {
				t.Errorf("the golden body is answered %d", status)
			}
		})
	}
}
