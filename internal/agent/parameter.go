package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"carillon/internal/agent/knowledge"
	"carillon/internal/base/language"
	"carillon/internal/base/resource"
)

// Texts is a text in several languages (BCP 47).
type Texts map[string]string

// In returns the text in the first of the languages that has one, else in English, else in any language.
func (t Texts) In(tags ...string) string {
	for _, tag := range append(tags, "en") {
		for _, have := range slices.Sorted(maps.Keys(t)) {
			if language.Base(have) == language.Base(tag) && t[have] != "" {
				return t[have]
			}
		}
	}
	for _, have := range slices.Sorted(maps.Keys(t)) {
		if t[have] != "" {
			return t[have]
		}
	}
	return ""
}

const maxTexts = 1000 // characters of a text

// Validate checks the languages and the lengths of the texts.
func (t Texts) Validate(c *resource.Check, at string) {
	for _, tag := range slices.Sorted(maps.Keys(t)) {
		c.That(resource.ValidLanguage(tag), at+"."+tag, "Must be a language such as en, es or pt-BR")
		c.Required(at+"."+tag, t[tag])
		c.That(utf8.RuneCountInString(t[tag]) <= maxTexts, at+"."+tag, "Must have at most 1,000 characters")
	}
}

// Parameter is a typed parameter of a tool.
type Parameter struct {
	Name        string   `json:"name"`
	Type        string   `json:"type" enum:"text,number,integer,boolean,choice,date"` // text, number, integer, boolean, choice or date
	Description string   `json:"description,omitempty"`
	Required    bool     `json:"required,omitempty"`
	Choices     []string `json:"choices,omitempty"`
	Pattern     string   `json:"pattern,omitempty"` // form of a text: a regular expression (RE2) that the whole text must match
	// Question asks for the parameter. Without one, the description is read out in a standard question.
	Question Texts `json:"question,omitempty"`
}

const (
	maxParameter   = 500     // characters of a text value
	maxInteger     = 1 << 53 // exact in JSON
	maxPattern     = 200     // bytes
	dateForm       = time.DateOnly
	parameterTypes = "text, number, integer, boolean, choice, date"
)

var parameterName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// Validate checks a parameter of a tool's configuration.
func (p *Parameter) Validate(c *resource.Check, at string) {
	c.That(parameterName.MatchString(p.Name), at+".name", "Must be a word such as order_id")
	c.Choice(at+".type", &p.Type, strings.Split(parameterTypes, ", ")...)
	c.That(utf8.RuneCountInString(p.Description) <= maxDescription, at+".description", "Must have at most 1,000 characters")
	checkChoices(c, at+".choices", p.Type, p.Choices)
	_, err := p.pattern()
	c.That(p.Pattern == "" || p.Type == "text", at+".pattern", "Belongs to the type text")
	c.That(err == nil && len(p.Pattern) <= maxPattern, at+".pattern",
		"Must be a regular expression such as [A-Z]{2}-[0-9]{4,8}, of at most 200 bytes")
	p.Question.Validate(c, at+".question")
}

func (p *Parameter) pattern() (*regexp.Regexp, error) {
	return regexp.Compile("(?i)(?:" + p.Pattern + ")")
}

// Fault returns the reason why a decoded JSON value is not a value of the parameter, in a form that completes "The
// parameter x …", or "".
func (p *Parameter) Fault(value any) string {
	switch p.Type {
	case "number", "integer":
		n, ok := value.(float64)
		switch {
		case !ok || math.IsNaN(n) || math.IsInf(n, 0):
			return "must be a number"
		case p.Type == "integer" && n != math.Trunc(n):
			return "must be a whole number"
		case math.Abs(n) > maxInteger:
			return "must be closer to zero"
		}
		return ""
	case "boolean":
		if _, ok := value.(bool); !ok {
			return "must be true or false"
		}
		return ""
	}
	text, ok := value.(string)
	if !ok {
		return "must be a text"
	}
	switch p.Type {
	case "choice":
		if !slices.Contains(p.Choices, text) {
			return "must be one of " + strings.Join(p.Choices, ", ")
		}
		return ""
	case "date":
		if _, err := time.Parse(dateForm, text); err != nil {
			return "must be a date such as 2026-06-05"
		}
		return ""
	}
	switch {
	case strings.TrimSpace(text) == "":
		return "must not be empty"
	case utf8.RuneCountInString(text) > maxParameter || !utf8.ValidString(text):
		return "must have at most 500 characters"
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }):
		return "must have no control characters"
	}
	if whole, err := regexp.Compile("^(?i:" + p.Pattern + ")$"); p.Pattern != "" && (err != nil || !whole.MatchString(text)) {
		return "must have the form " + p.Pattern
	}
	return ""
}

// schema returns the JSON Schema of the parameter.
func (p *Parameter) schema() map[string]any {
	s := map[string]any{"type": "string"}
	if p.Description != "" {
		s["description"] = p.Description
	}
	switch p.Type {
	case "number", "integer", "boolean":
		s["type"] = p.Type
	case "choice":
		s["enum"] = p.Choices
	case "date":
		s["format"] = "date"
	case "text":
		s["maxLength"] = maxParameter
		if p.Pattern != "" {
			s["pattern"] = "^(?:" + p.Pattern + ")$"
		}
	}
	return s
}

