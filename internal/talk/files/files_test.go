package files

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// sniffed returns the kind of a file whose bytes arrive in pieces of the given size.
func sniffed(content []byte, piece int) *kind {
	var s sniffer
	for len(content) > piece {
		_, _ = s.Write(content[:piece])
		content = content[piece:]
	}
	_, _ = s.Write(content)
	return s.kind()
}

func TestATypeIsTheSameInPiecesOfAnySize(t *testing.T) {
	office := "PK\x03\x04" + strings.Repeat(".", 4090) + "[Content_Types].xml" + strings.Repeat(".", 8180) + "word/document.xml" +
		strings.Repeat(".", 5000)
	macros := office + strings.Repeat(".", 3000) + "word/vbaProject.bin" + strings.Repeat(".", 5000)
	text := strings.Repeat("ñandú €uro 👩‍👩‍👧\n", 2000)
	for name, tt := range map[string]struct {
		content string
		want    *kind
	}{
		"a document": {office, docx}, "one with macros": {macros, nil}, "a text": {text, texts()},
		"a text that is cut off":        {text + "\xe2\x82", other},
		"a text with a zero far behind": {text + "\x00", other}, "a film": {"\x00\x00\x00\x18ftypmp42" + text, mp4},
		"a sound": {"\x00\x00\x00\x18ftypM4A ....", m4a},
	} {
		for _, piece := range []int{4096, 4097, 4111, 8192, 1 << 20} {
			if got := sniffed([]byte(tt.content), piece); got != tt.want {
				t.Errorf("%s in pieces of %d: %v, want %v", name, piece, got, tt.want)
			}
		}
	}
}

func texts() *kind { return kindOf("text/plain") }

// For any input: a file detected as text cannot be mistaken for a page by a browser, and videos are accepted only as
// media.
func FuzzSniff(f *testing.F) {
	for _, s := range []string{
		"hello", "<svg>", "\xef\xbb\xbf\n<!doctype html>", "PK\x03\x04[Content_Types].xml word/document.xml", "%PDF-1.7",
		"\x89PNG\r\n\x1a\n", "\x00\x00\x00\x18ftypisom",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		k := sniffed(content, 4096)
		if whole := sniffed(content, 1<<20); whole != k && !bytes.HasPrefix(content, []byte("PK\x03\x04")) {
			t.Errorf("in pieces %v, at once %v", k, whole)
		}
		if k != texts() {
			return
		}
		begins := strings.TrimLeft(strings.TrimPrefix(string(content), "\ufeff"), " \t\r\n\f")
		if !utf8.Valid(content) || bytes.ContainsRune(content, 0) || strings.HasPrefix(begins, "<") {
			t.Errorf("%q is called a text", content)
		}
	})
}

// For any given name: the stored name is one short line without a path, and ends with an extension of the file's type.
func FuzzSafeName(f *testing.F) {
	for _, s := range []string{
		"a.png", "../../a.png", `C:\a`, "a\u202egnp.exe", "...", "", ".png", "a.PNG", "a\r\nb", "\xff.png",
		strings.Repeat("x", 300), strings.Repeat("x", 115) + " . y.png", "a .png ",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, given string) {
		for _, k := range append([]*kind{mp4}, kinds...) {
			name := safeName(given, k)
			i := strings.LastIndexByte(name, '.')
			switch {
			case !utf8.ValidString(name), utf8.RuneCountInString(name) > maxName, strings.ContainsAny(name, `/\<>:"|?*`), i < 1:
				t.Errorf("%q became %q", given, name)
			case strings.ContainsFunc(name, func(c rune) bool {
				return unicode.IsControl(c) || unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp)
			}):
				t.Errorf("%q became %q, which has characters that are not seen", given, name)
			case !strings.Contains(strings.Join(k.extensions, " ")+" ", strings.ToLower(name[i:])+" "):
				t.Errorf("%q became %q for %s", given, name, k.media)
			case safeName(name, k) != name:
				t.Errorf("%q became %q, then %q", given, name, safeName(name, k))
			}
		}
	})
}
