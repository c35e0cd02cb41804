package api

import (
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// TestOperationsOfTheDescriptionHaveExamples checks that every JSON body has an example. Validation of the description
// checks that examples match their schemas.
func TestOperationsOfTheDescriptionHaveExamples(t *testing.T) {
	found := 0
	check := func(what string, content openapi3.Content) {
		if m := content["application/json"]; m != nil && m.Example == nil && len(m.Examples) == 0 {
			t.Errorf("%s has no example", what)
		} else if m != nil {
			found++
		}
	}
	eachOperation(describe(t), func(name string, o *openapi3.Operation) {
		if o.RequestBody != nil {
			check(name+": the request", o.RequestBody.Value.Content)
		}
		for status, r := range o.Responses.Map() {
			check(name+": "+status, r.Value.Content)
		}
	})
	if found < 400 {
		t.Errorf("only %d examples were found", found)
	}
	for name, wrong := range map[string][2]string{
		"a request": {`"rating": 5`, `"rating": 6`}, "a response": {`"canceled": 1,`, ``},
		"one of several errors": {`"window": "60s"`, `"window": "1m"`},
	} {
		text := strings.Replace(string(OpenAPI()), wrong[0], wrong[1], 1)
		doc, err := openapi3.NewLoader().LoadFromData([]byte(text))
		if err != nil || text == string(OpenAPI()) {
			t.Fatal(name, err)
		}
		if err := doc.Validate(t.Context()); err == nil {
			t.Errorf("%s with a wrong example is valid", name)
		}
	}
}

// TestParametersOfTheDescriptionHaveExamples checks that parameters have examples, for generated clients and for
// people who try a request.
func TestParametersOfTheDescriptionHaveExamples(t *testing.T) {
	eachOperation(describe(t), func(name string, o *openapi3.Operation) {
		for _, p := range o.Parameters {
			x := p.Value
			given := x.Example != nil || x.Schema.Value.Const != nil || strings.Contains(x.Name, "customer_id") // a key
			if x.Required && !given && !strings.Contains(name, "/v1/convai/") {
				t.Errorf("%s: the parameter %s has no example", name, x.Name)
			}
		}
	})
}

// TestErrorsOfTheDescriptionSayTheirCause keeps the reference complete: for each error it must explain the cause and
// the remedy.
func TestErrorsOfTheDescriptionSayTheirCause(t *testing.T) {
	found := 0
	for name, s := range describe(t).Components.Schemas {
		if code := s.Value.Properties["error"]; code == nil {
			continue
		}
		found++
		if len(s.Value.Description) < 40 {
			t.Errorf("%s does not explain its cause: %q", name, s.Value.Description)
		}
	}
	if found < 20 {
		t.Errorf("only %d errors were found", found)
	}
}
