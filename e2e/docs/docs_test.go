// Package docs runs the code of the documentation against the program.
package docs

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"carillon/e2e/instance"
	"carillon/internal/app"
	"carillon/internal/need"
)

const root = "../.."

// snippet is a piece of code of a page, between fences that name its language.
type snippet struct {
	page     string // from the root
	line     int
	language string
	code     string
	before   string // the paragraph before it
}

func (s snippet) String() string { return s.page + ":" + strconv.Itoa(s.line) }

// pages are the pages of the documentation, from the root.
func pages(t *testing.T) (all []string) {
	t.Helper()
	for _, dir := range []string{"docs", "clients"} {
		err := fs.WalkDir(os.DirFS(root), dir, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == "node_modules" {
				return fs.SkipDir
			}
			if err == nil && path.Ext(name) == ".md" {
				all = append(all, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return append(all, "README.md")
}

// snippets are those of every page, by page and in order.
func snippets(t *testing.T) (all []snippet) {
	t.Helper()
	for _, page := range pages(t) {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		for i, paragraph := 0, ""; i < len(lines); i++ {
			language, fence := strings.CutPrefix(lines[i], "```")
			if !fence {
				if lines[i] != "" {
					paragraph += lines[i] + "\n"
				} else if i+1 < len(lines) && !strings.HasPrefix(lines[i+1], "```") {
					paragraph = ""
				}
				continue
			}
			end := i + 1
			for end < len(lines) && lines[end] != "```" {
				end++
			}
			all = append(all, snippet{page, i + 1, language, strings.Join(lines[i+1:end], "\n") + "\n", paragraph})
			i, paragraph = end, ""
		}
	}
	if len(all) < 30 {
		t.Fatalf("only %d snippets were found", len(all))
	}
	return all
}

// Every snippet is of a language that something here, or another test, runs or reads.
func TestSnippetsAreOfKnownLanguages(t *testing.T) {
	known := []string{"", "sh", "json", "yaml", "ini", "go", "ts", "js", "html"} // without one: drawings, and what a command prints
	for _, s := range snippets(t) {
		switch s.language {
		case "json":
			if !json.Valid([]byte(s.code)) {
				t.Errorf("%s is no JSON", s)
			}
		case "yaml":
			var v any
			if err := yaml.Unmarshal([]byte(s.code), &v); err != nil {
				t.Errorf("%s: %v", s, err)
			}
		case "ini":
			for line := range strings.Lines(s.code) {
				if line = strings.TrimSpace(line); line != "" && !regexp.MustCompile(`^(\[\w+\]|[A-Za-z_]+=.*|#.*)$`).MatchString(line) {
					t.Errorf("%s: %q", s, line)
				}
			}
		default:
			if !slices.Contains(known, s.language) {
				t.Errorf("%s is in %q, which nothing runs", s, s.language)
			}
		}
	}
}

// site is a demo, and the folder of the command for it.
type site struct {
	*instance.Instance

	bin string
}

func start(t *testing.T) *site {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "bin")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(bin, "carillon"), "carillon/cmd/carillon")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return &site{instance.Start(t, app.Options{}, map[string][]string{"demo": {"true"}, "media-allow-private": {"127.0.0.1/32"}}), bin}
}

// errorsOf are those that a page shows on purpose.
func errorsOf(page string) []string {
	return map[string][]string{"docs/guides/develop.md": {"validation_failed"}}[page]
}

// TestAgainstTheDemo runs against one program what the pages say of it.
func TestAgainstTheDemo(t *testing.T) {
	s := start(t)
	t.Run("commands", s.commands)
	t.Run("addresses", s.addresses)
	t.Run("examples of the reference", s.examples)
	t.Run("programs of the reference", s.programs)
}

// commands runs the commands of each page in their order, in a folder of their own with the files that the page has one save.
func (s *site) commands(t *testing.T) {
	for _, tool := range []string{"bash", "curl", "jq", "node", "openssl"} {
		need.Program(t, tool, tool)
	}
	byPage := map[string][]snippet{}
	for _, x := range snippets(t) {
		byPage[x.page] = append(byPage[x.page], x)
	}
	for page, all := range byPage {
		if !slices.ContainsFunc(all, func(x snippet) bool { return x.language == "sh" }) {
			continue
		}
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			s.walk(t, page, all)
		})
	}
}

// savedAs finds the name under which a page has one save a snippet.
var savedAs = regexp.MustCompile("(?i)save (?:it|this) as `([\\w.]+)`|^// ([\\w.]+\\.m?js):")

// serves finds the commands that run until they are stopped.
var serves = regexp.MustCompile(`(?m)^(carillon (?:mcp --http|serve)[^&\n]*)$`)

