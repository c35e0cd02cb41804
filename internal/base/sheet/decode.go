package sheet

import (
	"bufio"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// Encoding is the character encoding of a file.
type Encoding string

// The encodings that spreadsheets write.
const (
	UTF8        Encoding = "UTF-8"
	UTF16LE     Encoding = "UTF-16LE"
	UTF16BE     Encoding = "UTF-16BE"
	Windows1252 Encoding = "Windows-1252"
)

// decoder decodes a file to UTF-8 with LF line ends. A byte order mark determines the encoding, and a zero byte in the
// first character means UTF-16. Otherwise the characters beyond ASCII decide between UTF-8 and Windows-1252. Invalid
// bytes become U+FFFD.
type decoder struct {
	r       *bufio.Reader
	enc     Encoding
	decided bool
	ended   bool   // the last character was CR, which already ended the line
	rest    []byte // remaining bytes of a character that did not fit
	err     error
}

const lookAhead = 64 << 10

func newDecoder(r io.Reader) *decoder {
	d := &decoder{r: bufio.NewReaderSize(r, lookAhead), enc: UTF8}
	begin, _ := d.r.Peek(3) // an error will recur on the next read
	skip := 0
	switch {
	case len(begin) >= 3 && begin[0] == 0xEF && begin[1] == 0xBB && begin[2] == 0xBF:
		d.decided, skip = true, 3
	case len(begin) >= 2 && begin[0] == 0xFF && begin[1] == 0xFE:
		d.enc, d.decided, skip = UTF16LE, true, 2
	case len(begin) >= 2 && begin[0] == 0xFE && begin[1] == 0xFF:
		d.enc, d.decided, skip = UTF16BE, true, 2
	case len(begin) >= 2 && begin[0] != 0 && begin[1] == 0:
		d.enc, d.decided = UTF16LE, true
	case len(begin) >= 2 && begin[0] == 0 && begin[1] != 0:
		d.enc, d.decided = UTF16BE, true
	}
	_, _ = d.r.Discard(skip)
	return d
}

// Read implements io.Reader.
func (d *decoder) Read(p []byte) (n int, err error) {
	n = copy(p, d.rest)
	d.rest = d.rest[n:]
	var character [utf8.UTFMax]byte
	for n < len(p) && len(d.rest) == 0 && d.err == nil {
		r, err := d.next()
		if err != nil {
			d.err = err
			break
		}
		if r == '\n' && d.ended {
			d.ended = false
			continue
		}
		if d.ended = r == '\r'; d.ended {
			r = '\n'
		}
		if r < utf8.RuneSelf {
			p[n] = byte(r)
			n++
			continue
		}
		size := utf8.EncodeRune(character[:], r)
		written := copy(p[n:], character[:size])
		d.rest = append(d.rest[:0], character[written:size]...)
		n += written
	}
	if n == 0 && len(p) > 0 {
		return 0, d.err
	}
	return n, nil
}

// next reads a character.
func (d *decoder) next() (rune, error) {
	if d.enc == UTF16LE || d.enc == UTF16BE {
		return d.wide()
	}
	b, err := d.r.ReadByte()
	if err != nil || b < utf8.RuneSelf {
		return rune(b), err
	}
	if err := d.r.UnreadByte(); err != nil {
		return 0, err
	}
	if !d.decided {
		d.decide()
	}
	if d.enc == UTF8 {
		begin, _ := d.r.Peek(utf8.UTFMax)
		r, size := utf8.DecodeRune(begin)
		_, err = d.r.Discard(size)
		return r, err
	}
	b, err = d.r.ReadByte()
	if b >= 0x80 && b < 0xA0 {
		return windows1252[b-0x80], err
	}
	return rune(b), err
}

// decide chooses between UTF-8 and Windows-1252: does the rest of the buffer contain more UTF-8 characters or more
// invalid bytes?
func (d *decoder) decide() {
	d.decided = true
	text, _ := d.r.Peek(lookAhead)
	goesOn := len(text) == lookAhead // the buffer may end in the middle of a character
	fit, unfit := 0, 0
	for len(text) > 0 && (utf8.FullRune(text) || !goesOn) {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && size == 1:
			unfit++
		case size > 1:
			fit++
		}
		text = text[size:]
	}
	if unfit > fit {
		d.enc = Windows1252
	}
}

// wide reads a UTF-16 character.
func (d *decoder) wide() (rune, error) {
	unit, err := d.unit()
	if err != nil || !utf16.IsSurrogate(unit) {
		return unit, err
	}
	next, err := d.r.Peek(2)
	if err != nil {
		return utf8.RuneError, nil //nolint:nilerr // the file ends in the middle of a character
	}
	r := utf16.DecodeRune(unit, d.unitOf(next[0], next[1]))
	if r != utf8.RuneError {
		_, err = d.r.Discard(2)
	}
	return r, err
}

func (d *decoder) unit() (rune, error) {
	first, err := d.r.ReadByte()
	if err != nil {
		return 0, err
	}
	second, err := d.r.ReadByte()
	if errors.Is(err, io.EOF) {
		return utf8.RuneError, nil // the next read reports the end again
	}
	return d.unitOf(first, second), err
}

func (d *decoder) unitOf(first, second byte) rune {
	if d.enc == UTF16BE {
		first, second = second, first
	}
	return rune(first) | rune(second)<<8
}

// windows1252 maps the bytes from 0x80 to 0x9F; five are not defined.
//
//nolint:gochecknoglobals // a constant table
var windows1252 = [32]rune{
	0x20AC, utf8.RuneError, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
	0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, utf8.RuneError, 0x017D, utf8.RuneError,
	utf8.RuneError, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
	0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, utf8.RuneError, 0x017E, 0x0178,
}
