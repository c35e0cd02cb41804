// Package described compares Go types with the OpenAPI description, for tests: every JSON property of a type must be
// described.
package described

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
)

// Schemas returns the schemas of the OpenAPI description.
func Schemas(t testing.TB) map[string]any {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	text, err := os.ReadFile(filepath.Join(dir, "internal", "edge", "api", "openapi.yaml")) //nolint:gosec // in the source
	if err == nil {
		text, err = yaml.YAMLToJSON(text)
	}
	var doc struct {
		Components struct{ Schemas map[string]any }
	}
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	return doc.Components.Schemas
}

// Check fails the test if a Go value has a JSON property that its schema does not name. values maps the names of
// schemas to Go values; but lists exceptions.
func Check(t testing.TB, values map[string]any, but ...string) {
	t.Helper()
	schemas := Schemas(t)
	for schema, v := range values {
		all, err := Missing(schemas, schema, v)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range all {
			if !slices.Contains(but, name) {
				t.Errorf("%s lacks %s, which %T has", schema, name, v)
			}
		}
	}
}

// Missing fills in a value of a Go type and returns its JSON properties that the schema does not name, including
// properties of nested objects, such as turns.file.name. v may already be partly filled in.
func Missing(schemas map[string]any, schema string, v any) ([]string, error) {
	if schemas[schema] == nil {
		return nil, fmt.Errorf("there is no schema %s", schema)
	}
	x := reflect.New(reflect.TypeOf(v)).Elem()
	x.Set(reflect.ValueOf(v))
	fill(x)
	text, err := json.Marshal(x.Interface())
	if err != nil {
		return nil, err
	}
	var filled any
	if err := json.Unmarshal(text, &filled); err != nil {
		return nil, err
	}
	return missing(schemas, object(schemas[schema]), filled, ""), nil
}

func object(v any) map[string]any {
	o, _ := v.(map[string]any)
	return o
}

// missing is Missing for decoded JSON. A schema without properties allows every property.
func missing(schemas, schema map[string]any, v any, path string) (all []string) {
	if ref, ok := schema["$ref"].(string); ok {
		return missing(schemas, object(schemas[strings.TrimPrefix(ref, "#/components/schemas/")]), v, path)
	}
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			all = append(all, missing(schemas, object(schema["items"]), x, path)...)
		}
	case map[string]any:
		properties := object(schema["properties"])
		if properties == nil {
			return nil
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if properties[name] == nil {
				all = append(all, path+name)
				continue
			}
			all = append(all, missing(schemas, object(properties[name]), v[name], path+name+".")...)
		}
	}
	return all
}

// fill sets everything that can be set to a nonzero value.
func fill(v reflect.Value) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.UnixMilli(1)))
		return
	}
	switch v.Kind() { //nolint:exhaustive // JSON has no other kinds
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(1)
	case reflect.String:
		v.SetString("x")
	case reflect.Interface:
		v.Set(reflect.ValueOf("x"))
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		fill(v.Elem())
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte("{}")) // valid JSON, for json.RawMessage
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Field(i)
			if v.Type().Field(i).Anonymous && f.Kind() == reflect.Pointer {
				if f.IsNil() && f.CanSet() {
					f.Set(reflect.New(f.Type().Elem()))
				}
				f = f.Elem() // the caller has already filled in a pointer to an unexported type
			}
			if f.CanSet() || v.Type().Field(i).Anonymous && f.IsValid() {
				fill(f)
			}
		}
	}
}
