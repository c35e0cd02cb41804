package whatsapp

import (
	"maps"
	"slices"

	"carillon"
	"carillon/internal/base/content"
)

// given is a value of components_push.
type given string

func (v given) String(string) (string, bool, error) { return string(v), true, nil }

// none is a request without placeholders.
type none struct{}

func (none) Field(int, string) (string, bool) { return "", false }
func (none) Shared(string) (string, bool)     { return "", false }

// filled returns a kind whose content is filled from the keys of a request.
func filled(golden string, t carillon.Template, push map[string]given) kind {
	components, err := content.ReadComponents(func(yield func(string, given) bool) {
		for _, key := range slices.Sorted(maps.Keys(push)) {
			if !yield(key, push[key]) {
				return
			}
		}
	})
	if err != nil {
		panic(err)
	}
	src := &content.Source{Components: components, Recipients: 1, Lookup: none{}}
	if err := content.Check(&t, src); err != nil {
		panic(golden + ": " + err.Error())
	}
	c, err := content.Fill(&t, src, 0)
	if err != nil {
		panic(err)
	}
	return kind{golden, t, c}
}

func of(category string, t carillon.Template) carillon.Template {
	t.Category = category
	return t
}

func bodyPart(text string) carillon.Component {
	return carillon.Component{Type: content.TypeBody, Text: text}
}

func buttonsPart(b ...carillon.Button) carillon.Component {
	return carillon.Component{Type: content.TypeButtons, Buttons: b}
}

func headerPart(format string) carillon.Component {
	c := carillon.Component{Type: content.TypeHeader, Format: format}
	if format == content.FormatImage || format == content.FormatVideo {
		c.Example = &carillon.ComponentExample{HeaderHandle: []string{"4::aW1hZ2U="}}
	}
	return c
}

// codeTemplate is a one-time code that a phone takes over in one way.
func codeTemplate(name string, b carillon.Button) carillon.Template {
	b.Type = content.ButtonCode
	t := of(content.Authentication, template(name, "en_US", content.Positional,
		carillon.Component{Type: content.TypeBody, AddSecurityRecommendation: true},
		carillon.Component{Type: content.TypeFooter, CodeExpirationMinutes: 10}, buttonsPart(b)))
	t.SendTTL = 600
	return t
}

func mediaCard(text string) carillon.Card {
	return carillon.Card{Components: []carillon.Component{
		headerPart(content.FormatImage), bodyPart(text), buttonsPart(
			carillon.Button{Type: content.ButtonURL, Text: "See", URL: "https://ex.org/r/{{1}}"},
			carillon.Button{Type: content.ButtonQuickReply, Text: "More"}),
	}}
}

func productCard() carillon.Card {
	return carillon.Card{Components: []carillon.Component{
		headerPart(content.FormatProduct), buttonsPart(carillon.Button{Type: content.ButtonProduct, Text: "View"}),
	}}
}

// countedKind is a message whose link counts clicks: the channel gets the link's token, never the address.
func countedKind() kind {
	const prefix = "https://ops.example.org/l/"
	t := template("counted", "en", content.Positional, bodyPart("Your order {{1}} is on its way."),
		buttonsPart(carillon.Button{Type: content.ButtonURL, Text: "Track", URL: prefix + "{{1}}"}))
	if err := content.Compile(&t); err != nil {
		panic(err)
	}
	content.CountClicks(t.Shape, prefix)
	k := filled("counted", t, map[string]given{"body_text_0": "7", "button_url_0": "https://example.org/orders/7?key=secret"})
	content.SetTokens(&k.content, func(int, int) string { return "Zk3_9aQw-LmN0pXyT7uVbA" })
	return k
}

// newerKinds are templates beyond text, media and plain buttons, filled as a request fills them.
func newerKinds() []kind {
	apps := []carillon.App{{PackageName: "com.example.app", SignatureHash: "K8a/AINcGX7"}}
	coupon := carillon.Button{Type: content.ButtonCoupon, Example: []string{"250FF"}}
	link := carillon.Button{Type: content.ButtonURL, Text: "Buy", URL: "https://ex.org/s/{{1}}"}
	code := map[string]given{"button_url_0": "493817"}
	return slices.Concat([]kind{
		filled("code_copy", codeTemplate("code_copy", carillon.Button{OTPType: "COPY_CODE", Text: "Copy"}), code),
		filled("code_one_tap", codeTemplate("code_one_tap", carillon.Button{
			OTPType: "ONE_TAP", AutofillText: "Fill in", SupportedApps: apps,
		}), code),
		filled("code_zero_tap", codeTemplate("code_zero_tap", carillon.Button{
			OTPType: "ZERO_TAP", ZeroTapTermsAccepted: true, SupportedApps: apps,
		}), map[string]given{"button_url_0": "493817", "body_text_0": "493817"}),
		filled("coupon", of("MARKETING", template("coupon", "en", content.Named, bodyPart("Hi {{name}}, a gift."), buttonsPart(coupon))),
			map[string]given{"body_text_0": "Ana", "button_coupon_0": "SAVE-20"}),
		filled("location", template("location", "en", content.Positional, headerPart(content.FormatLocation), bodyPart("We are here.")),
			map[string]given{
				"header_location_latitude": "41.3874", "header_location_longitude": "-2.1686",
				"header_location_name": "Acme", "header_location_address": "1 High Street",
			}),
		filled("offer", of("MARKETING", template("offer", "en", content.Positional, headerPart(content.FormatImage), carillon.Component{
			Type: content.TypeOffer, LimitedTimeOffer: &carillon.Offer{Text: "Ends soon!", HasExpiration: true},
		}, bodyPart("{{1}}, 20 % off."), buttonsPart(coupon, link))), map[string]given{
			"header_image": "https://cdn.example.org/a.jpg", "offer_expiration": "2100-01-01T00:00:00Z",
			"body_text_0": "Ana", "button_coupon_0": "SAVE-20", "button_url_1": "s20",
		}),
		filled("offer_without_end", of("MARKETING", template("offer_without_end", "en", content.Positional, carillon.Component{
			Type: content.TypeOffer, LimitedTimeOffer: &carillon.Offer{Text: "Today"},
		}, bodyPart("20 % off."), buttonsPart(coupon, link))), map[string]given{"button_coupon_0": "SAVE-20", "button_url_1": "s20"}),
	}, cardKinds(), productKinds(), otherKinds())
}

