package panel

import (
	"context"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/store/replies"
)

// exchange records what the panel has the channel do.
type exchange struct {
	received []provider.Inbound
	reads    []bool // whether typing
}

func (x *exchange) Receive(_ context.Context, _ *carillon.Sender, all []provider.Inbound) error {
	x.received = append(x.received, all...)
	return nil
}

func (x *exchange) Read(_ context.Context, _, _ string, typing bool) error {
	x.reads = append(x.reads, typing)
	return nil
}

func (x *exchange) MessageID(number, client string) string { return number + "/" + client }
func (x *exchange) Refresh(context.Context) error          { return nil }
func (x *exchange) Person(_ *carillon.Sender, username string) identity.Identity {
	return identity.Identity{Kind: identity.Person, Scope: "sandbox", Key: identity.User("ZZ." + username)}
}
func (x *exchange) Sample(id string) (provider.InboundFile, bool) {
	return provider.InboundFile{ID: id}, id == "photo"
}

func TestAReplyIsRefusedOnceTheWindowIsClosed(t *testing.T) {
	w := newWorld(t)
	acme := w.company("acme")
	w.want("POST", "/panel/v1/senders", w.as("owner@acme.test"), `{"id":"main","number":"15555550100","channel":"messaging","provider":"sandbox"}`, 201, "", "")
	id := w.visit(acme.ID, "whatsapp")
	mate, at := w.as("teammate@acme.test"), "/panel/v1/conversations/"+id
	open := func(until time.Duration) {
		s, err := w.store.Senders.SendersNamed(t.Context(), acme.ID, "main")
		if err != nil || len(s) != 1 {
			t.Fatal(s, err)
		}
		if err := w.store.Replies.SetWindow(t.Context(), &replies.Window{
			CompanyID: acme.ID, ConversationID: id, SenderUID: s[0].UID, Number: "34600701234", LastID: "phone.34600701234.1", Until: time.Now().Add(until),
		}); err != nil {
			t.Fatal(err)
		}
	}
	closed := w.want("POST", at+"/answers", mate, `{"client_id":"a","text":"Hi"}`, 409, "conflict", "")
	if details, _ := closed["details"].(map[string]any); details["window"] != "closed" || details["reason"] == "" {
		t.Errorf("refused with %v", closed)
	}
	open(-time.Minute)
	w.want("POST", at+"/answers", mate, `{"client_id":"a","text":"Hi"}`, 409, "conflict", "")
	w.want("POST", at+"/notes", mate, `{"client_id":"b","text":"Closed"}`, 200, "", "")
	open(time.Hour)
	said := w.want("POST", at+"/answers", mate, `{"client_id":"a","text":"Hi"}`, 200, "", "")
	turn, _ := said["turn"].(map[string]any)
	shown := w.want("GET", at, mate, "", 200, "", "")
	sent, _ := shown["deliveries"].([]any)
	if window, _ := shown["window"].(map[string]any); len(sent) != 1 || sent[0].(map[string]any)["seq"] != turn["seq"] || window["sender_id"] != "main" || window["number"] != "34600701234" {
		t.Errorf("shown: %v, %v", shown["window"], sent)
	}
	w.want("POST", at+"/typing", mate, "", 204, "", "")
	if len(w.channel.reads) != 1 || !w.channel.reads[0] {
		t.Errorf("the channel shows %v", w.channel.reads)
	}
	if list := w.want("GET", at+"/templates", mate, "", 200, "", ""); len(list["data"].([]any)) != 0 {
		t.Errorf("offered %v", list)
	}
	w.want("POST", at+"/templates", mate, `{"client_id":"t","name":"none","language":"en"}`, 404, "template_not_found", "")
	w.want("POST", at+"/templates", mate, `{"client_id":"t","name":"none"}`, 400, "validation_failed", "language")
	w.want("POST", at+"/templates", mate, `{"client_id":"t","name":"none","language":"en","variables":{"a":1}}`, 400, "validation_failed", "variables.a")
}

func TestAPhoneOfTheSandboxWritesAsItsOwnerDoes(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	owner := w.as("owner@acme.test")
	const path, phone = "/panel/v1/sandbox/phone", `{"sender":"main","number":"34600701234",`
	w.want("POST", path+"/messages", owner, phone+`"client_id":"1","kind":"text","text":"Hi"}`, 400, "validation_failed", "sender")
	w.want("POST", "/panel/v1/senders", owner, `{"id":"main","number":"15555550100","channel":"messaging","provider":"sandbox"}`, 201, "", "")
	for body, field := range map[string]string{
		`"client_id":"1","kind":"text"}`:                                   "text",
		`"client_id":"1","kind":"shout","text":"Hi"}`:                      "kind",
		`"client_id":"1","kind":"choice","text":"a\nb"}`:                   "text",
		`"client_id":"1","kind":"file","file":"../../base/secret"}`:        "file",
		`"kind":"text","text":"Hi"}`:                                       "client_id",
		`"client_id":"1","kind":"text","text":"Hi","from":"34611"}`:        "body",
		`"client_id":"1","kind":"reaction","text":"no emoji, but a text"}`: "text",
	} {
		w.want("POST", path+"/messages", owner, phone+body, 400, "validation_failed", field)
	}
	w.want("POST", path+"/messages", owner, `{"sender":"main","number":"12","client_id":"1","kind":"text","text":"Hi"}`, 400, "validation_failed", "number")
	w.want("POST", path+"/messages", owner, phone+`"client_id":"1","kind":"text","text":"Hi","name":"Ana"}`, 200, "", "")
	w.want("POST", path+"/messages", owner, phone+`"client_id":"2","kind":"choice","text":"yes","reply_to":"sandbox.x"}`, 200, "", "")
	w.want("POST", path+"/messages", owner, phone+`"client_id":"3","kind":"file","file":"photo"}`, 200, "", "")
	got := w.channel.received
	if len(got) != 3 || got[0].ID != "34600701234/1" || got[0].From != "34600701234" || got[0].Name != "Ana" || got[0].Text != "Hi" ||
		got[1].Kind != provider.InboundChoice || got[1].ReplyTo != "sandbox.x" || got[1].Payload != "yes" || got[2].File.ID != "photo" {
		t.Errorf("received %+v", got)
	}
	w.want("PUT", path, owner, phone+`"unreachable":true}`, 204, "", "")
	w.want("POST", path+"/messages", owner, phone+`"client_id":"4","kind":"text","text":"Hi"}`, 409, "conflict", "")
	if shown := w.want("GET", path+"?sender=main&number=34600701234", owner, "", 200, "", ""); shown["unreachable"] != true || len(shown["messages"].([]any)) != 0 {
		t.Errorf("the phone shows %v", shown)
	}
	w.want("GET", path+"?sender=main&number=x", owner, "", 400, "validation_failed", "number")
	if list := w.want("GET", path+"/numbers?sender=main", owner, "", 200, "", ""); len(list["senders"].([]any)) != 1 {
		t.Errorf("senders %v", list)
	}
}
