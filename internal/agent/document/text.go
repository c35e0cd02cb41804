package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"carillon/internal/agent/knowledge"
)

// minPerControl is the minimum number of characters of a text for each control character; other files are binary.
const minPerControl = 200

// decode returns a text in UTF-8 with LF line ends. A byte order mark determines the encoding, else a page's declaration,
// else it is UTF-8 if it is valid, and Windows-1252.
func decode(content []byte) (string, error) {
	text := string(content)
	switch {
	case bytes.HasPrefix(content, []byte("\xff\xfe")), bytes.HasPrefix(content, []byte("\xfe\xff")):
		decoded, err := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Bytes(content)
		if err != nil {
			return "", fault(Damaged)
		}
		text = string(decoded)
	case bytes.HasPrefix(content, []byte("\xef\xbb\xbf")):
		text = text[3:]
	case isBinary(content):
		return "", fault(WrongType)
	case isHTML(text):
		e, _, _ := charset.DetermineEncoding(content[:min(len(content), 1024)], "text/html")
		decoded, err := io.ReadAll(io.LimitReader(e.NewDecoder().Reader(bytes.NewReader(content)), 4*MaxFile))
		if err != nil {
			return "", fault(Damaged)
		}
		text = string(decoded)
	case !utf8.Valid(content):
		decoded, err := charmap.Windows1252.NewDecoder().Bytes(content)
		if err != nil {
			return "", fault(Damaged)
		}
		text = string(decoded)
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	if strings.TrimSpace(text) == "" {
		return "", fault(Empty)
	}
	return text, nil
}

// isBinary reports whether content is not a text.
func isBinary(content []byte) bool {
	controls := 0
	for _, c := range content {
		switch {
		case c == 0:
			return true
		case c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != 0x1b:
			controls++
		}
	}
	return controls*minPerControl > len(content)
}

func htmlArticles(text, name string) ([]knowledge.Article, error) {
	a, err := knowledge.FromLongHTML(strings.NewReader(text), maxText)
	if errors.Is(err, knowledge.ErrTooComplex) {
		return nil, fault(TooComplex)
	}
	if err != nil {
		return nil, fmt.Errorf("read %w: %w", fault(Damaged), err)
	}
	return articlesOf(document{a.Title, a.Text, a.Language}, name)
}
