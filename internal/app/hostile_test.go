package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"carillon/internal/whatsapp/graphtest"
)

// hostile are texts that somebody writes who wants them to be more than that.
var hostile = []string{
	`<script>alert(1)</script><img src=x onerror=alert(1)>`, "\u202etxt.exe\u2066", "a\x00b\x07\x1b[31m\u009bc", "{{number}} {{name}} {{ x", "x\r\nX-Admin: 1\r\n\r\nbody", `"}],"x":[{"`,
	"'; DROP TABLE turn; --", `\0 \\ %s %d %n`, "../../etc/passwd", strings.Repeat("w\u0300", 100_000), strings.Repeat("👩‍👩‍👧‍👦", 8_000), "\ufeff\u200b\u2028\u2029", "STOP\x00", "=cmd|' /C calc'!A0", "\xff\xfe\xc3\x28", "\xed\xa0\x80",
}

// hostileKinds are the messages whose fields a person fills; H is the text.
var hostileKinds = []string{
	`{"type":"text","text":{"body":H}}`,
	`{"type":"text","text":{"body":"x"},"context":{"id":H}}`,
	`{"type":"button","button":{"payload":H,"text":H}}`,
	`{"type":"interactive","interactive":{"type":"list_reply","list_reply":{"id":H,"title":H,"description":H}}}`,
	`{"type":"interactive","interactive":{"type":"button_reply","button_reply":{"id":H,"title":"ok"}}}`,
	`{"type":"interactive","interactive":{"type":"nfm_reply","nfm_reply":{"name":H,"body":H,"response_json":H}}}`,
	`{"type":"interactive","interactive":{"type":H}}`,
	`{"type":"image","image":{"id":"png","mime_type":H,"caption":H,"filename":H}}`,
	`{"type":"document","document":{"id":"pdf","mime_type":"application/pdf","filename":H}}`,
	`{"type":"document","document":{"id":"nothing-of-the-kind","mime_type":"application/pdf","filename":H}}`,
	`{"type":"document","document":{"id":H,"mime_type":"application/pdf","filename":"a.pdf"}}`,
	`{"type":"location","location":{"latitude":1,"longitude":2,"name":H,"address":H,"url":H}}`,
	`{"type":"contacts","contacts":[{"name":{"formatted_name":H},"phones":[{"phone":H}]}]}`,
	`{"type":"reaction","reaction":{"message_id":H,"emoji":H}}`,
	`{"type":"system","system":{"type":"user_changed_number","wa_id":H,"body":H}}`,
	`{"type":H}`,
}

// raw is a text as JSON has it, its bytes as they are where they are no UTF-8.
func raw(s string) string {
	if utf8.ValidString(s) {
		b, _ := json.Marshal(s) // a text
		return string(b)
	}
	return `"` + s + `"`
}

// bad names what a text that is stored must not hold; "": nothing of it.
func bad(s string, oneLine bool) string {
	for _, r := range s {
		switch {
		case unicode.IsControl(r) && (oneLine || r != '\n' && r != '\t'):
			return fmt.Sprintf("%U", r)
		case oneLine && (0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069):
			return fmt.Sprintf("%U", r)
		}
	}
	if n := utf8.RuneCountInString(s); n > 4200 || oneLine && len(s) > 1000 {
		return fmt.Sprint(n, " characters")
	}
	return ""
}

