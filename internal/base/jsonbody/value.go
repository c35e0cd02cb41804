// Package jsonbody reads JSON request bodies strictly. It refuses duplicate keys, lone surrogates, U+0000, more than
// 32 levels of nesting and anything after the value, all of which encoding/json accepts. It is also faster than
// decoding into a map, because values are slices of one copy of the body until they are read.
//
// Parse checks the complete body and returns its Object. The methods of Object and Value read one field each; their
// errors are the 400 responses that name the field. A key whose value is null counts as absent.
package jsonbody

import (
	"encoding/json"
	"iter"
	"strconv"
	"strings"

	"carillon"
)

// Object is a JSON object of a checked body. Its strings are slices of one copy of the body.
type Object struct {
	doc *document
	at  int
}

// Value is a JSON value of a checked body. The zero Value is an absent one, and null counts as absent. The reading
// methods take the field name for the error, which is a 400 if the value has another type.
type Value struct {
	doc *document
	at  int
}

// Parse checks a body, which must be one JSON object. Every error is a 400 for the field `body`.
func Parse(body []byte) (*Object, error) {
	doc, err := parse(body)
	if err != nil {
		return nil, err
	}
	if doc.nodes[0].kind != kindObject {
		return nil, carillon.Invalid("body", "The body must be a JSON object")
	}
	return &Object{doc: doc}, nil
}

// Source returns the complete body that contains the object.
func (o *Object) Source() string { return o.doc.src }

// Members iterates over the keys and values in source order, including null values.
func (o *Object) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for i := o.at + 1; i < o.doc.after(o.at); i = o.doc.after(i) {
			if !yield(o.doc.key(i), Value{o.doc, i}) {
				return
			}
		}
	}
}

// Keys lists the keys in source order, including those with the value null.
func (o *Object) Keys() []string {
	var keys []string
	for key := range o.Members() {
		keys = append(keys, key)
	}
	return keys
}

// Find returns the value of a key, or the absent Value.
func (o *Object) Find(key string) Value {
	for i := o.at + 1; i < o.doc.after(o.at); i = o.doc.after(i) {
		if o.doc.key(i) == key {
			return Value{o.doc, i}
		}
	}
	return Value{}
}

// String reads the string at key; field is its name in an error.
func (o *Object) String(field, key string) (s string, present bool, err error) {
	return o.Find(key).String(field)
}

// Bool reads the boolean at key.
func (o *Object) Bool(field, key string) (b, present bool, err error) { return o.Find(key).Bool(field) }

// Array reads the elements of the array at key.
func (o *Object) Array(field, key string) (elements []Value, present bool, err error) {
	return o.Find(key).Array(field)
}

// after returns the index of the node after node i and everything inside it.
func (d *document) after(i int) int { return int(d.nodes[i].next) }

// text returns the content of a string.
func (d *document) text(i int) string {
	n := &d.nodes[i]
	s := d.src[n.start+1 : n.end-1]
	if n.kind == kindEscaped {
		return unescape(s)
	}
	return s
}

func (v Value) kind() kind {
	if v.doc == nil {
		return kindAbsent
	}
	return v.doc.nodes[v.at].kind
}

// Present reports whether there is a value other than null.
func (v Value) Present() bool { return v.kind() > kindNull }

// IsString reports whether the value is a string.
func (v Value) IsString() bool { return v.kind() == kindString || v.kind() == kindEscaped }

// IsObject reports whether the value is an object.
func (v Value) IsObject() bool { return v.kind() == kindObject }

// IsComposite reports whether the value is an object or an array.
func (v Value) IsComposite() bool { return v.kind() == kindObject || v.kind() == kindArray }

// Scalar returns a string, or a number or boolean as spelled in the body. It returns false for anything else.
func (v Value) Scalar() (string, bool) {
	switch v.kind() {
	case kindString, kindEscaped:
		return v.doc.text(v.at), true
	case kindNumber, kindTrue, kindFalse:
		n := &v.doc.nodes[v.at]
		return v.doc.src[n.start:n.end], true
	default:
		return "", false
	}
}

// Raw returns the JSON text of the value, or nil if it is absent.
func (v Value) Raw() []byte {
	if !v.Present() {
		return nil
	}
	n := &v.doc.nodes[v.at]
	return []byte(v.doc.src[n.start:n.end])
}

// String reads a string.
func (v Value) String(field string) (s string, present bool, err error) {
	switch {
	case !v.Present():
		return "", false, nil
	case v.IsString():
		return v.doc.text(v.at), true, nil
	default:
		return "", true, v.Mismatch(field, "string", "text")
	}
}

// Required reads a string that must be present and not blank.
func (v Value) Required(field string) (string, error) {
	s, present, err := v.String(field)
	if err != nil {
		return "", err
	}
	if !present || strings.TrimSpace(s) == "" {
		return "", carillon.Missing(field)
	}
	return s, nil
}

// Bool reads a boolean.
func (v Value) Bool(field string) (b, present bool, err error) {
	switch v.kind() {
	case kindAbsent, kindNull:
		return false, false, nil
	case kindTrue, kindFalse:
		return v.kind() == kindTrue, true, nil
	default:
		return false, true, v.Mismatch(field, "boolean", true)
	}
}

// Object reads an object.
func (v Value) Object(field string) (o *Object, present bool, err error) {
	switch v.kind() {
	case kindAbsent, kindNull:
		return nil, false, nil
	case kindObject:
		return &Object{v.doc, v.at}, true, nil
	default:
		return nil, true, v.Mismatch(field, "object", json.RawMessage("{}"))
	}
}

// Array reads the elements of an array.
func (v Value) Array(field string) (elements []Value, present bool, err error) {
	switch v.kind() {
	case kindAbsent, kindNull:
		return nil, false, nil
	case kindArray:
	default:
		return nil, true, v.Mismatch(field, "array", json.RawMessage("[]"))
	}
	for i := v.at + 1; i < v.doc.after(v.at); i = v.doc.after(i) {
		elements = append(elements, Value{v.doc, i})
	}
	return elements, true, nil
}

// Strings reads an array of strings that must not be blank.
func (v Value) Strings(field string) (all []string, present bool, err error) {
	elements, present, err := v.Array(field)
	if err != nil || !present {
		return nil, present, err
	}
	all = make([]string, 0, len(elements))
	for i, e := range elements {
		s, err := e.Required(field + "." + strconv.Itoa(i))
		if err != nil {
			return nil, true, err
		}
		all = append(all, s)
	}
	return all, true, nil
}

// Mismatch returns the 400 for a value whose type is not the expected one.
func (v Value) Mismatch(field, expected string, example any) *carillon.Error {
	return carillon.BadFormat(field, v.shown(), expected, example)
}

// maxShown bounds the JSON text that an error repeats as JSON. Longer texts are cut and shown as a string.
const maxShown = 100

// shown returns the value as an error repeats it.
func (v Value) shown() any {
	switch {
	case !v.Present():
		return nil
	case v.IsString():
		return v.doc.text(v.at)
	}
	raw := v.Raw()
	if len(raw) > maxShown {
		return string(raw)
	}
	return json.RawMessage(raw)
}
