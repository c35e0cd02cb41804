//go:build measure

package whatsapp

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestChecksOfTheStandInAreSeenToFail switches off each refusal of the stand-in in turn, and counts those without which the
// tests of refusals fail. Those of edits, deletions and replies have other tests.
func TestChecksOfTheStandInAreSeenToFail(t *testing.T) {
	const least = 60
	dir := t.TempDir()
	binary, places := switchable(t, dir)
	failed := 0
	for n, place := range places {
		cmd := exec.CommandContext(t.Context(), binary, "-test.run=TestStandInRefuses")
		cmd.Env = append(os.Environ(), "SWITCHED_OFF="+strconv.Itoa(n))
		if cmd.Run() != nil {
			failed++
			continue
		}
		t.Log("not noticed:", place)
	}
	t.Logf("of %d checks, %d are seen to fail", len(places), failed)
	if failed < least {
		t.Errorf("%d checks are seen to fail, fewer than %d", failed, least)
	}
}

// refusing is a statement of the stand-in, inside a block, that refuses.
var refusing = regexp.MustCompile(`(?m)^(\t\t+)return ((?:refuse|invalid|refusal)\(.*\)|&Error\{.*\})$`)

// switchable builds this package's tests with a stand-in each of whose refusals can be switched off. It returns the places
// of the refusals. Our own check of templates, which the stand-in makes first, is left out.
func switchable(t *testing.T, dir string) (binary string, places []string) {
	t.Helper()
	replaced := map[string]string{}
	put := func(path, text string) {
		at := filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		path, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		replaced[path] = at
	}
	for _, name := range []string{"fill", "kinds", "messages", "session", "templates"} {
		path := "graphtest/" + name + ".go"
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		put(path, refusing.ReplaceAllStringFunc(string(text), func(line string) string {
			m := refusing.FindStringSubmatch(line)
			if strings.Contains(m[2], "2388073, err.Error()") {
				return m[1] + "_ = err"
			}
			places = append(places, filepath.Base(path)+": "+m[2])
			return fmt.Sprintf("%sif !switchedOff(%d) { return %s }", m[1], len(places)-1, m[2])
		}))
	}
	put("graphtest/switched_off.go", `package graphtest
import ("os"; "strconv")
func switchedOff(n int) bool { return os.Getenv("SWITCHED_OFF") == strconv.Itoa(n) }
`)
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	binary = filepath.Join(dir, "whatsapp.test")
	if out, err := exec.CommandContext(t.Context(), "go", "test", "-overlay", list, "-c", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary, places
}
