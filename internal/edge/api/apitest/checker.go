package apitest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Checker checks traffic against one description. It is safe for concurrent use.
type Checker struct {
	doc   any
	paths *http.ServeMux // its patterns are the described paths

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema // by pointer into the description
}

// resource is the URL under which the compiler knows the description; nothing is fetched.
const resource = "carillon:openapi"

// New parses a description and validates it as OpenAPI 3.1.
func New(description []byte) (*Checker, error) {
	api, err := openapi3.NewLoader().LoadFromData(description)
	if err != nil {
		return nil, fmt.Errorf("read the description: %w", err)
	}
	if err := api.Validate(context.Background()); err != nil {
		return nil, fmt.Errorf("check the description: %w", err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(description))
	if err != nil {
		return nil, err
	}
	c := &Checker{doc: doc, paths: http.NewServeMux(), compiler: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{}}
	for path := range api.Paths.Map() {
		c.paths.Handle(path, http.NotFoundHandler())
	}
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	return c, c.compiler.AddResource(resource, doc)
}

// at returns the part of the description at these keys, or nil.
func (c *Checker) at(keys ...string) any {
	v := c.doc
	for _, k := range keys {
		v = object(v)[k]
	}
	return v
}

func object(v any) map[string]any {
	o, _ := v.(map[string]any)
	return o
}

// valid validates JSON against the schema at a pointer.
func (c *Checker) valid(pointer string, body []byte) error {
	schema, err := c.schema(pointer)
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	return schema.Validate(v)
}

func (c *Checker) schema(pointer string) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.compiled[pointer]; ok {
		return s, nil
	}
	s, err := c.compiler.Compile(resource + "#" + pointer)
	if err != nil {
		return nil, err
	}
	c.compiled[pointer] = s
	return s, nil
}

// pointer returns the JSON pointer (RFC 6901) of these keys as a URL fragment.
func pointer(keys ...string) string {
	escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")
	var b strings.Builder
	for _, k := range keys {
		b.WriteString("/" + escape.Replace(k))
	}
	return b.String()
}

// split splits a reference into the description into keys. The referenced keys contain no special characters.
func split(ref string) []string {
	return strings.Split(strings.TrimPrefix(ref, "#/"), "/")
}
