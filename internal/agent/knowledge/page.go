package knowledge

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// MaxText bounds the text of an article, in bytes.
const MaxText = 64 << 10

// FromMarkdown reads an article written in Markdown. A heading at the beginning becomes the title.
func FromMarkdown(text string) Article {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	first, rest, _ := strings.Cut(text, "\n")
	if title := heading.FindStringSubmatch(strings.TrimSpace(first)); title != nil {
		return Article{Title: Clip(title[1], maxHeading), Text: shorten(rest)}
	}
	return Article{Text: shorten(text)}
}

// FromText reads an article from a file with Markdown or plain text.
func FromText(file io.Reader) (Article, error) {
	text, err := io.ReadAll(file)
	if err != nil {
		return Article{}, fmt.Errorf("read text: %w", err)
	}
	return FromMarkdown(string(text)), nil
}

const (
	maxHeading = 200 // characters of a title
	maxDepth   = 200 // nesting of elements
)

// FromHTML reads an article from a page in UTF-8: its title, and the headings, paragraphs and lists of its main
// content as Markdown, without navigation, scripts and forms.
func FromHTML(page io.Reader) (Article, error) {
	a, err := FromLongHTML(page, 2*MaxText)
	if a.Text = shorten(a.Text); err != nil {
		return Article{}, err
	}
	return a, nil
}

// FromLongHTML is FromHTML with another bound on the text, in bytes. Errors: ErrTooComplex.
func FromLongHTML(page io.Reader, maxBytes int) (Article, error) {
	root, err := Parse(page)
	if err != nil {
		return Article{}, err
	}
	return fromNodes(root, maxBytes), nil
}

// fromNodes reads an article from a parsed page.
func fromNodes(root *html.Node, maxBytes int) Article {
	main := root
	for _, name := range []atom.Atom{atom.Main, atom.Article, atom.Body} {
		if found := find(root, name); found != nil {
			main = found
			break
		}
	}
	w := writer{maxBytes: maxBytes}
	w.node(main, 0)
	w.end()
	a := Article{Text: strings.TrimSpace(w.text.String())}
	for _, name := range []atom.Atom{atom.H1, atom.Title} {
		if found := find(root, name); found != nil && a.Title == "" {
			a.Title = Clip(plain(found, 0), maxHeading)
		}
	}
	if rest, ok := strings.CutPrefix(a.Text, "# "+a.Title+"\n"); ok {
		a.Text = strings.TrimSpace(rest)
	}
	if at := find(root, atom.Html); at != nil {
		for _, attribute := range at.Attr {
			if attribute.Key == "lang" && languageTag.MatchString(attribute.Val) {
				a.Language = attribute.Val
			}
		}
	}
	return a
}

var languageTag = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})?$`)

// find returns the first element with a name.
func find(n *html.Node, name atom.Atom) *html.Node {
	for x := range n.Descendants() {
		if x.Type == html.ElementNode && x.DataAtom == name {
			return x
		}
	}
	return nil
}

// plain returns the text of an element on one line.
func plain(n *html.Node, depth int) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var b strings.Builder
	for c := n.FirstChild; c != nil && depth < maxDepth; c = c.NextSibling {
		b.WriteString(plain(c, depth+1) + " ")
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// writer converts elements to paragraphs of Markdown.
type writer struct {
	text     strings.Builder
	line     strings.Builder // the current paragraph
	maxBytes int             // of text
	begin    string          // prefix of the paragraph: # for a heading, - for a list item
}

// node writes an element with its contents.
func (w *writer) node(n *html.Node, depth int) {
	if depth > maxDepth || w.text.Len() > w.maxBytes {
		return
	}
	switch {
	case n.Type == html.TextNode:
		w.line.WriteString(strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return ' '
			}
			return r
		}, n.Data))
		return
	case n.Type == html.ElementNode && excluded(n):
		return
	}
	block := n.Type == html.ElementNode && blocks[n.DataAtom]
	if block {
		w.end()
		w.begin = cmp.Or(begins[n.DataAtom], w.begin)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.node(c, depth+1)
	}
	switch {
	case block:
		w.end()
		if begins[n.DataAtom] != "" {
			w.begin = ""
		}
	case n.DataAtom == atom.Br:
		w.line.WriteByte('\n')
	case n.DataAtom == atom.Td, n.DataAtom == atom.Th:
		w.line.WriteString(" ")
	}
}

// end completes the paragraph.
func (w *writer) end() {
	var lines []string
	for line := range strings.SplitSeq(w.line.String(), "\n") {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			lines = append(lines, line)
		}
	}
	begin := w.begin
	w.line.Reset()
	w.begin = ""
	if len(lines) == 0 {
		w.begin = begin // of the list item, whose paragraph follows
		return
	}
	between := "\n\n"
	if begin == "- " {
		between = "\n"
	}
	text := strings.Join(lines, "\n")
	if strings.HasPrefix(begin, "#") {
		text = strings.Join(lines, " ")
	}
	w.text.WriteString(between + begin + text)
}

// excluded reports whether an element is not part of the page's main content.
func excluded(n *html.Node) bool {
	if excludedElements[n.DataAtom] {
		return n.DataAtom != atom.Header || n.Parent == nil || n.Parent.DataAtom != atom.Article
	}
	for _, a := range n.Attr {
		if a.Key == "hidden" || a.Key == "aria-hidden" && a.Val == "true" {
			return true
		}
	}
	return false
}

//nolint:gochecknoglobals // read only
var (
	excludedElements = map[atom.Atom]bool{
		atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Nav: true, atom.Header: true, atom.Footer: true,
		atom.Aside: true, atom.Form: true, atom.Button: true, atom.Select: true, atom.Textarea: true, atom.Iframe: true, atom.Object: true,
		atom.Svg: true, atom.Math: true, atom.Head: true, atom.Dialog: true, atom.Canvas: true, atom.Video: true, atom.Audio: true,
	}
	blocks = map[atom.Atom]bool{
		atom.P: true, atom.Div: true, atom.Section: true, atom.Article: true, atom.Main: true, atom.Body: true, atom.Li: true,
		atom.Ul: true, atom.Ol: true,
		atom.Dl: true, atom.Dt: true, atom.Dd: true, atom.Tr: true, atom.Table: true, atom.Blockquote: true, atom.Pre: true,
		atom.Figure:     true,
		atom.Figcaption: true, atom.Details: true, atom.Summary: true, atom.Address: true, atom.Hr: true, atom.Header: true,
		atom.H1: true, atom.H2: true, atom.H3: true, atom.H4: true, atom.H5: true, atom.H6: true,
	}
	begins = map[atom.Atom]string{
		atom.Li: "- ", atom.H1: "# ", atom.H2: "## ", atom.H3: "### ", atom.H4: "#### ", atom.H5: "##### ", atom.H6: "###### ",
		atom.Summary: "### ",
	}
)

// shorten truncates a text to the maximum length of an article, between paragraphs if possible.
func shorten(text string) string {
	text = strings.ToValidUTF8(strings.TrimSpace(text), "")
	text = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
	if len(text) <= MaxText {
		return text
	}
	end := MaxText
	for !utf8.RuneStart(text[end]) {
		end--
	}
	if at := strings.LastIndex(text[:end], "\n\n"); at > MaxText/2 {
		end = at
	}
	return strings.TrimSpace(text[:end])
}
