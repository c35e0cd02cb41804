package calls_test

import (
	"testing"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/edge/panel/paneltest"
)

func TestAPhoneOfTheSandboxWritesAsItsOwnerDoes(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	owner := w.As("owner@acme.test")
	const path, phone = "/panel/v1/sandbox/phone", `{"sender":"main","number":"34600701234",`
	w.Want("POST", path+"/messages", owner, phone+`"client_id":"1","kind":"text","text":"Hi"}`, 400, "validation_failed", "sender")
	w.Want(
		"POST", "/panel/v1/senders", owner, `{"id":"main","number":"15555550100","channel":"messaging","provider":"sandbox"}`, 201, "",
		"",
	)
	for body, field := range map[string]string{
		`"client_id":"1","kind":"text"}`:                                   "text",
		`"client_id":"1","kind":"shout","text":"Hi"}`:                      "kind",
		`"client_id":"1","kind":"choice","text":"a\nb"}`:                   "text",
		`"client_id":"1","kind":"file","file":"../../base/secret"}`:        "file",
		`"kind":"text","text":"Hi"}`:                                       "client_id",
		`"client_id":"1","kind":"text","text":"Hi","from":"34611"}`:        "body",
		`"client_id":"1","kind":"reaction","text":"no emoji, but a text"}`: "text",
	} {
		w.Want("POST", path+"/messages", owner, phone+body, 400, "validation_failed", field)
	}
	w.Want(
		"POST", path+"/messages", owner, `{"sender":"main","number":"12","client_id":"1","kind":"text","text":"Hi"}`, 400,
		"validation_failed", "number",
	)
	w.Want("POST", path+"/messages", owner, phone+`"client_id":"1","kind":"text","text":"Hi","name":"Ana"}`, 200, "", "")
	w.Want("POST", path+"/messages", owner, phone+`"client_id":"2","kind":"choice","text":"yes","reply_to":"sandbox.x"}`, 200, "", "")
	w.Want("POST", path+"/messages", owner, phone+`"client_id":"3","kind":"file","file":"photo"}`, 200, "", "")
	got := w.Channel.Received
	if len(got) != 3 || got[0].ID != "34600701234/1" || got[0].From != "34600701234" || got[0].Name != "Ana" || got[0].Text != "Hi" ||
		got[1].Kind != provider.InboundChoice || got[1].ReplyTo != "sandbox.x" || got[1].Payload != "yes" || got[2].File.ID != "photo" {
		t.Errorf("received %+v", got)
	}
	w.Want("POST", path+"/messages", owner, phone+`"client_id":"5","kind":"contact","reply_to":"sandbox.y"}`, 200, "", "")
	w.Want(
		"POST", path+"/messages", owner, `{"sender":"main","number":"@Ana.1","client_id":"6","kind":"contact","name":"Ana"}`, 200, "", "",
	)
	own, hidden := w.Channel.Received[3], w.Channel.Received[4]
	if own.Shared != "34600701234" || own.ReplyTo != "sandbox.y" || hidden.Shared == "" || hidden.From != "" || hidden.UserID == "" ||
		hidden.Cards[0].Numbers[0] != hidden.Shared || hidden.Cards[0].Name != "Ana" || !carillon.ValidNumber(hidden.Shared) {
		t.Errorf("shared numbers: %+v, %+v", own, hidden)
	}
	w.Want("PUT", path, owner, phone+`"unreachable":true}`, 204, "", "")
	w.Want("POST", path+"/messages", owner, phone+`"client_id":"4","kind":"text","text":"Hi"}`, 409, "conflict", "")
	if shown := w.Want("GET", path+"?sender=main&number=34600701234", owner, "", 200, "", ""); shown["unreachable"] != true ||
		len(shown["messages"].([]any)) != 0 {
		t.Errorf("the phone shows %v", shown)
	}
	w.Want("GET", path+"?sender=main&number=x", owner, "", 400, "validation_failed", "number")
	if list := w.Want("GET", path+"/numbers?sender=main", owner, "", 200, "", ""); len(list["senders"].([]any)) != 1 {
		t.Errorf("senders %v", list)
	}
}
