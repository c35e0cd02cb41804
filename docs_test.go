package carillon_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"carillon"
)

// packages are the folders below the root that hold Go files.
func packages(t *testing.T) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (path == "tools" || path == "data" || path == "bin" || d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && path != ".") {
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
	for _, m := range regexp.MustCompile("(?m)^\\| [^|]+ \\| `([a-z0-9/]+)`").FindAllStringSubmatch(string(text), -1) {
		named = append(named, m[1])
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

func TestStatesDocumentListsEveryReasonAndState(t *testing.T) {
	text, err := os.ReadFile("docs/states.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| ([a-z_]+) \|`).FindAllStringSubmatch(string(text), -1)
	var named []string
	for _, r := range rows {
		named = append(named, r[1])
	}
	for _, r := range carillon.Reasons() {
		if !slices.Contains(named, string(r)) {
			t.Errorf("docs/states.md does not say what %s means", r)
		}
	}
	for rank := range carillon.Rank(200) {
		if s := rank.State(); s != carillon.StateQueued && !slices.Contains(named, string(s)) {
			t.Errorf("docs/states.md does not say what %s means", s)
		}
	}
}

// TestLinksResolve follows the relative links of all documents, and the pages that comments cite.
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
				if pages, _ := filepath.Glob(m[1] + "*"); len(pages) == 0 {
					t.Errorf("%s cites %s, which is not there", path, m[1])
				}
			}
			return nil
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			target, _, _ := strings.Cut(m[1], "#")
			if target == "" || strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), target)); err != nil {
				t.Errorf("%s links to %s, which is not there", path, target)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
