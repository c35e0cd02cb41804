package described_test

import (
	"slices"
	"testing"
	"time"

	"carillon/internal/base/need/described"
)

// outer has properties in all positions in which a type can have them.
type outer struct {
	*inner
	A  string           `json:"a"`
	B  []inner          `json:"b,omitempty"`
	C  *inner           `json:"c"`
	D  map[string]inner `json:"d"`
	At time.Time        `json:"at,omitzero"`
}

type inner struct {
	X int `json:"x,omitempty"`
	Y any `json:"y"`
}

func TestPropertiesThatADescriptionLacksAreFound(t *testing.T) {
	whole := map[string][]string{"outer": {"a", "at", "b", "c", "d", "x", "y"}, "inner": {"x", "y"}}
	for name, c := range map[string]struct {
		schema, taken string
		want          []string
	}{
		"nothing":         {"", "", nil},
		"a property":      {"outer", "a", []string{"a"}},
		"an instant":      {"outer", "at", []string{"at"}},
		"an object":       {"outer", "c", []string{"c"}},
		"a promoted one":  {"outer", "y", []string{"y"}},
		"one of a schema": {"inner", "y", []string{"b.y", "c.y"}},
	} {
		schemas := map[string]any{}
		for schema, names := range whole {
			properties := map[string]any{}
			for _, property := range names {
				ref := map[string]any{"$ref": "#/components/schemas/inner"}
				switch {
				case schema == c.schema && property == c.taken:
				case property == "b":
					properties[property] = map[string]any{"items": ref}
				case property == "c":
					properties[property] = ref
				default:
					properties[property] = map[string]any{}
				}
			}
			schemas[schema] = map[string]any{"properties": properties}
		}
		if got, err := described.Missing(schemas, "outer", outer{inner: &inner{}}); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("without %s: %q, %v, want %q", name, got, err, c.want)
		}
		if _, err := described.Missing(schemas, "other", outer{}); err == nil {
			t.Error("a schema that is missing is no error")
		}
	}
}
