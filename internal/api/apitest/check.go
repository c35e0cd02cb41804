// Package apitest checks what a test sees of the interface against its OpenAPI description: every answer, and every
// request that was accepted. Tests put Transport under their client.
package apitest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// Checker checks answers against one description. It may be used by many goroutines.
type Checker struct {
	doc *openapi3.T
}

// New reads a description.
func New(description []byte) (*Checker, error) {
	doc, err := openapi3.NewLoader().LoadFromData(description)
	if err != nil {
		return nil, fmt.Errorf("read the description: %w", err)
	}
	return &Checker{doc: doc}, doc.Validate(context.Background())
}

// Exchange is a request and its answer, read to their ends.
type Exchange struct {
	Request      *http.Request
	RequestBody  []byte
	Response     *http.Response
	ResponseBody []byte
}

// Check tells what is wrong with an answer: its status, headers or body are not described, or its request id is not.
func (c *Checker) Check(ctx context.Context, x Exchange) error {
	if err := checkRequestID(x); err != nil {
		return err
	}
	route, params := c.find(x.Request)
	if route == nil {
		return c.checkUnknown(x)
	}
	if route.Operation == nil {
		return c.matches("MethodNotAllowed", x.ResponseBody)
	}
	in := &openapi3filter.RequestValidationInput{
		Request: withBody(x.Request, x.RequestBody), PathParams: params, Route: route,
		Options: &openapi3filter.Options{
			AuthenticationFunc:         openapi3filter.NoopAuthenticationFunc,
			SkipSettingDefaults:        true,
			ExcludeRequestBody:         route.Operation.RequestBody == nil,
			IncludeResponseStatus:      true,
			ExcludeReadOnlyValidations: true,
		},
	}
	if x.Response.StatusCode == http.StatusOK {
		if err := openapi3filter.ValidateRequest(ctx, in); err != nil {
			return fmt.Errorf("accepted, though the description does not allow it: %w", err)
		}
	}
	err := openapi3filter.ValidateResponse(ctx, &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: x.Response.StatusCode, Header: x.Response.Header,
		Body: io.NopCloser(bytes.NewReader(x.ResponseBody)), Options: in.Options,
	})
	if err != nil {
		return fmt.Errorf("answer %d of %s %s: %w", x.Response.StatusCode, route.Method, route.Path, err)
	}
	return nil
}

func withBody(r *http.Request, body []byte) *http.Request {
	c := r.Clone(r.Context())
	c.Body = io.NopCloser(bytes.NewReader(body))
	c.ContentLength = int64(len(body))
	return c
}

// find is the described path that a request is for, a literal one before one with parameters. The operation is nil when
// the path has no such method.
func (c *Checker) find(r *http.Request) (*routers.Route, map[string]string) {
	var found *routers.Route
	var params map[string]string
	for path, item := range c.doc.Paths.Map() {
		p, ok := matchPath(path, r.URL.EscapedPath())
		if !ok || (found != nil && len(p) >= len(params)) {
			continue
		}
		found, params = &routers.Route{Spec: c.doc, Path: path, PathItem: item, Method: r.Method, Operation: item.GetOperation(r.Method)}, p
	}
	return found, params
}

func matchPath(pattern, path string) (map[string]string, bool) {
	want, have := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return nil, false
	}
	params := map[string]string{}
	for i, w := range want {
		switch {
		case strings.HasPrefix(w, "{") && have[i] != "":
			params[strings.Trim(w, "{}")] = have[i]
		case w != have[i]:
			return nil, false
		}
	}
	return params, true
}

// checkUnknown holds what is not described to the JSON 404.
func (c *Checker) checkUnknown(x Exchange) error {
	if x.Response.StatusCode != http.StatusNotFound {
		return fmt.Errorf("%s %s is not described and answers %d", x.Request.Method, x.Request.URL.Path, x.Response.StatusCode)
	}
	return c.matches("NotFound", x.ResponseBody)
}

func (c *Checker) matches(schema string, body []byte) error {
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return fmt.Errorf("answer is not JSON: %w", err)
	}
	return c.doc.Components.Schemas[schema].Value.VisitJSON(v, openapi3.EnableJSONSchema2020())
}

var requestID = regexp.MustCompile(`^req_[A-Za-z0-9_-]{20,26}$`) //nolint:gochecknoglobals // compiled once

// checkRequestID holds the header X-Request-Id to its form, and the body's request_id to the header (decisions.md,
// section 1).
func checkRequestID(x Exchange) error {
	id := x.Response.Header.Get("X-Request-Id")
	if !requestID.MatchString(id) {
		return fmt.Errorf("X-Request-Id is %q", id)
	}
	var body struct {
		RequestID *string `json:"request_id"`
	}
	if json.Unmarshal(x.ResponseBody, &body) == nil && body.RequestID != nil && *body.RequestID != id {
		return fmt.Errorf("request_id is %q in the body and %q in the header", *body.RequestID, id)
	}
	if x.Response.StatusCode >= http.StatusBadRequest && body.RequestID == nil {
		return fmt.Errorf("an error without request_id: %d", x.Response.StatusCode)
	}
	return nil
}