func TestHostileTextsOfEveryFieldAreKeptClean(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			p := startReplies(t, engine)
			p.putFiles()
			i := 0
			for n, text := range hostile {
				for kind, form := range hostileKinds {
					number := fmt.Sprintf("3460%03d%03d1", n, kind)
					message := strings.ReplaceAll(strings.TrimPrefix(form, "{"), "H", raw(text))
					body := `{"object":"whatsapp_business_account","entry":[{"id":"2000001","changes":[{"field":"messages","value":{"messaging_product":"whatsapp",
						"metadata":{"display_phone_number":"15555550100","phone_number_id":"1000001"},"contacts":[{"wa_id":"` + number + `","profile":{"name":` + raw(text) + `}}],
						"messages":[{"from":"` + number + `","id":"wamid.h` + fmt.Sprint(i) + `","timestamp":"` + fmt.Sprint(time.Now().Unix()) + `",` + message + `]}}]}]}`
					p.deliver([]byte(body))
					i++
				}
			}
			// A text whose every byte is hostile must not keep the next one from being taken in.
			p.text("echo")
			p.expect("What?")
			deadline := time.Now().Add(30 * time.Second)
			var conversations []map[string]any
			for ; time.Now().Before(deadline) && len(conversations) < i+1; time.Sleep(100 * time.Millisecond) {
				conversations = nil
				for _, closed := range []string{"false", "true"} {
					for cursor := ""; ; {
						page := p.office("GET", "/conversations?limit=100&closed="+closed+"&cursor="+cursor, "", http.StatusOK)
						for _, x := range page["data"].([]any) {
							conversations = append(conversations, x.(map[string]any))
						}
						if cursor, _ = page["next_cursor"].(string); cursor == "" {
							break
						}
					}
				}
			}
			if len(conversations) != i+1 {
				t.Fatalf("%d of %d people have a conversation", len(conversations), i+1)
			}
			empty := 0
			for _, c := range conversations {
				thread := p.office("GET", "/conversations/"+c["id"].(string), "", http.StatusOK)
				contact := thread["contact"].(map[string]any)
				if what := bad(contact["name"].(string), true); what != "" {
					t.Errorf("a name holds %s: %.100q", what, contact["name"])
				}
				said := false
				for _, x := range thread["turns"].([]any) {
					turn := x.(map[string]any)
					said = said || turn["author"] != "agent"
					for _, key := range []string{"text", "about", "name", "event", "why"} {
						if text, _ := turn[key].(string); bad(text, key != "text" || turn["kind"] == "event") != "" {
							t.Errorf("the %s of a turn holds %s: %.100q", key, bad(text, key != "text" || turn["kind"] == "event"), text)
						}
					}
					if f, ok := turn["file"].(map[string]any); ok && (bad(f["name"].(string), true) != "" || strings.ContainsAny(f["name"].(string), `/\`)) {
						t.Errorf("a file is called %.100q", f["name"])
					}
				}
				if !said {
					empty++
				}
			}
			if empty > 0 {
				t.Errorf("%d people said nothing", empty)
			}
			if log := p.log.String(); strings.Contains(log, "alert(1)") || strings.Contains(log, "level=ERROR") || strings.Contains(log, "take in a message") {
				for line := range strings.SplitSeq(log, "\n") {
					if strings.Contains(line, "alert(1)") || strings.Contains(line, "level=ERROR") || strings.Contains(line, "take in a message") {
						t.Errorf("%.500s", line)
					}
				}
			}
		})
	}
}

// What a person says to a flow is a value: in a template, in a request's path, header and body, and in what is said.
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
		if !strings.HasPrefix(r.URL.EscapedPath(), "/said/") || !strings.HasSuffix(r.URL.EscapedPath(), "/end") || strings.Count(r.URL.EscapedPath(), "/") != 3 || r.Header.Get("X-Admin") != "" || r.Host == "evil.test" {
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
          - {http: {method: POST, url: "`+shop.URL+`/said/{{what}}/end?q={{what}}", headers: {X-Said: "{{what}}", Cookie: "a={{name}}"}, body: '{"said": "{{what}}"}', status: status}}
          - {send_template: {name: plain, language: en, variables: {body_text_0: "{{what}}"}}}
          - {say: "{{status}}"}
`, 1))
	texts := []string{
		"{{number}}", "{{what", "a {{secret}} b", "..", "../../admin", "x\r\nX-Admin: 1", "x\nHost: evil.test\n\nbody", `"}, "admin": true`, "?a=b&c#d", "<script>alert(1)</script>", "\u202etxt.exe", "@evil.test/", "a     b\tc",
	}
	for i, text := range texts {
		x := p.another(fmt.Sprintf("346006%05d", i))
		x.text("use")
		x.expect("What?")
		x.text(text)
		x.expect("What?", "200")
		for late := time.Now().Add(20 * time.Second); time.Now().Before(late) && x.templates() == 0; time.Sleep(20 * time.Millisecond) {
		}
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
		if want := strings.Join(strings.Fields(text), " "); !sent.Accepted || len(m.Template.Components) != 1 || m.Template.Components[0].Parameters[0].Text != want {
			t.Errorf("of %q is sent %s, accepted %t", text, sent.Body, sent.Accepted)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for i, text := range texts {
		if i >= len(got) || got[i] != strings.ReplaceAll(text, "\r", "") {
			t.Errorf("of %q the shop gets %q", text, got)
			break
		}
	}
}
