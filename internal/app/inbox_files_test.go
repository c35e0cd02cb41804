package app_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// load returns the status and the content of an address.
func (k talk) load(address, token string) (int, string) {
	k.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = k.a.BaseURL() + address
	}
	r, err := http.NewRequestWithContext(k.t.Context(), http.MethodGet, address, nil)
	if err != nil {
		k.t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		k.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		k.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func TestFilesGoBothWaysBetweenVisitorAndTeammate(t *testing.T) {
	t.Parallel()
	a, _ := demo(t, nil)
	k := talk{t, a}
	visitor, id := k.visit(1)
	stranger, other := k.visit(2)
	mate := k.signIn("agent@demo.test")
	inbox, _ := k.follow("/panel/v1/inbox/events", mate, "")
	chat, _ := k.follow("/functions/v1/chat/stream", visitor, "0")
	const pdf, picture = "%PDF-1.7 of the teammate", "\x89PNG\r\n\x1a\n of the visitor"
	base := a.BaseURL()

	status, theirs := sendFile(t, base+"/functions/v1/chat/files", visitor, "view.png", picture)
	if status != 200 {
		t.Fatal(status, theirs)
	}
	k.ask("POST", "/functions/v1/chat/turns", visitor, `{"client_id":"1","file":"`+theirs["id"].(string)+`"}`, 200)
	status, ours := sendFile(t, base+"/panel/v1/conversations/"+id+"/files", mate, "offer.pdf", pdf)
	if status != 200 {
		t.Fatal(status, ours)
	}
	answer := `{"client_id":"1","file":"` + ours["id"].(string) + `"}`
	k.ask("POST", "/panel/v1/conversations/"+other+"/answers", mate, answer, 400) // it was sent to another conversation
	k.ask("POST", "/panel/v1/conversations/"+id+"/answers", mate, `{"client_id":"2","file":"`+theirs["id"].(string)+`"}`, 400)
	k.ask("POST", "/functions/v1/chat/turns", visitor, `{"client_id":"2","file":"`+ours["id"].(string)+`"}`, 400)
	said := k.ask("POST", "/panel/v1/conversations/"+id+"/answers", mate, answer, 200)
	if at(said, "turn", "file", "name") != "offer.pdf" || at(said, "conversation", "last_text") != "offer.pdf" {
		t.Errorf("the answer: %v", said)
	}

	// On every screen each file has an address that works there.
	shown := await(t, chat, "the teammate's file", func(e sse) bool { return e.kind == "turn" && at(e.data, "author") == "teammate" })
	link, _ := at(shown.data, "file", "url").(string)
	if status, got := k.load(link, ""); status != 200 || got != pdf {
		t.Errorf("the visitor loads %s: %d %q", link, status, got)
	}
	panelLink := ""
	await(t, inbox, "the visitor's file", func(e sse) bool {
		text, _ := json.Marshal(e.data)
		_, rest, found := strings.Cut(string(text), `"url":"/panel/v1/conversations/`+id+`/files/`+theirs["id"].(string))
		if found {
			panelLink = "/panel/v1/conversations/" + id + "/files/" + theirs["id"].(string) + rest[:strings.IndexByte(rest, '"')]
		}
		return found
	})
	if status, got := k.load(panelLink, mate); status != 200 || got != picture {
		t.Errorf("the teammate loads %s: %d %q", panelLink, status, got)
	}
	text, _ := json.Marshal(k.ask("GET", "/panel/v1/conversations/"+id, mate, "", 200))
	if n := strings.Count(string(text), `"url":"/panel/v1/conversations/`); n != 2 {
		t.Errorf("%d addresses in %s", n, text)
	}

	for name, tt := range map[string]struct {
		address, token string
		status         int
	}{
		"without a session":           {panelLink, "", 401},
		"with a visitor's":            {panelLink, visitor, 401},
		"by another conversation":     {strings.Replace(panelLink, id, other, 1), mate, 404},
		"a file that is none":         {"/panel/v1/conversations/" + id + "/files/" + other, mate, 404},
		"a file without a form":       {"/panel/v1/conversations/" + id + "/files/x", mate, 404},
		"a signed address, cut short": {link[:len(link)-2], "", 403},
		"the visitor's, unsigned":     {"/functions/v1/files/" + theirs["id"].(string), stranger, 403},
	} {
		if status, got := k.load(tt.address, tt.token); status != tt.status {
			t.Errorf("%s: %d %s", name, status, got)
		}
	}
	if status, v := sendFile(t, base+"/panel/v1/conversations/"+strings.ToUpper(stranger[:8])+"/files", mate, "a.pdf", pdf); status != 404 {
		t.Errorf("a conversation that is none: %d %v", status, v)
	}
	if status, v := sendFile(t, base+"/panel/v1/conversations/"+id+"/files", visitor, "a.pdf", pdf); status != 401 {
		t.Errorf("a visitor in the panel: %d %v", status, v)
	}
}
