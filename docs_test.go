package carillon_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// packages returns the folders below the root that contain Go files.
func packages(t *testing.T) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (path == "tools" || path == "data" || path == "bin" || d.Name() == "testdata" ||
			d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && path != ".") {
			return filepath.SkipDir
		}
		if dir := filepath.Dir(path); strings.HasSuffix(path, ".go") && dir != "." && !slices.Contains(all, dir) {
			all = append(all, dir)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestArchitectureNamesEveryPackage(t *testing.T) {
	text, err := os.ReadFile("docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9/]+)`").FindAllStringSubmatch(string(text), -1) {
		named = append(named, m[1])
	}
	if lines := strings.Count(string(text), "\n") - len(named); lines > 70 {
		t.Errorf("docs/ARCHITECTURE.md has %d lines besides those of packages, more than 70", lines)
	}
	there := packages(t)
	for _, p := range there {
		if !slices.Contains(named, p) {
			t.Errorf("docs/ARCHITECTURE.md has no line for %s", p)
		}
	}
	for _, n := range named {
		if n != "carillon" && !slices.Contains(there, n) {
			t.Errorf("docs/ARCHITECTURE.md has a line for %s, which is not there", n)
		}
	}
}

// TestStatesDocumentListsEveryReasonAndState compares docs/states.md with the constants of states.go.
func TestStatesDocumentListsEveryReasonAndState(t *testing.T) {
	text, err := os.ReadFile("docs/states.md")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("states.go")
	if err != nil {
		t.Fatal(err)
	}
	constants := regexp.MustCompile(`(?m)^\t(?:State|Reason)\w+ +(State|Reason) += "([a-z_]+)"`).FindAllSubmatch(code, -1)
	if len(constants) < 30 {
		t.Fatalf("found only %d states and reasons", len(constants))
	}
	for _, c := range constants {
		meant := `\b%s\b`
		if string(c[1]) == "Reason" {
			meant = `(?m)^\| %s \|`
		}
		if !regexp.MustCompile(fmt.Sprintf(meant, c[2])).Match(text) {
			t.Errorf("docs/states.md does not say what %s means", c[2])
		}
	}
}

// anchorsOf returns the anchors of a document's headings, as repository hosts generate them: lower-case letters,
// digits, hyphens and underscores; a hyphen for each space; a number after a repeated one.
func anchorsOf(file string) (map[string]bool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	all, fenced := map[string]bool{}, false
	heading, link := regexp.MustCompile(`^#{1,6} +(.+)$`), regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n ")
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		m := heading.FindStringSubmatch(line)
		if fenced || m == nil {
			continue
		}
		id := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, link.ReplaceAllString(m[1], "$1"))
		one := id
		for n := 1; all[one]; n++ {
			one = fmt.Sprintf("%s-%d", id, n)
		}
		all[one] = true
	}
	return all, nil
}

// TestLinksResolve checks the relative links and anchors in all documents, and the pages cited in comments.
func TestLinksResolve(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	cited := regexp.MustCompile(`(?m)^\s*//.*?\s\(?(docs/[a-z0-9_./-]*[a-z0-9])`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (path == "data" || path == "bin" || d.Name() == "node_modules" || d.Name()[0] == '.'):
			return filepath.SkipDir
		case filepath.Ext(path) != ".md" && filepath.Ext(path) != ".go":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if filepath.Ext(path) == ".go" {
			for _, m := range cited.FindAllStringSubmatch(string(text), -1) {
				page := m[1]
				if strings.HasPrefix(page, "docs/adr/") {
					page = page[:len("docs/adr/0000")] // a decision is cited by its number
				}
				if pages, _ := filepath.Glob(page + "*"); len(pages) == 0 {
					t.Errorf("%s cites %s, which is not there", path, m[1])
				}
			}
			return nil
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			file := path
			if target != "" {
				file = filepath.Join(filepath.Dir(path), target)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s links to %s, which is not there", path, target)
				continue
			}
			if anchor == "" {
				continue
			}
			if there, err := anchorsOf(file); err != nil || !there[anchor] {
				t.Errorf("%s links to %s, whose heading is not there (%v)", path, m[1], err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDecisionsHaveOneForm keeps docs/adr short: at most 40 pages of one screen, each with the same sections.
func TestDecisionsHaveOneForm(t *testing.T) {
	pages, err := filepath.Glob("docs/adr/*.md")
	if err != nil || len(pages) == 0 || len(pages) > 40 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	form := regexp.MustCompile(`(?s)^# \d+\. [^\n]+\n\nStatus: [^\n]*Date: \d{4}-\d\d-\d\d\.\n\n## Context\n.+\n## Decision\n.+\n## ` +
		`Consequences\n.+$`)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if !form.Match(text) {
			t.Errorf("%s does not have the form: # number and title, Status and Date, Context, Decision, Consequences", page)
		}
		if n := strings.Count(string(text), "\n"); n > 45 {
			t.Errorf("%s has %d lines, more than 45", page, n)
		}
	}
}
