package carillon

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Draft is the payload that creates a template (interface.md, Template creation payload shape): the content
// becomes the BODY, the components are its other parts in the form that lists show.
type Draft struct {
	Name       string
	Language   string
	Content    string
	Variables  []string // the content's variables by name; for numbered ones any names, one for each number
	Category   string
	Components []Component // HEADER, FOOTER, BUTTONS
	Submit     bool
}

// ParseTemplateDraft reads and checks a creation payload. A passed limit of content, variables or header text is a 422
// limit_exceeded, all else that is wrong a 400 (decisions.md, section 4).
func ParseTemplateDraft(body []byte) (*Draft, error) {
	d := &Draft{}
	if err := d.Edit(body); err != nil {
		return nil, err
	}
	return d, nil
}

// DraftOf is the payload that would create the template as it stands, for Edit to change.
func DraftOf(t *Template) *Draft {
	d := &Draft{Name: t.Name, Language: t.Language, Category: t.Category}
	for _, c := range t.Components {
		if c.Type == TypeBody {
			d.Content = c.Text
		} else {
			d.Components = append(d.Components, c)
		}
	}
	return d
}

// Edit takes over what the payload holds and leaves the rest, then checks the whole. After an error the draft is of no
// use.
func (d *Draft) Edit(body []byte) error {
	o, err := ParseObject(body)
	if err != nil {
		return err
	}
	if err := d.read(o); err != nil {
		return err
	}
	_, err = d.Template()
	return err
}

func (d *Draft) read(o *Object) error {
	for _, f := range []struct {
		key string
		to  *string
	}{{"name", &d.Name}, {"language", &d.Language}, {"content", &d.Content}, {"category", &d.Category}} {
		text, present, err := o.String(f.key, f.key)
		if err != nil {
			return err
		}
		if present {
			*f.to = text
		}
	}
	if o.Find("content").Present() {
		d.Variables = nil
	}
	if err := readStrings(o.Find("variables"), "variables", &d.Variables); err != nil {
		return err
	}
	if err := d.readComponents(o.Find("components")); err != nil {
		return err
	}
	submit, _, err := o.Bool("submit", "submit")
	d.Submit = submit
	return err
}

// readStrings reads an array of strings; an absent one changes nothing.
func readStrings(v Value, field string, to *[]string) error {
	elements, present, err := v.Array(field)
	if err != nil || !present {
		return err
	}
	*to = make([]string, 0, len(elements))
	for i, e := range elements {
		text, err := required(e, fmt.Sprintf("%s.%d", field, i))
		if err != nil {
			return err
		}
		*to = append(*to, text)
	}
	return nil
}

// Template is the template that the draft describes, checked and compiled, without ids, owner, status and times.
func (d *Draft) Template() (*Template, error) {
	if err := d.checkLabels(); err != nil {
		return nil, err
	}
	content, format, err := d.checkContent()
	if err != nil {
		return nil, err
	}
	for i := range d.Components {
		if err := checkPart(&d.Components[i], fmt.Sprintf("components.%d", i)); err != nil {
			return nil, err
		}
	}
	t := &Template{Name: d.Name, Language: d.Language, Category: strings.ToUpper(d.Category), ParameterFormat: format}
	body := Component{Type: TypeBody, Text: d.Content, Example: d.example(content, format)}
	// Compiled in the payload's order first, so that the fields of errors are those of the payload.
	t.Components = append(slices.Clone(d.Components), body)
	if format == "" {
		t.ParameterFormat = inferFormat(t.Components)
	}
	if t.Shape, err = t.compile(); err != nil {
		return nil, err
	}
	if n := t.Shape.variables(); n > maxVariables {
		return nil, tooManyVariables(n)
	}
	slices.SortStableFunc(t.Components, func(a, b Component) int { return componentRank(a.Type) - componentRank(b.Type) })
	return t, nil
}

func componentRank(kind string) int {
	return slices.Index([]string{TypeHeader, TypeBody, TypeFooter, TypeButtons}, kind)
}

