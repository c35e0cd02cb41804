package carillon

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The contract's limits on templates (interface.md, Limits; decisions.md, section 4).
const (
	maxContent   = 1024 // code points of the body, before and after rendering
	maxHeader    = 60   // code points of a header's text and of its value
	maxVariables = 20
	maxButtons   = 10
)

// The types of components, headers and buttons, as Component and Button carry them.
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

// Shape is a compiled template: which places it has and how its text grows when they are filled.
type Shape struct {
	HeaderFormat   string        // empty without a header, else TEXT, IMAGE, VIDEO or DOCUMENT
	HeaderVariable string        // the marker of a text header, empty when it has none
	Markers        []string      // of the body, distinct: POSITIONAL by number, NAMED by order of appearance
	Buttons        []ButtonShape // all of the template's buttons, in their order

	body   markedText
	needed int // places that must be filled
}

// ButtonShape is one button of a compiled template.
type ButtonShape struct {
	Type     string // URL, QUICK_REPLY, PHONE_NUMBER
	Variable bool   // a URL button whose URL ends in a variable
	Prefix   string // the static part of such a URL
}

// Compile fills t.Shape from t.Components and t.ParameterFormat, which is set when it was empty. A template that
// breaks the contract's limits is a 400 whose field is `components.<n>…`.
func (t *Template) Compile() error {
	c := *t
	if c.ParameterFormat == "" {
		c.ParameterFormat = inferFormat(c.Components)
	}
	shape, err := c.compile()
	if err != nil {
		return err
	}
	if n := shape.variables(); n > maxVariables {
		return Invalid("components", fmt.Sprintf("A template has at most %d variables, this one %d", maxVariables, n))
	}
	t.ParameterFormat, t.Shape = c.ParameterFormat, shape
	return nil
}

// shape is the compiled form, made anew where the template was not compiled.
func (t *Template) shape() (*Shape, error) {
	if t.Shape != nil {
		return t.Shape, nil
	}
	c := *t
	if err := c.Compile(); err != nil {
		return nil, err
	}
	return c.Shape, nil
}

// inferFormat is NAMED when any marker of the header or body is not a number.
func inferFormat(components []Component) string {
	for _, c := range components {
		if c.Type != TypeHeader && c.Type != TypeBody {
			continue
		}
		m, reason := parseMarked(c.Text, "")
		if reason != "" {
			return Named // whose refusal tells more
		}
		for _, name := range m.markers {
			if !isPosition(name) {
				return Named
			}
		}
	}
	return Positional
}

func (t *Template) compile() (*Shape, error) {
	if t.ParameterFormat != Positional && t.ParameterFormat != Named {
		return nil, InvalidValue("parameter_format", "Must be POSITIONAL or NAMED", shortened(t.ParameterFormat))
	}
	s := &Shape{}
	seen := make(map[string]bool, len(t.Components))
	for i := range t.Components {
		c := &t.Components[i]
		field := fmt.Sprintf("components.%d", i)
		if seen[c.Type] {
			return nil, Invalid(field+".type", "A template has one component of each type")
		}
		seen[c.Type] = true
		if err := s.add(c, field, t.ParameterFormat); err != nil {
			return nil, err
		}
	}
	if !seen[TypeBody] {
		return nil, Invalid("components", "A template needs a BODY")
	}
	s.needed = len(s.keys())
	return s, nil
}

func (s *Shape) add(c *Component, field, format string) error {
	switch c.Type {
	case TypeHeader:
		return s.addHeader(c, field, format)
	case TypeBody:
		return s.addBody(c, field, format)
	case TypeFooter:
		return checkFooter(c, field)
	case TypeButtons:
		return s.addButtons(c, field)
	default:
		return InvalidValue(field+".type", "Must be HEADER, BODY, FOOTER or BUTTONS", shortened(c.Type))
	}
}

