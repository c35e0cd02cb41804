package content

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"carillon"
	"carillon/internal/base/jsonbody"
)

// Limits of the channel on the kinds of templates.
const (
	maxOfferText  = 16
	maxOfferBody  = 600
	maxShortBody  = 160 // of a card, and below a product
	maxCardButton = 2
	maxExpiration = 90 // minutes
	maxApps       = 5
	maxPackage    = 224
	hashLength    = 11
	minTTL        = 30 // seconds
	maxCodeTTL    = 900
	maxUtilityTTL = 43200
)

// readAs decodes a value into a type of the channel's form. An absent value leaves it unchanged.
func readAs(v jsonbody.Value, into any, field, expected string, example any) error {
	if !v.Present() {
		return nil
	}
	if json.Unmarshal(v.Raw(), into) != nil {
		return v.Mismatch(field, expected, example)
	}
	return nil
}

// readKinds reads the members of a component that only some kinds of templates have.
func readKinds(c *carillon.Component, o *jsonbody.Object, field string) (err error) {
	const recommendation, minutes, offer = "add_security_recommendation", "code_expiration_minutes", "limited_time_offer"
	if c.AddSecurityRecommendation, _, err = o.Bool(field+"."+recommendation, recommendation); err != nil {
		return err
	}
	if err := readAs(o.Find(minutes), &c.CodeExpirationMinutes, field+"."+minutes, "number of minutes", 10); err != nil {
		return err
	}
	example := carillon.Offer{Text: "Ends soon", HasExpiration: true}
	if err := readAs(o.Find(offer), &c.LimitedTimeOffer, field+"."+offer, "object with text and has_expiration", example); err != nil {
		return err
	}
	cards, _, err := o.Array(field+".cards", "cards")
	if err != nil {
		return err
	}
	for i, e := range cards {
		card, err := readCard(e, fmt.Sprintf("%s.cards.%d", field, i))
		if err != nil {
			return err
		}
		c.Cards = append(c.Cards, card)
	}
	return nil
}

func readCard(v jsonbody.Value, field string) (card carillon.Card, err error) {
	o, present, err := v.Object(field)
	if err != nil {
		return card, err
	}
	if !present {
		return card, carillon.Missing(field)
	}
	parts, _, err := o.Array(field+".components", "components")
	if err != nil {
		return card, err
	}
	for i, e := range parts {
		at := fmt.Sprintf("%s.components.%d", field, i)
		part, present, err := e.Object(at)
		if err != nil {
			return card, err
		}
		if !present {
			return card, carillon.Missing(at)
		}
		c, err := readComponent(part, at)
		if err != nil {
			return card, err
		}
		card.Components = append(card.Components, c)
	}
	return card, nil
}

// readSendTTL reads how long the channel tries to deliver a message.
func (d *Draft) readSendTTL(v jsonbody.Value) error {
	return readAs(v, &d.SendTTL, "message_send_ttl_seconds", "number of seconds, or -1 for the longest time", 600)
}

// labeled reports whether the channel gives a button of the type its label.
func labeled(kind string) bool {
	return kind == ButtonCode || kind == ButtonCoupon || kind == ButtonContact
}

// part returns a component of the draft, or nil.
func (d *Draft) part(kind string) *carillon.Component {
	i := slices.IndexFunc(d.Components, func(c carillon.Component) bool { return c.Type == kind })
	if i < 0 {
		return nil
	}
	return &d.Components[i]
}

// code reports whether the draft is a one-time code, whose text the channel writes.
func (d *Draft) code() bool {
	return isCode(&carillon.Template{Category: d.Category, Components: d.Components}) && (d.Content == "" || d.has(ButtonCode))
}

// has reports whether the draft has a button of a type.
func (d *Draft) has(kind string) bool {
	buttons := d.part(TypeButtons)
	return buttons != nil && slices.ContainsFunc(buttons.Buttons, func(b carillon.Button) bool { return b.Type == kind })
}

// field returns the name of a component in an error.
func (d *Draft) field(c *carillon.Component) string {
	i := slices.IndexFunc(d.Components, func(o carillon.Component) bool { return o.Type == c.Type })
	return fmt.Sprintf("components.%d", i)
}

