package docs

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"carillon/internal/app"
	"carillon/internal/base/config"
	"carillon/internal/base/need"
)

// responds matches a page's statement about the response to the preceding request.
var responds = regexp.MustCompile("^The response's `(\\w+)` [^`]*`([^`]+)`")

// requests sends the request bodies of the pages, and compares the responses with the pages' statements.
func (s *site) requests(t *testing.T) {
	sent, compared := 0, 0
	for _, x := range snippets(t) {
		path := map[bool]string{
			strings.Contains(x.code, `"name_template"`): "notify", strings.Contains(x.code, `"agent_id"`): "notify/voice",
		}[true]
		if x.language != "json" || path == "" {
			continue
		}
		resp, err := http.Post(s.BaseURL+"/functions/v1/"+path+"?access_key="+s.AccessKey, "application/json", strings.NewReader(x.code))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %s, %v", x, resp.StatusCode, body, err)
			continue
		}
		sent++
		said := responds.FindStringSubmatch(x.after)
		if said == nil {
			continue
		}
		var got map[string]any
		if err := json.Unmarshal(body, &got); err != nil || got[said[1]] != said[2] {
			t.Errorf("%s: the page says that %s is %s: %s, %v", x, said[1], said[2], body, err)
		}
		compared++
	}
	if sent < 3 || compared < 1 {
		t.Errorf("only %d requests were sent, %d responses compared", sent, compared)
	}
}

// TestSetUpsOfThePages parses each set-up, or part of a company's set-up, as `carillon apply` does.
func TestSetUpsOfThePages(t *testing.T) {
	o := app.ProvisionOptions()
	o.Env = func(name string) (string, bool) {
		if strings.HasSuffix(name, "_KEY") {
			return "ck_" + name + strings.Repeat("x", 40-len(name)), true
		}
		return "secret-of-the-test-" + name, true
	}
	o.File = func(name string) (string, error) { text, _ := o.Env(name); return text, nil }
	read := 0
	for _, x := range snippets(t) {
		if x.language != "yaml" || strings.HasPrefix(x.code, "agent: ") { // a suite of tests, which cmd/carillon runs
			continue
		}
		code := x.code
		if !strings.HasPrefix(code, "companies:") {
			code = "companies:\n  - name: A company\n    " + strings.ReplaceAll(strings.TrimSpace(code), "\n", "\n    ") + "\n"
		}
		if _, err := config.ParseProvision(x.String(), []byte(code), o); err != nil {
			t.Errorf("%s: %v", x, err)
		}
		read++
	}
	if read < 4 {
		t.Errorf("only %d set-ups were found", read)
	}
}

// clients runs the programs that the client pages ask to save, against the demo.
func (s *site) clients(t *testing.T) {
	here := func(page, name string) string {
		for _, x := range snippets(t) {
			if found := savedAs.FindStringSubmatch(x.before); x.page == page && found != nil && found[1] == name {
				return strings.ReplaceAll(x.code, "http://127.0.0.1:8080", s.BaseURL)
			}
		}
		t.Fatalf("%s has no %s to save", page, name)
		return ""
	}
	run := func(want string, name string, args ...string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), name, args...)
		c.Env = append(plain(), "no_proxy=127.0.0.1", "CARILLON_ACCESS_KEY="+s.AccessKey)
		if out, err := c.CombinedOutput(); err != nil || !regexp.MustCompile(want).Match(out) {
			t.Errorf("%s %s: %v, no %s in\n%s", name, args, err, want, out)
		}
	}
	dir := t.TempDir()
	save(t, filepath.Join(dir, "main.go"), here("docs/reference/clients.md", "main.go"))
	run(`^[0-9a-f-]{36}\n$`, "go", "run", filepath.Join(dir, "main.go"))

	need.Program(t, "node", "nodejs")
	client, err := filepath.Abs(filepath.Join(root, "clients/typescript"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = os.Stat(filepath.Join(client, "dist/index.js"))
	need.That(t, err == nil, "the client for TypeScript is not built: run make web")
	if err := os.MkdirAll(filepath.Join(dir, "node_modules/@carillon"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(client, filepath.Join(dir, "node_modules/@carillon/client")); err != nil {
		t.Fatal(err)
	}
	save(t, filepath.Join(dir, "send.mjs"), here("clients/typescript/README.md", "send.mjs"))
	run(`it is sent at 20\S+Z\n(?s:.*) scheduled `, "node", filepath.Join(dir, "send.mjs"))
}

// embedded matches a tag that loads a widget's script.
var embedded = regexp.MustCompile(`<script\b([^>"]*\bsrc="[^"]*?/embed/(\w+)\.js"(?:[^>"]|"[^"]*")*)>`)

// TestTagsOfThePages compares the tags of widgets, and the calls of their functions, with the scripts.
func TestTagsOfThePages(t *testing.T) {
	attribute, quoted := regexp.MustCompile(`([\w-]+)="`), regexp.MustCompile(`"(\w+)"`)
	sources := map[string]string{}
	for name, script := range map[string]string{"carillon": "chat", "carillonVoice": "voice"} {
		text, err := os.ReadFile(filepath.Join(root, "web/src/embed", script+".ts"))
		if err != nil {
			t.Fatal(err)
		}
		sources[script], sources[name] = string(text), string(text)
	}
	called := regexp.MustCompile(`\b(carillon|carillonVoice)\("(\w+)"(?:, "(\w+)")?`)
	tags, calls := 0, 0
	for _, s := range snippets(t) {
		if s.language != "html" && s.language != "js" {
			continue
		}
		for _, tag := range embedded.FindAllStringSubmatch(s.code, -1) {
			tags++
			if sources[tag[2]] == "" {
				t.Errorf("%s loads %s.js, which there is not", s, tag[2])
			}
			for _, name := range attribute.FindAllStringSubmatch(tag[1], -1) {
				if name[1] != "src" && !strings.Contains(sources[tag[2]], `attribute("`+name[1]+`")`) {
					t.Errorf("%s: %s.js reads no attribute %s", s, tag[2], name[1])
				}
			}
			if !strings.Contains(tag[1], ` widget="`) || !strings.Contains(tag[1], ` customer="`) {
				t.Errorf("%s: the tag of %s.js lacks widget or customer", s, tag[2])
			}
		}
		for _, call := range called.FindAllStringSubmatch(s.code, -1) {
			calls++
			head, _, _ := strings.Cut(sources[call[1]], "\nimport") // the comment that lists the functions
			known := map[string]bool{"": true}
			for _, word := range quoted.FindAllStringSubmatch(head, -1) {
				known[word[1]] = true
			}
			if !known[call[2]] || call[2] == "on" && !known[call[3]] {
				t.Errorf("%s: %s has no %s %s", s, call[1], call[2], call[3])
			}
		}
	}
	if tags < 4 || calls < 6 {
		t.Errorf("only %d tags and %d calls were found", tags, calls)
	}
}
