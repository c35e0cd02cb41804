package bulk

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"carillon"
)

// all reads a file.
func all(r io.Reader) (names []string, rows []row, enc Encoding, err error) {
	t, err := newTable(r)
	if err != nil {
		return nil, nil, "", err
	}
	for {
		r, err := t.Next()
		if errors.Is(err, io.EOF) {
			return t.Names, rows, t.decoder.enc, nil
		}
		if err != nil {
			return t.Names, rows, t.decoder.enc, err
		}
		rows = append(rows, r)
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
	rows := []row{{2, []string{"34600111222", "Íñigo\u00a0€"}}, {3, []string{"34600111223", "two\nlines; \"quoted\""}}, {6, []string{"34600111224", ""}}}
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
	} {
		for how, r := range map[string]io.Reader{"at once": strings.NewReader(c.text), "in bytes": iotest.OneByteReader(strings.NewReader(c.text))} {
			gotNames, gotRows, enc, err := all(r)
			if d := cmp.Diff(rows, gotRows); err != nil || enc != c.enc || d != "" || cmp.Diff(names, gotNames) != "" {
				t.Errorf("%s, read %s: %v, %s, %v, %s", name, how, err, enc, gotNames, d)
			}
		}
	}
	gotNames, gotRows, _, err := all(strings.NewReader("sep=|\r\nphone|name,first\r\n34600111222|a,b\r\n"))
	if want := []row{{3, []string{"34600111222", "a,b"}}}; err != nil || cmp.Diff(want, gotRows) != "" || gotNames[1] != "name,first" {
		t.Error(gotNames, gotRows, err)
	}
}

func TestWhatIsNoTableIsRefusedWithTheLine(t *testing.T) {
	for name, c := range map[string]struct{ text, reason string }{
		"nothing":            {"", "empty"},
		"numbers alone":      {"34600111222\n34600111223\n", "names of the columns"},
		"a bare quote":       {"phone,name\n34600111222,a \"b\" c\n", "Line 2: A quotation mark"},
		"an open quote":      {"phone,name\n34600111222,a\n34600111223,\"b\n", "Line 3: Quotation marks"},
		"too many cells":     {"phone,name\n34600111222,a\n34600111223,b,c\n", "Line 3: The row has 3 cells"},
		"a long cell":        {"phone,name\n34600111222," + strings.Repeat("é", 4097) + "\n", "Line 2: A cell has more than 4096"},
		"mixed encodings":    {"phone,name\n34600111222,é\n34600111223,\xe9\n", "encoding"},
		"a broken surrogate": {"\xff\xfe" + wide("phone\n", false) + "\x00\xd8a\x00", "encoding"},
		"a picture":          {"phone,\x00name\x00\n1,\x00\n", "names of the columns|CSV"},
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

func TestNumbersAreCleanedWhereThatIsCertain(t *testing.T) {
	for text, want := range map[string]string{
		"34600111222": "34600111222", "+34 600 11-12.22": "34600111222", "0034600111222": "34600111222", "(34) 600.111222": "34600111222",
		"'34600111222": "34600111222", "34600111222.0": "34600111222", "\u202a+34600111222\u202c": "34600111222",
		"": NumberMissing, " ": NumberMissing, "600": NumberInvalid, "0600111222": NumberInvalid,
		"3.46E+10": NumberAmount, "3,46E+10": NumberAmount, "34600111222.5": NumberAmount, "34600111222,25": NumberAmount, "34600111222,00": "34600111222", "346001112223.333": NumberAmount,
		"4930.12345678": "493012345678", "34600a11222": NumberInvalid,
		"34600111222, 34600111223": NumberInvalid, "34+600111222": NumberInvalid, "1234567890123456": NumberInvalid,
	} {
		number, cleaned, fault := cleanNumber(text)
		if number+fault != want || cleaned != (fault == "" && text != want) {
			t.Errorf("%q is %q %t %q", text, number, cleaned, fault)
		}
	}
}

func TestColumnsAreFoundByTheirNames(t *testing.T) {
	shape := &carillon.Shape{Markers: []string{"first_name", "order", "day"}, HeaderFormat: "IMAGE"}
	for _, c := range []struct {
		names  []string
		number int
		fields string
		values string
	}{
		{[]string{"Nombre", "Teléfono", "Order", "Fecha", "Image URL"}, 1, "map[first_name:0]", "body_text_0=0 body_text_1=2 body_text_2=3 header_image=4"},
		{[]string{"first_name", "WhatsApp", "day", "order", "image"}, 1, "map[first_name:0]", "body_text_0=0 body_text_1=3 body_text_2=2 header_image=4"},
		{[]string{"a", "b"}, -1, "map[]", "body_text_0=0 body_text_1=1 body_text_2= header_image="},
	} {
		var s Settings
		for _, name := range c.names {
			s.Columns = append(s.Columns, Column{Name: name})
		}
		s.mapColumns()
		s.mapValues(&carillon.Template{Shape: shape})
		var got []string
		for _, key := range []string{"body_text_0", "body_text_1", "body_text_2", "header_image"} {
			text := key + "="
			if v, ok := s.Values[key]; ok {
				text += fmt.Sprint(*v.Column)
			}
			got = append(got, text)
		}
		if s.Number != c.number || fmt.Sprint(s.Fields) != c.fields || strings.Join(got, " ") != c.values {
			t.Errorf("%v: %d, %v, %v", c.names, s.Number, s.Fields, got)
		}
	}
}

// endless repeats a text until so many bytes were read.
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

// TestARowWithoutAnEndIsRefusedBeforeItIsHeld reads files of 31 MB whose rows have more than any list: the reading stops at the bound.
func TestARowWithoutAnEndIsRefusedBeforeItIsHeld(t *testing.T) {
	for name, c := range map[string]struct{ begin, text, reason string }{
		"commas":                     {"", ",", "Line 1: The row has more than 16384 cells: is this a CSV file?"},
		"semicolons after the names": {"number;name\n", ";", "Line 2: The row has more than 16384 cells: is this a CSV file?"},
		"one cell":                   {"number\n", "x", "Line 2: The row has more than 2097152 bytes: is a quotation mark missing?"},
		"a quotation mark":           {"number,name\n34600111222,\"", "lines,\n", "Line 2: The row has more than 2097152 bytes: is a quotation mark missing?"},
		"quoted cells":               {"number\n", `"",`, "Line 2: The row has more than 16384 cells: is this a CSV file?"},
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
