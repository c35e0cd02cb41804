package api

import (
	"encoding/json"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

func TestOpenAPIIsAValidDescription(t *testing.T) {
	if !json.Valid(OpenAPI()) {
		t.Fatal("not JSON")
	}
	doc, err := openapi3.NewLoader().LoadFromData(OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Error(err)
	}
}

// Errors with fields other than a reason are described as they are sent.
func TestErrorsWithMoreThanAReasonAreDescribed(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	for schema, body := range map[string]string{
		"IdempotencyInProgress": `{"error":"idempotency_in_progress","message":"m","details":{"field":"Idempotency-Key",` +
			`"reason":"r"},"retry_after":1,"request_id":"req_01234567890123456789"}`,
		"NotReady": `{"error":"service_unavailable","message":"m","details":{"reason":"r","checks":{"database":"ok"}},` +
			`"retry_after":1,"request_id":"req_01234567890123456789"}`,
	} {
		var value any
		if err := json.Unmarshal([]byte(body), &value); err != nil {
			t.Fatal(err)
		}
		if err := doc.Components.Schemas[schema].Value.VisitJSON(value); err != nil {
			t.Errorf("%s: %v", schema, err)
		}
	}
	for _, schema := range []string{"MessagingRequest", "VoiceRequest"} {
		for _, form := range doc.Components.Schemas[schema].Value.AnyOf {
			for _, field := range form.Value.Required {
				if form.Value.Properties[field] == nil {
					t.Errorf("%s, %s: %s has no type", schema, form.Value.Title, field)
				}
			}
		}
	}
}
