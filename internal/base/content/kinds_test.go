package content

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/provider"
)

type pushed string

func (p pushed) String(string) (string, bool, error) { return string(p), true, nil }

// person gives values of placeholders.
type person map[string]string

func (p person) Field(_ int, name string) (string, bool) { v, ok := p[name]; return v, ok }
func (person) Shared(string) (string, bool)              { return "", false }

func sourceOf(push map[string]pushed, p person) (*Source, error) {
	components, err := ReadComponents(func(yield func(string, pushed) bool) {
		for _, key := range slices.Sorted(maps.Keys(push)) {
			if !yield(key, push[key]) {
				return
			}
		}
	})
	return &Source{Components: components, Recipients: 1, Lookup: p}, err
}

func code(t *testing.T) *carillon.Template {
	t.Helper()
	x := &carillon.Template{Name: "code", Language: "es", Category: Authentication, Components: []carillon.Component{
		{Type: TypeBody, AddSecurityRecommendation: true}, {Type: TypeFooter, CodeExpirationMinutes: 5},
		{Type: TypeButtons, Buttons: []carillon.Button{{Type: ButtonCode, OTPType: "COPY_CODE"}}},
	}}
	if err := Compile(x); err != nil {
		t.Fatal(err)
	}
	return x
}

func TestACodeFillsTheBodyAndTheButton(t *testing.T) {
	x := code(t)
	want := provider.Content{Body: []string{"493817"}, Buttons: []provider.ButtonValue{{Kind: "url", Value: "493817"}}}
	for name, push := range map[string]map[string]pushed{
		"button": {"button_url_0": "493817"}, "both": {"body_text_0": "493817", "button_url_0": "{{code}}"},
	} {
		src, err := sourceOf(push, person{"code": "493817"})
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(x, src); err != nil {
			t.Error(name, err)
		}
		got, err := Fill(x, src, 0)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Error(name, err, diff)
		}
		shown, err := Render(x, &got)
		if err != nil || shown.Body != "*493817* es tu código de verificación. Por tu seguridad, no lo compartas." ||
			shown.Footer != "Este código caduca en 5 minutos." || shown.Buttons[0].Code != "493817" ||
			shown.Buttons[0].Text != "Copiar código" {
			t.Errorf("%+v %v", shown, err)
		}
		for key, value := range Values(x, &got) {
			if value != Mask {
				t.Errorf("%s is shown", key)
			}
		}
	}
}

// The channel lists the button of a one-time code as a URL, and writes the body.
func TestACodeAsTheChannelListsItTakesTheSameKeys(t *testing.T) {
	const address = "https://www.whatsapp.com/otp/code/?otp_type=ONE_TAP&code=otp{{1}}"
	x := &carillon.Template{Category: Authentication, Components: []carillon.Component{
		{Type: TypeBody, Text: "*{{1}}* is your verification code."},
		{Type: TypeButtons, Buttons: []carillon.Button{{Type: ButtonURL, Text: "Copy code", URL: address}}},
	}}
	needs, err := Needs(x)
	if diff := cmp.Diff([]string{"button_url_0"}, needs); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if b := CodeButton(x.Components[1].Buttons[0]); b.Type != ButtonCode || b.OTPType != "ONE_TAP" || b.URL != "" {
		t.Errorf("%+v", b)
	}
}

func carousel(format string, buttons ...carillon.Button) *carillon.Template {
	card := carillon.Card{Components: []carillon.Component{{Type: TypeHeader, Format: format}, {Type: TypeButtons, Buttons: buttons}}}
	return &carillon.Template{Category: "MARKETING", Components: []carillon.Component{
		{Type: TypeBody, Text: "Look"}, {Type: "carousel", Cards: []carillon.Card{card, card}},
	}}
}

