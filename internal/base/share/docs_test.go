package share_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/base/share"
)

var update = flag.Bool("update", false, "rewrite the table in docs/reference/limits.md")

func TestTheTableOfBoundedResourcesIsFresh(t *testing.T) {
	const (
		name  = "../../../docs/reference/limits.md"
		begin = "<!-- Made from internal/base/share/resources.go by: go test ./internal/base/share -run TestTheTable -update -->\n"
		end   = "<!-- end of the table -->\n"
	)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	have, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no place for the table", name)
	}
	if *update {
		if err := os.WriteFile(name, []byte(before+begin+table()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(table(), have); diff != "" {
		t.Errorf("the table is stale; run: go test ./internal/base/share -run TestTheTable -update\n%s", diff)
	}
}

var resourceName = regexp.MustCompile(`Name: "([a-z_]+)"`)

func TestEveryResourceIsListedOnce(t *testing.T) {
	text, err := os.ReadFile("resources.go")
	if err != nil {
		t.Fatal(err)
	}
	var written, listed []string
	for _, m := range resourceName.FindAllStringSubmatch(string(text), -1) {
		written = append(written, m[1])
	}
	for _, r := range share.Resources() {
		listed = append(listed, r.Name)
	}
	slices.Sort(written)
	slices.Sort(listed)
	if diff := cmp.Diff(written, listed); diff != "" {
		t.Errorf("the resources that are written and those that are listed differ:\n%s", diff)
	}
}

// table renders the table of bounded resources.
func table() string {
	var b strings.Builder
	b.WriteString("\n| Resource on one node | Total | Company | Its visitors | Client | Session | Beyond it " +
		"|\n|---|---|---|---|---|---|---|\n")
	for _, r := range share.Resources() {
		beyond := "refused"
		switch {
		case r.Waits:
			beyond = "waits"
		case r.Replaces:
			beyond = "refused; a session's oldest one ends"
		}
		all := amount(r, r.Node)
		if r.Setting != "" {
			all = r.Setting + ": " + all
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n",
			r.Holds, all, amount(r, r.Company), amount(r, r.Visitors), amount(r, r.Client), amount(r, r.Session), beyond)
	}
	return b.String() + "\n"
}

func amount(r share.Resource, n int64) string {
	switch {
	case n == 0:
		return "–"
	case r.Bytes:
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprint(n)
}
