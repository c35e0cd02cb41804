package sheet

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"carillon"
)

// all reads a complete file.
func all(r io.Reader) (names []string, rows []Row, enc Encoding, err error) {
	t, err := Open(r)
	if err != nil {
		return nil, nil, "", err
	}
	for {
		r, err := t.Next()
		if errors.Is(err, io.EOF) {
			return t.Names, rows, t.Encoding(), nil
		}
		if err != nil {
			return t.Names, rows, t.Encoding(), err
		}
		rows = append(rows, r)
	}
}

// A name in Windows-1252 may contain bytes that form a UTF-8 character, and the buffer may end in the middle of a
// character.
func TestAnEncodingIsChosenByMostOfTheText(t *testing.T) {
	_, rows, enc, err := all(strings.NewReader("phone,name\n1,CAF\xc9\x92S\n2,Nu\xf1ez\n3,Jos\xe9\n"))
	if err != nil || enc != Windows1252 || rows[0].Cells[1] != "CAFÉ’S" || rows[2].Cells[1] != "José" {
		t.Error(rows, enc, err)
	}
	for _, c := range []string{"ñ", "€", "😀"} {
		for before := range len(c) { // bytes of the second such character within the buffer
			text := "phone,name\n1,é\n"
			end := strings.Index(text, "é") + lookAhead - before
			for len(text) < end-2 {
				text += "2," + strings.Repeat("x", min(100, end-2-len(text)-3)) + "\n"
			}
			text += strings.Repeat("3", end-1-len(text)) + "," + c + "\n"
			if strings.Index(text, c) != end {
				t.Fatal("the character does not stand at the end of the buffer")
			}
			_, rows, enc, err := all(strings.NewReader(text))
			if err != nil || enc != UTF8 || rows[0].Cells[1] != "é" || rows[len(rows)-1].Cells[1] != c {
				t.Errorf("%s, of which %d bytes are looked at: %s, %v, %v", c, before, enc, rows[0], err)
			}
		}
	}
}

func wide(text string, big bool) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(text)) {
		if big {
			b.Write([]byte{byte(u >> 8), byte(u)})
		} else {
			b.Write([]byte{byte(u), byte(u >> 8)})
		}
	}
	return b.String()
}

func TestFilesAreReadAsSpreadsheetsWriteThem(t *testing.T) {
	names := []string{"Teléfono", "Nombre"}
	rows := []Row{
		{2, []string{"34600111222", "Íñigo\u00a0€"}},
		{3, []string{"34600111223", "two\nlines; \"quoted\""}},
		{6, []string{"34600111224", ""}},
	}
	text := "Teléfono;Nombre\r\n34600111222;Íñigo\u00a0€\r\n34600111223;\"two\nlines; \"\"quoted\"\"\"\r\n;\r\n34600111224\r\n"
	latin := strings.NewReplacer("é", "\xe9", "Í", "\xcd", "ñ", "\xf1", "\u00a0", "\xa0", "€", "\x80").Replace(text)
	for name, c := range map[string]struct {
		text string
		enc  Encoding
	}{
		"UTF-8": {text, UTF8}, "UTF-8 with a mark": {"\xef\xbb\xbf" + text, UTF8}, "Windows-1252": {latin, Windows1252},
		"UTF-16LE": {"\xff\xfe" + wide(text, false), UTF16LE}, "UTF-16BE": {"\xfe\xff" + wide(text, true), UTF16BE},
		"UTF-16LE without a mark": {wide(text, false), UTF16LE},
		"tabs":                    {strings.ReplaceAll(strings.ReplaceAll(text, ";", "\t"), "lines\t", "lines;"), UTF8},
		"commas":                  {strings.ReplaceAll(strings.ReplaceAll(text, ";", ","), "lines,", "lines;"), UTF8},
		"bars":                    {strings.ReplaceAll(strings.ReplaceAll(text, ";", "|"), "lines|", "lines;"), UTF8},
		"ends of lines of Unix":   {strings.ReplaceAll(text, "\r\n", "\n"), UTF8},
		"ends of lines of a Mac":  {strings.ReplaceAll(text, "\r\n", "\r"), UTF8},
		"UTF-16LE of a Mac":       {"\xff\xfe" + wide(strings.ReplaceAll(text, "\r\n", "\r"), false), UTF16LE},
		"a line break of Windows": {strings.ReplaceAll(text, "two\nlines", "two\r\nlines"), UTF8},
	} {
		for how, r := range map[string]io.Reader{
			"at once": strings.NewReader(c.text), "in bytes": iotest.OneByteReader(strings.NewReader(c.text)),
		} {
			gotNames, gotRows, enc, err := all(r)
			if d := cmp.Diff(rows, gotRows); err != nil || enc != c.enc || d != "" || cmp.Diff(names, gotNames) != "" {
				t.Errorf("%s, read %s: %v, %s, %v, %s", name, how, err, enc, gotNames, d)
			}
		}
	}
	for _, end := range []string{"\r\n", "\n", "\r"} {
		gotNames, gotRows, _, err := all(strings.NewReader(strings.ReplaceAll("sep=|\nphone|name,first\n34600111222|a,b\n", "\n", end)))
		if want := []Row{{3, []string{"34600111222", "a,b"}}}; err != nil || cmp.Diff(want, gotRows) != "" || gotNames[1] != "name,first" {
			t.Errorf("%q: %v, %v, %v", end, gotNames, gotRows, err)
		}
	}
}

