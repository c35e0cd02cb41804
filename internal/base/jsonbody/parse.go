package jsonbody

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"carillon"
)

// maxDepth bounds the nesting of objects and arrays in a body.
const maxDepth = 32

// manyMembers is the object size from which duplicate keys are found with a set instead of a scan.
const manyMembers = 32

// kind is the type of a JSON value.
type kind uint8

const (
	kindAbsent kind = iota
	kindNull
	kindTrue
	kindFalse
	kindNumber
	kindString
	kindEscaped // a string that contains escapes
	kindObject
	kindArray
)

// node is one value of a document. The nodes inside an object or array follow it, up to index next. A node contains no
// pointers, so the garbage collector does not scan it.
type node struct {
	keyStart, keyEnd uint32 // of the key in the source; if keyEnd is 0, keyStart indexes document.escaped
	start, end       uint32 // of the value in the source, including a string's quotes
	next             uint32 // index of the node after this value and everything inside it
	kind             kind
}

// document is a fully checked JSON text with its values in source order.
type document struct {
	src     string
	nodes   []node
	escaped []string // unescaped forms of the keys that contain escapes
}

// key returns the unescaped key of a member. No key in the source can end at offset 0.
func (d *document) key(i int) string {
	n := &d.nodes[i]
	if n.keyEnd == 0 {
		return d.escaped[n.keyStart]
	}
	return d.src[n.keyStart:n.keyEnd]
}

// parse checks a complete body: UTF-8, the grammar of RFC 8259, no U+0000, no lone surrogate, no duplicate key in an
// object, nothing after the value, at most 32 levels of nesting. Every error is a 400 for the field `body`.
func parse(body []byte) (*document, error) {
	switch {
	case uint64(len(body)) > 1<<31:
		return nil, carillon.Invalid("body", "The body is too large")
	case !utf8.Valid(body):
		return nil, carillon.Invalid("body", "The body is not valid UTF-8")
	case len(bytes.TrimSpace(body)) == 0:
		return nil, carillon.Invalid("body", "The body is empty")
	case !json.Valid(body):
		return nil, invalidJSON(body)
	}
	p := parser{document: document{src: string(body)}}
	p.nodes = make([]node, 0, min(2+strings.Count(p.src, ":"), 1024))
	p.space()
	if err := p.value(span{}, 1); err != nil {
		return nil, err
	}
	return &p.document, nil
}

// invalidJSON returns the error for a syntax error, with the position of the byte.
func invalidJSON(body []byte) error {
	var syntax *json.SyntaxError
	if !errors.As(json.Unmarshal(body, new(json.RawMessage)), &syntax) {
		return carillon.Invalid("body", "Invalid JSON")
	}
	at := syntax.Offset - 1 // the offset includes the byte itself
	if strings.HasPrefix(syntax.Error(), "unexpected end") {
		at = syntax.Offset
	}
	return carillon.Invalid("body", fmt.Sprintf("Invalid JSON at byte %d", at))
}

// parser finds the values of a body whose grammar has already been checked.
type parser struct {
	document
	at int
}

// span is the position of a key, in the form that node stores.
type span struct{ start, end uint32 }

func (p *parser) space() {
	for p.at < len(p.src) {
		switch p.src[p.at] {
		case ' ', '\n', '\r', '\t':
			p.at++
		default:
			return
		}
	}
}

// value appends the nodes of the value at p.at; depth is its nesting level if it is an object or array.
func (p *parser) value(key span, depth int) error {
	start, index := p.at, len(p.nodes)
	if index == cap(p.nodes) {
		// The number of commas left is close to the number of values left, so a large body is copied only once.
		p.nodes = slices.Grow(p.nodes, max(index, 64+strings.Count(p.src[p.at:], ",")))
	}
	p.nodes = append(p.nodes, node{keyStart: key.start, keyEnd: key.end})
	var k kind
	var err error
	switch p.src[p.at] {
	case '"':
		var escaped bool
		escaped, err = p.string()
		k = kindString
		if escaped {
			k = kindEscaped
		}
	case '{':
		k, err = kindObject, p.members(index, depth)
	case '[':
		k, err = kindArray, p.elements(depth)
	case 't':
		k, p.at = kindTrue, p.at+len("true")
	case 'f':
		k, p.at = kindFalse, p.at+len("false")
	case 'n':
		k, p.at = kindNull, p.at+len("null")
	default:
		k = kindNumber
		for p.at < len(p.src) && strings.IndexByte("+-.0123456789Ee", p.src[p.at]) >= 0 {
			p.at++
		}
	}
	if err != nil {
		return err
	}
	n := &p.nodes[index]
	n.kind, n.start, n.end, n.next = k, uint32(start), uint32(p.at), uint32(len(p.nodes)) // parse limits the source to 2 GiB
	return nil
}

