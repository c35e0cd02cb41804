package config

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/token"
)

// plain are the types of scalars written without quotes.
//
//nolint:gochecknoglobals // read only
var plain = []token.Type{
	token.StringType, token.IntegerType, token.FloatType, token.BoolType, token.NullType, token.HexIntegerType,
	token.OctetIntegerType, token.BinaryIntegerType, token.InfinityType, token.NanType,
}

// joinColons undoes what the lexer does to `{scopes: [templates:read]}`: inside a flow mapping it takes every colon for
// one that ends a key. In a list a colon with nothing behind it but text is part of the text (YAML 1.2, section 7.3.3).
func joinColons(tokens token.Tokens) token.Tokens {
	var open []token.Type
	out := make(token.Tokens, 0, len(tokens))
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch t.Type { //nolint:exhaustive // the others stay as they are
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
