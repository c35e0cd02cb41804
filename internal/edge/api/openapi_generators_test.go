package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
)

// Client generators such as oapi-codegen do not support boolean schemas, nor type lists other than with null, and they
// turn each name into one Go type.
func TestTheDescriptionIsOneThatGeneratorsKnow(t *testing.T) {
	var doc map[string]any
	if err := json.Unmarshal(OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	for _, fault := range generatorFaults(doc, "") {
		t.Error(fault)
	}
	components, _ := doc["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	for _, kind := range []string{"parameters", "headers", "requestBodies"} {
		named, _ := components[kind].(map[string]any)
		for name := range named {
			if _, twice := schemas[name]; twice {
				t.Errorf("%s and schemas have both a %s", kind, name)
			}
		}
	}
}

func TestFaultsForGeneratorsAreFound(t *testing.T) {
	for text, want := range map[string]int{
		`{"properties":{"a":true,"b":{"type":"string"}},"additionalProperties":false}`: 1,
		`{"items":true}`: 1, `{"additionalProperties":true}`: 1, `{"anyOf":[{"type":"string"},false]}`: 1,
		`{"type":["string","number"]}`: 1, `{"type":["string","null"]}`: 0, `{"example":{"items":true,"type":["a","b"]}}`: 0,
		`{"properties":{"type":{"type":"string"},"items":{"items":{"type":["integer","boolean","null"]}}}}`: 1,
	} {
		var x any
		if err := json.Unmarshal([]byte(text), &x); err != nil {
			t.Fatal(err)
		}
		if got := generatorFaults(x, ""); len(got) != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// generatorFaults walks a part of the description and returns the unsupported constructs.
func generatorFaults(x any, at string) (all []string) {
	switch x := x.(type) {
	case []any:
		for i, v := range x {
			all = append(all, generatorFaults(v, fmt.Sprintf("%s/%d", at, i))...)
		}
	case map[string]any:
		if types, ok := x["type"].([]any); ok && (len(types) > 2 || len(types) == 2 && !slices.Contains(types, any("null"))) {
			all = append(all, fmt.Sprintf("%s has the types %v: use anyOf", at, types))
		}
		for key, v := range x {
			if slices.Contains([]string{"example", "examples", "default", "enum", "const"}, key) {
				continue
			}
			within := at + "/" + key
			for name, schema := range schemasOf(key, v) {
				if b, ok := schema.(bool); ok && (b || key != "additionalProperties") {
					all = append(all, fmt.Sprintf("%s/%s is a boolean: use {} or leave it out", within, name))
				}
			}
			all = append(all, generatorFaults(v, within)...)
		}
	}
	return all
}

// schemasOf returns the schemas under a JSON Schema keyword, by name.
func schemasOf(keyword string, v any) map[string]any {
	switch keyword {
	case "items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else":
		return map[string]any{"": v}
	case "properties", "patternProperties":
		named, _ := v.(map[string]any)
		return named
	case "anyOf", "oneOf", "allOf":
		named := map[string]any{}
		list, _ := v.([]any)
		for i, schema := range list {
			named[fmt.Sprint(i)] = schema
		}
		return named
	}
	return nil
}
