package config

import (
	"encoding/json"

	"github.com/goccy/go-yaml/ast"

	"carillon/internal/base/resource"
)

// maxDepth bounds what jsonOf reads.
const maxDepth = 20

// jsonOf reads a mapping of anything, such as a schema, as JSON.
func jsonOf(f *form, x field) json.RawMessage {
	if kindOf(x.value) != "a mapping" {
		f.wrong(x, "must be a mapping, not "+kindOf(x.value))
		return nil
	}
	before := len(f.r.problems)
	value := plainOf(f, x, 0)
	if len(f.r.problems) > before {
		return nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		f.wrong(x, "must be written in JSON")
	}
	return text
}

// plainOf is a value of any kind.
func plainOf(f *form, x field, depth int) any {
	if depth > maxDepth {
		f.wrong(x, "is nested too deeply")
		return nil
	}
	switch n := x.value.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		inner, ok := f.r.form(n, x.name, x.path)
		if !ok {
			return nil
		}
		all := map[string]any{}
		for _, entry := range inner.fields {
			all[entry.name] = plainOf(f, entry, depth+1)
		}
		return all
	case *ast.SequenceNode:
		all := make([]any, len(n.Values))
		for i, v := range n.Values {
			all[i] = plainOf(f, field{x.name, resource.Index(x.path, i), f.r.at(v), v}, depth+1)
		}
		return all
	case *ast.BoolNode:
		return n.Value
	case *ast.NullNode:
		return nil
	case *ast.IntegerNode:
		return jsonNumber(f, x, n.Token.Value)
	case *ast.FloatNode:
		return jsonNumber(f, x, n.Token.Value)
	}
	text, _ := f.textOf(x)
	return text
}

// jsonNumber is a number as JSON writes it too.
func jsonNumber(f *form, x field, text string) any {
	if !json.Valid([]byte(text)) {
		f.wrong(x, "must be a plain decimal number")
		return nil
	}
	return json.Number(text)
}
