package link_test

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"carillon"
	"carillon/internal/send/link"
)

func codec(t *testing.T, b byte) *link.Codec {
	t.Helper()
	c, err := link.New(bytes.Repeat([]byte{b}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTokensAreReadAsWritten(t *testing.T) {
	c, form := codec(t, 1), regexp.MustCompile(`^[A-Za-z0-9_-]{22}$`)
	seen := map[string]bool{}
	for _, b := range []link.Button{
		{1, -1, 0},
		{1, -1, 1},
		{1, 0, 1},
		{1, 9, 1},
		{carillon.MessageKey(1<<62 + 127), -1, 9},
		{carillon.MessageKey(1<<63 - 1), 9, 9},
	} {
		token := c.Token(b)
		if got, ok := c.Read(token); !ok || got != b || !form.MatchString(token) || seen[token] || token != c.Token(b) {
			t.Errorf("%+v: %s, %+v %v", b, token, got, ok)
		}
		seen[token] = true
	}
}

func TestForgedTokensAreRefused(t *testing.T) {
	c := codec(t, 1)
	token := c.Token(link.Button{Message: 1 << 40, Card: -1, Index: 1})
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	forged := []string{
		"", token[:21], token + "A", " " + token, token + "\n", token[:10] + "\n" + token[10:], strings.Repeat("A", 22),
		strings.Repeat("_", 22), strings.Repeat("=", 22), codec(t, 2).Token(link.Button{Message: 1 << 40, Card: -1, Index: 1}),
	}
	for bit := range 128 {
		x := bytes.Clone(raw)
		x[bit/8] ^= 1 << (bit % 8)
		forged = append(forged, base64.RawURLEncoding.EncodeToString(x))
	}
	for unused := range 16 { // the four bits of the last character that hold nothing
		const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
		if last := letters[strings.IndexByte(letters, token[21])|unused]; last != token[21] {
			forged = append(forged, token[:21]+string(last))
		}
	}
	for _, x := range forged {
		if b, ok := c.Read(x); ok {
			t.Errorf("%q: %+v", x, b)
		}
	}
}

func FuzzRead(f *testing.F) {
	c, err := link.New(make([]byte, 32))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(c.Token(link.Button{Message: 300, Card: 2, Index: 1}))
	f.Add("AAAAAAAAAAAAAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, token string) {
		if b, ok := c.Read(token); ok && c.Token(b) != token {
			t.Errorf("%q: %+v", token, b)
		}
	})
}
