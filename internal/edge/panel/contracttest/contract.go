// Package contracttest describes /panel/v1 in OpenAPI 3.1. Describe generates the description from the routes and the Go
// types of their bodies; openapi.json is its result. Tests check responses against it, and the panel's TypeScript types
// are generated from it. The program itself does not use this package.
package contracttest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store/audit"
)

//go:embed openapi.json
var openAPI []byte

// OpenAPI returns the description.
func OpenAPI() []byte { return openAPI }

// object is a JSON object.
type object = map[string]any

var parameter = regexp.MustCompile(`{(\w+)}`)

// Describe returns the description of the panel's routes as JSON. root is the folder of the module's source.
func Describe(routes []httpio.Route, root string) ([]byte, error) {
	s := &schemas{
		root: root, all: object{}, types: map[string]reflect.Type{}, read: map[reflect.Type]bool{},
		values: map[reflect.Type][]string{reflect.TypeFor[audit.Kind](): resourceKinds()},
	}
	paths := object{}
	for _, r := range routes {
		method, path, _ := strings.Cut(r.Pattern, " ")
		path, ok := strings.CutPrefix(path, member.Prefix)
		if !ok {
			continue
		}
		item, _ := paths[path].(object)
		if item == nil {
			item = object{}
			paths[path] = item
		}
		item[strings.ToLower(method)] = s.operation(path, r)
	}
	for _, name := range []string{"Error", "NotFound", "MethodNotAllowed"} {
		s.all[name] = object{
			"type": "object", "required": []string{"error", "message", "request_id"}, "properties": object{
				"error": object{"type": "string"}, "message": object{"type": "string"}, "details": object{"type": "object"},
				"retry_after": object{"type": "integer"}, "request_id": object{"type": "string"},
			},
		}
	}
	if s.err != nil {
		return nil, s.err
	}
	return write(object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Administration of a company", "version": "1",
			"description": "Generated from the routes and their Go types. Regenerate: go test ./internal/edge/panel -update",
		},
		"servers": []any{object{"url": member.Prefix}}, "paths": paths, "components": object{"schemas": s.all},
	})
}

// write returns JSON with a line for each operation and each property of a schema.
func write(doc object) ([]byte, error) {
	var b bytes.Buffer
	var lines func(v any, depth int) error
	lines = func(v any, depth int) error {
		o, _ := v.(object)
		if len(o) == 0 || depth > deepest {
			text, err := json.Marshal(v)
			b.Write(text)
			return err
		}
		between := "{"
		for _, key := range slices.Sorted(maps.Keys(o)) {
			fmt.Fprintf(&b, "%s\n%s%q: ", between, strings.Repeat(" ", depth), key)
			between = ","
			if err := lines(o[key], depth+1); err != nil {
				return err
			}
		}
		b.WriteString("}")
		return nil
	}
	err := lines(doc, 1)
	b.WriteByte('\n')
	return b.Bytes(), err
}

const deepest = 5 // nesting with a line for each member

// resourceKinds are the kinds of changed objects that are resources, in addition to the constants of audit.Kind.
func resourceKinds() []string {
	return []string{"agent", "flow", "knowledge", "secret", "site", "suite", "tool", "webhook", "widget"}
}

// operation describes a route.
func (s *schemas) operation(path string, r httpio.Route) object {
	success := object{"description": http.StatusText(r.Shape.Status)}
	switch {
	case r.Shape.File:
		success["content"] = object{"*/*": object{}}
	case r.Shape.Gives != nil:
		success["content"] = object{"application/json": object{"schema": s.of(r.Shape.Gives)}}
	}
	responses := object{
		strconv.Itoa(max(r.Shape.Status, http.StatusOK)): success,
		"default": object{
			"description": "Error",
			"content":     object{"application/json": object{"schema": reference("Error")}},
		},
	}
	if r.Shape.File { // a part of it, if the request names a range
		responses[strconv.Itoa(http.StatusPartialContent)] = success
	}
	o := object{"responses": responses}
	parameters := []any{}
	for _, name := range parameter.FindAllStringSubmatch(path, -1) {
		parameters = append(parameters, object{"name": name[1], "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	if r.Shape.Query != nil {
		required := s.properties(r.Shape.Query, object{})
		known := object{}
		s.properties(r.Shape.Query, known)
		for _, name := range slices.Sorted(maps.Keys(known)) {
			p := object{"name": name, "in": "query", "schema": known[name]}
			if slices.Contains(required, name) {
				p["required"] = true
			}
			parameters = append(parameters, p)
		}
	}
	if len(parameters) > 0 {
		o["parameters"] = parameters
	}
	if r.Shape.Takes != nil {
		o["requestBody"] = object{"content": object{"application/json": object{"schema": s.input(r.Shape.Takes)}}}
	}
	return o
}

func reference(name string) object { return object{"$ref": "#/components/schemas/" + name} }
