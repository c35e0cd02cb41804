package app_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/app"
)

// talk drives the demo's chat: visitors of its widget, and teammates of its company.
type talk struct {
	t *testing.T
	a *app.App
}

// demoWidget is the demo's chat widget.
const demoWidget = "6a1c9e30-52bd-4f0a-9d47-18f3c7e25b21"

func (k talk) ask(method, path, token, body string, want int) map[string]any {
	k.t.Helper()
	r, err := http.NewRequestWithContext(k.t.Context(), method, k.a.BaseURL()+path, strings.NewReader(body))
	if err != nil {
		k.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		k.t.Fatal(err)
	}
	defer resp.Body.Close()
	got := map[string]any{}
	if resp.StatusCode != http.StatusNoContent {
		_ = json.NewDecoder(resp.Body).Decode(&got)
	}
	if resp.StatusCode != want {
		k.t.Fatalf("%s %s %s: %d %v, want %d", method, path, body, resp.StatusCode, got, want)
	}
	return got
}

func (k talk) signIn(email string) string {
	k.t.Helper()
	got := k.ask("POST", "/functions/v1/auth?grant_type=password", "", fmt.Sprintf(`{"email":%q,"password":"carillon-demo"}`, email), 200)
	return got["access_token"].(string)
}

// visit begins a session of visitor n.
func (k talk) visit(n int) (token, conversation string) {
	k.t.Helper()
	got := k.ask("POST", "/functions/v1/chat/session", "",
		fmt.Sprintf(`{"widget_id":%q,"customer_id":"aaaaaaaa-aaaa-4aaa-8aaa-%012d"}`, demoWidget, n), 200)
	return got["token"].(string), got["conversation_id"].(string)
}

// sse is an event of a stream.
type sse struct {
	id, kind string
	data     map[string]any
}

// follow opens a stream. Its events end when end is called.
func (k talk) follow(path, token, last string) (events <-chan sse, end func()) {
	k.t.Helper()
	r, err := http.NewRequestWithContext(k.t.Context(), http.MethodGet, k.a.BaseURL()+path, nil)
	if err != nil {
		k.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil || resp.StatusCode != http.StatusOK {
		k.t.Fatal(resp, err)
	}
	end = func() { _ = resp.Body.Close() }
	k.t.Cleanup(end)
	all := make(chan sse, 1000)
	go func() {
		defer close(all)
		var e sse
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			field, value, _ := strings.Cut(lines.Text(), ": ")
			switch field {
			case "id":
				e.id = value
			case "event":
				e.kind = value
			case "data":
				_ = json.Unmarshal([]byte(value), &e.data)
			case "":
				if e.kind != "" {
					all <- e
				}
				e = sse{}
			}
		}
	}()
	return all, end
}

// await returns the next matching event.
func await(t *testing.T, events <-chan sse, what string, meant func(e sse) bool) sse {
	t.Helper()
	late := time.After(app.Hung)
	for {
		select {
		case e, open := <-events:
			if !open {
				t.Fatalf("the stream ended before %s", what)
			}
			if meant(e) {
				return e
			}
		case <-late:
			t.Fatalf("it hangs: nothing of %s", what)
		}
	}
}

