package content

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"carillon"
)

// The limits of a template.
const (
	maxContent   = 1024 // code points of the body, before and after rendering
	maxHeader    = 60   // code points of a header's text and of its value
	maxVariables = 20
	maxButtons   = 10
)

// The types of components, headers and buttons.
const (
	TypeHeader  = "HEADER"
	TypeBody    = "BODY"
	TypeFooter  = "FOOTER"
	TypeButtons = "BUTTONS"

	FormatText     = "TEXT"
	FormatImage    = "IMAGE"
	FormatVideo    = "VIDEO"
	FormatDocument = "DOCUMENT"
	FormatLocation = "LOCATION"
	FormatProduct  = "PRODUCT"

	ButtonURL        = "URL"
	ButtonQuickReply = "QUICK_REPLY"
	ButtonPhone      = "PHONE_NUMBER"
	ButtonCode       = "OTP"       // copies or fills in a one-time code
	ButtonCoupon     = "COPY_CODE" // copies a coupon code
	ButtonCatalog    = "CATALOG"
	ButtonProducts   = "MPM" // shows several products
	ButtonProduct    = "SPM" // shows the header's product
	ButtonFlow       = "FLOW"
	ButtonCall       = "VOICE_CALL"
	ButtonContact    = "REQUEST_CONTACT_INFO"

	TypeOffer          = "LIMITED_TIME_OFFER"
	TypeCarousel       = "CAROUSEL"
	TypeCallPermission = "CALL_PERMISSION_REQUEST"
)

// Authentication is the category of one-time codes.
const Authentication = "AUTHENTICATION"

// Compile sets t.Shape from t.Components and t.ParameterFormat, and infers the format if it is empty. A template that
// exceeds the limits is a 400 whose field is `components.<n>…`.
func Compile(t *carillon.Template) error {
	c := *t
	if c.ParameterFormat == "" {
		c.ParameterFormat = inferFormat(c.Components)
	}
	shape, err := analyze(&c)
	if err != nil {
		return err
	}
	if n := variables(shape); n > maxVariables {
		return carillon.Invalid("components", fmt.Sprintf("A template has at most %d variables, this one %d", maxVariables, n))
	}
	t.ParameterFormat, t.Shape = c.ParameterFormat, shape
	return nil
}

// ShapeOf returns the compiled form of a template. It does not change the template.
func ShapeOf(t *carillon.Template) (*carillon.Shape, error) {
	if t.Shape != nil {
		return t.Shape, nil
	}
	c := *t
	if err := Compile(&c); err != nil {
		return nil, err
	}
	return c.Shape, nil
}

// inferFormat returns NAMED if any marker of the header or body is not a number.
func inferFormat(components []carillon.Component) string {
	for _, c := range components {
		if c.Type != TypeHeader && c.Type != TypeBody {
			continue
		}
		m, reason := parseMarked(c.Text, "")
		if reason != "" {
			return Named // the error for a malformed name is more specific
		}
		for _, name := range m.markers {
			if !isPosition(name) {
				return Named
			}
		}
	}
	return Positional
}

func analyze(t *carillon.Template) (*carillon.Shape, error) {
	if t.ParameterFormat != Positional && t.ParameterFormat != Named {
		return nil, carillon.InvalidValue("parameter_format", "Must be POSITIONAL or NAMED", t.ParameterFormat)
	}
	s := &carillon.Shape{Code: isCode(t)}
	seen := make(map[string]bool, len(t.Components))
	for i := range t.Components {
		c := &t.Components[i]
		field, kind := fmt.Sprintf("components.%d", i), strings.ToUpper(c.Type)
		if seen[kind] {
			return nil, carillon.Invalid(field+".type", "A template has one component of each type")
		}
		seen[kind] = true
		if err := addComponent(s, c, field, t.ParameterFormat); err != nil {
			return nil, err
		}
	}
	if !seen[TypeBody] && len(s.Unknown) == 0 {
		return nil, carillon.Invalid("components", "A template needs a BODY")
	}
	return s, nil
}

