package content

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"carillon"
	"carillon/internal/base/jsonbody"
)

// Draft is the payload that creates a template. The content becomes the BODY; the components are the other parts, in
// the form that lists of templates show.
type Draft struct {
	Name       string
	Language   string
	Content    string
	Variables  []string          // names of the content's variables; for numbered variables, any name for each number
	Samples    map[string]string // sample values of the content's variables for the reviewer; default: their names
	Category   string
	Components []carillon.Component // all parts but the content; of a one-time code also the BODY, which has no content
	SendTTL    int                  // see carillon.Template
	Submit     bool
}

// ParseDraft reads and checks a creation payload. A content, header text or list of variables over its limit is a 422
// limit_exceeded. Every other error is a 400.
func ParseDraft(body []byte) (*Draft, error) {
	d := &Draft{}
	if err := d.Edit(body); err != nil {
		return nil, err
	}
	return d, nil
}

// DraftOf returns the payload that would create the template, for Edit to change.
func DraftOf(t *carillon.Template) *Draft {
	d := &Draft{Name: t.Name, Language: t.Language, Category: t.Category, SendTTL: t.SendTTL}
	code := isCode(t)
	for _, c := range t.Components {
		if c.Type == TypeBody && code {
			c.Text, c.Example = "", nil // the channel's own
		}
		if c.Type == TypeBody && !code {
			d.Content = c.Text
		} else {
			d.Components = append(d.Components, c)
		}
	}
	return d
}

// Edit replaces the fields that the payload has, keeps the others, and checks the result. After an error the draft
// must not be used.
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
	err := readTexts(o, "", []textField{
		{"name", &d.Name, false}, {"language", &d.Language, false}, {"content", &d.Content, false}, {"category", &d.Category, false},
	})
	if err != nil {
		return err
	}
	if o.Find("content").Present() {
		d.Variables, d.Samples = nil, nil
	}
	variables, present, err := o.Find("variables").Strings("variables")
	if err != nil {
		return err
	}
	if present {
		d.Variables = variables
	}
	if err := d.readSamples(o); err != nil {
		return err
	}
	if err := d.readComponents(o.Find("components")); err != nil {
		return err
	}
	if err := d.readSendTTL(o.Find("message_send_ttl_seconds")); err != nil {
		return err
	}
	submit, _, err := o.Bool("submit", "submit")
	d.Submit = submit
	return err
}

// Template checks the draft and returns the compiled template that it describes, without ids, owner, status and times.
func (d *Draft) Template() (*carillon.Template, error) {
	if err := d.checkLabels(); err != nil {
		return nil, err
	}
	content, format, err := d.checkContent()
	if err != nil {
		return nil, err
	}
	if err := d.checkParts(); err != nil {
		return nil, err
	}
	if err := d.checkSamples(content); err != nil {
		return nil, err
	}
	t := &carillon.Template{
		Name: d.Name, Language: d.Language, Category: strings.ToUpper(d.Category), ParameterFormat: format, SendTTL: d.SendTTL,
	}
	// Compile in the payload's order, so that errors name the fields of the payload.
	t.Components = slices.Clone(d.Components)
	if d.part(TypeBody) == nil {
		t.Components = append(t.Components, carillon.Component{Type: TypeBody, Text: d.Content, Example: d.example(content, format)})
	}
	if format == "" {
		t.ParameterFormat = inferFormat(t.Components)
	}
	if t.Shape, err = analyze(t); err != nil {
		return nil, err
	}
	if n := variables(t.Shape); n > maxVariables {
		return nil, tooManyVariables(n)
	}
	slices.SortStableFunc(t.Components, func(a, b carillon.Component) int { return componentRank(a.Type) - componentRank(b.Type) })
	return t, nil
}

func componentRank(kind string) int {
	return slices.Index([]string{
		TypeHeader, TypeOffer, TypeBody, TypeFooter, TypeButtons, TypeCarousel, TypeCallPermission,
	}, kind)
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
	case blank(d.Content) && !d.code() && !d.has(ButtonCode):
		return carillon.Missing("content")
	case d.Content != "" && d.code():
		return carillon.Invalid("content", "The channel writes the text of a one-time code; leave the content out")
	case blank(d.Category):
		return carillon.Missing("category")
	}
	switch strings.ToUpper(d.Category) {
	case "MARKETING", "UTILITY", "AUTHENTICATION":
		return nil
	}
	return carillon.InvalidValue("category", "Must be one of MARKETING, UTILITY, AUTHENTICATION", d.Category)
}

const (
	maxName     = 512
	maxLanguage = 16
)

var (
	nameForm     = regexp.MustCompile(`^[a-z0-9_]+$`)
	languageForm = regexp.MustCompile(`^[A-Za-z]{2,3}([_-][A-Za-z0-9]{2,8})*$`)
)

// ValidName reports whether s is a template name: `[a-z0-9_]{1,512}`.
func ValidName(s string) bool { return len(s) <= maxName && nameForm.MatchString(s) }