// checkParts checks the components one by one and then what their kinds require of each other.
func (d *Draft) checkParts() error {
	code := d.code()
	for i := range d.Components {
		c, field := &d.Components[i], fmt.Sprintf("components.%d", i)
		if code && c.Type == TypeBody {
			continue
		}
		if err := checkPart(c, field); err != nil {
			return err
		}
		if !code && c.AddSecurityRecommendation {
			return carillon.Invalid(field+".add_security_recommendation", "Only a one-time code has this text")
		}
		if !code && c.CodeExpirationMinutes != 0 {
			return carillon.Invalid(field+".code_expiration_minutes", "Only a one-time code has this text")
		}
	}
	for _, check := range []func() error{d.checkSendTTL, d.checkCode, d.checkOffer, d.checkCarousel, d.checkProducts, d.checkCategory} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (d *Draft) checkSendTTL() error {
	const field = "message_send_ttl_seconds"
	most := map[string]int{Authentication: maxCodeTTL, "UTILITY": maxUtilityTTL}[strings.ToUpper(d.Category)]
	switch {
	case d.SendTTL == 0:
	case most == 0:
		return carillon.Invalid(field, "Only templates of category UTILITY and AUTHENTICATION have a time to live")
	case d.SendTTL != -1 && (d.SendTTL < minTTL || d.SendTTL > most):
		return carillon.Invalid(field, fmt.Sprintf("Must be %d to %d seconds, or -1 for 30 days", minTTL, most))
	}
	return nil
}

// checkCode checks the parts of a one-time code.
func (d *Draft) checkCode() error {
	if !d.code() {
		if d.has(ButtonCode) {
			return carillon.Invalid("category", "A button of type OTP belongs to a template of category AUTHENTICATION, which has only a "+
				"BODY, a FOOTER and this button")
		}
		return nil
	}
	if body := d.part(TypeBody); body != nil && body.Text != "" {
		return carillon.Invalid(d.field(body)+".text", "The channel writes the text of a one-time code; leave the text out")
	}
	if d.Variables != nil || d.Samples != nil {
		return carillon.Invalid("variables", "The channel writes the text of a one-time code; leave variables and samples out")
	}
	footer := d.part(TypeFooter)
	switch {
	case footer == nil:
	case footer.Text != "":
		return carillon.Invalid(d.field(footer)+".text", "The footer of a one-time code has code_expiration_minutes and no text")
	case footer.CodeExpirationMinutes < 1 || footer.CodeExpirationMinutes > maxExpiration:
		return carillon.Invalid(d.field(footer)+".code_expiration_minutes", fmt.Sprintf("Must be 1 to %d minutes", maxExpiration))
	}
	return nil
}

// otpTypes are the ways in which a phone takes over a one-time code.
var otpTypes = []string{"COPY_CODE", "ONE_TAP", "ZERO_TAP"} //nolint:gochecknoglobals // read-only

func checkCodeButton(b *carillon.Button, field string) error {
	b.OTPType = strings.ToUpper(b.OTPType)
	switch {
	case !slices.Contains(otpTypes, b.OTPType):
		return carillon.InvalidValue(field+".otp_type", "Must be one of "+strings.Join(otpTypes, ", "), b.OTPType)
	case b.OTPType == "COPY_CODE" && len(b.SupportedApps) > 0:
		return carillon.Invalid(field+".supported_apps", "Only the types ONE_TAP and ZERO_TAP have apps")
	case b.OTPType != "COPY_CODE" && (len(b.SupportedApps) < 1 || len(b.SupportedApps) > maxApps):
		return carillon.Invalid(field+".supported_apps", fmt.Sprintf("Must have 1 to %d apps", maxApps))
	case b.OTPType == "ZERO_TAP" && !b.ZeroTapTermsAccepted:
		return carillon.Invalid(field+".zero_tap_terms_accepted", "Must be true: the channel's terms for ZERO_TAP have to be accepted")
	case b.OTPType != "ONE_TAP" && b.AutofillText != "":
		return carillon.Invalid(field+".autofill_text", "Only the type ONE_TAP has this label")
	case utf8.RuneCountInString(b.AutofillText) > maxButtonText:
		return carillon.Invalid(field+".autofill_text", fmt.Sprintf("A button's text has at most %d characters", maxButtonText))
	}
	for i, app := range b.SupportedApps {
		at := fmt.Sprintf("%s.supported_apps.%d", field, i)
		if blank(app.PackageName) || len(app.PackageName) > maxPackage {
			return carillon.InvalidValue(at+".package_name", fmt.Sprintf("Must have 1 to %d characters", maxPackage), app.PackageName)
		}
		if len(app.SignatureHash) != hashLength {
			return carillon.InvalidValue(at+".signature_hash", fmt.Sprintf("Must have %d characters", hashLength), app.SignatureHash)
		}
	}
	return nil
}

// checkLabeled checks a button whose label the channel writes.
func checkLabeled(b *carillon.Button, field string) error {
	switch {
	case b.Text != "":
		return carillon.Invalid(field+".text", "The channel writes the label of a button of type "+b.Type)
	case b.Type == ButtonCoupon && (len(b.Example) != 1 || blank(b.Example[0])):
		return carillon.Missing(field + ".example")
	case b.Type == ButtonCoupon && utf8.RuneCountInString(b.Example[0]) > maxCoupon:
		return carillon.Invalid(field+".example", fmt.Sprintf("A coupon code has at most %d characters", maxCoupon))
	}
	return nil
}

func checkFlow(b *carillon.Button, field string) error {
	given := 0
	for _, s := range []string{b.FlowID, b.FlowName, b.FlowJSON} {
		if s != "" {
			given++
		}
	}
	if given != 1 {
		return carillon.Invalid(field+".flow_id", "A button of type FLOW has one of flow_id, flow_name and flow_json")
	}
	return nil
}

// checkOffer checks the parts around a limited-time offer.
func (d *Draft) checkOffer() error {
	c := d.part(TypeOffer)
	if c == nil {
		return nil
	}
	field, header, buttons := d.field(c)+".limited_time_offer", d.part(TypeHeader), d.part(TypeButtons)
	switch o := c.LimitedTimeOffer; {
	case o == nil:
		return carillon.Missing(field)
	case blank(o.Text):
		return carillon.Missing(field + ".text")
	case utf8.RuneCountInString(o.Text) > maxOfferText:
		return carillon.Invalid(field+".text", fmt.Sprintf("The text of an offer has at most %d characters", maxOfferText))
	case utf8.RuneCountInString(d.Content) > maxOfferBody:
		return overLimit("The content of an offer is too long", maxOfferBody, utf8.RuneCountInString(d.Content))
	case d.part(TypeFooter) != nil:
		return carillon.Invalid(d.field(d.part(TypeFooter)), "A limited-time offer has no footer")
	case header != nil && header.Format != FormatImage && header.Format != FormatVideo:
		return carillon.InvalidValue(d.field(header)+".format", "The header of an offer is IMAGE or VIDEO", header.Format)
	case buttons == nil || len(buttons.Buttons) != 2 || buttons.Buttons[0].Type != ButtonCoupon || buttons.Buttons[1].Type != ButtonURL:
		return carillon.Invalid("components", "A limited-time offer has the buttons COPY_CODE and URL, in this order")
	}
	return nil
}

// checkCarousel checks the cards of a carousel, which are alike.
func (d *Draft) checkCarousel() error {
	c := d.part(TypeCarousel)
	if c == nil {
		return nil
	}
	field := d.field(c) + ".cards"
	if len(c.Cards) < minCards || len(c.Cards) > maxCards {
		return carillon.Invalid(field, fmt.Sprintf("A carousel has %d to %d cards", minCards, maxCards))
	}
	for _, kind := range []string{TypeHeader, TypeFooter, TypeButtons} {
		if other := d.part(kind); other != nil {
			return carillon.Invalid(d.field(other), "Beside its cards a carousel has only content")
		}
	}
	for i := range c.Cards {
		at := fmt.Sprintf("%s.%d", field, i)
		if err := checkCard(&c.Cards[i], at); err != nil {
			return err
		}
		if !slices.Equal(structure(&c.Cards[i]), structure(&c.Cards[0])) {
			return carillon.Invalid(at, "All cards of a carousel have the same parts and types of buttons as the first")
		}
		if cardPart(&c.Cards[i], TypeHeader).Format == FormatProduct && len(c.Cards) != minCards {
			return carillon.Invalid(field, fmt.Sprintf("A carousel of products is created with %d cards; messages may have more", minCards))
		}
	}
	return nil
}

func cardPart(c *carillon.Card, kind string) *carillon.Component {
	i := slices.IndexFunc(c.Components, func(o carillon.Component) bool { return o.Type == kind })
	if i < 0 {
		return nil
	}
	return &c.Components[i]
}

// structure lists the parts of a card and the types of its buttons.
func structure(card *carillon.Card) []string {
	var all []string
	for _, c := range card.Components {
		all = append(all, c.Type+" "+c.Format)
		for _, b := range c.Buttons {
			all = append(all, b.Type)
		}
	}
	return all
}

func checkCard(card *carillon.Card, field string) error {
	for i := range card.Components {
		c, at := &card.Components[i], fmt.Sprintf("%s.components.%d", field, i)
		switch c.Type {
		case TypeBody:
			if utf8.RuneCountInString(c.Text) > maxShortBody {
				return carillon.Invalid(at+".text", fmt.Sprintf("The text of a card has at most %d characters", maxShortBody))
			}
		case TypeHeader, TypeButtons:
			if err := checkPart(c, at); err != nil {
				return err
			}
		default:
			return carillon.InvalidValue(at+".type", "A card has HEADER, BODY and BUTTONS", c.Type)
		}
	}
	header, buttons := cardPart(card, TypeHeader), cardPart(card, TypeButtons)
	if header == nil || !slices.Contains([]string{FormatImage, FormatVideo, FormatProduct}, header.Format) {
		return carillon.Invalid(field+".components", "A card has a HEADER of format IMAGE, VIDEO or PRODUCT")
	}
	allowed, most := []string{ButtonQuickReply, ButtonURL, ButtonPhone}, maxCardButton
	if header.Format == FormatProduct {
		allowed, most = []string{ButtonProduct, ButtonURL}, 1
	}
	if buttons == nil || len(buttons.Buttons) < 1 || len(buttons.Buttons) > most {
		return carillon.Invalid(field+".components", fmt.Sprintf("A card has 1 to %d buttons", most))
	}
	for _, b := range buttons.Buttons {
		if !slices.Contains(allowed, b.Type) {
			return carillon.InvalidValue(field+".components", "The buttons of this card are of type "+strings.Join(allowed, ", "), b.Type)
		}
	}
	return nil
}

// checkProducts checks the header that buttons of products need.
func (d *Draft) checkProducts() error {
	header := d.part(TypeHeader)
	format := ""
	if header != nil {
		format = header.Format
	}
	switch {
	case d.has(ButtonProducts) && format != FormatText:
		return carillon.Invalid("components", "A template with a button of type MPM has a HEADER of format TEXT")
	case d.has(ButtonProduct) != (format == FormatProduct):
		return carillon.Invalid("components", "A HEADER of format PRODUCT and a button of type SPM belong together")
	case format == FormatProduct && utf8.RuneCountInString(d.Content) > maxShortBody:
		return overLimit("The content below a product is too long", maxShortBody, utf8.RuneCountInString(d.Content))
	}
	return nil
}

// checkCategory checks the parts that only some categories have.
func (d *Draft) checkCategory() error {
	category := strings.ToUpper(d.Category)
	for i := range d.Components {
		c, field := &d.Components[i], fmt.Sprintf("components.%d", i)
		switch {
		case category != "MARKETING" && (c.Type == TypeOffer || c.Type == TypeCarousel):
			return carillon.Invalid(field+".type", "Only a template of category MARKETING has a "+c.Type)
		case category == Authentication && (c.Type == TypeCallPermission || c.Format == FormatLocation || c.Format == FormatProduct):
			return carillon.Invalid(field+".type", "A template of category AUTHENTICATION has no such part")
		}
		for k, b := range c.Buttons {
			plain := slices.Contains([]string{ButtonURL, ButtonQuickReply, ButtonPhone, ButtonCode}, b.Type)
			if category == Authentication && !plain {
				return carillon.InvalidValue(fmt.Sprintf("%s.buttons.%d.type", field, k),
					"A template of category AUTHENTICATION has no such button", b.Type)
			}
		}
	}
	return nil
}

// CodeButton converts the button of a one-time code from the form in which the channel lists it, a URL that contains the
// type, to the form that creates it. Other buttons are returned unchanged.
func CodeButton(b carillon.Button) carillon.Button {
	for _, kind := range otpTypes {
		if strings.EqualFold(b.Type, ButtonURL) && strings.Contains(b.URL, "otp_type="+kind) {
			b.Type, b.OTPType, b.URL, b.Example = ButtonCode, kind, "", nil
		}
	}
	return b
}
