//go:build measure

package browser

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPagesUnderLoad runs the measurements in web/e2e one after the other, or only those named by PAGES. `make
// measure` runs it, on a machine with time to spare.
func TestPagesUnderLoad(t *testing.T) {
	node, chromium := programs(t, "chromium")
	files, err := filepath.Glob("../../web/e2e/" + cmp.Or(os.Getenv("PAGES"), "*") + ".measure.mjs")
	if err != nil || len(files) == 0 {
		t.Fatalf("no measurements in web/e2e: %v", err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(strings.TrimSuffix(name, ".measure.mjs"), func(t *testing.T) { tryEntry(t, node, chromium, "e2e/"+name) })
	}
}
