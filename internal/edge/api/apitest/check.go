// Package apitest checks the HTTP traffic of tests against the OpenAPI description: every response, and every accepted
// request. Tests use Transport as their client's transport. Each schema is compiled once.
package apitest

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// Exchange is a request and its response with their complete bodies.
type Exchange struct {
	Request      *http.Request
	RequestBody  []byte
	Response     *http.Response
	ResponseBody []byte
}

// Check returns an error if the response's status, headers or body differ from the description, if its request id is
// malformed, or if it accepts a request that the description forbids.
func (c *Checker) Check(x Exchange) error {
	if err := checkRequestID(x); err != nil {
		return err
	}
	path := c.find(x.Request)
	method := strings.ToLower(x.Request.Method)
	switch {
	case path == "" && x.Response.StatusCode != http.StatusNotFound:
		return fmt.Errorf("the path is not described, status %d", x.Response.StatusCode)
	case path == "":
		return c.valid(pointer("components", "schemas", "NotFound"), x.ResponseBody)
	case method == "options" && x.Response.StatusCode == http.StatusNoContent:
		return nil // a CORS preflight; only its routes are described
	case c.at("paths", path, method) == nil:
		return c.valid(pointer("components", "schemas", "MethodNotAllowed"), x.ResponseBody)
	}
	if err := c.checkResponse(path, method, x); err != nil {
		return fmt.Errorf("response %d of %s: %w", x.Response.StatusCode, path, err)
	}
	if x.Response.StatusCode < http.StatusMultipleChoices {
		if err := c.checkRequest(path, method, x); err != nil {
			return fmt.Errorf("accepted, though the description does not allow it: %w", err)
		}
	}
	return nil
}

// find returns the described path that matches a request. It returns "" for a path with dots or empty elements, which
// net/http would redirect.
func (c *Checker) find(r *http.Request) string {
	if path.Clean(r.URL.Path) != r.URL.Path {
		return ""
	}
	_, found := c.paths.Handler(r)
	return found
}

func (c *Checker) checkResponse(path, method string, x Exchange) error {
	at := []string{"paths", path, method, "responses", strconv.Itoa(x.Response.StatusCode)}
	described := object(c.at(at...))
	if described == nil {
		at[len(at)-1] = "default"
		described = object(c.at(at...))
	}
	if described == nil {
		return fmt.Errorf("the status is not described")
	}
	if ref, ok := described["$ref"].(string); ok {
		at = split(ref)
		described = object(c.at(at...))
	}
	for name, h := range object(described["headers"]) {
		if object(h)["required"] == true && x.Response.Header.Get(name) == "" {
			return fmt.Errorf("the header %s is missing", name)
		}
	}
	content := object(described["content"])
	if content == nil {
		if len(x.ResponseBody) > 0 {
			return fmt.Errorf("a body, but the description has none")
		}
		return nil
	}
	if content["*/*"] != nil {
		return nil
	}
	media, _, err := mime.ParseMediaType(x.Response.Header.Get("Content-Type"))
	if err != nil || content[media] == nil {
		return fmt.Errorf("the content type %q is not described", x.Response.Header.Get("Content-Type"))
	}
	if media != "application/json" {
		return nil
	}
	return c.valid(pointer(append(at, "content", media, "schema")...), x.ResponseBody)
}

// checkRequest checks the query and the body. Path parameters are checked by the match.
func (c *Checker) checkRequest(path, method string, x Exchange) error {
	operation := object(c.at("paths", path, method))
	params, _ := operation["parameters"].([]any)
	q := x.Request.URL.Query()
	for i, p := range params {
		at := []string{"paths", path, method, "parameters", strconv.Itoa(i)}
		param := object(p)
		if ref, ok := param["$ref"].(string); ok {
			at = split(ref)
			param = object(c.at(at...))
		}
		name := fmt.Sprint(param["name"])
		switch {
		case param["in"] != "query", !q.Has(name) && param["required"] != true:
			continue
		case !q.Has(name):
			return fmt.Errorf("%s is missing", name)
		}
		value := []byte(q.Get(name))
		if kind := object(param["schema"])["type"]; kind != "integer" && kind != "boolean" {
			value, _ = json.Marshal(string(value)) // a string always marshals
		}
		if err := c.valid(pointer(append(at, "schema")...), value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if object(object(operation["requestBody"])["content"])["application/json"] == nil { // no body, or a file
		return nil
	}
	return c.valid(pointer("paths", path, method, "requestBody", "content", "application/json", "schema"), x.RequestBody)
}

var requestID = regexp.MustCompile(`^req_[A-Za-z0-9_-]{20,26}$`)

// checkRequestID checks the format of X-Request-Id, and that the request_id of an error is equal to it
// (docs/reference/errors.md).
func checkRequestID(x Exchange) error {
	id := x.Response.Header.Get("X-Request-Id")
	if !requestID.MatchString(id) {
		return fmt.Errorf("X-Request-Id is %q", id)
	}
	var body struct {
		RequestID *string `json:"request_id"`
	}
	if x.Response.StatusCode < http.StatusBadRequest {
		return nil
	}
	if json.Unmarshal(x.ResponseBody, &body) == nil && body.RequestID != nil && *body.RequestID != id {
		return fmt.Errorf("request_id is %q in the body and %q in the header", *body.RequestID, id)
	}
	plain := strings.HasPrefix(x.Response.Header.Get("Content-Type"), "text/") // plain text shown to people instead of a page
	if body.RequestID == nil && !plain {
		return fmt.Errorf("an error without request_id: %d", x.Response.StatusCode)
	}
	return nil
}
