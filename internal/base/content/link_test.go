package content

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/provider"
)

const testPrefix = "https://ops.test/l/"

// counting returns a template with a counted link, another one, and a carousel with a counted link on each card.
func counting(t *testing.T) *carillon.Template {
	t.Helper()
	counted := carillon.Button{Type: ButtonURL, Text: "Track", URL: testPrefix + "{{1}}"}
	x := carousel(FormatImage, counted)
	x.Components = append(x.Components, carillon.Component{Type: TypeButtons, Buttons: []carillon.Button{
		counted, {Type: ButtonURL, Text: "See", URL: "https://acme.test/{{1}}"},
	}})
	compiled(t, x)
	CountClicks(x.Shape, testPrefix)
	return x
}

func TestOnlyAURLOfTheInstallationIsCounted(t *testing.T) {
	for address, want := range map[string]bool{
		testPrefix + "{{1}}":             true,
		testPrefix + "{{ token }}":       true,
		testPrefix + "a{{1}}":            false,
		testPrefix + "a":                 false,
		"https://ops.test/l{{1}}":        false,
		"http://ops.test/l/{{1}}":        false,
		"https://ops.test.evil/l/{{1}}":  false,
		"https://acme.test/l/{{1}}":      false,
		"https://ops.test/panel/l/{{1}}": false,
	} {
		x := compiled(t, &carillon.Template{Category: "UTILITY", Components: []carillon.Component{
			{Type: TypeBody, Text: "Look"}, {Type: TypeButtons, Buttons: []carillon.Button{{Type: ButtonURL, Text: "x", URL: address}}},
		}})
		CountClicks(x.Shape, testPrefix)
		if got := Counted(x.Shape); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
	if !Counted(counting(t).Shape) || Counted(nil) {
		t.Error("a template, or none")
	}
	x := code(t) // the channel lists its button as a URL with a variable
	x.Shape.Buttons[0].Prefix = testPrefix
	if CountClicks(x.Shape, testPrefix); Counted(x.Shape) {
		t.Error("a one-time code")
	}
}

func pushOf(destination string) map[string]pushed {
	return map[string]pushed{
		"button_url_0": pushed(destination), "button_url_1": "s", "card_0_header_image": "https://acme.test/a.jpg",
		"card_1_header_image": "https://acme.test/a.jpg", "card_0_button_url_0": "https://acme.test/0",
		"card_1_button_url_0": "https://acme.test/1",
	}
}

func TestDestinationsAreWholeHTTPSAddresses(t *testing.T) {
	x := counting(t)
	long := "https://acme.test/" + strings.Repeat("é", 1982)
	for address, want := range map[string]string{
		"https://acme.test":                       "",
		"https://acme.test/a?b=c&d=%20#e":         "",
		"https://пример.test/путь":                "",
		"HTTPS://ACME.TEST:8443/":                 "",
		"https://[2001:db8::1]/":                  "",
		long:                                      "",
		long + "é":                                "The address has at most 2000 characters, this one 2001",
		"http://acme.test/":                       DestinationReason,
		"acme.test":                               DestinationReason,
		"//acme.test/":                            DestinationReason,
		"/orders/7":                               DestinationReason,
		"https:acme.test":                         DestinationReason,
		"https://":                                DestinationReason,
		"https:///path":                           DestinationReason,
		"https://:443/":                           DestinationReason,
		"https://acme.test:99999/":                DestinationReason,
		"https://acme.test:x/":                    DestinationReason,
		"javascript:alert(1)":                     DestinationReason,
		"data:text/html,x":                        DestinationReason,
		"ftp://acme.test/":                        DestinationReason,
		"https://acme.test/\n":                    DestinationReason,
		" https://acme.test/":                     DestinationReason,
		"https://acme.test@evil.test/":            "The address must have no user name and no password",
		"https://a:b@acme.test/":                  "The address must have no user name and no password",
		"https://acme.test/a b":                   "The address must have no spaces and no backslashes",
		"https://acme.test/a\u00a0b":              "The address must have no spaces and no backslashes",
		"https://acme.test/\\evil.test":           "The address must have no spaces and no backslashes",
		"https://acme.test/\u0085":                "The address must have no spaces and no backslashes",
		testPrefix + "AAAAAAAAAAAAAAAAAAAAAA?x=1": "",
	} {
		for name, push := range map[string]map[string]pushed{"static": pushOf(address), "placeholder": pushOf("{{link}}")} {
			src, err := sourceOf(push, person{"link": address})
			if err != nil {
				t.Fatal(address, err)
			}
			err = Check(x, src)
			if want == "" {
				if err != nil {
					t.Errorf("%s %q: %v", name, address, err)
				}
				continue
			}
			if err == nil {
				t.Errorf("%s %q is accepted", name, address)
				continue
			}
			e := asError(t, err)
			if field := e.Details.Find("field"); e.Code != carillon.ValidationFailed || field != "components_push.button_url_0" ||
				e.Details.Find("reason") != want {
				t.Errorf("%s %q: %v %v", name, address, field, e.Details)
			}
			if _, err := Fill(x, src, 0); err == nil { // also of a template that became a counted one
				t.Errorf("%s %q is filled in", name, address)
			}
			if got, ok := Destination(src, 0, -1, 0); ok {
				t.Errorf("%s %q leads to %q", name, address, got)
			}
		}
	}
}

func TestAMissingDestinationIsMissing(t *testing.T) {
	push := pushOf("{{link}}")
	src, err := sourceOf(push, person{})
	if err != nil {
		t.Fatal(err)
	}
	e := asError(t, Check(counting(t), src))
	if e.Code != carillon.VariableMismatch || cmp.Diff([]string{"link"}, e.Details.Find("missing")) != "" {
		t.Errorf("%v", e.Details)
	}
}

// The recipient whose value is wrong is named in a list.
func TestTheRecipientOfAWrongDestinationIsNamed(t *testing.T) {
	src, err := sourceOf(pushOf("{{link}}"), person{"link": "http://acme.test"})
	if err != nil {
		t.Fatal(err)
	}
	src.Bulk = true
	if got := asError(t, Check(counting(t), src)).Details.Find("reason"); got != DestinationReason+", for contacts.0" {
		t.Error(got)
	}
}

func TestACountedLinkIsFilledByItsTokenAlone(t *testing.T) {
	x := counting(t)
	src, err := sourceOf(pushOf("https://acme.test/{{x}}"), person{"x": "7"})
	if err == nil {
		t.Fatal("a mixture is accepted")
	}
	if src, err = sourceOf(pushOf("{{x}}"), person{"x": "https://acme.test/7"}); err != nil {
		t.Fatal(err)
	}
	c, err := Fill(x, src, 0)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := Render(x, &c)
	if err != nil || shown.Buttons[0].URL != "https://acme.test/7" || shown.Buttons[1].URL != "https://acme.test/s" {
		t.Error(shown, err)
	}
	type place struct{ card, button int }
	var asked []place
	if !SetTokens(&c, func(card, button int) string {
		asked = append(asked, place{card, button})
		return "token"
	}) || cmp.Diff([]place{{-1, 0}, {0, 0}, {1, 0}}, asked, cmp.AllowUnexported(place{})) != "" {
		t.Errorf("%v", asked)
	}
	want := []provider.ButtonValue{
		{Index: 0, Kind: "url", Value: "token", Destination: "https://acme.test/7"}, {Index: 1, Kind: "url", Value: "s"},
	}
	if diff := cmp.Diff(want, c.Buttons); diff != "" {
		t.Error(diff)
	}
	const address = testPrefix + "token"
	if shown, err = Render(x, &c); err != nil || shown.Buttons[0].URL != address || shown.Cards[1].Buttons[0].URL != address {
		t.Error(shown, err)
	}
	values := Values(x, &c)
	if values["button_url_0"] != "https://acme.test/7" || values["card_1_button_url_0"] != "https://acme.test/1" {
		t.Error(values)
	}
	for p, want := range map[place]string{
		{-1, 0}: "https://acme.test/7", {0, 0}: "https://acme.test/0", {1, 0}: "https://acme.test/1", {-1, 1}: "", {-1, 2}: "", {2, 0}: "",
	} {
		if got, ok := Destination(src, 0, p.card, p.button); ok != (want != "") || ok && got != want {
			t.Errorf("%v: %q %v", p, got, ok)
		}
	}
	plain := provider.Content{Buttons: []provider.ButtonValue{{Value: "s"}}}
	if SetTokens(&plain, func(int, int) string { return "x" }) || plain.Buttons[0].Value != "s" {
		t.Error(plain)
	}
}
