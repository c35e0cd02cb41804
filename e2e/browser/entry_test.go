package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"carillon/internal/base/need"
)

// maxEntry bounds the run of an entry; a longer run hangs.
const maxEntry = 20 * time.Minute

// result is a line of web/e2e/reporter.mjs: the result of one test.
type result struct {
	Name    []string // from the outermost describe
	MS      float64
	Error   string // empty if it passed
	Skipped bool
	Notes   []string
}

// tryEntry runs a test file in web with Node, in a separate world, and reports each of its tests. TESTS is a pattern
// that selects tests by name.
func tryEntry(t *testing.T, node, chromium, file string) {
	t.Helper()
	w := newWorld(t)
	ctx, cancel := context.WithTimeout(t.Context(), maxEntry)
	defer cancel()
	arguments := []string{"--test-reporter=./e2e/reporter.mjs", file}
	if pattern := os.Getenv("TESTS"); pattern != "" {
		arguments = slices.Insert(arguments, 0, "--test-name-pattern="+pattern)
	}
	c := exec.CommandContext(ctx, node, arguments...)
	c.Dir = "../../web"
	c.Env = append(os.Environ(), "CARILLON_READY="+w.demo.File, "CARILLON_WORLD="+w.url, "CHROMIUM="+chromium)
	c.WaitDelay = 10 * time.Second // a leftover browser keeps the output open
	var printed strings.Builder
	c.Stderr = &printed
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	results := make(chan result)
	go readResults(out, &printed, results)
	tests, failed := 0, 0
	for results != nil {
		select {
		case ask := <-w.asked:
			ask()
		case r, ok := <-results:
			if !ok {
				results = nil
				break
			}
			tests++
			if !t.Run(strings.Join(r.Name, "/"), r.report) {
				failed++
			}
		}
	}
	err = c.Wait()
	switch {
	case ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		t.Errorf("%s hangs: its tests have not ended within %v", file, maxEntry)
	case err != nil && failed == 0:
		t.Errorf("%s: %v", file, err)
	case tests == 0:
		t.Errorf("%s has no tests", file)
	}
	if t.Failed() || testing.Verbose() {
		t.Logf("printed:\n%s", printed.String())
	}
}

// readResults passes on the reporter's lines. Other lines are output of the tests.
func readResults(from io.Reader, printed io.StringWriter, to chan<- result) {
	defer close(to)
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		if text, ok := strings.CutPrefix(line, "result "); ok {
			var r result
			if err := json.Unmarshal([]byte(text), &r); err != nil {
				r = result{Name: []string{"reporter"}, Error: err.Error() + ": " + text}
			}
			to <- r
		} else {
			_, _ = printed.WriteString(line)
		}
		if err != nil {
			return
		}
	}
}

// report reports a result as a test.
func (r result) report(t *testing.T) {
	for _, note := range r.Notes {
		t.Log(note)
	}
	t.Attr("elapsed", strconv.FormatFloat(r.MS/1000, 'f', 1, 64))
	switch {
	case r.Skipped:
		need.That(t, os.Getenv("TESTS") != "", "skipped in Node")
		need.That(t, false, "not among TESTS")
	case r.Error != "":
		t.Error(r.Error)
	}
}
