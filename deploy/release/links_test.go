package main

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheArchiveHasWhatItsDocumentsLinkTo checks that the relative links of all documents lead to files in the
// archive.
func TestTheArchiveHasWhatItsDocumentsLinkTo(t *testing.T) {
	list := exec.CommandContext(t.Context(), "git", append([]string{"-c", "safe.directory=*", "ls-files", "--"}, shipped()...)...)
	list.Dir = "../.."
	listed, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	there, documents := map[string]bool{}, []string(nil)
	for name := range strings.FieldsSeq(string(listed)) {
		if strings.HasSuffix(name, ".go") {
			continue // not in the archive
		}
		for at := name; at != "."; at = path.Dir(at) {
			there[at] = true
		}
		if path.Ext(name) == ".md" {
			documents = append(documents, name)
		}
	}
	link, followed := regexp.MustCompile(`\]\(([^)\s]+)\)`), 0
	for _, name := range documents {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			target, _, _ := strings.Cut(m[1], "#")
			if target == "" || strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			followed++
			if to := path.Join(path.Dir(name), target); !there[to] && to != "." {
				t.Errorf("%s links to %s, which the archive does not have", name, m[1])
			}
		}
	}
	if followed < 100 {
		t.Errorf("only %d links were followed", followed)
	}
}