// isCode reports whether a template is a one-time code: the channel writes its text, and its button copies the code. The
// channel lists such a button as a URL.
func isCode(t *carillon.Template) bool {
	codes := 0
	for i := range t.Components {
		switch c := &t.Components[i]; strings.ToUpper(c.Type) {
		case TypeBody:
			if strings.Count(c.Text, opening) > 1 {
				return false
			}
		case TypeButtons:
			for _, b := range c.Buttons {
				if isCodeButton(&b) {
					codes++
				}
			}
		case TypeFooter:
		default:
			return false
		}
	}
	return strings.EqualFold(t.Category, Authentication) && codes == 1
}

func isCodeButton(b *carillon.Button) bool {
	return strings.EqualFold(b.Type, ButtonCode) || strings.EqualFold(b.Type, ButtonURL) && strings.Contains(b.URL, opening)
}

func addComponent(s *carillon.Shape, c *carillon.Component, field, format string) error {
	switch strings.ToUpper(c.Type) {
	case TypeHeader:
		return addHeader(s, c, field, format)
	case TypeBody:
		return addBody(s, c, field, format)
	case TypeFooter:
		return checkFooter(c, field)
	case TypeButtons:
		return addButtons(s, c, field)
	case TypeCarousel:
		return addCards(s, c, field, format)
	case TypeCallPermission:
		return nil
	case TypeOffer:
		if c.LimitedTimeOffer != nil {
			s.OfferEnds = c.LimitedTimeOffer.HasExpiration
			return nil
		}
	}
	s.Unknown = append(s.Unknown, "component "+carillon.Shorten(c.Type))
	return nil
}

// addCards adds the cards of a carousel, each with its own form.
func addCards(s *carillon.Shape, c *carillon.Component, field, format string) error {
	if len(c.Cards) == 0 {
		s.Unknown = append(s.Unknown, "component "+carillon.Shorten(c.Type))
	}
	for i := range c.Cards {
		card := carillon.Shape{}
		for k := range c.Cards[i].Components {
			part, at := &c.Cards[i].Components[k], fmt.Sprintf("%s.cards.%d.components.%d", field, i, k)
			if kind := strings.ToUpper(part.Type); kind != TypeHeader && kind != TypeBody && kind != TypeButtons {
				card.Unknown = append(card.Unknown, "component "+carillon.Shorten(part.Type))
				continue
			}
			if err := addComponent(&card, part, at, format); err != nil {
				return err
			}
		}
		s.Unknown = appendDistinct(s.Unknown, card.Unknown)
		s.Cards = append(s.Cards, card)
	}
	return nil
}

func addHeader(s *carillon.Shape, c *carillon.Component, field, format string) error {
	s.HeaderFormat = strings.ToUpper(c.Format)
	switch s.HeaderFormat {
	case FormatImage, FormatVideo, FormatDocument, FormatLocation, FormatProduct:
		return nil
	case FormatText, "":
		s.HeaderFormat = FormatText
	default:
		s.Unknown = append(s.Unknown, "header "+carillon.Shorten(c.Format))
		return nil
	}
	if err := checkText(c.Text, field, maxHeader); err != nil {
		return err
	}
	m, reason := parseMarked(c.Text, format)
	switch {
	case reason != "":
		return carillon.Invalid(field+".text", reason)
	case len(m.markers) > 1 || len(m.markers) == 1 && m.uses[0] > 1:
		return carillon.Invalid(field+".text", "A header has at most one variable")
	case len(m.markers) == 1:
		s.HeaderVariable = m.markers[0]
	}
	return nil
}

func addBody(s *carillon.Shape, c *carillon.Component, field, format string) error {
	if s.Code && !strings.Contains(c.Text, opening) { // the channel's own text, with the code in it
		s.Markers, s.MarkerUses, s.StaticLength = []string{"1"}, []int{1}, utf8.RuneCountInString(c.Text)
		return nil
	}
	if err := checkText(c.Text, field, maxContent); err != nil {
		return err
	}
	m, reason := parseMarked(c.Text, format)
	if reason != "" {
		return carillon.Invalid(field+".text", reason)
	}
	s.Markers, s.MarkerUses, s.StaticLength = m.markers, m.uses, m.static
	return nil
}

