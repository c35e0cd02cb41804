package carillon

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxDepth is how deep objects and arrays may nest in a body (decisions.md, section 1).
const maxDepth = 32

// manyMembers is the size of an object from which its keys are compared through a set and no longer one by one.
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

// node is one value of a document. The nodes of an object or array follow it, up to next.
// It holds no pointers, so that the collector passes over it.
type node struct {
	keyStart, keyEnd uint32 // in an object: the key in the source, or keyEnd 0 and keyStart its place among odd
	start, end       uint32 // of the value in the source, the quotes of a string included
	next             uint32 // the node behind this value and all within
	kind             kind
}

// document is a JSON text that was checked in full, and its values in the order of the text.
type document struct {
	src   string
	nodes []node
	odd   []string // the keys that were written with escapes, unescaped
}

// key is the unescaped key of a member. In the source a key cannot end at 0.
func (d *document) key(i int) string {
	n := &d.nodes[i]
	if n.keyEnd == 0 {
		return d.odd[n.keyStart]
	}
	return d.src[n.keyStart:n.keyEnd]
}

// readJSON checks a whole body in one pass: UTF-8, the grammar of RFC 8259, no U+0000, no lone surrogate, no key twice
// in one object, nothing after the value, nesting up to 32. Whatever is wrong is a 400 of the field `body`.
func readJSON(body []byte) (*document, error) {
	if uint64(len(body)) > 1<<31 {
		return nil, Invalid("body", "The body is too large")
	}
	if !utf8.Valid(body) {
		return nil, Invalid("body", "The body is not valid UTF-8")
	}
	p := jsonReader{document: document{src: string(body)}}
	p.nodes = make([]node, 0, min(2+strings.Count(p.src, ":"), 1024))
	p.space()
	if p.at == len(p.src) {
		return nil, Invalid("body", "The body is empty")
	}
	if err := p.value(span{}, 1); err != nil {
		return nil, err
	}
	p.space()
	if p.at < len(p.src) {
		return nil, Invalid("body", fmt.Sprintf("Unexpected data after the JSON value, at byte %d", p.at))
	}
	return &p.document, nil
}

// jsonReader is the state of one pass.
type jsonReader struct {
	document
	at int
}

// span is where a key stands, as node keeps it.
type span struct{ start, end uint32 }

func (p *jsonReader) space() {
	for p.at < len(p.src) {
		switch p.src[p.at] {
		case ' ', '\n', '\r', '\t':
			p.at++
		default:
			return
		}
	}
}

func (p *jsonReader) fail() error {
	return Invalid("body", fmt.Sprintf("Invalid JSON at byte %d", p.at))
}

// value reads one value that begins at p.at and adds its nodes; depth is the nesting it would have as a container.
func (p *jsonReader) value(key span, depth int) error {
	if p.at == len(p.src) {
		return p.fail()
	}
	start, index := p.at, len(p.nodes)
	if index == cap(p.nodes) {
		// The commas ahead tell nearly all values to come: a body of many is moved once and not at each growth.
		p.nodes = slices.Grow(p.nodes, max(index, 64+strings.Count(p.src[p.at:], ",")))
	}
	p.nodes = append(p.nodes, node{keyStart: key.start, keyEnd: key.end})
	var k kind
	var err error
	switch c := p.src[p.at]; c {
	case '"':
		var escaped bool
		escaped, err = p.text()
		k = kindString
		if escaped {
			k = kindEscaped
		}
	case '{':
		k, err = kindObject, p.members(index, depth)
	case '[':
		k, err = kindArray, p.elements(depth)
	case 't':
		k, err = kindTrue, p.word("true")
	case 'f':
		k, err = kindFalse, p.word("false")
	case 'n':
		k, err = kindNull, p.word("null")
	default:
		k, err = kindNumber, p.number()
	}
	if err != nil {
		return err
	}
	n := &p.nodes[index]
	n.kind, n.start, n.end, n.next = k, uint32(start), uint32(p.at), uint32(len(p.nodes)) // readJSON bounds the source
	return nil
}

func (p *jsonReader) word(w string) error {
	if !strings.HasPrefix(p.src[p.at:], w) {
		return p.fail()
	}
	p.at += len(w)
	return nil
}

func (p *jsonReader) members(object, depth int) error {
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
		if keys.has(&p.document, key) {
			return Invalid("body", fmt.Sprintf("The key %q occurs twice in one object", shortened(key)))
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

func (p *jsonReader) elements(depth int) error {
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
	return Invalid("body", fmt.Sprintf("The body nests deeper than %d levels", maxDepth))
}

// more reads what follows a value inside a container: a comma and the space behind it, or the closing byte.
func (p *jsonReader) more(closing byte) (bool, error) {
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

// member reads a member's key, the colon and the space behind it.
func (p *jsonReader) member() (key string, at span, err error) {
	if p.peek() != '"' {
		return "", span{}, p.fail()
	}
	start := p.at + 1
	escaped, err := p.text()
	if err != nil {
		return "", span{}, err
	}
	key = p.src[start : p.at-1]
	at = span{uint32(start), uint32(p.at - 1)}
	if escaped {
		key = unescape(key)
		at = span{start: uint32(len(p.odd))}
		p.odd = append(p.odd, key)
	}
	p.space()
	if p.peek() != ':' {
		return "", span{}, p.fail()
	}
	p.at++
	p.space()
	return key, at, nil
}

// keySet tells whether a key occurred before in the object being read. It looks at the nodes already there and makes
// a set of its own only for large objects, so that neither the usual body nor a hostile one is slow.
type keySet struct {
	object int
	count  int
	set    map[string]struct{}
}

func (s *keySet) has(d *document, key string) bool {
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
