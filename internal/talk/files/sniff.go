package files

import (
	"bytes"
	"slices"
)

// sniffer finds out what a file is while its bytes pass. Write it all of them, in pieces of at least a few kilobytes but the last.
type sniffer struct {
	begun  bool
	denied bool  // a machine could run it
	first  *kind // by its first bytes; nil for a text and for the family
	family *family
	text   *decoder // nil: it is no text
	tail   []byte   // the end of the last piece, with the beginning of a mark
	found  map[string]bool
}

// family are kinds that begin alike; marks anywhere in a file are what they differ by.
type family struct {
	marks []string
	lower bool // marks are compared in lower case
	kind  func(s *sniffer) *kind
}

// longestMark is the number of bytes of a piece that are looked at again with the next one.
const longestMark = 64

// Write implements io.Writer; it never fails.
func (s *sniffer) Write(p []byte) (int, error) {
	if !s.begun {
		s.begun, s.found = true, map[string]bool{}
		s.begin(p)
	}
	if s.denied {
		return len(p), nil
	}
	if s.family != nil {
		s.look(p)
	}
	if s.text != nil {
		s.text.read(p)
	}
	return len(p), nil
}

// firstBytes are those by which a file is of a kind.
const firstBytes = 4096

// begin decides by the first piece.
func (s *sniffer) begin(p []byte) {
	p = p[:min(len(p), firstBytes)]
	switch {
	case len(p) == 0 || runs(p):
		s.denied = true
		return
	case boxed(p):
		s.first, s.family = box(p)
		return
	}
	for _, m := range magics {
		if len(p) >= m.at && bytes.HasPrefix(p[m.at:], []byte(m.bytes)) && (m.also == nil || m.also(p)) {
			s.first, s.family = m.kind, m.family
			return
		}
	}
	begins := bytes.TrimLeft(bytes.TrimPrefix(p, []byte("\xef\xbb\xbf")), " \t\r\n\f")
	switch {
	case bytes.HasPrefix(begins, []byte("<?xml")):
		s.family = document
	case bytes.HasPrefix(begins, []byte("<")): // a text that begins as markup does might be taken for a page
		s.denied = true
	default:
		s.text = &decoder{}
		if bytes.Contains(p[:min(len(p), pdfBefore+len(pdfBegins))], []byte(pdfBegins)) {
			s.family = mailed
		}
	}
}

// runs reports whether a file begins as programs do.
func runs(p []byte) bool {
	if bytes.HasPrefix(p, []byte("MZ")) {
		return bytes.IndexByte(p[:min(len(p), 64)], 0) >= 0 // no text
	}
	for _, begin := range []string{
		"\x7fELF", "\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe", "dex\n03",
		"\x00asm", "\x4c\x00\x00\x00\x01\x14\x02\x00",
		"\xff\xfe<\x00", "\xfe\xff\x00<", // a page in UTF-16
	} {
		if bytes.HasPrefix(p, []byte(begin)) {
			return true
		}
	}
	return false
}

func (s *sniffer) look(p []byte) {
	p = append(s.tail, p...)
	s.tail = slices.Clone(p[max(0, len(p)-longestMark):])
	if s.family.lower {
		p = bytes.ToLower(p)
	}
	for _, mark := range s.family.marks {
		s.found[mark] = s.found[mark] || bytes.Contains(p, []byte(mark))
	}
}

// any reports whether one of some marks was found.
func (s *sniffer) any(marks ...string) bool {
	return slices.ContainsFunc(marks, func(m string) bool { return s.found[m] })
}

// sofar returns the kind by the bytes until now; sure is false while more of them can change it.
func (s *sniffer) sofar() (k *kind, sure bool) {
	switch {
	case s.denied:
		return nil, true
	case s.first != nil: // of a family the one that may have as many bytes as any
		return s.first, true
	case s.family == nil && s.text.broken:
		return s.text.kind(), true
	}
	return nil, false
}

// kind returns the kind by all bytes; nil for a file that is not taken.
func (s *sniffer) kind() *kind {
	switch {
	case !s.begun || s.denied:
		return nil
	case s.family != nil:
		return s.family.kind(s)
	case s.first != nil:
		return s.first
	}
	return s.text.kind()
}