// SchemaOf returns the JSON Schema of an object with the parameters.
func SchemaOf(all []Parameter) json.RawMessage {
	properties, required := map[string]any{}, []string{}
	for i := range all {
		properties[all[i].Name] = all[i].schema()
		if all[i].Required {
			required = append(required, all[i].Name)
		}
	}
	text, _ := json.Marshal(map[string]any{ // texts and numbers can be encoded
		"type": "object", "properties": properties, "required": required, "additionalProperties": false,
	})
	return text
}

// question returns the question for the parameter in the language of a conversation.
func (p *Parameter) question(r *Request) string {
	if q := p.Question.In(r.Language, r.Agent.Language); q != "" {
		return q
	}
	return fmt.Sprintf(toolTextsOf(r.Language, r.Agent.Language).give, p.label())
}

func (p *Parameter) label() string { return strings.ReplaceAll(p.Name, "_", " ") }

// offers returns the choices of the question.
func (p *Parameter) offers(r *Request) []string {
	x := Result{Type: p.Type, Choices: p.Choices}
	return x.Offers(r.Language)
}

// read reads the answer to the parameter's question as people write it. ok is false if the message is no answer.
func (p *Parameter) read(r *Request, message string) (value any, ok bool) {
	switch p.Type {
	case "boolean", "choice":
		x := Result{Type: p.Type, Choices: p.Choices}
		text, ok := x.read(message, r.Language)
		if p.Type == "boolean" {
			return text == "true", ok
		}
		return text, ok
	case "number", "integer":
		all := numbersIn(message, r.Language)
		if len(all) == 0 || p.Fault(all[0].value) != "" {
			return nil, false
		}
		return all[0].value, true
	case "date":
		all := datesIn(message, r.Language, r.now())
		if len(all) == 0 {
			return nil, false
		}
		return all[0].text, true
	}
	if p.Pattern != "" {
		text := p.match(message)
		return text, text != ""
	}
	x := Result{Type: "text"}
	text, ok := x.read(message, r.Language)
	text = strings.TrimSpace(text)
	return text, ok && p.Fault(text) == ""
}

// match returns the part of a message that has the parameter's form, between word boundaries.
func (p *Parameter) match(message string) string {
	found, err := p.pattern()
	if err != nil || p.Pattern == "" {
		return ""
	}
	for _, at := range found.FindAllStringIndex(message, maxFound) {
		before, _ := utf8.DecodeLastRuneInString(message[:at[0]])
		after, _ := utf8.DecodeRuneInString(message[at[1]:])
		if at[1] > at[0] && !inWord(before) && !inWord(after) {
			return message[at[0]:at[1]]
		}
	}
	return ""
}

const maxFound = 20 // matches of a pattern that are looked at

func inWord(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// obvious fills in the parameters whose values are unambiguous in the first message: texts with a form, dates,
// choices, and a single number if a single parameter takes one.
func obvious(r *Request, t *ServerTool) map[string]any {
	found, rest := map[string]any{}, r.Message()
	take := func(p *Parameter, value any, text string) {
		found[p.Name] = value
		rest = strings.Replace(rest, text, " ", 1)
	}
	numeric, dated := []*Parameter{}, []*Parameter{}
	for i := range t.Parameters {
		p := &t.Parameters[i]
		switch p.Type {
		case "text":
			if text := p.match(rest); text != "" {
				take(p, text, text)
			}
		case "choice":
			x := Result{Type: p.Type, Choices: p.Choices}
			if text, ok := x.chosen(knowledge.Words(rest)); ok {
				found[p.Name] = text
			}
		case "date":
			dated = append(dated, p)
		case "number", "integer":
			numeric = append(numeric, p)
		}
	}
	if dates := datesIn(rest, r.Language, r.now()); len(dates) == 1 && len(dated) == 1 {
		take(dated[0], dates[0].text, dates[0].found)
	}
	if all := numbersIn(rest, r.Language); len(all) == 1 && len(numeric) == 1 && numeric[0].Fault(all[0].value) == "" && !all[0].word {
		found[numeric[0].Name] = all[0].value
	}
	return found
}

// shown returns a value as a person reads it.
func (p *Parameter) shown(r *Request, value any) string {
	switch v := value.(type) {
	case bool:
		t := textsOf(r.Language, r.Agent.Language)
		if v {
			return t.yes
		}
		return t.no
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case string:
		if p != nil && p.Type == "date" {
			if day, err := time.Parse(dateForm, v); err == nil {
				return dateText(day, cmp.Or(r.Language, r.Agent.Language))
			}
		}
		return oneLine(v)
	}
	text, _ := json.Marshal(value) // decoded JSON can be encoded
	return oneLine(string(text))
}

const maxShownValue = 100 // characters of a value in a confirmation

// oneLine returns a value on one line, shortened.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if runes := []rune(s); len(runes) > maxShownValue {
		return string(runes[:maxShownValue-1]) + "…"
	}
	return s
}

// Shown returns the value of a parameter as a person reads it.
func (t *ServerTool) Shown(r *Request, name string, value any) string {
	return t.Parameter(name).shown(r, value)
}
