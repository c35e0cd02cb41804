package jsonbody

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"carillon"
)

// maxDepth is how deep objects and arrays may nest in a body.
const maxDepth = 32

// manyMembers is the size of an object from which duplicate keys are found with a set instead of a scan.
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
	kindEscaped // a string that holds escapes
	kindObject
	kindArray
)

// node is one value of a document. The nodes inside an object or array follow it, up to index next.
// It holds no pointers, so the garbage collector does not scan it.
type node struct {
	keyStart, keyEnd uint32 // of a member's key in the source; keyEnd 0: keyStart is an index into document.escaped
	start, end       uint32 // of the value in the source, including a string's quotes
	next             uint32 // index of the node after this value and everything inside it
	kind             kind
}

// document is a fully checked JSON text with its values in source order.
type document struct {
	src     string
	nodes   []node
	escaped []string // the unescaped form of the keys that were written with escapes
}

// key returns the unescaped key of a member. No key in the source can end at offset 0.
func (d *document) key(i int) string {
	n := &d.nodes[i]
	if n.keyEnd == 0 {
		return d.escaped[n.keyStart]
	}
	return d.src[n.keyStart:n.keyEnd]
}

// parse checks a whole body in one pass: UTF-8, the grammar of RFC 8259, no U+0000, no lone surrogate, no duplicate key
// in an object, nothing after the value, at most 32 levels. Every error is a 400 for the field `body`.
func parse(body []byte) (*document, error) {
	if uint64(len(body)) > 1<<31 {
		return nil, carillon.Invalid("body", "The body is too large")
	}
	if !utf8.Valid(body) {
		return nil, carillon.Invalid("body", "The body is not valid UTF-8")
	}
	p := parser{document: document{src: string(body)}}
	p.nodes = make([]node, 0, min(2+strings.Count(p.src, ":"), 1024))
	p.space()
	if p.at == len(p.src) {
		return nil, carillon.Invalid("body", "The body is empty")
	}
	if err := p.value(span{}, 1); err != nil {
		return nil, err
	}
	p.space()
	if p.at < len(p.src) {
		return nil, carillon.Invalid("body", fmt.Sprintf("Unexpected data after the JSON value, at byte %d", p.at))
	}
	return &p.document, nil
}

// parser is the state of one pass over a body.
type parser struct {
	document
	at int
}

// span is the position of a key, in the form node stores.
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

func (p *parser) fail() error {
	return carillon.Invalid("body", fmt.Sprintf("Invalid JSON at byte %d", p.at))
}

// value reads the value at p.at and appends its nodes; depth is its nesting level if it is an object or array.
func (p *parser) value(key span, depth int) error {
	if p.at == len(p.src) {
		return p.fail()
	}
	start, index := p.at, len(p.nodes)
	if index == cap(p.nodes) {
		// The number of commas left is close to the number of values left, so a large body is copied only once.
		p.nodes = slices.Grow(p.nodes, max(index, 64+strings.Count(p.src[p.at:], ",")))
	}
	p.nodes = append(p.nodes, node{keyStart: key.start, keyEnd: key.end})
	var k kind
	var err error
	switch c := p.src[p.at]; c {
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
		k, err = kindTrue, p.literal("true")
	case 'f':
		k, err = kindFalse, p.literal("false")
	case 'n':
		k, err = kindNull, p.literal("null")
	default:
		k, err = kindNumber, p.number()
	}
	if err != nil {
		return err
	}
	n := &p.nodes[index]
	n.kind, n.start, n.end, n.next = k, uint32(start), uint32(p.at), uint32(len(p.nodes)) // parse limits the source to 2 GiB
	return nil
}

func (p *parser) literal(w string) error {
	if !strings.HasPrefix(p.src[p.at:], w) {
		return p.fail()
	}
	p.at += len(w)
	return nil
}

func (p *parser) members(object, depth int) error {
	if depth > maxDepth {
		return tooDeep()
	}
	p.at++
	p.space()
	if p.at < len(p.src) && p.src[p.at] == '}' {
		p.at++
		return nil
	}
	keys := keySet{object: object}
	for {
		key, at, err := p.member()
		if err != nil {
			return err
		}
		if keys.seen(&p.document, key) {
			return carillon.Invalid("body", fmt.Sprintf("The key %q occurs twice in one object", carillon.Shorten(key)))
		}
		if err := p.value(at, depth+1); err != nil {
			return err
		}
		more, err := p.more('}')
		if !more {
			return err
		}
	}
}

func (p *parser) elements(depth int) error {
	if depth > maxDepth {
		return tooDeep()
	}
	p.at++
	p.space()
	if p.at < len(p.src) && p.src[p.at] == ']' {
		p.at++
		return nil
	}
	for {
		if err := p.value(span{}, depth+1); err != nil {
			return err
		}
		more, err := p.more(']')
		if !more {
			return err
		}
	}
}

func tooDeep() error {
	return carillon.Invalid("body", fmt.Sprintf("The body nests deeper than %d levels", maxDepth))
}

// more consumes what follows a value in an object or array: a comma and white space, or the closing byte.
func (p *parser) more(closing byte) (bool, error) {
	p.space()
	if p.at == len(p.src) {
		return false, p.fail()
	}
	switch p.src[p.at] {
	case closing:
		p.at++
		return false, nil
	case ',':
		p.at++
		p.space()
		return true, nil
	}
	return false, p.fail()
}

// member consumes a member's key, the colon and white space.
func (p *parser) member() (key string, at span, err error) {
	if p.peek() != '"' {
		return "", span{}, p.fail()
	}
	start := p.at + 1
	escaped, err := p.string()
	if err != nil {
		return "", span{}, err
	}
	key = p.src[start : p.at-1]
	at = span{uint32(start), uint32(p.at - 1)}
	if escaped {
		key = unescape(key)
		at = span{start: uint32(len(p.escaped))}
		p.escaped = append(p.escaped, key)
	}
	p.space()
	if p.peek() != ':' {
		return "", span{}, p.fail()
	}
	p.at++
	p.space()
	return key, at, nil
}

// keySet detects duplicate keys of the object being read. It scans the nodes for small objects and builds a set for
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
