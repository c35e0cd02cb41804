package content

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"carillon"
	"carillon/internal/jsonbody"
)

// ComponentsKey is the key of a request under which the values for a template's variables are.
const ComponentsKey = "components_push"

// place is the part of a template that a component fills; nowhere is a well-formed key that no template has a part for.
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

// Component is one entry of components_push: a static text, or the name of the variable whose value is looked up for
// each recipient.
type Component struct {
	key   string // as the request spells it
	place place
	n     int    // the number in the key; -1 if it is larger than any template allows
	text  string // the value
	name  string // the variable's name, if the value is a placeholder
}

// ReadComponents reads the entries of components_push: the members of o whose key starts with prefix. No two of them
// have the same place: a duplicate key is refused by the JSON reader, and a header key in both of its forms here.
func ReadComponents(o *jsonbody.Object, prefix string) ([]Component, error) {
	var all []Component
	var seen [buttonPayload + 1]bool
	for key, v := range o.Members() {
		key, ok := strings.CutPrefix(key, prefix)
		if !ok || !v.Present() {
			continue
		}
		c, err := parseComponent(key, v)
		if err != nil {
			return nil, err
		}
		if c.n == 0 && headerText <= c.place && c.place <= headerDocument {
			if seen[c.place] {
				return nil, carillon.Invalid(c.field(), "The key is given in both of its forms, bare and with _0")
			}
			seen[c.place] = true
		}
		if all == nil {
			all = make([]Component, 0, min(o.Len(), 8))
		}
		all = append(all, c)
	}
	return all, nil
}

func parseComponent(key string, v jsonbody.Value) (Component, error) {
	c := Component{key: key}
	var ok bool
	if c.place, c.n, ok = parseKey(key); !ok {
		return Component{}, carillon.Invalid(c.field(), "Not a component key: {position}_{type}_{N}, or a header's without N")
	}
	var err error
	if c.text, _, err = v.String(c.field()); err != nil {
		return Component{}, err
	}
	var reason string
	if c.name, reason = parsePlaceholder(c.text); reason != "" {
		return Component{}, carillon.InvalidValue(c.field(), reason, c.text)
	}
	if c.name == "" {
		return c, c.check(c.text)
	}
	return c, nil
}

// field is the component's name in an error.
func (c *Component) field() string { return ComponentsKey + "." + c.key }

// shownKey is the key in the lists of variable_mismatch, where `header_text` is `header_text_0`.
func (c *Component) shownKey() string {
	if c.key == "header_text" {
		return "header_text_0"
	}
	return carillon.Shorten(c.key)
}

// placeKey is the key that requiredKeys uses for the same place: a medium's has no number.
func (c *Component) placeKey() string {
	switch c.place {
	case headerImage, headerVideo, headerDocument:
		return strings.TrimSuffix(c.key, "_0")
	default:
		return c.shownKey()
	}
}

// check applies the limits of the component's place to a value: the length of a header, the form of a media URL. A blank
// value passes; it is reported later among the missing variables.
func (c *Component) check(value string) error {
	if blank(value) {
		return nil
	}
	switch c.place {
	case headerText:
		if n := utf8.RuneCountInString(value); n > maxHeader {
			return carillon.Invalid(c.field(), fmt.Sprintf("A header has at most %d characters, this one %d", maxHeader, n))
		}
	case headerImage, headerVideo, headerDocument:
		if reason := checkMediaURL(c.place, value); reason != "" {
			return carillon.InvalidValue(c.field(), reason, value)
		}
	case nowhere, bodyText, buttonURL, buttonPayload:
	}
	return nil
}

// parseKey reads a key of the form `{position}_{type}_{N}`. Header keys may omit the number.
func parseKey(key string) (p place, n int, ok bool) {
	if p := placeOf(key); headerText <= p && p <= headerDocument {
		return p, 0, true
	}
	end := strings.LastIndexByte(key, '_')
	if end < 0 {
		return nowhere, 0, false
	}
	n, ok = parseIndex(key[end+1:])
	if !ok {
		return nowhere, 0, false
	}
	p = placeOf(key[:end])
	return p, n, p != nowhere || wellFormed(key[:end])
}

// placeOf returns the place of a `{position}_{type}`.
func placeOf(s string) place {
	switch s {
	case "body_text":
		return bodyText
	case "header_text":
		return headerText
	case "header_image":
		return headerImage
	case "header_video":
		return headerVideo
	case "header_document":
		return headerDocument
	case "button_url":
		return buttonURL
	case "button_payload":
		return buttonPayload
	}
	return nowhere
}

// wellFormed reports whether s is a known position and a known type, even if no template combines the two.
func wellFormed(s string) bool {
	position, kind, _ := strings.Cut(s, "_")
	switch position {
	case "header", "body", "footer", "button":
	default:
		return false
	}
	switch kind {
	case "text", "image", "video", "document", "url", "payload":
		return true
	}
	return false
}

// parseIndex reads a decimal without leading zeros; -1 stands for one larger than any template allows.
func parseIndex(s string) (int, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" || s[0] == '0' && len(s) > 1 {
		return 0, false
	}
	if n, err := strconv.Atoi(s); err == nil && len(s) < 10 {
		return n, true
	}
	return -1, true
}

// blank reports whether a text is empty or only white space.
func blank(s string) bool { return strings.TrimSpace(s) == "" }