func TestValuesOfEveryKindAreChecked(t *testing.T) {
	body := carillon.Component{Type: TypeBody, Text: "Look"}
	with := func(kind string) *carillon.Template {
		return &carillon.Template{Category: "MARKETING", Components: []carillon.Component{
			body, {Type: TypeButtons, Buttons: []carillon.Button{{Type: kind, Text: "x"}}},
		}}
	}
	place := &carillon.Template{Components: []carillon.Component{{Type: TypeHeader, Format: FormatLocation}, body}}
	offer := &carillon.Template{Category: "MARKETING", Components: []carillon.Component{body, {
		Type: "limited_time_offer", LimitedTimeOffer: &carillon.Offer{Text: "Soon", HasExpiration: true},
	}}}
	located := func(latitude pushed) map[string]pushed {
		return map[string]pushed{
			"header_location_latitude": latitude, "header_location_longitude": "2", "header_location_name": "n",
			"header_location_address": "a",
		}
	}
	products := func(sections pushed) map[string]pushed {
		return map[string]pushed{"button_product_0": "SKU", "button_products_0": sections}
	}
	for _, c := range []struct {
		name   string
		t      *carillon.Template
		push   map[string]pushed
		refuse string // beginning of the details
	}{
		{"code of 15 characters", code(t), map[string]pushed{"button_url_0": "123456789012345"}, ""},
		{"code of 16 characters", code(t), map[string]pushed{"button_url_0": "1234567890123456"}, `{"field":"components_push.button_u`},
		{
			"another code in the body", code(t), map[string]pushed{"body_text_0": "1", "button_url_0": "2"},
			`{"field":"components_push.body_text_0"`,
		},
		{
			"no code", code(t), map[string]pushed{"body_text_0": "1"},
			`{"template_variables":["button_url_0"],"provided_variables":["body_text_0"],"missing":["button_url_0"],"unexpected":[]}`,
		},
		{"coupon", with(ButtonCoupon), map[string]pushed{"button_coupon_0": "12345678901234567890"}, ""},
		{
			"long coupon", with(ButtonCoupon), map[string]pushed{"button_coupon_0": "123456789012345678901"},
			`{"field":"components_push.button_coupon_0"`,
		},
		{"no coupon", with(ButtonCoupon), nil, `{"template_variables":["button_coupon_0"],"provided_variables":[],"missing":["button_c`},
		{"place", place, located("-90"), ""},
		{"place beyond the pole", place, located("90.1"), `{"field":"components_push.header_location_latitude"`},
		{"place in words", place, located("north"), `{"field":"components_push.header_location_latitude"`},
		{"no place", place, nil, `{"template_variables":["header_location_latitude","header_location_longitude"`},
		{"offer", offer, map[string]pushed{"offer_expiration": "2100-01-01T00:00:00+02:00"}, ""},
		{"offer in milliseconds", offer, map[string]pushed{"offer_expiration": "4102444800000"}, ""},
		{"past offer", offer, map[string]pushed{"offer_expiration": "2020-01-01T00:00:00Z"}, `{"field":"components_push.offer_expiration"`},
		{"offer without a zone", offer, map[string]pushed{"offer_expiration": "2100-01-01"}, `{"field":"components_push.offer_expiration"`},
		{"products", with(ButtonProducts), products("A: 1, 2; B: 3"), ""},
		{"products without a title", with(ButtonProducts), products("1, 2"), `{"field":"components_push.button_products_0"`},
		{
			"31 products", with(ButtonProducts), products(pushed("A: " + strings.Repeat("1,", 30) + "1")),
			`{"field":"components_push.button_products_0"`,
		},
		{"catalog", with(ButtonCatalog), nil, ""},
		{"flow", with(ButtonFlow), map[string]pushed{"button_flow_0": "t", "button_flow_data_0": `{"a":1}`}, ""},
		{"flow with a list", with(ButtonFlow), map[string]pushed{"button_flow_data_0": `[1]`}, `{"field":"components_push.button_flow_d`},
		{"call", with(ButtonCall), map[string]pushed{"button_call_ttl_0": "43200", "button_payload_0": "p"}, ""},
		{"call of no minutes", with(ButtonCall), map[string]pushed{"button_call_ttl_0": "0"}, `{"field":"components_push.button_call`},
		{
			"a card of two", carousel(FormatImage, carillon.Button{Type: ButtonQuickReply, Text: "x"}),
			map[string]pushed{"card_0_header_image": "https://a.test/a.png"},
			`{"template_variables":["card_0_header_image","card_1_header_image"],"provided_variables":["card_0_header_image"],` +
				`"missing":["card_1_header_image"],"unexpected":[]}`,
		},
		{
			"a third card", carousel(FormatImage, carillon.Button{Type: ButtonQuickReply, Text: "x"}),
			map[string]pushed{
				"card_0_header_image": "https://a.test/a.png", "card_1_header_image": "https://a.test/a.png",
				"card_2_header_image": "https://a.test/b.png",
			},
			`{"template_variables":["card_0_header_image","card_1_header_image"],"provided_variables":["card_0_header_image",` +
				`"card_1_header_image","card_2_header_image"],"missing":[],"unexpected":["card_2_header_image"]}`,
		},
		{
			"products with a gap", carousel(FormatProduct, carillon.Button{Type: ButtonProduct, Text: "x"}),
			map[string]pushed{
				"card_0_header_product": "1", "card_0_header_catalog": "9", "card_2_header_product": "3", "card_2_header_catalog": "9",
			},
			`{"template_variables":["card_0_header_product","card_0_header_catalog","card_1_header_product","card_1_header_catalog",` +
				`"card_2_header_product","card_2_header_catalog"],`,
		},
		{"key of no kind", place, map[string]pushed{"card_0": "x"}, `{"field":"components_push.card_0"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			src, err := sourceOf(c.push, nil)
			if err == nil {
				err = Check(c.t, src)
			}
			if c.refuse == "" {
				if err == nil {
					_, err = Fill(c.t, src, 0)
				}
				if err != nil {
					t.Error(err)
				}
				return
			}
			if _, details := shownTo(t, err); !strings.HasPrefix(details, c.refuse) {
				t.Errorf("details %s", details)
			}
		})
	}
}

func TestDraftOfEveryKindNamesWhatIsWrong(t *testing.T) {
	components := func(all ...any) object { return object{"components": all} }
	otp := object{"type": "OTP", "otp_type": "COPY_CODE"}
	codeDraft := func(b object, more ...any) object {
		parts := append([]any{object{"type": "BUTTONS", "buttons": []any{b}}}, more...)
		return object{"content": dropped{}, "variables": dropped{}, "category": "AUTHENTICATION", "components": parts}
	}
	app := func(hash string) []any { return []any{object{"package_name": "a.b", "signature_hash": hash}} }
	for _, c := range []struct {
		name    string
		changes object
		field   string // of the error, if it is refused
	}{
		{"code", codeDraft(otp), ""},
		{"code with texts", codeDraft(otp, object{"type": "BODY", "add_security_recommendation": true}, object{
			"type": "FOOTER", "code_expiration_minutes": 90,
		}), ""},
		{"code with content", with(codeDraft(otp), object{"content": "Your code"}), "content"},
		{
			"code of 91 minutes", codeDraft(otp, object{"type": "FOOTER", "code_expiration_minutes": 91}),
			"components.1.code_expiration_minutes",
		},
		{"code for nobody", with(codeDraft(otp), object{"category": "UTILITY"}), "category"},
		{"code with a wrong hash", codeDraft(object{
			"type": "OTP", "otp_type": "ONE_TAP", "supported_apps": app("short"),
		}), "components.0.buttons.0.supported_apps.0.signature_hash"},
		{"zero tap without terms", codeDraft(object{
			"type": "OTP", "otp_type": "ZERO_TAP", "supported_apps": app("K8a/AINcGX7"),
		}), "components.0.buttons.0.zero_tap_terms_accepted"},
		{"code that lives too long", with(codeDraft(otp), object{"message_send_ttl_seconds": 901}), "message_send_ttl_seconds"},
		{"code that lives for ten minutes", with(codeDraft(otp), object{"message_send_ttl_seconds": 600}), ""},
		{"coupon", components(object{"type": "BUTTONS", "buttons": []any{object{"type": "COPY_CODE", "example": "A1"}}}), ""},
		{
			"coupon without an example", components(object{"type": "BUTTONS", "buttons": []any{object{"type": "COPY_CODE"}}}),
			"components.0.buttons.0.example",
		},
		{
			"carousel of one card", with(components(object{"type": "CAROUSEL", "cards": []any{object{}}}), object{"category": "MARKETING"}),
			"components.0.cards",
		},
		{
			"flow without a flow", components(object{"type": "BUTTONS", "buttons": []any{object{"type": "FLOW", "text": "x"}}}),
			"components.0.buttons.0.flow_id",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseDraft(marshal(t, with(draftBase(), c.changes)))
			if c.field == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if _, details := shownTo(t, err); !strings.HasPrefix(details, `{"field":"`+c.field+`"`) {
				t.Errorf("%v %s", err, details)
			}
		})
	}
}