func cardKinds() []kind {
	carousel := func(name string, cards ...carillon.Card) carillon.Template {
		return of("MARKETING", template(name, "en", content.Positional, bodyPart("For you, {{1}}:"),
			carillon.Component{Type: content.TypeCarousel, Cards: cards}))
	}
	return []kind{
		filled("media_carousel", carousel("media_carousel", mediaCard("Rooms, {{1}}"), mediaCard("Suites, {{1}}")), map[string]given{
			"body_text_0": "Ana", "card_0_header_image": "https://cdn.example.org/a.jpg", "card_0_body_text_0": "80",
			"card_0_button_url_0": "room", "card_0_button_payload_1": "room:more",
			"card_1_header_image": "https://cdn.example.org/b.png", "card_1_body_text_0": "120", "card_1_button_url_0": "suite",
		}),
		filled("product_carousel", carousel("product_carousel", productCard(), productCard()), map[string]given{
			"body_text_0": "Ana", "card_0_header_product": "SKU-1", "card_0_header_catalog": "900", "card_1_header_product": "SKU-2",
			"card_1_header_catalog": "900", "card_2_header_product": "SKU-3", "card_2_header_catalog": "900",
		}),
	}
}

func productKinds() []kind {
	products := carillon.Button{Type: content.ButtonProducts, Text: "View items"}
	catalog := carillon.Button{Type: content.ButtonCatalog, Text: "View catalog"}
	title := carillon.Component{Type: content.TypeHeader, Format: content.FormatText, Text: "New"}
	return []kind{
		filled("catalog", of("MARKETING", template("catalog", "en", content.Positional, bodyPart("Look."), buttonsPart(catalog))),
			map[string]given{"button_product_0": "SKU-1"}),
		filled("catalog_plain", of("MARKETING", template("catalog_plain", "en", content.Positional, bodyPart("Look."),
			buttonsPart(catalog))), nil),
		filled("products", of("MARKETING", template("products", "en", content.Positional, title, bodyPart("Look."), buttonsPart(products))),
			map[string]given{"button_product_0": "SKU-1", "button_products_0": "Rooms: SKU-1, SKU-2; Suites: SKU-3"}),
		filled("product", of("MARKETING", template("product", "en", content.Positional, headerPart(content.FormatProduct),
			bodyPart("Look."), buttonsPart(carillon.Button{Type: content.ButtonProduct, Text: "View"}))),
			map[string]given{"header_product": "SKU-1", "header_catalog": "900"}),
	}
}

func otherKinds() []kind {
	form := carillon.Button{Type: content.ButtonFlow, Text: "Book", FlowID: "7001", FlowAction: "navigate", NavigateScreen: "DATES"}
	call := carillon.Button{Type: content.ButtonCall, Text: "Call us"}
	return []kind{
		filled("flow", template("flow", "en", content.Positional, bodyPart("Book it."), buttonsPart(form)),
			map[string]given{"button_flow_0": "t-1", "button_flow_data_0": `{"room":"7"}`}),
		filled("flow_plain", template("flow_plain", "en", content.Positional, bodyPart("Book it."), buttonsPart(form)), nil),
		filled("voice_call", template("voice_call", "en", content.Positional, bodyPart("Questions?"), buttonsPart(call)),
			map[string]given{"button_call_ttl_0": "60", "button_payload_0": "booking:7"}),
		filled("call_permission", template("call_permission", "en", content.Positional, bodyPart("May we call you, {{1}}?"),
			carillon.Component{Type: content.TypeCallPermission}), map[string]given{"body_text_0": "Ana"}),
		filled("contact", template("contact", "en", content.Positional, bodyPart("Your number?"),
			buttonsPart(carillon.Button{Type: content.ButtonContact})), nil),
	}
}