func (s *Shape) addHeader(c *Component, field, format string) error {
	s.HeaderFormat = c.Format
	switch c.Format {
	case FormatImage, FormatVideo, FormatDocument:
		return nil
	case FormatText, "":
		s.HeaderFormat = FormatText
	default:
		return InvalidValue(field+".format", "Must be TEXT, IMAGE, VIDEO or DOCUMENT", shortened(c.Format))
	}
	if err := checkText(c.Text, field, maxHeader); err != nil {
		return err
	}
	m, reason := parseMarked(c.Text, format)
	switch {
	case reason != "":
		return Invalid(field+".text", reason)
	case len(m.markers) > 1 || len(m.markers) == 1 && m.uses[0] > 1:
		return Invalid(field+".text", "A header has at most one variable")
	case len(m.markers) == 1:
		s.HeaderVariable = m.markers[0]
	}
	return nil
}

func (s *Shape) addBody(c *Component, field, format string) error {
	if err := checkText(c.Text, field, maxContent); err != nil {
		return err
	}
	m, reason := parseMarked(c.Text, format)
	if reason != "" {
		return Invalid(field+".text", reason)
	}
	s.body, s.Markers = m, m.markers
	return nil
}

// checkText holds a part's text to its length; a part without text is none.
func checkText(text, field string, limit int) error {
	switch {
	case blank(text):
		return Missing(field + ".text")
	case utf8.RuneCountInString(text) > limit:
		return Invalid(field+".text", fmt.Sprintf("The text has at most %d characters", limit))
	}
	return nil
}

func checkFooter(c *Component, field string) error {
	switch {
	case blank(c.Text):
		return Missing(field + ".text")
	case strings.Contains(c.Text, opening):
		return Invalid(field+".text", "A footer has no variables")
	}
	return nil
}

func (s *Shape) addButtons(c *Component, field string) error {
	if len(c.Buttons) == 0 || len(c.Buttons) > maxButtons {
		return Invalid(field+".buttons", fmt.Sprintf("A template has 1 to %d buttons", maxButtons))
	}
	s.Buttons = make([]ButtonShape, len(c.Buttons))
	for i, b := range c.Buttons {
		s.Buttons[i] = ButtonShape{Type: b.Type}
		if b.Type != ButtonURL {
			continue
		}
		prefix, rest, found := strings.Cut(b.URL, opening)
		if !found {
			continue
		}
		name, end, closed := strings.Cut(rest, closing)
		if !closed || blank(name) || end != "" {
			return Invalid(fmt.Sprintf("%s.buttons.%d.url", field, i), "A URL has at most one variable, at its end")
		}
		s.Buttons[i].Variable, s.Buttons[i].Prefix = true, prefix
	}
	return nil
}

// variables counts the places that need a value, media aside.
func (s *Shape) variables() int {
	n := len(s.Markers)
	if s.HeaderVariable != "" {
		n++
	}
	for _, b := range s.Buttons {
		if b.Variable {
			n++
		}
	}
	return n
}

// keys are the component keys of the places that must be filled, in the order header, body, buttons.
func (s *Shape) keys() []string {
	keys := make([]string, 0, len(s.Markers)+len(s.Buttons)+1)
	switch {
	case s.HeaderVariable != "":
		keys = append(keys, "header_text_0")
	case s.HeaderFormat == FormatImage:
		keys = append(keys, "header_image")
	case s.HeaderFormat == FormatVideo:
		keys = append(keys, "header_video")
	case s.HeaderFormat == FormatDocument:
		keys = append(keys, "header_document")
	}
	for i := range s.Markers {
		keys = append(keys, "body_text_"+strconv.Itoa(i))
	}
	for i, b := range s.Buttons {
		if b.Variable {
			keys = append(keys, "button_url_"+strconv.Itoa(i))
		}
	}
	return keys
}

// suffix is what a value puts behind the button's static part: a full URL that begins with that part is cut to the
// rest, another full URL is not the button's.
func (b *ButtonShape) suffix(value string) (suffix string, ok bool) {
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
