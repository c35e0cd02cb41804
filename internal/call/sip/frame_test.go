package sip

import (
	"strings"
	"testing"

	"github.com/emiago/sipgo/sip"
)

const (
	framedHead = "OPTIONS sip:a SIP/2.0\r\nVia: SIP/2.0/TCP a;branch=z9hG4bK1\r\nCSeq: 1 OPTIONS\r\n"
	framed     = framedHead + "Content-Length: 4\r\n\r\nbody"
	unframed   = framedHead + "l: 0\r\n\r\n"
)

func TestAFrameFollowsMessages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		ended      int
		within     bool
	}{
		{"nothing", "", 0, false},
		{"keep-alive", "\r\n\r\n\r\n", 0, false},
		{"half a keep-alive", "\r", 0, false},
		{"a message", framed, 1, false},
		{"two, kept alive between", framed + "\r\n\r\n" + unframed, 2, false},
		{"the first byte", "O", 0, true},
		{"no end of the headers", framedHead, 0, true},
		{"no body", framed[:len(framed)-4], 0, true},
		{"most of a body", framed[:len(framed)-1], 0, true},
		{"a message and the beginning of another", unframed + "INV", 1, true},
		{"a length in another case", strings.Replace(framed, "Content-Length: 4", "CONTENT-LENGTH :  4 ", 1), 1, false},
		{"a length behind a long line", strings.Replace(framed, "CSeq", "X: "+strings.Repeat("x", 1000)+"\r\nCSeq", 1), 1, false},
		{"no number", strings.Replace(unframed, "l: 0", "l: -1", 1), 1, false},
	} {
		for step := 1; step <= 7; step += 3 { // in pieces of different sizes
			var f frame
			ended := 0
			for i := 0; i < len(c.text); i += step {
				ended += f.read([]byte(c.text[i:min(i+step, len(c.text))]))
			}
			if ended != c.ended || f.within() != c.within {
				t.Errorf("%s, by %d: %d messages ended, within one: %v", c.name, step, ended, f.within())
			}
		}
	}
}

// The frame finds the same messages as sipgo's parser, no matter where the stream is split.
func FuzzFrame(f *testing.F) {
	f.Add(framed+"\r\n"+unframed, 3)
	f.Add(framed+framed, 100)
	f.Add(framedHead+"Content-Length: 3\r\nContent-Length: 5\r\n\r\nhello", 1)
	f.Fuzz(func(t *testing.T, text string, step int) {
		if step <= 0 {
			return
		}
		stream := sip.NewParser().NewSIPStream()
		defer stream.Close()
		var x frame
		parsed, ended := 0, 0
		for i := 0; i < len(text); i += step {
			piece := []byte(text[i:min(i+step, len(text))])
			err := stream.ParseSIPStream(piece, func(sip.Message) { parsed++ })
			if err != nil && err != sip.ErrParseSipPartial { //nolint:errorlint // as sipgo compares it
				return // the connection is closed
			}
			ended += x.read(piece)
		}
		if parsed > ended {
			t.Errorf("%d messages, and %d ended", parsed, ended)
		}
	})
}
