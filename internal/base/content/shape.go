package content

import (
	"fmt"
	"strconv"
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

	ButtonURL        = "URL"
	ButtonQuickReply = "QUICK_REPLY"
	ButtonPhone      = "PHONE_NUMBER"
)

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
	s := &carillon.Shape{}
	seen := make(map[string]bool, len(t.Components))
	for i := range t.Components {
		c := &t.Components[i]
		field := fmt.Sprintf("components.%d", i)
		if seen[c.Type] {
			return nil, carillon.Invalid(field+".type", "A template has one component of each type")
		}
		seen[c.Type] = true
		if err := addComponent(s, c, field, t.ParameterFormat); err != nil {
			return nil, err
		}
	}
	if !seen[TypeBody] && len(s.Unknown) == 0 {
		return nil, carillon.Invalid("components", "A template needs a BODY")
	}
	return s, nil
}

func addComponent(s *carillon.Shape, c *carillon.Component, field, format string) error {
	switch c.Type {
	case TypeHeader:
		return addHeader(s, c, field, format)
	case TypeBody:
		return addBody(s, c, field, format)
	case TypeFooter:
		return checkFooter(c, field)
	case TypeButtons:
		return addButtons(s, c, field)
	default:
		s.Unknown = append(s.Unknown, "component "+carillon.Shorten(c.Type))
		return nil
	}
}

func addHeader(s *carillon.Shape, c *carillon.Component, field, format string) error {
	s.HeaderFormat = c.Format
	switch c.Format {
	case FormatImage, FormatVideo, FormatDocument:
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
	case blank(c.Text):
		return carillon.Missing(field + ".text")
	case strings.Contains(c.Text, opening):
		return carillon.Invalid(field+".text", "A footer has no variables")
	}
	return nil
}

func addButtons(s *carillon.Shape, c *carillon.Component, field string) error {
	if len(c.Buttons) == 0 || len(c.Buttons) > maxButtons {
		return carillon.Invalid(field+".buttons", fmt.Sprintf("A template has 1 to %d buttons", maxButtons))
	}
	s.Buttons = make([]carillon.ButtonShape, len(c.Buttons))
	for i, b := range c.Buttons {
		s.Buttons[i] = carillon.ButtonShape{Type: b.Type}
		switch b.Type {
		case ButtonURL:
		case ButtonQuickReply, ButtonPhone:
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
func requiredPlaces(s *carillon.Shape) int {
	n := variables(s)
	if s.HeaderFormat != "" && s.HeaderFormat != FormatText {
		n++
	}
	return n
}

// Needs lists the component keys of a template's places that need a value, in the order header, body, buttons.
func Needs(t *carillon.Template) ([]string, error) {
	s, err := ShapeOf(t)
	if err != nil {
		return nil, err
	}
	return requiredKeys(s), nil
}

// requiredKeys lists the component keys of the places that need a value, in the order header, body, buttons.
func requiredKeys(s *carillon.Shape) []string {
	keys := make([]string, 0, requiredPlaces(s))
	switch {
	case s.HeaderVariable != "":
		keys = append(keys, "header_text_0")
	case s.HeaderFormat != "" && s.HeaderFormat != FormatText:
		keys = append(keys, "header_"+strings.ToLower(s.HeaderFormat))
	}
	for i := range s.Markers {
		keys = append(keys, "body_text_"+strconv.Itoa(i))
	}
	for i := range s.Buttons {
		if s.Buttons[i].Variable {
			keys = append(keys, "button_url_"+strconv.Itoa(i))
		}
	}
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