func at(v any, path ...string) any {
	for _, key := range path {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

func texts(turns any) (all []string) {
	list, _ := turns.([]any)
	for _, turn := range list {
		text, _ := at(turn, "text").(string)
		if event, ok := at(turn, "event").(string); ok {
			text = event
		}
		all = append(all, fmt.Sprintf("%v %v", at(turn, "author"), text))
	}
	return all
}

func TestATeammateAnswersFromTheInbox(t *testing.T) {
	t.Parallel()
	a, _ := demo(t, nil)
	k := talk{t, a}
	ana, owner := k.signIn("agent@demo.test"), k.signIn("owner@demo.test")
	visitor, id := k.visit(1)
	one := "/panel/v1/conversations/" + id
	if got := k.ask("POST", "/functions/v1/chat/handoff", visitor, `{"reason":"a refund"}`, 200); got["state"] != "missed" ||
		got["away"] != true {
		t.Errorf("with nobody there the handoff is %v", got)
	}
	inbox, endInbox := k.follow("/panel/v1/inbox/events", ana, "")
	page, _ := k.follow("/functions/v1/chat/stream", visitor, "0")
	k.ask("POST", "/functions/v1/chat/turns", visitor, `{"client_id":"v1","text":"Is anybody there?"}`, 200)
	seen := await(t, inbox, "the visitor's turn", func(e sse) bool {
		return e.kind == "conversation.updated" && len(texts(e.data["turns"])) > 0
	})
	if seen.id == "" || at(seen.data, "conversation", "id") != id || at(seen.data, "conversation", "unread") != true {
		t.Errorf("the inbox got %v", seen)
	}

	if got := k.ask("GET", "/panel/v1/conversations?folder=unassigned", ana, "", 200); len(got["data"].([]any)) != 1 {
		t.Errorf("unassigned are %v", got)
	}
	if diff := cmp.Diff(map[string]any{"mine": 0., "unassigned": 1., "unanswered": 0., "automated": 0., "all": 1.},
		k.ask("GET", "/panel/v1/conversations/counts", ana, "", 200)); diff != "" {
		t.Error(diff)
	}
	if got := k.ask("POST", one+"/take", ana, `{}`, 200); at(got, "conversation", "state") != "active" {
		t.Errorf("taken: %v", got)
	}
	refused := k.ask("POST", one+"/take", owner, `{}`, 409)
	if at(refused, "details", "assignee_name") != "Demo Agent" {
		t.Errorf("another teammate is refused with %v", refused)
	}
	k.ask("POST", one+"/typing", ana, "", 204)
	answered := k.ask("POST", one+"/answers", ana, `{"client_id":"a1","text":"Yes, I am.","seen":0}`, 200)
	if again := k.ask("POST", one+"/answers", ana, `{"client_id":"a1","text":"Yes, I am.","seen":0}`, 200); at(again, "turn",
		"seq") != at(answered, "turn", "seq") {
		t.Errorf("the same answer again is %v", again)
	}
	if got := k.ask("POST", one+"/answers", ana, `{"client_id":"a2","text":"As I said","seen":0}`, 409); at(got, "details",
		"reason") != "It was answered meanwhile" {
		t.Errorf("an answer to what is answered: %v", got)
	}
	k.ask("POST", one+"/notes", owner, `{"client_id":"n1","text":"a good customer"}`, 200)
	for _, want := range []string{"visitor Is anybody there?", "system joined", "teammate Yes, I am."} {
		await(t, page, want, func(e sse) bool {
			if e.kind == "turn" && e.data["note"] == true {
				t.Errorf("the visitor sees %v", e.data)
			}
			return e.kind == "turn" && slices.Equal(texts([]any{e.data}), []string{want})
		})
	}
	whole := k.ask("GET", one, ana, "", 200)
	want := []string{
		"system handoff_requested", "system missed", "visitor Is anybody there?", "system joined", "teammate Yes, I am.",
		"teammate a good customer",
	}
	if diff := cmp.Diff(want, texts(whole["turns"])); diff != "" || whole["more"] != false || at(whole, "contact", "visitor_id") == "" {
		t.Errorf("%s\n%v", diff, whole)
	}
	part := k.ask("GET", one+"/turns?before=3", ana, "", 200)
	if diff := cmp.Diff(want[:2], texts(part["turns"])); diff != "" || part["more"] != false {
		t.Error(diff, part)
	}

	k.ask("PUT", one+"/tags", ana, `{"tags":["refund","vip","refund"]}`, 200)
	for query, n := range map[string]int{
		"tag=vip": 1, "tag=vi": 0, "folder=mine": 1, "search=i+am": 1, "search=nothing": 0, "closed=true": 0, "folder=automated": 0,
	} {
		if got := k.ask("GET", "/panel/v1/conversations?"+query, ana, "", 200); len(got["data"].([]any)) != n {
			t.Errorf("%s finds %v", query, got)
		}
	}
	k.ask("PUT", one+"/contact", ana, `{"name":"Maria","number":"34600111222"}`, 200)
	side := k.ask("GET", one+"/contact", owner, "", 200)
	if at(side, "contact", "name") != "Maria" || at(side, "contact", "email") != "" || len(side["notifications"].([]any)) != 0 {
		t.Errorf("the contact is %v", side)
	}

	mates := k.ask("GET", "/panel/v1/inbox/teammates", owner, "", 200)["data"].([]any)
	there := map[any]any{}
	for _, m := range mates {
		there[at(m, "email")] = at(m, "present")
	}
	if diff := cmp.Diff(map[any]any{"agent@demo.test": true, "owner@demo.test": false}, there); diff != "" {
		t.Error(diff)
	}
	ownerID := ""
	for _, m := range mates {
		if at(m, "email") == "owner@demo.test" {
			ownerID, _ = at(m, "account_id").(string)
		}
	}
	k.ask("POST", one+"/assign", ana, fmt.Sprintf(`{"account_id":%q}`, ownerID), 200)
	k.ask("POST", one+"/release", owner, `{"to":"agent"}`, 200)
	k.ask("POST", one+"/resolve", owner, "", 200)
	k.ask("POST", one+"/release", owner, `{"to":"queue"}`, 409)
	if got := k.ask("POST", one+"/reopen", owner, "", 200); at(got, "conversation", "assignee") != ownerID {
		t.Errorf("reopened: %v", got)
	}
	k.ask("POST", one+"/read", owner, `{"seq":100}`, 204)
	k.ask("POST", one+"/viewing", owner, "", 204)
	viewing := await(t, inbox, "the owner's look", func(e sse) bool { return e.kind == "viewing" })
	if diff := cmp.Diff(map[string]any{"conversation_id": id, "author": "teammate", "name": "Demo Owner", "account_id": ownerID},
		viewing.data); diff != "" || viewing.id != "" {
		t.Error(diff, viewing.id)
	}

	others, _ := k.follow("/panel/v1/inbox/events", owner, "")
	endInbox()
	gone := await(t, others, "the teammate who left", func(e sse) bool { return e.kind == "presence" && e.data["present"] == false })
	if gone.data["name"] != "Demo Agent" {
		t.Errorf("who left: %v", gone)
	}
	if got := k.ask("PUT", "/panel/v1/inbox/presence", owner, `{"away":true}`, 200); got["present"] != true || got["away"] != true {
		t.Errorf("away: %v", got)
	}
	_, missed := k.visit(2)
	if got := k.ask("GET", "/panel/v1/conversations/"+missed, owner, "", 200); at(got, "conversation", "state") != "bot" {
		t.Errorf("a new conversation is %v", got)
	}
}

func TestTheInboxRefusesBadInput(t *testing.T) {
	t.Parallel()
	a, _ := demo(t, nil)
	k := talk{t, a}
	ana := k.signIn("agent@demo.test")
	_, id := k.visit(1)
	for _, c := range []struct {
		method, path, body string
		status             int
		field              string
	}{
		{"GET", "s?folder=theirs", "", 400, "folder"},
		{"GET", "s?closed=maybe", "", 400, "closed"},
		{"GET", "s?contact=me", "", 400, "contact"},
		{"GET", "s?cursor=abc", "", 400, "cursor"},
		{"GET", "s?limit=0", "", 400, "limit"},
		{"GET", "s?search=%00", "", 400, "search"},
		{"GET", "s?search=%ff", "", 400, "search"},
		{"GET", "s?tag=a,b", "", 400, "tag"},
		{"GET", "s/nothing", "", 404, ""},
		{"GET", "s/" + demoWidget, "", 404, ""},
		{"GET", "/turns", "", 400, "before"},
		{"GET", "/turns?after=1&before=1", "", 400, "before"},
		{"GET", "/turns?after=x", "", 400, "after"},
		{"POST", "/answers", `{"client_id":"1"}`, 400, "text"},
		{"POST", "/answers", `{"text":"a"}`, 400, "client_id"},
		{"POST", "/answers", `{"client_id":"1","text":" \u0001 "}`, 400, "text"},
		{"POST", "/answers", `{"client_id":"1","text":"` + strings.Repeat("é", 4001) + `"}`, 400, "text"},
		{"POST", "/answers", `{"client_id":"1","text":"a","seen":-1}`, 400, "seen"},
		{"POST", "/answers", `{"client_id":"1","file":"a"}`, 400, "file"},
		{"POST", "/answers", `{"client_id":"1","file":"a","text":"b"}`, 400, "body"},
		{"POST", "/release", `{"to":"nobody"}`, 400, "to"},
		{"POST", "/assign", `{}`, 400, "account_id"},
		{"POST", "/assign", `{"account_id":"` + demoWidget + `"}`, 400, "account_id"},
		{"PUT", "/tags", `{"tags":["` + strings.Repeat("a", 41) + `"]}`, 400, "tags.0"},
		{"PUT", "/tags", `{"tags":["` + strings.Join(strings.Split(strings.Repeat("a", 21), ""), `","`) + `"]}`, 200, ""},
		{"PUT", "/tags", `{"tags":["a","b","c","d","e","f","g","h","i","j","k","l","m","n","o","p","q","r","s","t","u"]}`, 400, "tags"},
		{"POST", "/read", `{"seq":"1"}`, 400, "seq"},
		{"PUT", "/contact", `{"number":"+34"}`, 400, "number"},
		{"PUT", "/contact", `{"email":"nobody"}`, 400, "email"},
	} {
		path := "/panel/v1/conversations/" + id + c.path
		if strings.HasPrefix(c.path, "s") {
			path = "/panel/v1/conversation" + c.path
		}
		if got := k.ask(c.method, path, ana, c.body, c.status); c.field != "" && at(got, "details", "field") != c.field {
			t.Errorf("%s %s %s: %v, want the field %s", c.method, c.path, c.body, got, c.field)
		}
	}
}

func TestCannedRepliesAreKept(t *testing.T) {
	t.Parallel()
	a, _ := demo(t, nil)
	k := talk{t, a}
	ana := k.signIn("agent@demo.test")
	const path = "/panel/v1/canned-replies"
	made := k.ask("POST", path, ana, `{"shortcut":"hi","text":"Hello,\nhow can I help?"}`, 201)
	k.ask("POST", path, ana, `{"shortcut":"hi","text":"Again"}`, 409)
	other := k.ask("POST", path, ana, `{"shortcut":"bye","text":"Goodbye"}`, 201)
	one := path + "/" + made["id"].(string)
	k.ask("PUT", one, ana, `{"shortcut":"bye","text":"Again"}`, 409)
	if diff := cmp.Diff(map[string]any{"id": made["id"], "shortcut": "hello", "text": "Hello!"},
		k.ask("PUT", one, ana, `{"shortcut":"hello","text":"Hello!"}`, 200)); diff != "" {
		t.Error(diff)
	}
	for _, body := range []string{
		`{"shortcut":"Hi","text":"a"}`, `{"shortcut":"","text":"a"}`, `{"shortcut":"a","text":""}`, `{"shortcut":"a"}`,
		`{"shortcut":"a","text":"` + strings.Repeat("a", 4001) + `"}`,
	} {
		k.ask("POST", path, ana, body, 400)
	}
	k.ask("DELETE", path+"/"+other["id"].(string), ana, "", 204)
	k.ask("DELETE", path+"/"+other["id"].(string), ana, "", 404)
	want := map[string]any{"data": []any{map[string]any{"id": made["id"], "shortcut": "hello", "text": "Hello!"}}}
	if diff := cmp.Diff(want, k.ask("GET", path, ana, "", 200)); diff != "" {
		t.Error(diff)
	}
}
