package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// rows returns the rows of the guide's table under a heading.
func rows(t *testing.T, guide, head string) []string {
	t.Helper()
	_, table, ok := strings.Cut(guide, head+"\n")
	if !ok {
		t.Fatalf("the guide has no table %q", head)
	}
	table, _, _ = strings.Cut(table, "\n\n")
	return strings.Split(table, "\n")[1:]
}

func TestGuideDescribesEveryMessage(t *testing.T) {
	guide := read(t, "../../../docs/guides/sandbox.md")
	var want []string
	for _, b := range behaviors {
		want = append(want, fmt.Sprintf("| `%s` | %s |", b.suffix, b.effect))
	}
	if diff := cmp.Diff(want, rows(t, guide, "| A message to a number that ends in | What happens |")); diff != "" {
		t.Errorf("docs/guides/sandbox.md is stale (-package +guide):\n%s", diff)
	}
}

func TestGuideStatesTheDelays(t *testing.T) {
	d := Delays{}.Filled()
	var want []string
	for _, r := range []struct {
		event string
		after fmt.Stringer
	}{
		{"`delivered`", d.Delivered},
		{"`read`", d.Read},
		{"`ringing`", d.Ringing},
		{"`in_progress`, `rejected`, `voicemail`", d.Answered},
		{"`completed`, `no_answer`", d.Ended},
		{"late receipts begin", d.Late},
		{"a slow response, a slow callee", d.Slow},
		{"a rate limit asks to wait", d.RetryAfter},
		{"a template's review", d.Review},
	} {
		want = append(want, fmt.Sprintf("| %s | %s |", r.event, r.after))
	}
	if diff := cmp.Diff(want, rows(t, read(t, "../../../docs/guides/sandbox.md"), "| Event | After |")); diff != "" {
		t.Errorf("docs/guides/sandbox.md is stale (-package +guide):\n%s", diff)
	}
}

func TestGuideLinesFitTheDemo(t *testing.T) {
	guide, demo := read(t, "../../../docs/guides/sandbox.md"), read(t, "../../base/config/demo.yaml")
	key := regexp.MustCompile(`(?m)^KEY=(\S+)$`).FindStringSubmatch(guide)
	if key == nil || !strings.Contains(demo, "key: "+key[1]+",") {
		t.Errorf("the guide's key %q is not the demo's", key)
	}
	bodies := regexp.MustCompile(`-d '(\{.*\})'`).FindAllStringSubmatch(guide, -1)
	if len(bodies) != 5 {
		t.Fatalf("%d curl lines with a body", len(bodies))
	}
	for _, b := range bodies {
		var body map[string]any
		if err := json.Unmarshal([]byte(strings.ReplaceAll(b[1], "'$TO'", "34600110001")), &body); err != nil {
			t.Fatalf("%s: %v", b[1], err)
		}
		for field, form := range map[string]string{"recipient_id": "- id: %s\n", "agent_id": "- id: %s\n", "name_template": "name: %s\n"} {
			if v, ok := body[field].(string); ok && !strings.Contains(demo, fmt.Sprintf(form, v)) {
				t.Errorf("the demo has no %s %s", field, v)
			}
		}
	}
}
