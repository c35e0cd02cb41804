package handset

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGuideDescribesEveryCall(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/guides/sandbox.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, there := strings.Cut(string(guide), "| A call to a number that ends in | What happens |\n")
	if !there {
		t.Fatal("the guide has no table of calls")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	var want []string
	for _, s := range scripts {
		want = append(want, fmt.Sprintf("| `%s` | %s |", s.suffix, s.effect))
	}
	if diff := cmp.Diff(want, strings.Split(table, "\n")[1:]); diff != "" {
		t.Errorf("docs/guides/sandbox.md is stale (-package +guide):\n%s", diff)
	}
}
