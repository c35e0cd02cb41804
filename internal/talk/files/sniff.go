package files

import (
	"bytes"
	"slices"
)

// sniffer detects the kind of a file from its bytes. All bytes must be written, in pieces of at least a few kilobytes,
// except the last.
type sniffer struct {
	begun  bool
	denied bool  // executable
	first  *kind // kind by the first bytes; nil for texts
	family *family
	text   *decoder // nil if it is not a text
	tail   []byte   // end of the previous piece, which may hold the beginning of a mark
	found  map[string]bool
}

// family is a group of kinds that begin alike. Marks anywhere in the file distinguish them.
type family struct {
	marks []string
	lower bool // compare marks in lower case
	kind  func(s *sniffer) *kind
}

// longestMark is the overlap between pieces, in bytes, so that a mark across two pieces is found.
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

// firstBytes is the number of leading bytes that identify a kind.
const firstBytes = 4096

// begin examines the first piece.
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
	case bytes.HasPrefix(begins, []byte("<")): // a browser might show a text that begins like markup as a page
		s.denied = true
	default:
		s.text = &decoder{}
		if bytes.Contains(p[:min(len(p), pdfBefore+len(pdfBegins))], []byte(pdfBegins)) {
			s.family = mailed
		}
	}
}

// runs reports whether a file begins like an executable.
func runs(p []byte) bool {
	if bytes.HasPrefix(p, []byte("MZ")) {
		return bytes.IndexByte(p[:min(len(p), 64)], 0) >= 0 // binary, not a text
	}
	for _, begin := range []string{
		"\x7fELF", "\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe", "dex\n03",
		"\x00asm", "\x4c\x00\x00\x00\x01\x14\x02\x00",
		"\xff\xfe<\x00", "\xfe\xff\x00<", // markup in UTF-16
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

// any reports whether one of the marks was found.
func (s *sniffer) any(marks ...string) bool {
	return slices.ContainsFunc(marks, func(m string) bool { return s.found[m] })
}

// sofar returns the kind by the bytes so far. sure is false while further bytes can change it.
func (s *sniffer) sofar() (k *kind, sure bool) {
	switch {
	case s.denied:
		return nil, true
	case s.first != nil: // for a family: the kind with the highest size limit
		return s.first, true
	case s.family == nil && s.text.broken:
		return s.text.kind(), true
	}
	return nil, false
}

// kind returns the kind by all bytes, or nil for a file that is not accepted.
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
