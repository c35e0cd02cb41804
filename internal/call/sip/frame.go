package sip

import (
	"bytes"
	"strconv"
	"strings"
)

// frame tracks where messages begin and end in a stream (RFC 3261, section 18.3), without parsing them. The zero value
// is at the beginning.
type frame struct {
	line   []byte // the current line so far
	head   bool   // a message has begun
	length int    // of the body
	left   int    // remaining bytes of the body
}

const maxFrameLine = 64 // bytes of a line that are examined, enough for Content-Length

// read processes bytes, and returns the number of messages that ended in them.
func (f *frame) read(b []byte) (ended int) {
	for len(b) > 0 {
		if f.left > 0 {
			n := min(f.left, len(b))
			if f.left -= n; f.left == 0 {
				ended++
			}
			b = b[n:]
			continue
		}
		n := bytes.IndexByte(b, '\n')
		if n < 0 {
			f.keep(b)
			break
		}
		f.keep(b[:n])
		b = b[n+1:]
		if f.endLine() {
			if f.left = f.length; f.left == 0 {
				ended++
			}
			f.head, f.length = false, 0
		}
	}
	return ended
}

func (f *frame) keep(b []byte) {
	f.line = append(f.line, b[:min(len(b), maxFrameLine-len(f.line))]...)
}

// endLine handles the end of a line, and reports whether it ends a message's headers.
func (f *frame) endLine() bool {
	line := strings.TrimRight(string(f.line), "\r")
	f.line = f.line[:0]
	if line == "" {
		return f.head // otherwise it is a keep-alive
	}
	f.head = true
	name, value, _ := strings.Cut(line, ":")
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "content-length", "l":
		if n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 31); err == nil {
			f.length = int(n)
		}
	}
	return false
}

// within reports whether a message has begun and not ended yet.
func (f *frame) within() bool {
	return f.head || f.left > 0 || len(bytes.Trim(f.line, "\r")) > 0
}
