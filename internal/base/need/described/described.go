// Package described compares Go types with the description of the interface, for tests: a property that a type has as JSON must be
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

// Schemas are those of the interface's description.
func Schemas(t testing.TB) map[string]any {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	text, err := os.ReadFile(filepath.Join(dir, "internal", "edge", "api", "openapi.yaml"))
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

// Check fails where values of Go types have properties as JSON that the schemas of the interface do not name, but for some. The values are
// by the names of their schemas.
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

// Missing are the properties that a value of a Go type has as JSON, once all of it is filled in, and that a schema does not name: those of
// its objects too, such as turns.file.name. The value may be one that is filled in partly.
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

// missing is Missing of JSON. A schema that names no properties takes all.
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

// fill gives what can be set a value other than its zero value.
func fill(v reflect.Value) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.UnixMilli(1)))
		return
	}
	switch v.Kind() { //nolint:exhaustive // JSON has no others
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
			v.SetBytes([]byte("{}")) // JSON
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
				f = f.Elem() // of one that is not exported the caller has filled the pointer in
			}
			if f.CanSet() || v.Type().Field(i).Anonymous && f.IsValid() {
				fill(f)
			}
		}
	}
}
