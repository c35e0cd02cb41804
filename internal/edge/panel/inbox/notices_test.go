package inbox_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"carillon/internal/edge/panel/paneltest"
)

func TestATeammateSubscribesABrowser(t *testing.T) {
	t.Parallel()
	w := paneltest.New(t)
	w.Company("acme")
	w.Company("other")
	mate, owner, stranger := w.As("teammate@acme.test"), w.As("owner@acme.test"), w.As("teammate@other.test")
	const at, browsers = "/panel/v1/inbox/notices", "/panel/v1/inbox/browsers"
	have := w.Want("GET", at, mate, "", 200, "", "")
	key, _ := have["push_key"].(string)
	w.Pushes.SetKey(key)
	if choice := have["choice"].(map[string]any); choice["push"] != true || choice["mail"] != true || choice["quiet_from"] != "" {
		t.Error(choice)
	}
	p256dh, auth := w.Pushes.Keys()
	body := func(endpoint string) string {
		return fmt.Sprintf(`{"endpoint":%q,"p256dh":%q,"auth":%q,"language":"es"}`, endpoint, p256dh, auth)
	}
	w.Want("POST", browsers, mate, body("http://push.test/"), 400, "validation_failed", "endpoint")
	w.Want("POST", browsers, mate, body("https://10.0.0.1/"), 400, "validation_failed", "endpoint")
	w.Want("POST", browsers, mate, strings.Replace(body(w.Pushes.URL), p256dh, "AAAA", 1), 400, "validation_failed", "p256dh")
	w.Want("POST", browsers, mate, `{"endpoint":"https://push.test/"}`, 400, "validation_failed", "p256dh")
	made := w.Want("POST", browsers, mate, body(w.Pushes.URL+"/mate"), 201, "", "")
	id, _ := made["id"].(string)
	if made["current"] != true {
		t.Error(made)
	}
	if shown := w.Want("GET", at, mate, "", 200, "", ""); len(shown["browsers"].([]any)) != 1 ||
		strings.Contains(fmt.Sprint(shown), "/mate") {
		t.Error(shown)
	}
	if shown := w.Want("GET", at, owner, "", 200, "", ""); len(shown["browsers"].([]any)) != 0 {
		t.Error("another teammate sees", shown)
	}
	w.Want("POST", browsers+"/"+id+"/test", mate, "", 204, "", "")
	if got := w.Pushes.Received(); len(got) != 1 || got[0].Path != "/mate" || got[0].Text["title"] != "Carillon" {
		t.Error(got)
	}
	for _, by := range []string{owner, stranger} {
		w.Want("POST", browsers+"/"+id+"/test", by, "", 404, "not_found", "")
		w.Want("DELETE", browsers+"/"+id, by, "", 404, "not_found", "")
	}
	w.Pushes.Respond(http.StatusInternalServerError)
	w.Want("POST", browsers+"/"+id+"/test", mate, "", 409, "conflict", "")
	w.Pushes.Respond(http.StatusGone)
	w.Want("POST", browsers+"/"+id+"/test", mate, "", 409, "conflict", "")
	w.Want("DELETE", browsers+"/"+id, mate, "", 404, "not_found", "")
	again := w.Want("POST", browsers, mate, body(w.Pushes.URL+"/mate"), 201, "", "")
	w.Want("DELETE", browsers+"/"+again["id"].(string), mate, "", 204, "", "")
}

