package app_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Any response of a server is stored, and requested once.
func TestNoAnswerOfAServerIsAskedForAgain(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			answers := map[string]struct{ body, want string }{
				"nul":       {`{"text": "a\u0000b"}`, "a\uFFFDb"},
				"surrogate": {`{"text": "a\ud800b"}`, "a\uFFFDb"},
				"broken":    {"{\"text\": \"a\xff\xfeb\"}", "a\uFFFD\uFFFDb"},
				"endless":   {`{"text": "` + strings.Repeat("a", 10<<20) + `"}`, ""},
				"nothing":   {"\x00", ""},
			}
			var mu sync.Mutex
			asked := map[string]int{}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				name := strings.TrimPrefix(r.URL.Path, "/")
				mu.Lock()
				asked[name]++
				mu.Unlock()
				_, _ = io.WriteString(w, answers[name].body)
			}))
			t.Cleanup(server.Close)
			p := startPerson(t, engine, strings.Replace(repliesSetUp, "    flows:\n", `    flows:
      - name: asking
        trigger: {keywords: [begin]}
        steps:
          - {say: "What?"}
          - {ask: what}
          - {http: {method: GET, url: "`+server.URL+`/{{what}}", save: {text: text}}}
          - {say: "got {{text}}"}
`, 1))
			n := 0
			for name, answer := range answers {
				n++
				x := p.another(fmt.Sprintf("346007%05d", n))
				x.text("begin")
				x.got("What?")
				x.text(name)
				want := strings.TrimSpace("got " + answer.want)
				x.got("What?", want)
			}
			mu.Lock()
			defer mu.Unlock()
			for name := range answers {
				if asked[name] != 1 {
					t.Errorf("the server was asked %d times for %s", asked[name], name)
				}
			}
		})
	}
}
