package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"carillon/internal/app"
	"carillon/internal/send/whatsapp/graphtest"
)

// A person's input to a flow stays a value: in a template, in a request's path, header and body, and in messages.
func TestHostileTextsStayValuesOfAFlow(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var got []string
	shop := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var x struct{ Said string }
		if err := json.Unmarshal(body, &x); err != nil {
			t.Errorf("%s: %v", body, err)
		}
		if !strings.HasPrefix(r.URL.EscapedPath(), "/said/") || !strings.HasSuffix(r.URL.EscapedPath(), "/end") ||
			strings.Count(r.URL.EscapedPath(), "/") != 3 || r.Header.Get("X-Admin") != "" || r.Host == "evil.test" {
			t.Errorf("the shop gets %s %v", r.URL, r.Header)
		}
		mu.Lock()
		defer mu.Unlock()
		got = append(got, x.Said)
	}))
	t.Cleanup(shop.Close)
	p := startPerson(t, "sqlite", strings.Replace(repliesSetUp, "    flows:\n", `    flows:
      - name: use
        trigger: {keywords: [use]}
        steps:
          - {say: "What?"}
          - {ask: what}
          - {http: {method: POST, url: "`+shop.URL+
		`/said/{{what}}/end?q={{what}}", headers: {X-Said: "{{what}}", Cookie: "a={{name}}"}, body: '{"said": "{{what}}"}', status: status}}
          - {send_template: {name: plain, language: en, variables: {body_text_0: "{{what}}"}}}
          - {say: "{{status}}"}
`, 1))
	texts := []string{
		"{{number}}", "{{what", "a {{secret}} b", "..", "../../admin", "x\r\nX-Admin: 1", "x\nHost: evil.test\n\nbody",
		`"}, "admin": true`, "?a=b&c#d", "<script>alert(1)</script>", "\u202etxt.exe", "@evil.test/", "a     b\tc",
	}
	people := make([]*person, len(texts))
	for i := range texts {
		people[i] = p.another(fmt.Sprintf("346006%05d", i))
		people[i].text("use")
	}
	for i, text := range texts {
		people[i].got("What?")
		people[i].text(text)
	}
	for i, text := range texts {
		x := people[i]
		x.got("What?", "200")
		app.Within(t, "the template is sent", func() bool { return x.templates() > 0 })
		var sent graphtest.Post
		for ref, posts := range p.graph.All() {
			if !strings.HasPrefix(ref, "reply.") && posts[0].To == x.number {
				sent = posts[len(posts)-1]
			}
		}
		var m struct {
			Template struct {
				Components []struct{ Parameters []struct{ Text string } }
			}
		}
		_ = json.Unmarshal(sent.Body, &m)
		if want := strings.Join(strings.Fields(text), " "); !sent.Accepted || len(m.Template.Components) != 1 ||
			m.Template.Components[0].Parameters[0].Text != want {
			t.Errorf("of %q is sent %s, accepted %t", text, sent.Body, sent.Accepted)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for _, text := range texts {
		if !slices.Contains(got, strings.ReplaceAll(text, "\r", "")) {
			t.Errorf("of %q the shop gets %q", text, got)
		}
	}
}
