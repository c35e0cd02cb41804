package carillon

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// Object is a JSON object of a body that was checked in full. Its strings are parts of one copy of the body.
type Object struct {
	doc *document
	at  int
}

// Value is a JSON value inside such a body; the zero Value is an absent one. `null` counts as absent everywhere
// (decisions.md, section 1). The readers take the field's name as details.field tells it and answer the format 400
// for a value of another type.
type Value struct {
	doc *document
	at  int
}

// ParseObject reads a body that must be one JSON object; whatever is wrong with it is a 400 of the field `body`.
func ParseObject(body []byte) (*Object, error) {
	doc, err := readJSON(body)
	if err != nil {
		return nil, err
	}
	if doc.nodes[0].kind != kindObject {
		return nil, Invalid("body", "The body must be a JSON object")
	}
	return &Object{doc: doc}, nil
}

// Keys lists the object's keys in order of appearance, those with the value null included.
func (o *Object) Keys() []string {
	var keys []string
	for i := o.first(); i < o.end(); i = o.doc.after(i) {
		keys = append(keys, o.doc.key(i))
	}
	return keys
}

// Find is the value of a key, the absent Value where there is none.
func (o *Object) Find(key string) Value {
	for i := o.first(); i < o.end(); i = o.doc.after(i) {
		if o.doc.key(i) == key {
			return Value{o.doc, i}
		}
	}
	return Value{}
}

// String reads a string; field is what details.field says.
func (o *Object) String(field, key string) (s string, present bool, err error) {
	return o.Find(key).String(field)
}

// Bool reads true or false.
func (o *Object) Bool(field, key string) (b, present bool, err error) { return o.Find(key).Bool(field) }

// Int reads a whole number of 64 bits.
func (o *Object) Int(field, key string) (n int, present bool, err error) {
	return o.Find(key).Int(field)
}

// Object reads an object.
func (o *Object) Object(field, key string) (inner *Object, present bool, err error) {
	return o.Find(key).Object(field)
}

// Array reads an array's elements.
func (o *Object) Array(field, key string) (elements []Value, present bool, err error) {
	return o.Find(key).Array(field)
}

// Raw is the JSON text of a key's value; null is absent.
func (o *Object) Raw(key string) (text []byte, present bool) {
	v := o.Find(key)
	return v.Raw(), v.Present()
}

func (o *Object) first() int { return o.at + 1 }
func (o *Object) end() int   { return int(o.doc.nodes[o.at].next) }

func (d *document) after(i int) int { return int(d.nodes[i].next) }

// text is a string's content.
func (d *document) text(i int) string {
	n := &d.nodes[i]
	s := d.src[n.start+1 : n.end-1]
	if n.kind == kindEscaped {
		return unescape(s)
	}
	return s
}

// scalar gives a string, or a number or boolean as its text; false for all else.
func (d *document) scalar(i int) (string, bool) {
	switch n := &d.nodes[i]; n.kind {
	case kindString, kindEscaped:
		return d.text(i), true
	case kindNumber, kindTrue, kindFalse:
		return d.src[n.start:n.end], true
	default:
		return "", false
	}
}

func (v Value) kind() kind {
	if v.doc == nil {
		return kindAbsent
	}
	return v.doc.nodes[v.at].kind
}

// Present tells whether there is a value other than null.
func (v Value) Present() bool { return v.kind() > kindNull }

// Raw is the value's JSON text, nil for an absent one.
func (v Value) Raw() []byte {
	if !v.Present() {
		return nil
	}
	n := &v.doc.nodes[v.at]
	return []byte(v.doc.src[n.start:n.end])
}

// String reads a string.
func (v Value) String(field string) (s string, present bool, err error) {
	switch v.kind() {
	case kindAbsent, kindNull:
		return "", false, nil
	case kindString, kindEscaped:
		return v.doc.text(v.at), true, nil
	default:
		return "", true, v.bad(field, "string", "text")
	}
}

// Bool reads true or false.
func (v Value) Bool(field string) (b, present bool, err error) {
	switch v.kind() {
	case kindAbsent, kindNull:
		return false, false, nil
	case kindTrue, kindFalse:
		return v.kind() == kindTrue, true, nil
	default:
		return false, true, v.bad(field, "boolean", true)
	}
}

// Int reads a whole number of 64 bits.
func (v Value) Int(field string) (n int, present bool, err error) {
	if !v.Present() {
		return 0, false, nil
	}
	if v.kind() == kindNumber {
		if n, err := strconv.Atoi(string(v.Raw())); err == nil {
			return n, true, nil
		}
	}
	return 0, true, v.bad(field, "integer", 1)
}

// Object reads an object.
func (v Value) Object(field string) (o *Object, present bool, err error) {
	switch v.kind() {
	case kindAbsent, kindNull:
		return nil, false, nil
	case kindObject:
		return &Object{v.doc, v.at}, true, nil
	default:
		return nil, true, v.bad(field, "object", json.RawMessage("{}"))
	}
}

// Array reads an array's elements.
func (v Value) Array(field string) (elements []Value, present bool, err error) {
	switch v.kind() {
	case kindAbsent, kindNull:
		return nil, false, nil
	case kindArray:
	default:
		return nil, true, v.bad(field, "array", json.RawMessage("[]"))
	}
	elements = make([]Value, 0, v.len())
	for i := v.at + 1; i < v.doc.after(v.at); i = v.doc.after(i) {
		elements = append(elements, Value{v.doc, i})
	}
	return elements, true, nil
}

// len counts the elements of an array, the members of an object.
func (v Value) len() int {
	n := 0
	for i := v.at + 1; i < v.doc.after(v.at); i = v.doc.after(i) {
		n++
	}
	return n
}

// bad is the format 400 for a value of another type.
func (v Value) bad(field, expected string, example any) *Error {
	return BadFormat(shortened(field), v.shown(), expected, example)
}

// shown is the value as an error tells it: itself when it is short, else the beginning of its text.
func (v Value) shown() any {
	switch v.kind() {
	case kindAbsent, kindNull:
		return nil
	case kindString, kindEscaped:
		return shortened(v.doc.text(v.at))
	default:
		raw := v.Raw()
		if len(raw) > maxShown {
			return shortened(string(raw))
		}
		return json.RawMessage(raw)
	}
}

// maxShown bounds what an error repeats of a caller's own words.
const maxShown = 256

// shortened cuts a long text at a character's end. A text from a query may be no UTF-8 at all.
func shortened(s string) string {
	if len(s) <= maxShown {
		return s
	}
	n := maxShown
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