func (s *site) walk(t *testing.T, page string, all []snippet) {
	t.Helper()
	dir := t.TempDir()
	ports := map[string]string{}
	for _, port := range []string{"3000", "3001", "8090"} {
		_, ports[port], _ = strings.Cut(instance.FreeAddress(t), ":")
	}
	receiver := "http://127.0.0.1:" + ports["3000"]
	here := func(code string) string {
		code = serves.ReplaceAllString(code, "$1 &\nsleep 1\nkill -0 $$!") // it is still there
		code = strings.NewReplacer("http://127.0.0.1:8080", s.BaseURL, "https://hooks.example.com", receiver, "https://carillon.example.com", s.BaseURL).Replace(code)
		return regexp.MustCompile(`\b(3000|3001|8090)\b`).ReplaceAllStringFunc(code, func(port string) string { return ports[port] })
	}
	for _, link := range [][2]string{{s.bin, "bin"}, {filepath.Dir(s.File), "data"}} {
		if err := os.Symlink(link[0], filepath.Join(dir, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	script := "set -euo pipefail\n"
	for _, x := range all {
		if name := savedAs.FindStringSubmatch(x.before); name == nil {
			if name = savedAs.FindStringSubmatch(x.code); name != nil && x.language != "sh" {
				save(t, filepath.Join(dir, name[1]+name[2]), here(x.code))
			}
		} else if x.language != "sh" {
			save(t, filepath.Join(dir, name[1]+name[2]), here(x.code))
		}
		if x.language == "sh" {
			script += "echo '# " + x.String() + "'\n" + here(x.code)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "bash", "-c", script)
	c.Dir = dir
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what runs on is ended with it
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 5 * time.Second
	c.Env = append(os.Environ(), "no_proxy=127.0.0.1", "PATH="+s.bin+":"+os.Getenv("PATH"), "CARILLON_URL="+s.BaseURL, "CARILLON_READY_FILE="+s.File, "BASE="+s.BaseURL+"/functions/v1", "KEY="+s.AccessKey, "HOME="+dir)
	out, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout, c.Stderr = out, out // a file: what runs on does not hold it up
	err = c.Run()
	if c.Process != nil {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
	}
	printed, _ := os.ReadFile(out.Name())
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	for _, found := range regexp.MustCompile(`"error": ?"(\w+)"`).FindAllSubmatch(printed, -1) {
		if !slices.Contains(errorsOf(page), string(found[1])) {
			t.Errorf("a request was refused:\n%s", printed)
		}
	}
	if bytes.Contains(printed, []byte("\nnull\n")) {
		t.Errorf("a response lacked what the page reads from it:\n%s", printed)
	}
}

func save(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestProgramsOfThePagesCompile has each language's own tools read what is no command.
func TestProgramsOfThePagesCompile(t *testing.T) {
	node, err := exec.LookPath("node")
	need.That(t, err == nil, "programs of the pages are read by Node, which is not installed")
	dir := t.TempDir()
	var typescript []string
	for i, s := range snippets(t) {
		name := filepath.Join(dir, strconv.Itoa(i))
		switch s.language {
		case "js":
			save(t, name+".mjs", s.code)
			if out, err := exec.CommandContext(t.Context(), node, "--check", name+".mjs").CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", s, err, out)
			}
		case "go":
			save(t, name+".go", s.code)
			if out, err := exec.CommandContext(t.Context(), "go", "vet", name+".go").CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", s, err, out)
			}
		case "ts":
			save(t, name+".ts", s.code)
			typescript = append(typescript, name+".ts")
		case "html":
			for _, source := range regexp.MustCompile(`src="[^"]*?(/embed/\w+\.js)"`).FindAllStringSubmatch(s.code, -1) {
				if _, err := os.Stat(filepath.Join(root, "web/src", strings.TrimSuffix(source[1], ".js")+".ts")); err != nil {
					t.Errorf("%s loads %s, which there is not", s, source[1])
				}
			}
		}
	}
	checkTypes(t, dir, typescript)
}

// checkTypes compiles programs in TypeScript with the client that was built.
func checkTypes(t *testing.T, dir string, files []string) {
	t.Helper()
	web, err := filepath.Abs(filepath.Join(root, "web"))
	if err != nil {
		t.Fatal(err)
	}
	compiler, client := filepath.Join(web, "node_modules/.bin/tsc"), filepath.Join(web, "../clients/typescript/dist/index.d.ts")
	_, err = os.Stat(client)
	need.That(t, err == nil, "the client for TypeScript is not built: run make web")
	settings, err := json.Marshal(map[string]any{
		"compilerOptions": map[string]any{
			"target": "ES2022", "lib": []string{"ES2022", "DOM", "DOM.Iterable"}, "module": "ESNext", "moduleResolution": "bundler", "strict": true, "noEmit": true, "skipLibCheck": true,
			"typeRoots": []string{filepath.Join(web, "node_modules/@types")}, "types": []string{"node"}, "paths": map[string]any{"@carillon/client": []string{client}},
		},
		"files": files,
	})
	if err != nil {
		t.Fatal(err)
	}
	save(t, filepath.Join(dir, "tsconfig.json"), string(settings))
	if out, err := exec.CommandContext(t.Context(), compiler, "-p", dir).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// addresses asks the demo for what the pages load and name.
func (s *site) addresses(t *testing.T) {
	asked := map[string]bool{}
	for _, page := range pages(t) {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`http://127\.0\.0\.1:8080(/(?:docs|panel|embed|demo|healthz|readyz|openapi\.json|llms\.txt)[\w./-]*)`).FindAllStringSubmatch(string(text), -1) {
			if asked[found[1]] {
				continue
			}
			asked[found[1]] = true
			resp, err := http.Get(s.BaseURL + found[1])
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				t.Errorf("%s names %s: %d", page, found[1], resp.StatusCode)
			}
		}
	}
	if len(asked) == 0 {
		t.Error("no page names an address of the demo")
	}
}
