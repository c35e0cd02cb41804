package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"carillon/internal/base/need"
	"carillon/internal/edge/api"
)

// operation is an operation as its reference page shows it.
type operation struct {
	id   string
	code map[string]string // by language
}

// operations reads the reference pages from the program.
func (s *site) operations(t *testing.T) (all []operation) {
	t.Helper()
	section := regexp.MustCompile(`(?s)<section[^>]* id="(\w+)"(.*?)</section>`)
	code := regexp.MustCompile(`(?s)<pre [^>]*data-code="(\w+)"[^>]*><code>(.*?)</code></pre>`)
	tags := regexp.MustCompile(`<[^>]+>`)
	subjects := regexp.MustCompile(`href="(/docs/api/[\w-]+)"`).FindAllStringSubmatch(s.get(t, "/docs/api"), -1)
	read := map[string]bool{}
	for _, subject := range subjects {
		if read[subject[1]] {
			continue
		}
		read[subject[1]] = true
		for _, found := range section.FindAllStringSubmatch(s.get(t, subject[1]), -1) {
			o := operation{found[1], map[string]string{}}
			for _, c := range code.FindAllStringSubmatch(found[2], -1) {
				o.code[c[1]] = html.UnescapeString(tags.ReplaceAllString(c[2], ""))
			}
			if len(o.code) > 0 { // others are sockets
				all = append(all, o)
			}
		}
	}
	for _, described := range regexp.MustCompile(`(?m)^ +operationId: (\w+)$`).FindAllSubmatch(api.OpenAPI(), -1) {
		id := string(described[1])
		i := slices.IndexFunc(all, func(o operation) bool { return o.id == id })
		switch {
		case i < 0:
			t.Errorf("the reference shows no code of %s", id)
		case all[i].code["curl"] == "" || all[i].code["go"] == "" || all[i].code["ts"] == "":
			t.Errorf("the reference shows %s not in each language", id)
		}
	}
	return all
}

func (s *site) get(t *testing.T, path string) string {
	t.Helper()
	resp, err := http.Get(s.BaseURL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", path, resp.StatusCode, err)
	}
	return string(text)
}

// refused returns the operations whose example fails for a known reason: examples name fictitious hosts, and tokens
// that were not created here.
func refused() map[string]string {
	return map[string]string{
		"signIn": "401", "refreshSession": "401", // fictitious password and token
		"addWebhook": "400", "replaceWebhook": "400", // the host is looked up
		"widgetWrapperWithoutWidget": "400", // its purpose
		"loadFile":                   "403", // needs a signed address
	}
}

// examples sends the example request of each operation, with the demo's key. An unknown ID yields 404; no request is
// malformed, and every address is a route.
func (s *site) examples(t *testing.T) {
	need.Program(t, "curl", "curl")
	var session struct {
		Token string `json:"access_token"`
	}
	resp, err := http.Post(s.BaseURL+"/functions/v1/auth?grant_type=password", "application/json",
		strings.NewReader(fmt.Sprintf(`{"email":%q,"password":%q}`, s.Email, s.Password)))
	if err == nil {
		err = json.NewDecoder(resp.Body).Decode(&session)
		_ = resp.Body.Close()
	}
	if err != nil || session.Token == "" {
		t.Fatal(err)
	}
	dir := t.TempDir()
	save(t, filepath.Join(dir, "summer.jpg"), "\xff\xd8\xff\xe0\x00\x10JFIF")
	var script strings.Builder
	visitors := map[string]bool{} // operations with the token of a chat or a call, which was not created here
	sent := 0
	for _, o := range s.operations(t) {
		if o.id == "signOut" { // later examples need the session
			continue
		}
		command, is := strings.CutPrefix(o.code["curl"], "curl ")
		if !is {
			t.Errorf("%s: %s", o.id, o.code["curl"])
		}
		sent++
		visitors[o.id] = strings.Contains(command, "$CHAT_TOKEN") || strings.Contains(command, "$CONVERSATION_TOKEN")
		fmt.Fprintf(&script, "echo -n '%s '; curl -sS -m 20 -o %s.out -w '%%{http_code}\\n' %s\n", o.id, o.id, command)
	}
	c := exec.CommandContext(t.Context(), "bash", "-c", script.String())
	c.Dir = dir
	c.Env = append(os.Environ(), "no_proxy=127.0.0.1", "ACCESS_KEY="+s.AccessKey, "USER_TOKEN="+session.Token, "CHAT_TOKEN=x",
		"CONVERSATION_TOKEN=x")
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, errs.String())
	}
	good := 0
	for line := range strings.Lines(string(out)) {
		id, status, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(status, "2") {
			good++
			continue
		}
		text, _ := os.ReadFile(filepath.Join(dir, id+".out"))
		absent := status == "404" && !bytes.Contains(text, []byte("Route not found")) || status == "409"
		if !absent && !(status == "401" && visitors[id]) && status != refused()[id] {
			t.Errorf("%s: %s %s", id, status, text)
		}
	}
	if lines := bytes.Count(out, []byte("\n")); lines != sent {
		t.Errorf("%d of %d requests were sent:\n%s", lines, sent, out)
	}
	if good < 20 {
		t.Errorf("only %d of the requests succeed:\n%s", good, out)
	}
}

// programs compiles the example request of each operation in Go and in TypeScript.
func (s *site) programs(t *testing.T) {
	dir := t.TempDir()
	var program, typescript strings.Builder
	program.WriteString("package main\n\nimport " +
		"(\n\t\"bytes\"\n\t\"context\"\n\t\"io\"\n\t\"mime/multipart\"\n\t\"net/http\"\n\t\"os\"\n\t\"strings\"\n)\n\n" +
		"var _, _, _, _ = bytes.NewReader, multipart.NewWriter, strings.NewReader, os.Getenv\n\nfunc main() {}\n")
	for _, o := range s.operations(t) {
		fmt.Fprintf(&program, "\nfunc %s(ctx context.Context, picture io.Reader) error {\n%s\nreturn nil\n}\n", o.id, o.code["go"])
		fmt.Fprintf(&typescript, "export async function %s_(picture: Blob) {\n%s\n}\n", o.id, o.code["ts"])
	}
	save(t, filepath.Join(dir, "main.go"), program.String())
	if out, err := exec.CommandContext(t.Context(), "go", "vet", filepath.Join(dir, "main.go")).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	save(t, filepath.Join(dir, "reference.ts"), typescript.String())
	checkTypes(t, dir, []string{filepath.Join(dir, "reference.ts")})
}
