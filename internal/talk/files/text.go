package files

import "unicode/utf8"

// decoder determines whether bytes are text, and the encoding.
type decoder struct {
	broken bool   // not UTF-8, or has control characters
	binary bool   // not windows-1252 either
	rest   []byte // incomplete character at the end of the previous piece
}

func (d *decoder) read(p []byte) {
	for _, c := range p {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' || c == 0x7f {
			d.broken, d.binary = true, true
			return
		}
		// These five are undefined in windows-1252.
		d.binary = d.binary || c == 0x81 || c == 0x8d || c == 0x8f || c == 0x90 || c == 0x9d
	}
	if d.broken {
		return
	}
	p = append(d.rest, p...)
	d.rest = nil
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		if r == utf8.RuneError && n <= 1 {
			if d.broken = utf8.FullRune(p); !d.broken {
				d.rest = append(d.rest, p...)
			}
			return
		}
		p = p[n:]
	}
}

// kind returns the kind by all bytes.
func (d *decoder) kind() *kind {
	switch {
	case !d.broken && len(d.rest) == 0:
		return text
	case !d.binary:
		return ansi
	}
	return other
}
