package agents_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"carillon/internal/edge/panel/paneltest"
)

func TestAToolIsTriedAndUsedInThePlayground(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	w.Company("other")
	by := w.As("developer@acme.test")
	calls := 0
	shop := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		calls++
		body, _ := io.ReadAll(r.Body)
		out.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(out).Encode(map[string]string{"got": r.Method + r.RequestURI + string(body) + r.Header.Get("X-Key")})
	}))
	defer shop.Close()
	w.Want("POST", "/panel/v1/secrets", w.As("owner@acme.test"),
		`{"name":"shop_key","hosts":["127.0.0.1"],"value":"k3y-of-the-shop"}`, 201, "", "")
	tool := fmt.Sprintf(`{"name":"cancel_order","description":"Cancels","http":{"method":"POST","url":"%s/orders/{{order_id}}",
		"headers":{"X-Key":"{{secret.shop_key}}"},"body":{"why":"{{why}}","n":"{{order_id}}"}},"phrases":["cancel my order"],
		"parameters":[{"name":"order_id","type":"text","required":true,"pattern":"[A-Z]{2}-[0-9]+"},{"name":"why","type":"text"}],
		"say":{"en":"It is canceled."}}`, shop.URL)
	id, _ := w.Want("POST", "/panel/v1/tools", by, tool, 201, "", "")["id"].(string)
	one := "/panel/v1/tools/" + id
	got := w.Want("POST", one+"/try", by, `{"arguments":{"order_id":"AB-1","why":"late"}}`, 200, "", "")
	if got["status"] != "ok" || got["request"] != "POST "+shop.URL+"/orders/AB-1" || got["body"] != `{"n":"AB-1","why":"late"}` ||
		got["say"] != "It is canceled." || !strings.Contains(fmt.Sprint(got["text"]), "•••") || strings.Contains(fmt.Sprint(got), "k3y") {
		t.Errorf("%v", got)
	}
	if got := w.Want("POST", one+"/try", by, `{}`, 200, "", ""); got["status"] != "refused" {
		t.Errorf("%v", got)
	}
	w.Want("POST", one+"/try", by, `{"arguments":[1]}`, 400, "validation_failed", "arguments")
	w.Want("POST", one+"/try", w.As("viewer@acme.test"), `{}`, 403, "forbidden", "")
	w.Want("POST", one+"/try", w.As("owner@other.test"), `{}`, 404, "not_found", "")
	w.Want("GET", one+"/remote", by, "", 409, "conflict", "")
	if got := w.Want("GET", one, w.As("viewer@acme.test"), "", 200, "", ""); !strings.Contains(fmt.Sprint(got), "X-Key:•••") {
		t.Errorf("%v", got)
	}
	w.Want("POST", "/panel/v1/agents", by,
		`{"name":"Eve","engine":"elevenlabs","elevenlabs":{"agent_id":"a"},"server_tools":["cancel_order"]}`,
		400, "validation_failed", "server_tools")
	w.Want("POST", "/panel/v1/agents", by, `{"name":"Eve","server_tools":["nothing"]}`, 400, "validation_failed", "server_tools.0")
	agent, _ := w.Want("POST", "/panel/v1/agents", by, `{"name":"Ann","server_tools":["cancel_order"]}`, 201, "", "")["id"].(string)
	for _, used := range []string{one, "/panel/v1/secrets/shop_key"} {
		w.Want("DELETE", used, w.As("owner@acme.test"), "", 409, "conflict", "")
	}

	play, before := "/panel/v1/agents/"+agent+"/playground", calls
	asked := w.Want("POST", play, by, `{"said":[{"contact":true,"text":"cancel my order AB-7"}]}`, 200, "", "")
	if !strings.Contains(fmt.Sprint(asked["text"]), "order id: AB-7") || calls != before || asked["memory"] == nil {
		t.Errorf("%v, %d calls", asked, calls-before)
	}
	memory, _ := json.Marshal(asked["memory"])
	asks, _ := json.Marshal(asked["asks"])
	done := w.Want("POST", play, by, fmt.Sprintf(`{"said":[{"contact":true,"text":"Yes"}],"asked":%s,"memory":%s}`, asks, memory),
		200, "", "")
	if done["text"] != "It is canceled." || calls != before+1 || !strings.Contains(fmt.Sprint(done["tools"]), "cancel_order") {
		t.Errorf("%v, %d calls", done, calls-before)
	}
	w.Want("POST", play, by, `{"said":[{"contact":true,"text":"Yes"}],"memory":7}`, 400, "validation_failed", "memory")
}

func TestTheToolsOfAnMCPServerAreReadForTheirApproval(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	by := w.As("developer@acme.test")
	server := sdk.NewServer(&sdk.Implementation{Name: "docs", Version: "1"}, nil)
	server.AddTool(&sdk.Tool{Name: "find", Description: "Finds", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(
		context.Context, *sdk.CallToolRequest,
	) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "Found it."}}}, nil
	})
	docs := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	defer docs.Close()
	made := w.Want("POST", "/panel/v1/tools", by, `{"name":"docs","mcp":{"url":"`+docs.URL+`"}}`, 201, "", "")
	one := "/panel/v1/tools/" + fmt.Sprint(made["id"])
	listed, _ := w.Want("GET", one+"/remote", by, "", 200, "", "")["tools"].([]any)
	if len(listed) != 1 {
		t.Fatalf("%v", listed)
	}
	w.Want("POST", one+"/try", by, `{"name":"find"}`, 400, "validation_failed", "name")
	approved, _ := json.Marshal(listed)
	w.Want("PUT", one, by, `{"name":"docs","mcp":{"url":"`+docs.URL+`","tools":`+string(approved)+`}}`, 200, "", "")
	if got := w.Want("POST", one+"/try", by, `{"name":"find"}`, 200, "", ""); got["say"] != "Found it." {
		t.Errorf("%v", got)
	}
	docs.Close()
	if got := w.Want("GET", one+"/remote", by, "", 200, "", ""); got["reason"] == "" || got["reason"] == nil {
		t.Errorf("%v", got)
	}
}
