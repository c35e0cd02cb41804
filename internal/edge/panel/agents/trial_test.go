package agents_test

import (
	"testing"

	"carillon/internal/edge/panel/agents"
	"carillon/internal/edge/panel/paneltest"
)

func TestATeammateTriesAnAgentAloud(t *testing.T) {
	t.Parallel()
	w := paneltest.New(t)
	acme := w.Company("acme")
	w.Company("other")
	admin := w.As("admin@acme.test")
	w.Talks.Opened = w.Visit(acme.ID, paneltest.HeldAloud)
	made := w.Want("POST", "/panel/v1/agents", admin, `{"name":"Reception","language":"es","engine":"builtin"}`, 201, "", "")["id"].(string)
	got := w.Want("POST", "/panel/v1/agents/"+made+"/talk", admin, `{"language":"pt"}`, 200, "", "")
	if got["signed_url"] != "wss://panel.test/"+made+"/pt" || w.Talks.Trials[0].AccountID != w.ID("admin@acme.test") ||
		w.Talks.Trials[0].CompanyID != acme.ID {
		t.Errorf("%v for %+v", got, w.Talks.Trials)
	}
	if c := w.Conversation(acme.ID, w.Talks.Opened); len(c.Tags) != 1 || c.Tags[0] != agents.TestTag {
		t.Errorf("tagged %v", c.Tags)
	}
	w.Want("POST", "/panel/v1/agents/"+made+"/talk", admin, `{"language":"not a language"}`, 400, "validation_failed", "language")
	w.Want("POST", "/panel/v1/agents/"+made+"/talk", w.As("owner@other.test"), `{}`, 404, "not_found", "")
	elsewhere := w.Want(
		"POST", "/panel/v1/agents", admin,
		`{"name":"Eleven","language":"es","engine":"elevenlabs","elevenlabs":{"agent_id":"a","api_key":"k"}}`, 201, "", "",
	)["id"].(string)
	w.Want("POST", "/panel/v1/agents/"+elsewhere+"/talk", admin, `{}`, 409, "conflict", "")
}
