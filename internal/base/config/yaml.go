package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxFlow and maxColumn bound the nesting before the parser, which recurses, sees it. Each level of a block takes a
// column, each level of a flow a bracket.
const (
	maxFlow   = 64
	maxColumn = 1000
)

// parseYAML returns the only document of a text, or nil if the text is empty.
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

// syntax reports the parser's message without its excerpt of the source, which may show a secret.
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
		switch t.Type { //nolint:exhaustive // other tokens do not nest
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

// at returns the position of a node. For a mapping it is that of the first key, not of its colon.
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

// plain are the token types of scalars without quotes.
//
//nolint:gochecknoglobals // read only
var plain = []token.Type{
	token.StringType, token.IntegerType, token.FloatType, token.BoolType, token.NullType, token.HexIntegerType,
	token.OctetIntegerType, token.BinaryIntegerType, token.InfinityType, token.NanType,
}

// joinColons repairs the lexer's tokens for `{scopes: [templates:read]}`: inside a flow mapping the lexer treats every
// colon as the end of a key. In a list, a colon directly followed by text is part of the text (YAML 1.2, section
// 7.3.3).
func joinColons(tokens token.Tokens) token.Tokens {
	var open []token.Type
	out := make(token.Tokens, 0, len(tokens))
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch t.Type { //nolint:exhaustive // other tokens stay unchanged
		case token.SequenceStartType, token.MappingStartType:
			open = append(open, t.Type)
		case token.SequenceEndType, token.MappingEndType:
			open = open[:max(0, len(open)-1)]
		case token.MappingValueType:
			inList := len(open) > 0 && open[len(open)-1] == token.SequenceStartType
			if inList && len(out) > 0 && i+1 < len(tokens) && touching(out[len(out)-1], t, tokens[i+1]) {
				key, rest := out[len(out)-1], tokens[i+1]
				out[len(out)-1] = token.New(key.Value+":"+rest.Value, key.Origin+":"+rest.Origin, key.Position)
				i++
				continue
			}
		}
		out = append(out, t)
	}
	for i, t := range out {
		t.Prev, t.Next = nil, nil
		if i > 0 {
			t.Prev, out[i-1].Next = out[i-1], t
		}
	}
	return out
}

func touching(key, colon, rest *token.Token) bool {
	return slices.Contains(plain, key.Type) && slices.Contains(plain, rest.Type) &&
		strings.TrimRight(key.Origin, " \t\r\n") == key.Origin && strings.TrimLeft(rest.Origin, " \t\r\n") == rest.Origin &&
		rest.Position.Line == colon.Position.Line && rest.Position.Column == colon.Position.Column+1
}
