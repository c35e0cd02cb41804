package apitest_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"carillon/internal/edge/api"
	"carillon/internal/edge/api/apitest"
)

const id = "req_0123456789abcdefghij"

func TestCheckHoldsAnswersToTheDescription(t *testing.T) {
	checker, err := apitest.New(api.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	accepted := `{"success":true,"message":"m","notification_id":"0190a000-0000-7000-8000-000000000000"}`
	plain := `{"contact":{"number":"34600111222"},"language_template":"en","name_template":"a","recipient_id":"r",` +
		`"notification_type":"utility","campaign_name":"c"}`
	forbidden := `{"error":"forbidden","message":"m","details":{"reason":"r"},"request_id":"` + id + `"}`
	unknown := `{"error":"not_found","message":"m","request_id":"` + id + `"}`
	tests := []struct {
		name, method, path, sent, got string
		status                        int
		wrong                         string
	}{
		{"a described answer", "POST", "/functions/v1/notify?access_key=k", plain, accepted, 200, ""},
		{"an error", "POST", "/functions/v1/notify", "{", forbidden, 403, ""},
		{"a key too many", "POST", "/functions/v1/notify", plain, `{"a":1,` + accepted[1:], 200, "additional properties"},
		{"a wrong type", "POST", "/functions/v1/notify", plain, strings.Replace(accepted, "true", `"true"`, 1), 200, "true"},
		{"a request the description forbids", "POST", "/functions/v1/notify", `{}`, accepted, 200, "accepted, though"},
		{"a status that is not described", "POST", "/functions/v1/notify", plain, forbidden, 418, "not described"},
		{"the error of another status", "POST", "/functions/v1/notify", plain, forbidden, 401, "Unauthorized"},
		{
			"an error's id that is not the header's", "POST", "/functions/v1/notify", plain,
			strings.Replace(forbidden, "req_0", "req_1", 1), 403, "request_id",
		},
		{"an unknown path", "GET", "/functions/v1/nothing", "", unknown, 404, ""},
		{"an unknown path that answers", "GET", "/functions/v1/nothing", "", accepted, 200, "not described"},
		{"a path that is not clean", "GET", "/functions/v1/x/../notify", "", unknown, 404, ""},
		{"an unknown method with another error", "PUT", "/functions/v1/notify", "", unknown, 404, "MethodNotAllowed"},
		{"a literal path before one with a parameter", "GET", "/functions/v1/notify/templates?phone_number=1", "", "[]", 200, ""},
		{"a path with a parameter", "GET", "/functions/v1/notify/x", "", "[]", 200, "object"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), test.method, test.path, nil)
			r.Header.Set("Content-Type", "application/json")
			res := &http.Response{StatusCode: test.status, Header: http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {id}}}
			err := checker.Check(apitest.Exchange{
				Request: r, RequestBody: []byte(test.sent), Response: res, ResponseBody: []byte(test.got),
			})
			if test.wrong == "" && err != nil {
				t.Error(err)
			}
			if test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong)) {
				t.Errorf("got %v, want a fault that names %q", err, test.wrong)
			}
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	checker, err := apitest.New(api.OpenAPI())
	if err != nil {
		b.Fatal(err)
	}
	r := httptest.NewRequestWithContext(b.Context(), "GET", "/functions/v1/notify/templates?phone_number=1", nil)
	res := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {id}}}
	for b.Loop() {
		if err := checker.Check(apitest.Exchange{Request: r, Response: res, ResponseBody: []byte("[]")}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestEveryOperationHasSchemas compiles every request and response schema.
func TestEveryOperationHasSchemas(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	checker, err := apitest.New(api.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			for status, response := range operation.Responses.Map() {
				code, err := strconv.Atoi(status)
				if err != nil || code == http.StatusOK || response.Value.Content["application/json"] == nil {
					continue
				}
				r := httptest.NewRequestWithContext(t.Context(), method, strings.NewReplacer("{", "", "}", "").Replace(path), nil)
				res := &http.Response{StatusCode: code, Header: http.Header{
					"Content-Type": {"application/json"}, "X-Request-Id": {id}, "Allow": {"GET"}, "Retry-After": {"1"},
					"Ratelimit": {"x"}, "Ratelimit-Policy": {"x"},
				}}
				body := []byte(`{"request_id":"` + id + `"}`)
				err = checker.Check(apitest.Exchange{Request: r, Response: res, ResponseBody: body})
				if _, ok := errors.AsType[*jsonschema.ValidationError](err); !ok {
					t.Errorf("%s %s %s: got %v, want the schema's refusal", method, path, status, err)
				}
			}
		}
	}
}
