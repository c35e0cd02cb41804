package contracttest

import (
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/resource"
)

// schemas collects the JSON Schemas of Go types.
type schemas struct {
	root   string
	all    object                    // by name
	types  map[string]reflect.Type   // by name
	values map[reflect.Type][]string // constants of a type
	read   map[reflect.Type]bool     // types whose constants are known
	lax    bool                      // within a resource in a request, whose fields have defaults
	err    error                     // the first
}

// keepsRest reports whether the JSON of a type consists of its fields and of members that only the channel knows.
func keepsRest(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return false
	}
	rest, has := t.FieldByName("Rest")
	return has && rest.Type == reflect.TypeFor[carillon.Members]()
}

// of returns the schema of a type. That of a named struct is a reference.
func (s *schemas) of(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[json.RawMessage]():
		return object{}
	case reflect.TypeFor[carillon.Details]():
		return object{"type": "object", "additionalProperties": true}
	}
	if isGeneric(t, "Encoded") {
		return s.of(t.Field(1).Type.Elem())
	}
	if isGeneric(t, "Either") {
		return object{"oneOf": []any{s.of(t.Field(0).Type.Elem()), s.of(t.Field(1).Type.Elem())}}
	}
	if t.Kind() != reflect.Pointer && t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return object{"type": "string"}
	}
	if t.Implements(reflect.TypeFor[json.Marshaler]()) && !keepsRest(t) {
		s.fail(t, "has JSON of its own")
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.Interface:
		return object{}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.String:
		return s.text(t)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return object{"type": "string"}
		}
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		values := s.of(t.Elem())
		if len(values) == 0 {
			return object{"type": "object", "additionalProperties": true}
		}
		return object{"type": "object", "additionalProperties": values}
	case reflect.Struct:
		return s.structure(t)
	default:
		if t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64 {
			return object{"type": "integer"}
		}
		s.fail(t, "has no JSON")
		return object{}
	}
}

// input returns the schema of a request's body.
func (s *schemas) input(t reflect.Type) object {
	s.lax = t.Implements(reflect.TypeFor[resource.Resource]())
	defer func() { s.lax = false }()
	return s.of(t)
}

// isGeneric reports whether a type is an instance of a generic struct.
func isGeneric(t reflect.Type, name string) bool {
	return t.Kind() == reflect.Struct && strings.HasPrefix(t.Name(), name+"[")
}

func (s *schemas) fail(t reflect.Type, why string) {
	if s.err == nil {
		s.err = fmt.Errorf("%v %s", t, why)
	}
}

// text describes a string, whose values are the constants of its type.
func (s *schemas) text(t reflect.Type) object {
	if values := s.constants(t); len(values) > 0 {
		name := nameOf(t)
		s.all[name] = object{"type": "string", "enum": values}
		return reference(name)
	}
	return object{"type": "string"}
}

// structure describes a struct. Structs of generic types are described where they are used.
func (s *schemas) structure(t reflect.Type) object {
	name := nameOf(t)
	if name != "" && s.lax {
		name += "Input"
	}
	if name != "" {
		if known := s.types[name]; known != nil {
			if known != t {
				s.fail(t, "has the name of "+known.String())
			}
			return reference(name)
		}
		s.types[name] = t
	}
	properties := object{}
	required := s.properties(t, properties)
	if reflect.PointerTo(t).Implements(reflect.TypeFor[resource.Resource]()) {
		properties["warning"] = object{"type": "string"} // see agents.Resources
		if properties["id"] != nil && !slices.Contains(required, "id") {
			required = append(required, "id")
		}
	}
	x := object{"type": "object", "properties": properties}
	if !keepsRest(t) {
		x["additionalProperties"] = false
	}
	if len(required) > 0 && !s.lax {
		slices.Sort(required)
		x["required"] = required
	}
	if name == "" {
		return x
	}
	s.all[name] = x
	return reference(name)
}

// nameOf returns the name of a type's schema: package and type.
func nameOf(t reflect.Type) string {
	if t.Name() == "" || strings.Contains(t.Name(), "[") {
		return ""
	}
	path := strings.Split(t.PkgPath(), "/")
	return title(path[len(path)-1]) + title(t.Name())
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// sets are the values behind an enum tag that names a set.
//
//nolint:gochecknoglobals // read-only
var sets = map[string]string{
	"calls": "scheduled,queued,dialing,ringing,in_progress,completed,busy,no_answer,rejected,voicemail,failed,canceled,skipped",
	"concerns": "maintenance,restored,sender_failing,quota,conversations_waiting,messages_failing,calls_failing,template," +
		"webhook_failing,webhook_disabled,search_behind,counts_behind",
	"faults": "number_missing,number_invalid,number_amount,variable_missing,text_too_long,media_invalid,address_invalid," +
		"duplicate,suppressed,refused",
	"transfers": "taken,declined,unanswered,busy,failed,caller_left,caller_returned,canceled,interrupted",
}

// properties adds the fields of a struct, and returns the names of those that are always present. A field of the struct
// itself hides one of an embedded struct.
func (s *schemas) properties(t reflect.Type, to object) (required []string) {
	for f := range t.Fields() {
		if f.Anonymous && f.Tag.Get("json") == "" {
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			required = append(required, s.properties(inner, to)...)
		}
	}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" && options == "" || name == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		x := s.of(f.Type)
		if values := f.Tag.Get("enum"); values != "" {
			x = object{"type": "string", "enum": strings.Split(cmp.Or(sets[values], values), ",")}
		}
		if values := f.Tag.Get("values"); values != "" { // of a carillon.Details
			x = object{"type": "object", "additionalProperties": object{"type": strings.Split(values, ",")}}
		}
		optional := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
		required = slices.DeleteFunc(required, func(r string) bool { return r == name })
		if !optional {
			required = append(required, name)
		}
		if f.Type.Kind() == reflect.Pointer && !optional {
			x = object{"anyOf": []any{x, object{"type": "null"}}}
		}
		to[name] = x
	}
	return required
}

// constants returns the values of a string type, read from the source of its package.
func (s *schemas) constants(t reflect.Type) []string {
	folder, ok := strings.CutPrefix(t.PkgPath(), "carillon")
	if t.Name() == "" || !ok {
		return nil
	}
	if s.read[t] {
		return s.values[t]
	}
	s.read[t] = true
	files, err := filepath.Glob(filepath.Join(s.root, folder, "*.go"))
	if err != nil || len(files) == 0 {
		s.fail(t, "has no source")
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			s.err = err
			return nil
		}
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && spec.Type != nil {
				if id, ok := spec.Type.(*ast.Ident); ok && id.Name == t.Name() {
					for _, v := range spec.Values {
						if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
							value, _ := strconv.Unquote(lit.Value) // the parser has read it
							s.values[t] = append(s.values[t], value)
						}
					}
				}
			}
			return true
		})
	}
	slices.Sort(s.values[t])
	s.values[t] = slices.Compact(s.values[t])
	return s.values[t]
}
