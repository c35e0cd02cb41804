package content

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"carillon"
	"carillon/internal/base/jsonbody"
)

// Limits of the channel on the parts of a template.
const (
	maxFooter       = 60
	maxButtonText   = 25
	maxButtonURL    = 2000
	maxURLButtons   = 2
	maxPhoneButtons = 1
)

// readComponents reads the payload's components. Without a list the draft keeps its components.
func (d *Draft) readComponents(v jsonbody.Value) error {
	elements, present, err := v.Array("components")
	if err != nil || !present {
		return err
	}
	d.Components = make([]carillon.Component, 0, len(elements))
	for i, e := range elements {
		field := fmt.Sprintf("components.%d", i)
		o, present, err := e.Object(field)
		if err != nil {
			return err
		}
		if !present {
			return carillon.Missing(field)
		}
		c, err := readComponent(o, field)
		if err != nil {
			return err
		}
		d.Components = append(d.Components, c)
	}
	return nil
}

// textField is a text field of an object and the variable to store it in.
type textField struct {
	key      string
	to       *string
	required bool
}

// readTexts reads the text fields of an object. An absent field leaves its variable unchanged. prefix is prepended to
// the field names in errors.
func readTexts(o *jsonbody.Object, prefix string, fields []textField) error {
	for _, f := range fields {
		text, present, err := o.String(prefix+f.key, f.key)
		switch {
		case err != nil:
			return err
		case f.required && blank(text):
			return carillon.Missing(prefix + f.key)
		case present:
			*f.to = text
		}
	}
	return nil
}

func readComponent(o *jsonbody.Object, field string) (c carillon.Component, err error) {
	err = readTexts(o, field+".", []textField{{"type", &c.Type, true}, {"format", &c.Format, false}, {"text", &c.Text, false}})
	if err != nil {
		return c, err
	}
	c.Type, c.Format = strings.ToUpper(c.Type), strings.ToUpper(c.Format)
	if err := readKinds(&c, o, field); err != nil {
		return c, err
	}
	if c.Example, err = readExample(o.Find("example"), field+".example"); err != nil {
		return c, err
	}
	if c.Type == TypeHeader && c.Format == "" {
		c.Format = FormatText
	}
	buttons, _, err := o.Array(field+".buttons", "buttons")
	if err != nil {
		return c, err
	}
	for i, e := range buttons {
		b, err := readButton(e, fmt.Sprintf("%s.buttons.%d", field, i))
		if err != nil {
			return c, err
		}
		c.Buttons = append(c.Buttons, b)
	}
	return c, nil
}

func readButton(v jsonbody.Value, field string) (b carillon.Button, err error) {
	o, present, err := v.Object(field)
	if err != nil {
		return b, err
	}
	if !present {
		return b, carillon.Missing(field)
	}
	err = readTexts(o, field+".", []textField{
		{"type", &b.Type, true}, {"text", &b.Text, false}, {"url", &b.URL, false}, {"phone_number", &b.PhoneNumber, false},
		{"otp_type", &b.OTPType, false}, {"autofill_text", &b.AutofillText, false}, {"flow_id", &b.FlowID, false},
		{"flow_name", &b.FlowName, false}, {"flow_json", &b.FlowJSON, false}, {"flow_action", &b.FlowAction, false},
		{"navigate_screen", &b.NavigateScreen, false}, {"icon", &b.Icon, false},
	})
	if err != nil {
		return b, err
	}
	b.Type = strings.ToUpper(b.Type)
	if blank(b.Text) && !labeled(b.Type) {
		return b, carillon.Missing(field + ".text")
	}
	if b.ZeroTapTermsAccepted, _, err = o.Bool(field+".zero_tap_terms_accepted", "zero_tap_terms_accepted"); err != nil {
		return b, err
	}
	apps := carillon.App{PackageName: "com.example.app", SignatureHash: "K8a/AINcGX7"}
	err = readAs(o.Find("supported_apps"), &b.SupportedApps, field+".supported_apps", "list of apps", []carillon.App{apps})
	if err != nil {
		return b, err
	}
	if v := o.Find("example"); v.IsString() && b.Type == ButtonCoupon {
		return b, readAs(v, &b.Example, field+".example", "text", "250FF")
	}
	b.Example, _, err = o.Find("example").Strings(field + ".example")
	return b, err
}

