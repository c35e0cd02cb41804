package templates_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"
)

// messagingSender creates a company's default messaging sender.
func messagingSender(w *paneltest.World, companyID, id, number string) {
	w.T.Helper()
	err := w.Store.Config.Change(w.T.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return settings.PutSender(ctx, tx, &carillon.Sender{
			CompanyID: companyID, ID: id, Number: number, Channel: carillon.Messaging, Provider: "sandbox", Default: true,
			MediaCheck: "syntax", Unknown: carillon.DefaultUnknownPolicy(), Settings: []byte("{}"),
		}, time.Now())
	})
	if err != nil {
		w.T.Fatal(err)
	}
}

func TestATemplateIsWrittenEditedFollowedAndDeleted(t *testing.T) {
	w := paneltest.New(t)
	acme, other := w.Company("acme"), w.Company("other")
	messagingSender(w, acme.ID, "main", "15555550100")
	messagingSender(w, other.ID, "elsewhere", "15555550101")
	marketer := w.As("marketer@acme.test")
	const path = "/panel/v1/templates"
	made := w.Want("POST", path+"?sender=main", marketer,
		`{"name":"greeting","language":"en","category":"UTILITY","content":"Hello {{name}}","samples":{"name":"Ana"}}`, 201, "", "")
	id, _ := made["id"].(string)
	example := made["components"].([]any)[0].(map[string]any)["example"].(map[string]any)
	sample := example["body_text_named_params"].([]any)[0].(map[string]any)
	if made["status"] != "draft" || made["sender"] != "main" || made["provider"] != "sandbox" || sample["example"] != "Ana" ||
		made["variables"].([]any)[0] != "body_text_0" {
		t.Fatal(made)
	}
	w.Want(
		"POST", path+"?sender=elsewhere", marketer, `{"name":"b","language":"en","category":"UTILITY","content":"Hi"}`, 400,
		"validation_failed", "sender",
	)
	w.Want(
		"POST", path, marketer, `{"name":"b","language":"en","category":"UTILITY","content":"Hi {{a}}","samples":{"b":"x"}}`, 400,
		"validation_failed", "samples.b",
	)
	w.Want("POST", path, marketer, `{"name":"greeting","language":"en","category":"UTILITY","content":"Hi"}`, 409, "conflict", "")

	version, _ := made["version"].(string)
	edited := w.Want("PATCH", path+"/"+id+"?version="+version, marketer, `{"content":"Good morning {{name}}"}`, 200, "", "")
	if edited["body"] != "Good morning {{name}}" || edited["version"] == version {
		t.Error(edited)
	}
	w.Want("PATCH", path+"/"+id+"?version="+version, marketer, `{"content":"Too late"}`, 409, "conflict", "")
	w.Want("PATCH", path+"/"+id, marketer, `{"content":"{{"}`, 400, "validation_failed", "content")
	w.Want("POST", path+"/"+id+"/submit", marketer, "", 409, "conflict", "") // this channel has no reviewer

	if got := w.Want("GET", path+"/"+id+"/statistics", marketer, "", 200, "", ""); got["state"] != "none" {
		t.Error(got)
	}
	w.Want("GET", path+"/"+id+"/statistics?days=91", marketer, "", 400, "validation_failed", "days")
	w.Want("POST", path+"/"+id+"/statistics", marketer, "", 403, "forbidden", "")
	w.Want("POST", path+"/"+id+"/statistics", w.As("admin@acme.test"), "", 404, "not_found", "")

	history := w.Want("GET", path+"/"+id+"/history", marketer, "", 200, "", "")["data"].([]any)
	newest := history[len(history)-2].(map[string]any)
	if before := newest["before"].(map[string]any)["components"].([]any)[0].(map[string]any)["text"]; newest["action"] != "edited" ||
		before != "Hello {{name}}" {
		t.Error(newest)
	}
	if by := newest["by"].(map[string]any); by["kind"] != "account" || by["name"] != "marketer@acme.test" {
		t.Error(by)
	}
	if synced := w.Want("GET", path+"/sync", marketer, "", 200, "", "")["data"].([]any); len(synced) != 0 {
		t.Error(synced)
	}
	w.Want("DELETE", path+"/"+id, marketer, "", 204, "", "")
	w.Want("GET", path+"/"+id, marketer, "", 404, "not_found", "")
}

func TestAnotherCompanysTemplateIsNotThere(t *testing.T) {
	w := paneltest.New(t)
	acme, other := w.Company("acme"), w.Company("other")
	messagingSender(w, acme.ID, "main", "15555550100")
	messagingSender(w, other.ID, "elsewhere", "15555550101")
	const path = "/panel/v1/templates"
	id, _ := w.Want(
		"POST", path, w.As("owner@acme.test"), `{"name":"greeting","language":"en","category":"UTILITY","content":"Hello"}`, 201, "",
		"",
	)["id"].(string)
	curious := w.As("owner@other.test")
	for _, call := range []string{
		"GET ", "PATCH ", "DELETE ", "POST /submit", "GET /history", "POST /review", "GET /statistics", "POST /statistics",
	} {
		method, rest, _ := strings.Cut(call, " ")
		w.Want(method, path+"/"+id+rest, curious, `{"content":"Mine","approve":true}`, 404, "not_found", "")
	}
	if all := w.Want("GET", path, curious, "", 200, "", "")["data"].([]any); len(all) != 0 {
		t.Error(all)
	}
	if x := w.Want("GET", path+"/"+id, w.As("viewer@acme.test"), "", 200, "", ""); x["body"] != "Hello" {
		t.Error(x)
	}
}
