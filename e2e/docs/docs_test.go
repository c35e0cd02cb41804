// Package docs runs the code of the documentation against the program.
package docs

import (
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
	"testing"

	"github.com/goccy/go-yaml"

	"carillon/e2e/instance"
	"carillon/internal/app"
)

const root = "../.."

// snippet is a fenced code block of a page with a language.
type snippet struct {
	page     string // path from the root
	line     int
	language string
	code     string
	before   string // the preceding paragraph
	after    string // the following paragraph
}

func (s snippet) String() string { return s.page + ":" + strconv.Itoa(s.line) }

// pages returns the paths of the documentation pages from the root.
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

// snippets returns the snippets of all pages, in order.
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
			if end == len(lines) {
				t.Fatalf("%s:%d: the fence is not closed", page, i+1)
			}
			after := strings.TrimLeft(strings.Join(lines[end+1:], "\n"), "\n")
			after, _, _ = strings.Cut(after, "\n\n")
			all = append(all, snippet{page, i + 1, language, strings.Join(lines[i+1:end], "\n") + "\n", paragraph, after})
			i, paragraph = end, ""
		}
	}
	if len(all) < 30 {
		t.Fatalf("only %d snippets were found", len(all))
	}
	return all
}

// TestSnippetsAreFound checks that no fence has a form that snippets overlooks.
func TestSnippetsAreFound(t *testing.T) {
	unseen := regexp.MustCompile("(?m)^(?:[ \t]+```|[ \t]*~~~).*$")
	for _, page := range pages(t) {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, fence := range unseen.FindAll(text, -1) {
			t.Errorf("%s: %q is no fence of three backticks at the beginning of a line, so nothing runs what is in it", page, fence)
		}
	}
}

// Every snippet has a language that this or another test runs or parses.
func TestSnippetsAreOfKnownLanguages(t *testing.T) {
	// No language: drawings and output of commands.
	known := []string{"", "sh", "json", "yaml", "ini", "go", "ts", "js", "html"}
	command := regexp.MustCompile(`(?m)^(?:\$ |(?:curl|carillon|bin/carillon|node|go|make|npm) )`)
	for _, s := range snippets(t) {
		switch s.language {
		case "":
			if found := command.FindString(s.code); found != "" {
				t.Errorf("%s has a command, %q, in a fence without a language, so nothing runs it", s, found)
			}
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

// Environment variables on the pages exist: they are in one of the two generated pages of settings and commands, or the
// Makefile.
func TestVariablesOfThePagesExist(t *testing.T) {
	variable := regexp.MustCompile(`\bCARILLON_[A-Z0-9_]*[A-Z0-9]\b`)
	known := map[string]bool{}
	read := func(page string) []string {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		return variable.FindAllString(string(text), -1)
	}
	for _, generated := range []string{"docs/settings.md", "docs/cli.md", "Makefile"} {
		for _, name := range read(generated) {
			known[name] = true
		}
	}
	for _, page := range append(pages(t), "deploy/systemd/carillon.env", "deploy/systemd/carillon.service") {
		for _, name := range read(page) {
			if !known[name] && !known[strings.TrimSuffix(name, "_FILE")] {
				t.Errorf("%s has %s, which neither a setting nor a command reads", page, name)
			}
		}
	}
}

// site is a demo program, and the folder with the command for it.
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

// TestAgainstTheDemo checks the pages' statements about the program against one demo.
func TestAgainstTheDemo(t *testing.T) {
	s := start(t)
	t.Run("commands", s.commands)
	t.Run("requests", s.requests)
	t.Run("programs of the clients", s.clients)
	t.Run("addresses", s.addresses)
	t.Run("examples of the reference", s.examples)
	t.Run("programs of the reference", s.programs)
}

// addresses requests the addresses that the pages load and name. The panel serves one page for all of its addresses.
func (s *site) addresses(t *testing.T) {
	asked := map[string]bool{}
	for _, page := range pages(t) {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`http://(?:127\.0\.0\.1|localhost):8080(/[\w./-]*)`).FindAllStringSubmatch(
			string(text), -1) {
			if asked[found[1]] || strings.HasPrefix(found[1], "/functions/") { // those are tested with their requests
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

func save(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