// checkLabels holds name, language and category to their forms.
func (d *Draft) checkLabels() error {
	switch {
	case blank(d.Name):
		return Missing("name")
	case !ValidTemplateName(d.Name[:min(len(d.Name), maxTemplateName)]):
		return BadFormat("name", shortened(d.Name), "1 to 512 characters of a-z, 0-9 and _", "order_update")
	case len(d.Name) > maxTemplateName:
		return OverLimit("The name is too long", maxTemplateName, len(d.Name))
	case blank(d.Language):
		return Missing("language")
	case !ValidLanguage(d.Language):
		return BadFormat("language", shortened(d.Language), "xx or xx_XX", "es_ES")
	case blank(d.Content):
		return Missing("content")
	case blank(d.Category):
		return Missing("category")
	}
	switch strings.ToUpper(d.Category) {
	case "MARKETING", "UTILITY", "AUTHENTICATION":
		return nil
	}
	return InvalidValue("category", "Must be one of MARKETING, UTILITY, AUTHENTICATION", shortened(d.Category))
}

const maxTemplateName = 512

// ValidTemplateName tells whether s is of the form `[a-z0-9_]{1,512}` (decisions.md, section 4).
func ValidTemplateName(s string) bool {
	if s == "" || len(s) > maxTemplateName {
		return false
	}
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// checkContent takes the content apart and holds it, and the list of variables, to the limits. Variables are all
// names or all numbers from 1 without a gap: the channel fills numbered ones by their order.
func (d *Draft) checkContent() (markedText, string, error) {
	fail := func(field, reason string) (markedText, string, error) {
		return markedText{}, "", Invalid(field, reason)
	}
	if n := utf8.RuneCountInString(d.Content); n > maxContent {
		return markedText{}, "", OverLimit("The content is too long", maxContent, n)
	}
	m, reason := parseMarked(d.Content, "")
	if reason != "" {
		return fail("content", reason)
	}
	if n := max(len(m.markers), len(d.Variables)); n > maxVariables {
		return markedText{}, "", tooManyVariables(n)
	}
	numbers := 0
	for _, name := range m.markers {
		if isPosition(name) {
			numbers++
		}
	}
	if numbers > 0 && numbers < len(m.markers) {
		return fail("content", "Variables are either all names or all numbers")
	}
	if numbers == 0 {
		return d.checkNames(m)
	}
	slices.SortFunc(m.markers, comparePositions)
	if m.markers[numbers-1] != fmt.Sprint(numbers) {
		return fail("content", "Numbered variables count from 1 without a gap")
	}
	if d.Variables != nil && len(d.Variables) != numbers {
		return fail("variables", "The list does not have one entry for each variable of the content")
	}
	return m, Positional, nil
}

// checkNames compares the list of variables with the names in the content.
func (d *Draft) checkNames(m markedText) (markedText, string, error) {
	format := Named
	if len(m.markers) == 0 {
		format = "" // whatever the header's variable is
	}
	if d.Variables == nil {
		return m, format, nil
	}
	listed, found := slices.Clone(d.Variables), slices.Clone(m.markers)
	slices.Sort(listed)
	slices.Sort(found)
	if !slices.Equal(listed, found) {
		return markedText{}, "", Invalid("variables", "The list differs from the variables in the content")
	}
	return m, format, nil
}

// example gives a reviewer the variables' names as sample values: channels refuse a body with variables and none.
func (d *Draft) example(m markedText, format string) *ComponentExample {
	switch {
	case len(m.markers) == 0:
		return nil
	case format == Named:
		e := &ComponentExample{}
		for _, name := range m.markers {
			e.BodyTextNamedParams = append(e.BodyTextNamedParams, NamedExample{ParamName: name, Example: name})
		}
		return e
	case d.Variables != nil:
		return &ComponentExample{BodyText: [][]string{d.Variables}}
	default:
		return &ComponentExample{BodyText: [][]string{m.markers}}
	}
}

// OverLimit is the 422 for a limit that is passed (decisions.md, section 1).
func OverLimit(message string, limit, used int) *Error {
	return &Error{Code: LimitExceeded, Message: message, Details: Details{{"limit", limit}, {"used", used}}}
}

func tooManyVariables(n int) *Error {
	return OverLimit("The template has too many variables", maxVariables, n)
}

// readExample reads a component's sample values, whose form is the channel's.
func readExample(v Value, field string) (*ComponentExample, error) {
	if !v.Present() {
		return nil, nil // no example is no error
	}
	e := &ComponentExample{}
	if v.kind() != kindObject || json.Unmarshal(v.Raw(), e) != nil {
		return nil, v.bad(field, "object of sample values", json.RawMessage(`{"header_text":["A-1"]}`))
	}
	return e, nil
}
