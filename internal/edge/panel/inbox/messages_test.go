package inbox_test

import (
	"testing"
	"time"

	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/chats"
)

func TestAReplyIsRefusedOnceTheWindowIsClosed(t *testing.T) {
	w := paneltest.New(t)
	acme := w.Company("acme")
	w.Want(
		"POST", "/panel/v1/senders", w.As("owner@acme.test"),
		`{"id":"main","number":"15555550100","channel":"messaging","provider":"sandbox"}`, 201, "", "",
	)
	id := w.Visit(acme.ID, "whatsapp")
	mate, at := w.As("teammate@acme.test"), "/panel/v1/conversations/"+id
	open := func(until time.Duration) {
		s, err := w.Store.Senders.SendersNamed(t.Context(), acme.ID, "main")
		if err != nil || len(s) != 1 {
			t.Fatal(s, err)
		}
		if err := w.Store.Replies.SetWindow(t.Context(), &chats.Window{
			CompanyID: acme.ID, ConversationID: id, SenderUID: s[0].UID, Number: "34600701234", LastID: "phone.34600701234.1",
			Until: time.Now().Add(until),
		}); err != nil {
			t.Fatal(err)
		}
	}
	closed := w.Want("POST", at+"/answers", mate, `{"client_id":"a","text":"Hi"}`, 409, "conflict", "")
	if details, _ := closed["details"].(map[string]any); details["window"] != "closed" || details["reason"] == "" {
		t.Errorf("refused with %v", closed)
	}
	open(-time.Minute)
	w.Want("POST", at+"/answers", mate, `{"client_id":"a","text":"Hi"}`, 409, "conflict", "")
	w.Want("POST", at+"/notes", mate, `{"client_id":"b","text":"Closed"}`, 200, "", "")
	open(time.Hour)
	said := w.Want("POST", at+"/answers", mate, `{"client_id":"a","text":"Hi"}`, 200, "", "")
	turn, _ := said["turn"].(map[string]any)
	shown := w.Want("GET", at, mate, "", 200, "", "")
	sent, _ := shown["deliveries"].([]any)
	if window, _ := shown["window"].(map[string]any); len(sent) != 1 || sent[0].(map[string]any)["seq"] != turn["seq"] ||
		window["sender_id"] != "main" || window["number"] != "34600701234" {
		t.Errorf("shown: %v, %v", shown["window"], sent)
	}
	const ask = `{"client_id":"c","text":"May we call you?","ask_calls":true}`
	w.Want("POST", at+"/answers", mate, ask, 409, "conflict", "") // calls are off
	w.Want(
		"POST", "/panel/v1/senders", w.As("owner@acme.test"),
		`{"number":"15555550101","channel":"voice","provider":"sandbox","settings":{"whatsapp":"main"}}`, 201, "", "",
	)
	w.Want("POST", at+"/answers", mate, ask, 200, "", "")
	turns, err := w.Store.Chats.Turns(t.Context(), acme.ID, id, 0, 100)
	if err != nil || len(turns) == 0 || !turns[len(turns)-1].Extra.AskCalls {
		t.Errorf("asked %+v, %v", turns, err)
	}
	w.Want("POST", at+"/typing", mate, "", 204, "", "")
	if len(w.Channel.Reads) != 1 || !w.Channel.Reads[0] {
		t.Errorf("the channel shows %v", w.Channel.Reads)
	}
	if list := w.Want("GET", at+"/templates", mate, "", 200, "", ""); len(list["data"].([]any)) != 0 {
		t.Errorf("offered %v", list)
	}
	w.Want("POST", at+"/templates", mate, `{"client_id":"t","name":"none","language":"en"}`, 404, "template_not_found", "")
	w.Want("POST", at+"/templates", mate, `{"client_id":"t","name":"none"}`, 400, "validation_failed", "language")
	w.Want(
		"POST", at+"/templates", mate, `{"client_id":"t","name":"none","language":"en","variables":{"a":1}}`, 400, "validation_failed",
		"variables.a",
	)
}