func TestWhatIsNoTableIsRefusedWithTheLine(t *testing.T) {
	for name, c := range map[string]struct{ text, reason string }{
		"nothing":                 {"", "empty"},
		"numbers alone":           {"34600111222\n34600111223\n", "names of the columns"},
		"a bare quote":            {"phone,name\n34600111222,a \"b\" c\n", "Line 2: A quotation mark"},
		"an open quote":           {"phone,name\n34600111222,a\n34600111223,\"b\n", "Line 3: Quotation marks"},
		"too many cells":          {"phone,name\n34600111222,a\n34600111223,b,c\n", "Line 3: The row has 3 cells"},
		"a long cell":             {"phone,name\n34600111222," + strings.Repeat("é", 4097) + "\n", "Line 2: A cell has more than 4096"},
		"mixed encodings":         {"phone,name\n34600111222,é\n34600111223,\xe9\n", `Line 3: Column "name" has a character`},
		"mixed, the other first":  {"phone,name\n34600111222,\xe9\n34600111223,é\n", `Line 2: Column "name" has a character`},
		"a character cut in half": {"phone,name\n34600111222,Jos\xc3\n34600111223,Íñigo\n", `Line 2: Column "name" has a character`},
		"a character lost before": {"phone,name\n34600111222,Nu\ufffdez\n", `Line 2: Column "name" has a character`},
		"a byte of DOS":           {"phone,name\n34600111222,M\x81ller\n", `Line 2: Column "name" has a character`},
		"a name cut in half":      {"phone,Tel\xc3\n34600111222,é\n", "Line 1: The name of column 2 has a character"},
		"a broken surrogate":      {"\xff\xfe" + wide("phone\n", false) + "\x00\xd8a\x00", `Line 2: Column "phone" has a character`},
		"half a surrogate":        {"\xff\xfe" + wide("phone\n1", false) + "\x00\xd8", `Line 2: Column "phone" has a character`},
		"an odd byte":             {"\xfe\xff" + wide("phone\n1", true) + "2", `Line 2: Column "phone" has a character`},
		"a picture":               {"phone,\x00name\x00\n1,\x00\n", "names of the columns|CSV"},
	} {
		_, _, _, err := all(strings.NewReader(c.text))
		e, ok := errors.AsType[*carillon.Error](err)
		if !ok || e.Code != carillon.ValidationFailed {
			t.Errorf("%s: %v", name, err)
			continue
		}
		reason, _ := e.Details.Find("reason").(string)
		fits := false
		for part := range strings.SplitSeq(c.reason, "|") {
			fits = fits || strings.Contains(reason, part)
		}
		if !fits {
			t.Errorf("%s: %s", name, reason)
		}
	}
}

// endless repeats a text until a number of bytes has been read.
type endless struct {
	text string
	left int
	read int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) && e.left > 0 {
		k := copy(p[n:], e.text)
		n += k
		e.left -= k
	}
	e.read += n
	return n, nil
}

// TestARowWithoutAnEndIsRefusedBeforeItIsHeld reads files of 31 MB whose rows exceed the bounds: reading stops at the
// bound.
func TestARowWithoutAnEndIsRefusedBeforeItIsHeld(t *testing.T) {
	for name, c := range map[string]struct{ begin, text, reason string }{
		"commas":                     {"", ",", "Line 1: The row has more than 16384 cells: is this a CSV file?"},
		"semicolons after the names": {"number;name\n", ";", "Line 2: The row has more than 16384 cells: is this a CSV file?"},
		"one cell":                   {"number\n", "x", "Line 2: The row has more than 2097152 bytes: is a quotation mark missing?"},
		"a quotation mark": {
			"number,name\n34600111222,\"", "lines,\n", "Line 2: The row has more than 2097152 bytes: is a quotation mark missing?",
		},
		"quoted cells": {"number\n", `"",`, "Line 2: The row has more than 16384 cells: is this a CSV file?"},
	} {
		t.Run(name, func(t *testing.T) {
			rest := &endless{text: c.text, left: 31 << 20}
			_, _, _, err := all(io.MultiReader(strings.NewReader(c.begin), rest))
			var e *carillon.Error
			if !errors.As(err, &e) || e.Code != carillon.ValidationFailed || e.Details.Find("reason") != c.reason {
				t.Errorf("the file is refused with %v", err)
			}
			if rest.read > maxRow+1<<20 {
				t.Errorf("%d bytes were read", rest.read)
			}
		})
	}
}