// ValidLanguage reports whether s has the form of a template's language: two or three letters, then parts of two to
// eight letters or digits separated by `_` or `-`, as in `es`, `es_ES` or `zh_Hant_TW`.
func ValidLanguage(s string) bool { return len(s) <= maxLanguage && languageForm.MatchString(s) }

// checkContent checks the content and the list of variables. Variables are either all names or all numbers from 1
// without a gap, because the channel fills numbered variables by position.
func (d *Draft) checkContent() (m markedText, format string, err error) {
	if n := utf8.RuneCountInString(d.Content); n > maxContent {
		return m, "", overLimit("The content is too long", maxContent, n)
	}
	m, reason := parseMarked(d.Content, "")
	if reason != "" {
		return m, "", carillon.Invalid("content", reason)
	}
	if n := max(len(m.markers), len(d.Variables)); n > maxVariables {
		return m, "", tooManyVariables(n)
	}
	numbers := 0
	for _, name := range m.markers {
		if isPosition(name) {
			numbers++
		}
	}
	if numbers > 0 && numbers < len(m.markers) {
		return m, "", carillon.Invalid("content", "Variables are either all names or all numbers")
	}
	if numbers == 0 {
		format, err = d.checkNames(m)
		return m, format, err
	}
	slices.SortFunc(m.markers, comparePositions)
	if m.markers[numbers-1] != strconv.Itoa(numbers) {
		return m, "", carillon.Invalid("content", "Numbered variables count from 1 without a gap")
	}
	if d.Variables != nil && len(d.Variables) != numbers {
		return m, "", carillon.Invalid("variables", "The list does not have one entry for each variable of the content")
	}
	return m, Positional, nil
}

// checkNames compares the list of variables with the names in the content. Without variables in the content, the
// header's variable decides the format.
func (d *Draft) checkNames(m markedText) (format string, err error) {
	if d.Variables != nil && !slices.Equal(slices.Sorted(slices.Values(d.Variables)), slices.Sorted(slices.Values(m.markers))) {
		return "", carillon.Invalid("variables", "The list differs from the variables in the content")
	}
	if len(m.markers) == 0 {
		return "", nil
	}
	return Named, nil
}

// example returns a sample value for each variable; the default is the variable's name. Channels refuse a body that
// has variables but no samples.
func (d *Draft) example(m markedText, format string) *carillon.ComponentExample {
	if len(m.markers) == 0 {
		return nil
	}
	values := make([]string, len(m.markers))
	for i, name := range m.markers {
		values[i] = name
		if format != Named && d.Variables != nil {
			values[i] = d.Variables[i]
		}
		if sample := d.Samples[name]; !blank(sample) {
			values[i] = sample
		}
	}
	if format != Named {
		return &carillon.ComponentExample{BodyText: [][]string{values}}
	}
	e := &carillon.ComponentExample{}
	for i, name := range m.markers {
		e.BodyTextNamedParams = append(e.BodyTextNamedParams, carillon.NamedExample{ParamName: name, Example: values[i]})
	}
	return e
}

// readSamples reads the sample values of the content's variables.
func (d *Draft) readSamples(o *jsonbody.Object) error {
	samples, present, err := o.Find("samples").Object("samples")
	if err != nil || !present {
		return err
	}
	d.Samples = map[string]string{}
	for name := range samples.Members() {
		value, _, err := samples.String("samples."+carillon.Shorten(name), name)
		if err != nil {
			return err
		}
		d.Samples[name] = value
	}
	return nil
}

// checkSamples checks that each sample belongs to a variable of the content, and that the content with the samples is
// not too long.
func (d *Draft) checkSamples(m markedText) error {
	for _, name := range slices.Sorted(maps.Keys(d.Samples)) {
		value, field := d.Samples[name], "samples."+carillon.Shorten(name)
		if !slices.Contains(m.markers, name) {
			return carillon.Invalid(field, "The content has no such variable")
		}
		if strings.ContainsAny(value, "{}\r\n\t") {
			return carillon.InvalidValue(field, "A sample is one line without braces", carillon.Shorten(value))
		}
	}
	length := m.static
	for i, name := range m.markers {
		length += m.uses[i] * utf8.RuneCountInString(d.Samples[name])
	}
	if length > maxContent {
		return overLimit("The content is too long with its samples", maxContent, length)
	}
	return nil
}

// overLimit returns the 422 for an exceeded limit.
func overLimit(message string, limit, used int) error {
	return &carillon.Error{Code: carillon.LimitExceeded, Message: message, Details: carillon.Details{
		{Key: "limit", Value: limit}, {Key: "used", Value: used},
	}}
}

func tooManyVariables(n int) error {
	return overLimit("The template has too many variables", maxVariables, n)
}

// readExample reads a component's sample values, in the form of the channel.
func readExample(v jsonbody.Value, field string) (*carillon.ComponentExample, error) {
	if !v.Present() {
		return nil, nil // an example is optional
	}
	e := &carillon.ComponentExample{}
	if !v.IsObject() || json.Unmarshal(v.Raw(), e) != nil || len(e.Rest) > 0 {
		return nil, v.Mismatch(field, "object of sample values", json.RawMessage(`{"header_text":["A-1"]}`))
	}
	return e, nil
}
