package carillon

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	componentsKey    = "components_push"
	componentsPrefix = componentsKey + "."
)

// place is where in a template a component's value goes; nowhere for a key that is well formed and never dynamic.
type place uint8

const (
	nowhere place = iota
	headerText
	headerImage
	headerVideo
	headerDocument
	bodyText
	buttonURL
	buttonPayload
)

// component is one entry of components_push.
type component struct {
	key   string // as it was written
	place place
	n     int    // the key's number; -1 where it is too large for any template
	text  string // the value
	name  string // the variable's name, when the value is a placeholder
}

// field is the component's name in details.field.
func (c *component) field() string { return componentsPrefix + shortened(c.key) }

// shownKey is the key as the arrays of variable_mismatch tell it: `header_text` is `header_text_0`.
func (c *component) shownKey() string {
	if c.key == "header_text" {
		return "header_text_0"
	}
	return shortened(c.key)
}

// placeKey is the key as Shape.keys tells the same place: a medium's bare.
func (c *component) placeKey() string {
	switch c.place {
	case headerImage, headerVideo, headerDocument:
		return strings.TrimSuffix(c.key, "_0")
	default:
		return c.shownKey()
	}
}

// parseComponentKey reads a key of the form `{position}_{type}_{N}`; header keys may be bare (decisions.md, section 3).
func parseComponentKey(key string) (p place, n int, ok bool) {
	switch key {
	case "header_text":
		return headerText, 0, true
	case "header_image":
		return headerImage, 0, true
	case "header_video":
		return headerVideo, 0, true
	case "header_document":
		return headerDocument, 0, true
	}
	end := strings.LastIndexByte(key, '_')
	if end < 0 {
		return nowhere, 0, false
	}
	n, ok = parseIndex(key[end+1:])
	if !ok {
		return nowhere, 0, false
	}
	p, ok = parsePlace(key[:end])
	return p, n, ok
}

// parsePlace reads `{position}_{type}`. Both must be of the table; pairs that no template has are nowhere.
func parsePlace(s string) (place, bool) {
	switch s {
	case "body_text":
		return bodyText, true
	case "header_text":
		return headerText, true
	case "header_image":
		return headerImage, true
	case "header_video":
		return headerVideo, true
	case "header_document":
		return headerDocument, true
	case "button_url":
		return buttonURL, true
	case "button_payload":
		return buttonPayload, true
	}
	position, kind, _ := strings.Cut(s, "_")
	switch position {
	case "header", "body", "footer", "button":
	default:
		return nowhere, false
	}
	switch kind {
	case "text", "image", "video", "document", "url", "payload":
		return nowhere, true
	}
	return nowhere, false
}

// parseIndex reads a decimal without leading zeros; -1 stands for one beyond any template.
func parseIndex(s string) (int, bool) {
	if n, ok := smallInt(s); ok {
		return n, true
	}
	if len(s) < 10 || s[0] == '0' {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	return -1, true
}

// readComponents reads the entries of components_push, in nested form the members of its object, in flat form the
// keys of the body that begin with its name.
func (r *Request) readComponents(root *Object, v Value) error {
	if r.flat {
		return r.addComponents(root, componentsPrefix)
	}
	o, present, err := v.Object(componentsKey)
	if err != nil || !present {
		return err
	}
	return r.addComponents(o, "")
}

func (r *Request) addComponents(o *Object, prefix string) error {
	var seen [buttonPayload + 1]bool
	for i := o.first(); i < o.end(); i = o.doc.after(i) {
		v := Value{o.doc, i}
		key, ok := strings.CutPrefix(o.doc.key(i), prefix)
		if !ok || !v.Present() {
			continue
		}
		c, err := parseComponent(key, v)
		if err != nil {
			return err
		}
		if c.n == 0 && headerText <= c.place && c.place <= headerDocument {
			if seen[c.place] {
				return Invalid(c.field(), "The key is given in both of its forms, bare and with _0")
			}
			seen[c.place] = true
		}
		if r.components == nil {
			r.components = make([]component, 0, min(Value{o.doc, o.at}.len(), 8))
		}
		r.components = append(r.components, c)
	}
	return nil
}

func parseComponent(key string, v Value) (component, error) {
	c := component{key: key}
	var ok bool
	if c.place, c.n, ok = parseComponentKey(key); !ok {
		return component{}, Invalid(c.field(), "Not a component key: {position}_{type}_{N}, or a header's without N")
	}
	if k := v.kind(); k != kindString && k != kindEscaped {
		_, _, err := v.String(c.field())
		return component{}, err
	}
	c.text = v.doc.text(v.at)
	var reason string
	if c.name, reason = parsePlaceholder(c.text); reason != "" {
		return component{}, InvalidValue(c.field(), reason, shortened(c.text))
	}
	if c.name == "" {
		return c, c.check(c.text)
	}
	return c, nil
}

// check is what a value must hold to wherever it ends up: a header's length, a medium's address. An empty value is
// told later, among the missing variables.
func (c *component) check(value string) error {
	if blank(value) {
		return nil
	}
	switch c.place {
	case headerText:
		if n := utf8.RuneCountInString(value); n > maxHeader {
			return Invalid(c.field(), fmt.Sprintf("A header has at most %d characters, this one %d", maxHeader, n))
		}
	case headerImage, headerVideo, headerDocument:
		if reason := mediaFault(c.place, value); reason != "" {
			return InvalidValue(c.field(), reason, shortened(value))
		}
	case nowhere, bodyText, buttonURL, buttonPayload:
	}
	return nil
}