func (p *parser) members(object, depth int) error {
	keys := keySet{object: object}
	return p.each('}', depth, func() error {
		start := p.at + 1
		escaped, err := p.string()
		if err != nil {
			return err
		}
		key, at := p.src[start:p.at-1], span{uint32(start), uint32(p.at - 1)}
		if escaped {
			key, at = unescape(key), span{start: uint32(len(p.escaped))}
			p.escaped = append(p.escaped, key)
		}
		if keys.seen(&p.document, key) {
			return carillon.Invalid("body", fmt.Sprintf("The key %q occurs twice in one object", carillon.Shorten(key)))
		}
		p.space()
		p.at++ // the colon
		p.space()
		return p.value(at, depth+1)
	})
}

func (p *parser) elements(depth int) error {
	return p.each(']', depth, func() error { return p.value(span{}, depth+1) })
}

// each calls read for each member or element of the object or array at p.at, up to its closing byte.
func (p *parser) each(closing byte, depth int, read func() error) error {
	if depth > maxDepth {
		return carillon.Invalid("body", fmt.Sprintf("The body nests deeper than %d levels", maxDepth))
	}
	p.at++
	for {
		p.space()
		if p.src[p.at] == closing {
			p.at++
			return nil
		}
		if p.src[p.at] == ',' {
			p.at++
			p.space()
		}
		if err := read(); err != nil {
			return err
		}
	}
}

// keySet detects duplicate keys of the object being read. It scans the nodes of small objects and builds a set for
// large ones, so neither an ordinary nor a hostile body is slow.
type keySet struct {
	object int
	count  int
	set    map[string]struct{}
}

// seen reports whether key occurred before.
func (s *keySet) seen(d *document, key string) bool {
	s.count++
	if s.set == nil {
		for i := s.object + 1; i < len(d.nodes); i = d.after(i) {
			if d.key(i) == key {
				return true
			}
		}
		if s.count <= manyMembers {
			return false
		}
		s.set = make(map[string]struct{}, 2*manyMembers)
		for i := s.object + 1; i < len(d.nodes); i = d.after(i) {
			s.set[d.key(i)] = struct{}{}
		}
	}
	if _, ok := s.set[key]; ok {
		return true
	}
	s.set[key] = struct{}{}
	return false
}

// string skips a string with its quotes, and reports whether it contains escapes. It refuses strings that are valid
// JSON but not accepted here.
func (p *parser) string() (escaped bool, err error) {
	for p.at++; ; p.at++ {
		switch p.src[p.at] {
		case '"':
			p.at++
			return escaped, nil
		case '\\':
			escaped = true
			if p.src[p.at+1] != 'u' {
				p.at++
				continue
			}
			n, reason := checkUnicode(p.src[p.at:])
			if reason != "" {
				return false, carillon.Invalid("body", reason)
			}
			p.at += n - 1
		}
	}
}

// checkUnicode returns the length of the \u escape at the start of s, counting a surrogate pair as one, or the reason
// why it is refused.
func checkUnicode(s string) (n int, reason string) {
	r := utf16Unit(s)
	switch {
	case r == 0:
		return 0, "The character U+0000 is not allowed"
	case !utf16.IsSurrogate(r):
		return 6, ""
	case !strings.HasPrefix(s[6:], `\u`) || utf16.DecodeRune(r, utf16Unit(s[6:])) == '\uFFFD':
		return 0, "A lone surrogate is not a character"
	}
	return 12, ""
}

// utf16Unit decodes the escape at the start of s: \u and four hexadecimal digits.
func utf16Unit(s string) rune {
	n, _ := strconv.ParseUint(s[2:6], 16, 16)
	return rune(n)
}

// unescape decodes the content of a string with escapes, which parser.string has checked.
func unescape(s string) string {
	var text string
	_ = json.Unmarshal([]byte(`"`+s+`"`), &text) // cannot fail: the string is valid
	return text
}