// checkText requires a text of at most limit code points.
func checkText(text, field string, limit int) error {
	switch {
	case blank(text):
		return carillon.Missing(field + ".text")
	case utf8.RuneCountInString(text) > limit:
		return carillon.Invalid(field+".text", fmt.Sprintf("The text has at most %d characters", limit))
	}
	return nil
}

func checkFooter(c *carillon.Component, field string) error {
	switch {
	case blank(c.Text) && c.CodeExpirationMinutes > 0: // the channel's own text
		return nil
	case blank(c.Text):
		return carillon.Missing(field + ".text")
	case strings.Contains(c.Text, opening):
		return carillon.Invalid(field+".text", "A footer has no variables")
	}
	return nil
}

// plainButtons are the types of buttons without a URL.
var plainButtons = []string{ //nolint:gochecknoglobals // read-only
	ButtonQuickReply, ButtonPhone, ButtonCoupon, ButtonCatalog, ButtonProducts, ButtonProduct, ButtonFlow, ButtonCall, ButtonContact,
}

func addButtons(s *carillon.Shape, c *carillon.Component, field string) error {
	if len(c.Buttons) == 0 || len(c.Buttons) > maxButtons {
		return carillon.Invalid(field+".buttons", fmt.Sprintf("A template has 1 to %d buttons", maxButtons))
	}
	s.Buttons = make([]carillon.ButtonShape, len(c.Buttons))
	for i, b := range c.Buttons {
		s.Buttons[i] = carillon.ButtonShape{Type: strings.ToUpper(b.Type)}
		switch kind := s.Buttons[i].Type; {
		case s.Code && isCodeButton(&b):
			s.Buttons[i] = carillon.ButtonShape{Type: ButtonCode, Variable: true}
			continue
		case kind == ButtonURL:
		case slices.Contains(plainButtons, kind):
			continue
		default:
			s.Unknown = append(s.Unknown, "button "+carillon.Shorten(b.Type))
			continue
		}
		prefix, rest, found := strings.Cut(b.URL, opening)
		if !found {
			continue
		}
		name, end, closed := strings.Cut(rest, closing)
		if !closed || blank(name) || end != "" {
			return carillon.Invalid(fmt.Sprintf("%s.buttons.%d.url", field, i), "A URL has at most one variable, at its end")
		}
		s.Buttons[i].Variable, s.Buttons[i].Prefix = true, prefix
	}
	return nil
}

// variables counts the places that need a value, without media.
func variables(s *carillon.Shape) int {
	n := len(s.Markers)
	if s.HeaderVariable != "" {
		n++
	}
	for i := range s.Buttons {
		if s.Buttons[i].Variable {
			n++
		}
	}
	return n
}

// requiredPlaces counts the places that need a value, with media.
func requiredPlaces(s *carillon.Shape, cards int) int {
	n := 0
	eachRequired(s, cards, func(slot) { n++ })
	return n
}

// Needs lists the component keys of a template's places that need a value, in the order header, body, buttons, cards.
func Needs(t *carillon.Template) ([]string, error) {
	s, err := ShapeOf(t)
	if err != nil {
		return nil, err
	}
	return Keys(s), nil
}

// requiredKeys lists the component keys of the places that need a value.
func requiredKeys(s *carillon.Shape, cards int) []string {
	keys := []string{}
	eachRequired(s, cards, func(x slot) { keys = append(keys, x.key()) })
	return keys
}

// urlSuffix returns the part of a value that is appended to the static part of a button's URL. If the value is a full
// URL that begins with the static part, that is the rest of it. Any other full URL is refused.
func urlSuffix(b *carillon.ButtonShape, value string) (suffix string, ok bool) {
	if b.Prefix == "" {
		return value, true
	}
	if rest, found := strings.CutPrefix(value, b.Prefix); found {
		return rest, true
	}
	scheme, _, found := strings.Cut(value, "://")
	if found && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")) {
		return "", false
	}
	return value, true
}
