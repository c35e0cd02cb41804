package knowledge

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxNodes bounds the elements and texts of a page in memory.
const maxNodes = 400_000

// ErrTooComplex means that a page would need too much memory.
var ErrTooComplex = errors.New("the page has too many nested or repeated elements")

// ArticleOf returns the article of a parsed page, like FromHTML.
func ArticleOf(root *html.Node) Article {
	a := fromNodes(root, 2*MaxText)
	a.Text = shorten(a.Text)
	return a
}

// Parse reads a page in UTF-8. A page of a few kilobytes can have millions of nodes, because each paragraph repeats the
// open elements of style. Therefore the nodes are estimated first. Errors: ErrTooComplex.
func Parse(page io.Reader) (*html.Node, error) {
	text, err := io.ReadAll(page)
	if err != nil {
		return nil, fmt.Errorf("read page: %w", err)
	}
	if nodesOf(text) > maxNodes {
		return nil, ErrTooComplex
	}
	root, err := html.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTooComplex, err) // the elements are nested too deeply
	}
	return root, nil
}

// nodesOf estimates the number of nodes of a page, at most slightly more than maxNodes.
func nodesOf(page []byte) int {
	z := html.NewTokenizer(bytes.NewReader(page))
	nodes, open := 0, 0
	for nodes <= maxNodes {
		switch z.Next() {
		case html.ErrorToken:
			return nodes
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			if styles[atom.Lookup(name)] {
				open++
			} else {
				nodes += open
			}
			nodes++
		case html.EndTagToken:
			if name, _ := z.TagName(); open > 0 && styles[atom.Lookup(name)] {
				open--
			}
			nodes++
		default:
			nodes++
		}
	}
	return nodes
}

// styles are the elements that are repeated in the paragraphs that follow until they end.
//
//nolint:gochecknoglobals // read only
var styles = map[atom.Atom]bool{
	atom.A: true, atom.B: true, atom.Big: true, atom.Code: true, atom.Em: true, atom.Font: true, atom.I: true, atom.Nobr: true,
	atom.S: true, atom.Small: true, atom.Strike: true, atom.Strong: true, atom.Tt: true, atom.U: true,
}
