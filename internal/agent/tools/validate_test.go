package tools

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"carillon"
	"carillon/internal/agent"
)

func TestFaultsOfToolsNameTheirField(t *testing.T) {
	get := func(change func(x *Tool)) *Tool {
		x := &Tool{
			Name: "order_status", Description: "Finds an order", HTTP: &HTTP{URL: "https://shop.example.com/orders/{{order_id}}?v={{v}}"},
			Parameters: []agent.Parameter{{Name: "order_id", Type: "text", Required: true}, {Name: "v", Type: "integer"}},
		}
		change(x)
		return x
	}
	post := func(body string) *Tool {
		return get(func(x *Tool) { x.HTTP.Method, x.HTTP.Body = "POST", json.RawMessage(body) })
	}
	server := func(change func(a *Approved)) *Tool {
		a := Approved{
			Name:       "get",
			Parameters: json.RawMessage(`{"type":"object","properties":{"list":{"type":"array"},"id":{"type":"string"}}}`),
		}
		a.Hash = a.hash()
		change(&a)
		return &Tool{Name: "shop", MCP: &MCP{URL: "https://shop.example.com/mcp", Tools: []Approved{a}}}
	}
	header := func(name, value string) *Tool {
		return get(func(x *Tool) { x.HTTP.Headers = map[string]string{name: value} })
	}
	for _, c := range []struct {
		field string
		x     *Tool
	}{
		{"", get(func(*Tool) {})},
		{"", post(`{"id":"{{order_id}}","key":"{{secret.k}}","v":"{{v}}"}`)},
		{"", server(func(*Approved) {})},
		{"", header("Authorization", "Bearer {{ secret.shop_key }}")},
		{"name", get(func(x *Tool) { x.Name = "order status" })},
		{"name", get(func(x *Tool) { x.Name = "handoff" })},
		{"description", get(func(x *Tool) { x.Description = "" })},
		{"description", get(func(x *Tool) { x.Description = strings.Repeat("x", 1001) })},
		{"http", get(func(x *Tool) { x.HTTP = nil })},
		{"http", get(func(x *Tool) { x.MCP = &MCP{URL: "https://a.example.com"} })},
		{"timeout", get(func(x *Tool) { x.Timeout = 31 })},
		{"max_response", get(func(x *Tool) { x.MaxResponse = 1 << 20 })},
		{"http.method", get(func(x *Tool) { x.HTTP.Method = "TRACE" })},
		{"http.url", get(func(x *Tool) { x.HTTP.URL = "" })},
		{"http.url", get(func(x *Tool) { x.HTTP.URL = "https://{{order_id}}.example.com/" })},
		{"http.url", get(func(x *Tool) { x.HTTP.URL = "https://shop.example.com{{order_id}}/" })},
		{"http.url", get(func(x *Tool) { x.HTTP.URL = "ftp://shop.example.com/{{order_id}}" })},
		{"http.url", get(func(x *Tool) { x.HTTP.URL = "https://ana:pw@shop.example.com/{{order_id}}" })},
		{"http.url", get(func(x *Tool) { x.HTTP.URL += "&x={{unknown}}" })},
		{"http.url", get(func(x *Tool) { x.HTTP.URL = "https://shop.example.com/{{secret.k}}/{{order_id}}" })},
		{"http.url", get(func(x *Tool) { x.HTTP.URL += "#x" })},
		{"http.body", get(func(x *Tool) { x.HTTP.Body = json.RawMessage(`{}`) })},
		{"http.body", post(`{"id":"{{unknown}}"}`)},
		{"http.body", post(`"{\"id\":"`)},
		{"http.pick", get(func(x *Tool) { x.HTTP.Pick = "order.id" })},
		{"http.headers.Host", header("Host", "x")},
		{"http.headers.Idempotency-Key", header("Idempotency-Key", "x")},
		{"http.headers.X", header("X", "a\r\nB: c")},
		{"http.headers.X", header("X", "{{order_id}}")},
		{"http.headers.X Y", header("X Y", "x")},
		{"parameters.0.required", get(func(x *Tool) { x.Parameters[0].Required = false })},
		{"parameters.1.name", get(func(x *Tool) { x.Parameters[1].Name = "order_id" })},
		{"parameters.1.name", func() *Tool { x := post(`{"id":"{{order_id}}"}`); x.HTTP.URL = "https://a.example.com/"; return x }()},
		{"parameters.1.type", get(func(x *Tool) { x.Parameters[1].Type = "object" })},
		{"parameters.1.choices", get(func(x *Tool) { x.Parameters[1].Type = "choice" })},
		{"parameters.0.pattern", get(func(x *Tool) { x.Parameters[0].Pattern = "(" })},
		{"parameters.1.pattern", get(func(x *Tool) { x.Parameters[1].Pattern = "1" })},
		{"parameters.0.question.english", get(func(x *Tool) { x.Parameters[0].Question = agent.Texts{"english": "Which?"} })},
		{"phrases.0", get(func(x *Tool) { x.Phrases = []string{" "} })},
		{"say.en", get(func(x *Tool) { x.Say = agent.Texts{"en": "{{status}}"} })},
		{"say.en", get(func(x *Tool) { x.Say = agent.Texts{"en": "{{secret.k}}"} })},
		{"confirm.en", get(func(x *Tool) { x.Confirm = agent.Texts{"en": "Cancel {{/id}}?"} })},
		{"mcp.url", func() *Tool { x := server(func(*Approved) {}); x.MCP.URL += "?{{secret.k}}"; return x }()},
		{"phrases", func() *Tool { x := server(func(*Approved) {}); x.Phrases = []string{"x"}; return x }()},
		{"mcp.tools.0.name", server(func(a *Approved) { a.Name = "" })},
		{"mcp.tools.0.hash", server(func(a *Approved) { a.Hash = "" })},
		{"mcp.tools.0.hash", server(func(a *Approved) { a.Description = "changed" })},
		{"mcp.tools.0.parameters", server(func(a *Approved) { a.Parameters = json.RawMessage(`{"type":"string"}`) })},
		{"mcp.tools.0.parameters", server(func(a *Approved) { a.Parameters = nil })},
		{"mcp.tools.0.questions.list", server(func(a *Approved) { a.Questions = map[string]agent.Texts{"list": {"en": "Which?"}} })},
		{"mcp.tools.0.phrases", server(func(a *Approved) {
			a.Parameters = json.RawMessage(`{"type":"object","properties":{"list":{"type":"array"}},"required":["list"]}`)
			a.Hash, a.Phrases = a.hash(), []string{"list"}
		})},
		{"mcp.tools.1.name", func() *Tool {
			x := server(func(*Approved) {})
			again := Approved{Name: "get", Description: "b", Parameters: x.MCP.Tools[0].Parameters}
			again.Hash = again.hash()
			x.MCP.Tools = append(x.MCP.Tools, again)
			return x
		}()},
	} {
		err := c.x.Validate()
		if fields := fieldsOf(err); c.field == "" && err != nil || c.field != "" && !strings.Contains(fields, " "+c.field+" ") {
			t.Errorf("%s: %s %v", c.field, fields, err)
		}
	}
}

