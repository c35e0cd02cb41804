package content

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"carillon"
	"carillon/internal/jsonbody"
)

// Draft is the payload that creates a template: the content becomes the BODY, the components are its other parts in the
// form that lists of templates show.
type Draft struct {
	Name       string
	Language   string
	Content    string
	Variables  []string // the names of the content's variables; for numbered ones any name for each number
	Category   string
	Components []carillon.Component // HEADER, FOOTER, BUTTONS
	Submit     bool
}

// ParseDraft reads and checks a creation payload. A content, header text or list of variables over its limit is a 422
// limit_exceeded, every other error a 400.
func ParseDraft(body []byte) (*Draft, error) {
	d := &Draft{}
	if err := d.Edit(body); err != nil {
		return nil, err
	}
	return d, nil
}

// DraftOf returns the payload that would create the template as it is, for Edit to change.
func DraftOf(t *carillon.Template) *Draft {
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

// Edit replaces the fields that the payload has, keeps the others, and checks the whole. After an error the draft must
// not be used.
func (d *Draft) Edit(body []byte) error {
	o, err := jsonbody.Parse(body)
	if err != nil {
		return err
	}
	if err := d.read(o); err != nil {
		return err
	}
	_, err = d.Template()
	return err
}

func (d *Draft) read(o *jsonbody.Object) error {
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
	variables, present, err := o.Find("variables").Strings("variables")
	if err != nil {
		return err
	}
	if present {
		d.Variables = variables
	}
	if err := d.readComponents(o.Find("components")); err != nil {
		return err
	}
	submit, _, err := o.Bool("submit", "submit")
	d.Submit = submit
	return err
}

// Template checks the draft and returns the compiled template it describes, without ids, owner, status and times.
func (d *Draft) Template() (*carillon.Template, error) {
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
	t := &carillon.Template{Name: d.Name, Language: d.Language, Category: strings.ToUpper(d.Category), ParameterFormat: format}
	body := carillon.Component{Type: TypeBody, Text: d.Content, Example: d.example(content, format)}
	// Analysed in the payload's order, so that errors name the fields of the payload.
	t.Components = append(slices.Clone(d.Components), body)
	if format == "" {
		t.ParameterFormat = inferFormat(t.Components)
	}
	if t.Shape, err = analyse(t); err != nil {
		return nil, err
	}
	if n := variables(t.Shape); n > maxVariables {
		return nil, tooManyVariables(n)
	}
	slices.SortStableFunc(t.Components, func(a, b carillon.Component) int { return componentRank(a.Type) - componentRank(b.Type) })
	return t, nil
}

func componentRank(kind string) int {
	return slices.Index([]string{TypeHeader, TypeBody, TypeFooter, TypeButtons}, kind)
}

// checkLabels checks name, language and category.
func (d *Draft) checkLabels() error {
	switch {
	case blank(d.Name):
		return carillon.Missing("name")
	case !ValidName(d.Name[:min(len(d.Name), maxName)]):
		return carillon.BadFormat("name", d.Name, "1 to 512 characters of a-z, 0-9 and _", "order_update")
	case len(d.Name) > maxName:
		return overLimit("The name is too long", maxName, len(d.Name))
	case blank(d.Language):
		return carillon.Missing("language")
	case !ValidLanguage(d.Language):
		return carillon.BadFormat("language", d.Language, "xx or xx_XX", "es_ES")
	case blank(d.Content):
		return carillon.Missing("content")
	case blank(d.Category):
		return carillon.Missing("category")
	}
	switch strings.ToUpper(d.Category) {
	case "MARKETING", "UTILITY", "AUTHENTICATION":
		return nil
	}
	return carillon.InvalidValue("category", "Must be one of MARKETING, UTILITY, AUTHENTICATION", d.Category)
}

const maxName = 512

// ValidName reports whether s is a template name: `[a-z0-9_]{1,512}`.
func ValidName(s string) bool {
	if s == "" || len(s) > maxName {
		return false
	}
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// checkContent analyses the content and checks it and the list of variables. Variables are all names or all numbers from
// 1 without a gap, because the channel fills numbered ones by position.
func (d *Draft) checkContent() (markedText, string, error) {
	fail := func(field, reason string) (markedText, string, error) {
		return markedText{}, "", carillon.Invalid(field, reason)
	}
	if n := utf8.RuneCountInString(d.Content); n > maxContent {
		return markedText{}, "", overLimit("The content is too long", maxContent, n)
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
		format = "" // decided by the header's variable
	}
	if d.Variables == nil {
		return m, format, nil
	}
	listed, found := slices.Clone(d.Variables), slices.Clone(m.markers)
	slices.Sort(listed)
	slices.Sort(found)
	if !slices.Equal(listed, found) {
		return markedText{}, "", carillon.Invalid("variables", "The list differs from the variables in the content")
	}
	return m, format, nil
}

// example uses the variables' names as sample values: channels refuse a body that has variables and no samples.
func (d *Draft) example(m markedText, format string) *carillon.ComponentExample {
	switch {
	case len(m.markers) == 0:
		return nil
	case format == Named:
		e := &carillon.ComponentExample{}
		for _, name := range m.markers {
			e.BodyTextNamedParams = append(e.BodyTextNamedParams, carillon.NamedExample{ParamName: name, Example: name})
		}
		return e
	case d.Variables != nil:
		return &carillon.ComponentExample{BodyText: [][]string{d.Variables}}
	default:
		return &carillon.ComponentExample{BodyText: [][]string{m.markers}}
	}
}

// overLimit returns the 422 for a limit that is exceeded.
func overLimit(message string, limit, used int) error {
	return &carillon.Error{Code: carillon.LimitExceeded, Message: message, Details: carillon.Details{
		{Key: "limit", Value: limit}, {Key: "used", Value: used},
	}}
}

func tooManyVariables(n int) error {
	return overLimit("The template has too many variables", maxVariables, n)
}

// readExample reads a component's sample values, which have the channel's own form.
func readExample(v jsonbody.Value, field string) (*carillon.ComponentExample, error) {
	if !v.Present() {
		return nil, nil // an example is optional
	}
	e := &carillon.ComponentExample{}
	if !v.IsObject() || json.Unmarshal(v.Raw(), e) != nil {
		return nil, v.Mismatch(field, "object of sample values", json.RawMessage(`{"header_text":["A-1"]}`))
	}
	return e, nil
}
