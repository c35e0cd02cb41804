package config

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxFlow and maxColumn bound the nesting before the parser, which recurses, sees it: each level of a block takes a
// column, each level of a flow a bracket.
const (
	maxFlow   = 64
	maxColumn = 1000
)

// parseYAML gives the only document of a text, nil when it is empty.
func (r *reader) parseYAML(name string, text []byte) ast.Node {
	start := Position{File: name, Line: 1, Column: 1}
	if len(text) > maxProvision {
		r.problem(start, fmt.Sprintf("the file is larger than %d bytes", maxProvision))
		return nil
	}
	if !utf8.Valid(text) {
		r.problem(start, "the file is not UTF-8 text")
		return nil
	}
	tokens := joinColons(lexer.Tokenize(string(text)))
	if at := tooDeep(tokens); at != nil {
		r.problem(r.place(at), "nested too deeply")
		return nil
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		r.syntax(start, err)
		return nil
	}
	var bodies []ast.Node
	for _, doc := range file.Docs {
		if doc.Body != nil {
			bodies = append(bodies, doc.Body)
		}
	}
	switch len(bodies) {
	case 0:
		return nil
	case 1:
		return bodies[0]
	}
	r.problem(r.at(bodies[1]), "a set-up is one document: put the second one into a file of its own")
	return nil
}

// syntax returns the parser's message without its excerpt of the source, which may show a secret.
func (r *reader) syntax(at Position, err error) {
	var e yaml.Error
	if !errors.As(err, &e) {
		r.problem(at, "cannot be read as YAML")
		return
	}
	if t := e.GetToken(); t != nil {
		at = r.place(t)
	}
	r.problem(at, e.GetMessage())
}

func tooDeep(tokens token.Tokens) *token.Token {
	flow := 0
	for _, t := range tokens {
		switch t.Type { //nolint:exhaustive // the others do not nest
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType, token.MappingValueType:
			if flow <= 0 && t.Position.Column > maxColumn {
				return t
			}
		}
		if flow > maxFlow {
			return t
		}
	}
	return nil
}

// at is a node's place: of a mapping that of its first key, not of its colon.
func (r *reader) at(n ast.Node) Position {
	switch x := n.(type) {
	case *ast.MappingNode:
		if !x.IsFlowStyle && len(x.Values) > 0 {
			return r.at(x.Values[0])
		}
	case *ast.MappingValueNode:
		return r.place(x.Key.GetToken())
	}
	return r.place(n.GetToken())
}

func (r *reader) place(t *token.Token) Position {
	at := Position{File: r.name, Line: 1, Column: 1}
	if t != nil && t.Position != nil {
		at.Line, at.Column = max(t.Position.Line, 1), max(t.Position.Column, 1)
	}
	return at
}