// fieldsOf returns the fields that an error names, between spaces.
func fieldsOf(err error) string {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return ""
	}
	fields := " "
	for _, err := range joined.Unwrap() {
		if x, ok := errors.AsType[*carillon.Error](err); ok {
			field, _ := x.Details.Find("field").(string)
			fields += field + " "
		}
	}
	return fields
}

func TestAllMethodsButGetChangeSomething(t *testing.T) {
	no := false
	for _, c := range []struct {
		method  string
		changes *bool
		want    bool
	}{{"GET", nil, false}, {"POST", nil, true}, {"DELETE", nil, true}, {"POST", &no, false}} {
		x := Tool{Name: "x", Changes: c.changes, HTTP: &HTTP{Method: c.method}}
		if got := x.offered()[0].Changes; got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

func TestHeadersAreHiddenFromMembersWhoOnlyRead(t *testing.T) {
	x := Tool{HTTP: &HTTP{
		URL: "https://a.example.com/x?key=1", Headers: map[string]string{"X-Key": "plain"},
		Body: json.RawMessage(`{"k":1}`),
	}}
	x.HideRequests()
	if text, _ := json.Marshal(x); strings.Contains(string(text), "plain") || strings.Contains(string(text), "key=1") ||
		strings.Contains(string(text), `"k"`) {
		t.Errorf("%s", text)
	}
}