func TestNoticesAreChosen(t *testing.T) {
	t.Parallel()
	w := paneltest.New(t)
	w.Company("acme")
	mate, owner := w.As("teammate@acme.test"), w.As("owner@acme.test")
	const at, team = "/panel/v1/inbox/notices", "/panel/v1/inbox/notices/team"
	const good = `{"push":true,"mail":false,"quiet_from":"22:00","quiet_to":"07:30","zone":"Europe/Madrid","language":"es"}`
	w.Want("PUT", at, mate, good, 200, "", "")
	if c := w.Want("GET", at, mate, "", 200, "", "")["choice"].(map[string]any); c["mail"] != false || c["quiet_from"] != "22:00" ||
		c["quiet_to"] != "07:30" || c["zone"] != "Europe/Madrid" || c["language"] != "es" {
		t.Error(c)
	}
	for _, x := range []struct{ old, bad, field string }{
		{"22:00", "24:00", "quiet_from"},
		{"07:30", "", "quiet_to"},
		{"Europe/Madrid", "Europe/Nowhere", "zone"},
		{`"es"`, `"xx"`, "language"},
	} {
		w.Want("PUT", at, mate, strings.Replace(good, x.old, x.bad, 1), 400, "validation_failed", x.field)
	}
	w.Want("PUT", at, mate, `{"push":true}`, 400, "validation_failed", "mail")
	rules := fmt.Sprintf(`{"mail_after_minutes":15,"on_duty":[%q],"show_text":true,"reply_by_mail":false}`, w.ID("teammate@acme.test"))
	w.Want("PUT", team, mate, rules, 403, "forbidden", "")
	w.Want("PUT", team, owner, rules, 200, "", "")
	got := w.Want("GET", at, mate, "", 200, "", "")["team"].(map[string]any)
	if got["mail_after_minutes"] != 15.0 || got["show_text"] != true || got["reply_by_mail"] != false || len(got["on_duty"].([]any)) != 1 {
		t.Error(got)
	}
	w.Want("PUT", team, owner, strings.Replace(rules, "15", "1441", 1), 400, "validation_failed", "mail_after_minutes")
	w.Want("PUT", team, owner, strings.Replace(rules, "[", `["x",`, 1), 400, "validation_failed", "on_duty.0")
}

func TestAReplyReachesAVisitor(t *testing.T) {
	t.Parallel()
	w := paneltest.New(t)
	acme := w.Company("acme")
	mate := w.As("teammate@acme.test")
	id := w.Visit(acme.ID, "web_chat")
	at := "/panel/v1/conversations/" + id
	if to := w.Want("GET", at+"/reach", mate, "", 200, "", ""); to["connected"] != true || to["by_mail"] != true {
		t.Error(to)
	}
	w.Execute("UPDATE contact SET seen_at = 1 WHERE company_id = $1", acme.ID)
	if shown := w.Want("GET", at, mate, "", 200, "", ""); shown["reach"].(map[string]any)["connected"] != false {
		t.Error(shown["reach"])
	}
	w.Want("GET", "/panel/v1/conversations/"+w.Visit(acme.ID, "whatsapp")+"/reach", mate, "", 409, "conflict", "")
}

func TestAResolvedConversationComesBackAsItWas(t *testing.T) {
	t.Parallel()
	w := paneltest.New(t)
	acme := w.Company("acme")
	mate, owner := w.As("teammate@acme.test"), w.As("owner@acme.test")
	at := "/panel/v1/conversations/" + w.Visit(acme.ID, "web_chat")
	w.Want("POST", at+"/take", mate, `{}`, 200, "", "")
	w.Want("POST", at+"/resolve", mate, "", 200, "", "")
	w.Want("POST", at+"/undo", owner, "", 409, "conflict", "")
	c := w.Want("POST", at+"/undo", mate, "", 200, "", "")["conversation"].(map[string]any)
	if c["state"] != "active" || c["assignee"] != w.ID("teammate@acme.test") {
		t.Error(c)
	}
	w.Want("POST", at+"/undo", mate, "", 409, "conflict", "")
	w.Want("GET", "/panel/v1/conversations?folder=unassigned&order=oldest", mate, "", 200, "", "")
	w.Want("GET", "/panel/v1/conversations?folder=unanswered", mate, "", 200, "", "")
	w.Want("GET", "/panel/v1/conversations?order=random", mate, "", 400, "validation_failed", "order")
}