// checkPart checks the limits of a component that compiling a template does not check.
func checkPart(c *carillon.Component, field string) error {
	switch c.Type {
	case TypeBody:
		return carillon.InvalidValue(field+".type", "The body is the payload's content", c.Type)
	case TypeHeader:
		return checkHeader(c, field)
	case TypeFooter:
		if utf8.RuneCountInString(c.Text) > maxFooter {
			return carillon.Invalid(field+".text", fmt.Sprintf("A footer has at most %d characters", maxFooter))
		}
	case TypeButtons:
		return checkButtons(c.Buttons, field+".buttons")
	case TypeOffer, TypeCarousel, TypeCallPermission:
	default:
		return carillon.InvalidValue(field+".type",
			"Must be HEADER, BODY, FOOTER, BUTTONS, LIMITED_TIME_OFFER, CAROUSEL or CALL_PERMISSION_REQUEST", c.Type)
	}
	return nil
}

func checkHeader(c *carillon.Component, field string) error {
	formats := []string{FormatText, FormatImage, FormatVideo, FormatDocument, FormatLocation, FormatProduct}
	if n := utf8.RuneCountInString(c.Text); n > maxHeader {
		return overLimit("The header's text is too long", maxHeader, n)
	}
	if !slices.Contains(formats, c.Format) {
		return carillon.InvalidValue(field+".format", "Must be TEXT, IMAGE, VIDEO, DOCUMENT, LOCATION or PRODUCT", c.Format)
	}
	if c.Format != FormatText && c.Text != "" {
		return carillon.Invalid(field+".text", "A header that is no text has no text")
	}
	return nil
}

func checkButtons(buttons []carillon.Button, field string) error {
	count := map[string]int{}
	for i := range buttons {
		b := &buttons[i]
		if err := checkButton(b, fmt.Sprintf("%s.%d", field, i)); err != nil {
			return err
		}
		if b.Type == ButtonQuickReply && count[b.Type] > 0 && buttons[i-1].Type != b.Type {
			return carillon.Invalid(field, "Quick replies stand together")
		}
		count[b.Type]++
	}
	switch {
	case count[ButtonURL] > maxURLButtons:
		return carillon.Invalid(field, fmt.Sprintf("A template has at most %d URL buttons", maxURLButtons))
	case count[ButtonCoupon] > 1:
		return carillon.Invalid(field, "A template has at most 1 coupon button")
	case len(buttons) > 1 && count[ButtonCatalog]+count[ButtonProducts]+count[ButtonProduct]+count[ButtonCode] > 0:
		return carillon.Invalid(field, "A button of type CATALOG, MPM, SPM or OTP is the only button")
	case count[ButtonPhone] > maxPhoneButtons:
		return carillon.Invalid(field, fmt.Sprintf("A template has at most %d phone button", maxPhoneButtons))
	}
	return nil
}

func checkButton(b *carillon.Button, field string) error {
	if utf8.RuneCountInString(b.Text) > maxButtonText {
		return carillon.Invalid(field+".text", fmt.Sprintf("A button's text has at most %d characters", maxButtonText))
	}
	switch b.Type {
	case ButtonQuickReply, ButtonCatalog, ButtonProducts, ButtonProduct, ButtonCall:
		return nil
	case ButtonCode:
		return checkCodeButton(b, field)
	case ButtonCoupon, ButtonContact:
		return checkLabeled(b, field)
	case ButtonFlow:
		return checkFlow(b, field)
	case ButtonURL:
		return checkButtonURL(b.URL, field+".url")
	case ButtonPhone:
		if !carillon.ValidNumber(strings.TrimPrefix(b.PhoneNumber, "+")) {
			return carillon.BadNumber(field+".phone_number", b.PhoneNumber)
		}
		return nil
	}
	types := append([]string{ButtonURL, ButtonCode}, plainButtons...)
	return carillon.InvalidValue(field+".type", "Must be one of "+strings.Join(types, ", "), b.Type)
}

func checkButtonURL(address, field string) error {
	if blank(address) {
		return carillon.Missing(field)
	}
	static, _, _ := strings.Cut(address, opening)
	u, err := url.Parse(static)
	if err != nil || u.Host == "" || !slices.Contains([]string{"http", "https"}, u.Scheme) {
		return carillon.BadFormat(field, address, "absolute URL, with at most one variable at its end", "https://example.com/p/{{1}}")
	}
	if utf8.RuneCountInString(address) > maxButtonURL {
		return carillon.Invalid(field, fmt.Sprintf("A button's URL has at most %d characters", maxButtonURL))
	}
	return nil
}
