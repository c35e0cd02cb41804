package manual

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// field is a row in a body's table of fields.
type field struct {
	Name     string
	Type     string
	Required bool
	Notes    []string // limits
	Values   []string // the allowed values
	Text     template.HTML
	Fields   []field
	Variants []variant
}

// variant is one of several forms.
type variant struct {
	Title  string
	Text   template.HTML
	Fields []field
}

// description is the API description; its methods resolve references.
type description struct {
	*object
	base string // the public address
}

func parseDescription(text []byte, base string) (description, error) {
	o, err := parse(text)
	return description{o, base}, err
}

// follow resolves a reference, and returns the target and the reference. A part that is not a reference is returned
// unchanged.
func (d description) follow(x *object) (*object, string) {
	ref := x.text("$ref")
	if ref == "" {
		return x, ""
	}
	at := d.object
	for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		at = at.at(part)
	}
	return at, ref
}

// maxDepth is the maximum nesting depth of displayed fields.
const maxDepth = 6

// body returns the text, fields and variants of a schema.
func (d description) body(schema *object, seen []string) (text template.HTML, fields []field, variants []variant) {
	schema, ref := d.follow(schema)
	if ref != "" {
		if slices.Contains(seen, ref) || len(seen) > maxDepth {
			return "", nil, nil
		}
		seen = append(slices.Clip(seen), ref)
	}
	if s := schema.text("description"); s != "" {
		text = inline(s)
	}
	if one := d.single(schema); one != nil {
		_, fields, variants = d.body(one, seen)
		return text, fields, variants
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		for i, x := range schema.list(key) {
			o, ok := x.(*object)
			if !ok || o.text("type") == "null" {
				continue
			}
			followed, ref := d.follow(o)
			v := variant{Title: followed.text("title")}
			if v.Title == "" {
				v.Title = ref[strings.LastIndex(ref, "/")+1:]
			}
			if v.Title == "" {
				v.Title = fmt.Sprintf("Form %d", i+1)
			}
			v.Text, v.Fields, _ = d.body(o, seen)
			if len(v.Fields) > 0 {
				variants = append(variants, v)
			}
		}
	}
	if items := schema.at("items"); items != nil {
		_, fields, variants = d.body(items, seen)
		return text, fields, variants
	}
	required := schema.texts("required")
	properties := schema.at("properties")
	if properties == nil {
		properties = &object{}
	}
	for _, name := range properties.keys {
		o := properties.at(name)
		if o == nil { // the schema `true` allows anything
			fields = append(fields, field{Name: name, Type: "any", Required: slices.Contains(required, name)})
			continue
		}
		f := d.field(name, o, seen)
		f.Required = slices.Contains(required, name)
		fields = append(fields, f)
	}
	if patterns := schema.at("patternProperties"); patterns != nil {
		for _, name := range patterns.keys {
			f := d.field(strings.TrimSuffix(strings.TrimPrefix(name, "^"), "$"), patterns.at(name), seen)
			fields = append(fields, f)
		}
	}
	if more := schema.at("additionalProperties"); more != nil {
		fields = append(fields, d.field("any other key", more, seen))
	}
	return text, fields, variants
}

// single returns the only schema in an allOf, or in a oneOf or anyOf whose other form is null.
func (d description) single(schema *object) *object {
	for _, key := range []string{"allOf", "oneOf", "anyOf"} {
		var left []*object
		for _, x := range schema.list(key) {
			if o, ok := x.(*object); ok && o.text("type") != "null" && len(o.keys) > 0 && o.get("required") == nil ||
				ok && o.text("type") == "object" {
				left = append(left, o)
			}
		}
		if len(left) == 1 {
			return left[0]
		}
	}
	return nil
}

func (d description) field(name string, schema *object, seen []string) field {
	f := field{Name: name}
	f.Text, f.Fields, f.Variants = d.body(schema, seen)
	f.Type, f.Values, f.Notes = d.kind(schema)
	return f
}

// kind returns a schema's type in words, its allowed values, and its limits.
func (d description) kind(schema *object) (kind string, values, notes []string) {
	schema, _ = d.follow(schema)
	if one := d.single(schema); one != nil {
		return d.kind(one)
	}
	types := schema.texts("type")
	types = slices.DeleteFunc(types, func(s string) bool { return s == "null" })
	kind = strings.Join(types, " or ")
	if c := schema.get("const"); c != nil {
		values = []string{plainValue(c)}
	}
	for _, x := range schema.list("enum") {
		values = append(values, plainValue(x))
	}
	switch {
	case kind == "" && len(values) > 0:
		kind = "string"
	case kind == "" && (schema.list("oneOf") != nil || schema.list("anyOf") != nil):
		kind = "one of several forms"
	case kind == "":
		kind = "any"
	}
	if items := schema.at("items"); items != nil {
		of, itemValues, _ := d.kind(items)
		kind = "list of " + of + "s"
		if of == "any" || of == "one of several forms" {
			kind = "list"
		}
		values = append(values, itemValues...)
	}
	return kind, values, bounds(schema)
}

// plainValue formats a value, with strings unquoted.
func plainValue(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return compact(v)
}

func bounds(schema *object) (notes []string) {
	span := func(low, high, unit string) {
		a, b := schema.get(low), schema.get(high)
		switch {
		case a != nil && b != nil:
			notes = append(notes, fmt.Sprintf("%v to %v%s", a, b, unit))
		case b != nil:
			notes = append(notes, fmt.Sprintf("at most %v%s", b, unit))
		case a != nil && fmt.Sprint(a) != "0" && fmt.Sprint(a) != "1":
			notes = append(notes, fmt.Sprintf("at least %v%s", a, unit))
		case a != nil && fmt.Sprint(a) == "1" && unit == " characters":
			notes = append(notes, "not empty")
		}
	}
	span("minLength", "maxLength", " characters")
	span("minItems", "maxItems", " entries")
	span("minimum", "maximum", "")
	if f := schema.text("format"); f != "" {
		notes = append(notes, f)
	}
	if x := schema.get("default"); x != nil {
		notes = append(notes, "default "+plainValue(x))
	}
	return notes
}
