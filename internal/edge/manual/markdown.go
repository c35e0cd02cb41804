package manual

import (
	"bytes"
	"html/template"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// markdown renders without raw HTML, and without inline styles, which the pages' content security policy forbids.
//
//nolint:gochecknoglobals // has no state
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
		extension.Strikethrough),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
)

// comments matches HTML comments, which are notes for editors of a page.
var comments = regexp.MustCompile(`(?s)<!--.*?-->\n?`)

// part is a unit of the search index: the text under one heading.
type part struct {
	id, title, text string
}

// readPage converts a file of the docs folder to a page. names lists all files of the folder.
func readPage(name string, source []byte, names []string) (*page, error) {
	p := &page{path: pathOf(name), source: source, template: "markdown"}
	text := comments.ReplaceAll(source, nil)
	doc := markdown.Parser().Parse(newReader(text))
	p.read(doc, text)
	var gone []*ast.Link
	if err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			to, ok := target(name, string(n.Destination), names)
			if !ok {
				gone = append(gone, n)
				break
			}
			n.Destination = []byte(to)
		case *ast.Image:
			n.Destination = []byte(root + "/images/" + path.Base(string(n.Destination)))
		}
		return ast.WalkContinue, nil
	}); err != nil {
		return nil, err
	}
	for _, link := range gone { // after the walk, which a removal would end
		link.Parent().ReplaceChild(link.Parent(), link, ast.NewString([]byte(plain(link, text))))
	}
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, text, doc); err != nil {
		return nil, err
	}
	p.html = template.HTML(scrollable(b.String())) //nolint:gosec // rendered without raw HTML
	return p, nil
}

func newReader(source []byte) text.Reader { return text.NewReader(source) }

// pathOf returns the path of a file's page. docs/reference/README.md is the page of its folder.
func pathOf(name string) string {
	name = strings.TrimSuffix(name, ".md")
	if path.Base(name) == "README" {
		return path.Dir(name)
	}
	return strings.ToLower(name)
}

// target returns the address of a link's target within the manual. ok is false if the manual does not contain the
// target, for example a source file.
func target(from, to string, names []string) (string, bool) {
	if strings.Contains(to, "://") || strings.HasPrefix(to, "#") || strings.HasPrefix(to, "mailto:") {
		return to, true
	}
	file, anchor, _ := strings.Cut(to, "#")
	if anchor != "" {
		anchor = "#" + anchor
	}
	file = path.Join("docs", path.Dir(from), file)
	switch file {
	case "internal/edge/api/openapi.yaml":
		return "/openapi.json", true
	case "docs/adr":
		return root + "/adr", true
	}
	inside, ok := strings.CutPrefix(file, "docs/")
	if !ok || !slices.Contains(names, inside) {
		return "", false
	}
	return root + "/" + pathOf(inside) + anchor, true
}

// read extracts the title, summary, headings and search parts from a parsed page, and removes the title from it.
func (p *page) read(doc ast.Node, source []byte) {
	var now part
	keep := func() {
		if now.title != "" || now.text != "" {
			p.parts = append(p.parts, now)
		}
	}
	for n := doc.FirstChild(); n != nil; {
		next := n.NextSibling()
		if h, ok := n.(*ast.Heading); ok {
			words := plain(h, source)
			id := ""
			if v, ok := h.AttributeString("id"); ok {
				id = string(v.([]byte)) //nolint:forcetypeassert // set by the parser
			}
			keep()
			now = part{id: id, title: words}
			switch {
			case h.Level == 1 && p.title == "":
				p.title = words
				now.id = ""
				doc.RemoveChild(doc, h)
			case h.Level == 2:
				p.heads = append(p.heads, head{id, words})
			}
		} else {
			words := plain(n, source)
			now.text += words + " "
			if _, ok := n.(*ast.Paragraph); ok && p.summary == "" {
				p.summary = firstSentence(words)
			}
		}
		n = next
	}
	keep()
}

// plain returns the text of a node, with a space between its blocks.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		switch x := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(x.Segment.Value(source))
				if x.SoftLineBreak() || x.HardLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.String:
			if entering {
				b.Write(x.Value)
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if entering {
				for i := range n.Lines().Len() {
					line := n.Lines().At(i)
					b.Write(line.Value(source))
				}
			}
		default:
			if !entering && n.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// firstSentence returns the first sentence of a text, or its beginning.
func firstSentence(s string) string {
	if i := strings.Index(s, ". "); i > 0 {
		s = s[:i+1]
	}
	s = strings.TrimSuffix(s, ":")
	if r := []rune(s); len(r) > 160 {
		cut := string(r[:157])
		return cut[:strings.LastIndex(cut, " ")] + " …"
	}
	return s
}

// scrollable makes content wider than the page scrollable by keyboard.
func scrollable(html string) string {
	return strings.NewReplacer(
		"<table>", `<div class="table" tabindex="0" role="group" aria-label="Table"><table>`, "</table>", "</table></div>", "<pre>",
		`<pre tabindex="0">`,
		`<p><img src="/docs/images/states-`, `<p class="drawing" tabindex="0" role="group" aria-label="Drawing"><img `+
			`src="/docs/images/states-`,
	).Replace(html)
}

// inline renders a short text of the description, for example with code in backticks.
func inline(s string) template.HTML {
	var b bytes.Buffer
	if err := markdown.Convert([]byte(strings.TrimSpace(s)), &b); err != nil {
		return template.HTML(template.HTMLEscapeString(s)) //nolint:gosec // escaped
	}
	return template.HTML(scrollable(b.String())) //nolint:gosec // rendered without raw HTML
}
