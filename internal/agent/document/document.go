// Package document turns a file into articles: PDF, DOCX, HTML, Markdown, plain text, and CSV of questions and answers.
// The content decides what a file is; its name only becomes the source, and a title where the text has none.
//
//	file ─▶ kind by its content ─▶ Markdown with a title ─▶ one article, or one a heading if it is long
//	                           └─▶ table ─▶ one article a row
//
// A file comes from anywhere: bytes, time, nesting and the number of articles are bounded, and a file that cannot be read
// is refused with a Fault, which says why.
package document

import (
	"bytes"
	"context"
	"net/http"
	"path"
	"strings"
	"unicode/utf8"

	"carillon/internal/agent/knowledge"
	"carillon/internal/base/share"
)

const (
	// MaxFile bounds a file, in bytes.
	MaxFile = 25 << 20
	// MaxArticles bounds the articles of a file.
	MaxArticles = 10_000

	maxText = 16 << 20 // bytes of text of a file
	maxName = 200      // bytes of a file's name that are kept
	sniffed = 64 << 10 // bytes of a text that decide whether it is a table
)

// Reader reads files.
type Reader struct {
	program string       // extracts the text of PDFs
	slots   *share.Share // limits the number of files that are read at a time
}

// New returns a Reader. Without shares it has its own limit.
func New(shares *share.Set) *Reader {
	return &Reader{program: program, slots: shares.Of(share.Documents)}
}

// Read returns the articles of a file, at least one. Errors: *Fault, and that of
// the context.
func (r *Reader) Read(ctx context.Context, companyID, name string, content []byte) ([]knowledge.Article, error) {
	name = nameOf(name)
	if len(content) > MaxFile {
		return nil, fault(TooLarge)
	}
	place, err := r.slots.Wait(ctx, share.Holder{Company: companyID})
	if err != nil {
		return nil, err
	}
	defer place.Release()
	articles, err := r.read(ctx, name, content)
	if err != nil {
		return nil, err
	}
	for i := range articles {
		articles[i].File = name
	}
	return articles, nil
}

func (r *Reader) read(ctx context.Context, name string, content []byte) ([]knowledge.Article, error) {
	switch {
	case len(bytes.TrimSpace(content)) == 0:
		return nil, fault(Empty)
	case bytes.Contains(content[:min(len(content), 1024)], []byte("%PDF-")):
		t, err := r.pdf(ctx, content)
		if err != nil {
			return nil, err
		}
		return articlesOf(t, name)
	case bytes.HasPrefix(content, []byte("PK\x03\x04")) || bytes.HasPrefix(content, []byte("PK\x05\x06")):
		t, err := docx(content)
		if err != nil {
			return nil, err
		}
		return articlesOf(t, name)
	case bytes.HasPrefix(content, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")):
		return nil, compound(content)
	case bytes.HasPrefix(content, []byte(`{\rtf`)):
		return nil, &Fault{Reason: WrongType, Detail: "RTF"}
	}
	text, err := decode(content)
	if err != nil {
		return nil, err
	}
	switch {
	case isHTML(text):
		return htmlArticles(text, name)
	case isTable(text, name):
		return table(content)
	}
	return articlesOf(document{text: setext(text)}, name)
}

// compound returns the fault of a file in Microsoft's compound format: an old document, or an encrypted new one.
func compound(content []byte) error {
	if bytes.Contains(content, utf16("EncryptedPackage")) {
		return fault(Encrypted)
	}
	return &Fault{Reason: WrongType, Detail: "DOC"}
}

func utf16(s string) []byte {
	var b []byte
	for _, c := range []byte(s) {
		b = append(b, c, 0)
	}
	return b
}

// isHTML reports whether a text is a page: its first tag decides, as in browsers.
func isHTML(text string) bool {
	for {
		text = strings.TrimLeft(text, " \t\r\n\ufeff")
		if !strings.HasPrefix(text, "<!--") {
			break
		}
		_, rest, ok := strings.Cut(text, "-->")
		if !ok {
			return false
		}
		text = rest
	}
	if strings.HasPrefix(text, "<?xml") {
		begin := strings.ToLower(text[:min(len(text), 1024)])
		return strings.Contains(begin, "<html") || strings.Contains(begin, "<!doctype html")
	}
	return strings.HasPrefix(http.DetectContentType([]byte(text[:min(len(text), 512)])), "text/html")
}

// nameOf returns the last element of a file's name as a browser sends it, on one line.
func nameOf(name string) string {
	name = strings.Join(strings.Fields(strings.ToValidUTF8(name, "")), " ")
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, name[strings.LastIndexAny(name, `/\`)+1:])
	for len(name) > maxName {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return name
}

// titleOf returns a title for a text that has none: the name of its file without the extension.
func titleOf(name string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.TrimSuffix(name, path.Ext(name)), "_", " "))
}
