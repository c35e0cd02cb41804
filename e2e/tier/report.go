package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// event is a line of `go test -json` (cmd/test2json).
type event struct {
	Action      string
	Package     string
	ImportPath  string // the package or test being built
	Test        string
	Elapsed     float64 // seconds
	Output      string
	FailedBuild string
	Key, Value  string // of an attribute
}

// report is the state of a run.
type report struct {
	out      io.Writer
	packages map[string]*pkg
	builds   map[string][]string // compiler output, by package or test
	slow     []timed
	skipped  map[string]int // by reason
	passed   int
	failed   int
}

// pkg is a package whose tests are running.
type pkg struct {
	tests  map[string]*test
	order  []string
	output []string // belongs to no test
}

type test struct {
	output  []string
	parent  bool    // contains other tests, which count in its place
	outcome string  // of its event; empty while it runs
	elapsed float64 // seconds, as reported by a test that ran elsewhere
}

type timed struct {
	name    string
	elapsed float64
}

const maxSlow = 10

func newReport(out io.Writer) *report {
	return &report{out: out, packages: map[string]*pkg{}, builds: map[string][]string{}, skipped: map[string]int{}}
}

// read reads events until their end. Lines that are not events are printed unchanged.
func (r *report) read(events io.Reader) error {
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) == nil && e.Action != "" {
				r.take(e)
			} else {
				fmt.Fprintf(r.out, "%s", line)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the events of go test: %w", err)
		}
	}
}

func (r *report) take(e event) {
	switch {
	case e.Action == "build-output":
		r.builds[e.ImportPath] = append(r.builds[e.ImportPath], e.Output)
	case e.Package == "":
	case e.Test == "":
		r.takeOfPackage(e)
	default:
		r.takeOfTest(e)
	}
}

func (r *report) packageOf(name string) *pkg {
	if r.packages[name] == nil {
		r.packages[name] = &pkg{tests: map[string]*test{}}
	}
	return r.packages[name]
}

func (r *report) takeOfTest(e event) {
	p := r.packageOf(e.Package)
	t := p.tests[e.Test]
	if t == nil {
		t = &test{}
		p.tests[e.Test] = t
		p.order = append(p.order, e.Test)
	}
	switch e.Action {
	case "run":
		if parent := p.parentOf(e.Test); parent != nil {
			parent.parent = true
		}
	case "attr":
		if e.Key == "elapsed" {
			t.elapsed, _ = strconv.ParseFloat(e.Value, 64) // a value that is no number is another attribute
		}
	case "output":
		t.output = append(t.output, e.Output)
	case "pass", "skip", "fail":
		t.outcome = e.Action
		if e.Action == "skip" {
			r.skipped[reason(t.output)]++
		}
		if e.Action == "pass" && !t.parent {
			r.passed++
			r.slow = append(r.slow, timed{strings.TrimPrefix(e.Package, "carillon/") + " " + e.Test, max(e.Elapsed, t.elapsed)})
		}
		if e.Action != "fail" {
			t.output = nil
		}
	}
}

// parentOf returns the parent of a test. Names of tests may contain further slashes.
func (p *pkg) parentOf(name string) *test {
	for at := strings.LastIndexByte(name, '/'); at > 0; at = strings.LastIndexByte(name[:at], '/') {
		if t := p.tests[name[:at]]; t != nil {
			return t
		}
	}
	return nil
}

// reason returns the last line printed by a skipped test, without its source position.
func reason(output []string) string {
	for _, line := range slices.Backward(output) {
		if _, why, ok := strings.Cut(strings.TrimSpace(line), ".go:"); ok {
			if _, why, ok = strings.Cut(why, ": "); ok {
				return strings.TrimPrefix(why, "SKIPPED: ")
			}
		}
	}
	return "no reason given"
}

func (r *report) takeOfPackage(e event) {
	p := r.packageOf(e.Package)
	switch e.Action {
	case "output":
		p.output = append(p.output, e.Output)
	case "pass":
		fmt.Fprintf(r.out, "ok    %6.1f s %5d tests  %s\n", e.Elapsed, p.count("pass"), e.Package)
		delete(r.packages, e.Package)
	case "skip":
		delete(r.packages, e.Package) // no test files
	case "fail":
		r.fail(e, p)
		delete(r.packages, e.Package)
	}
}

// count returns the number of tests with an outcome, without parents of other tests.
func (p *pkg) count(outcome string) (n int) {
	for _, t := range p.tests {
		if !t.parent && t.outcome == outcome {
			n++
		}
	}
	return n
}

// fail prints the output of a failed package, without that of its passed tests. A package without a failed test counts
// as one failure.
func (r *report) fail(e event, p *pkg) {
	fmt.Fprintf(r.out, "FAIL  %6.1f s %5d tests  %s\n", e.Elapsed, p.count("pass"), e.Package)
	for _, line := range r.builds[e.FailedBuild] {
		fmt.Fprint(r.out, "    ", line)
	}
	failed := 0
	for _, parents := range []bool{false, true} { // the cause first: parents print the logs of programs
		for _, name := range p.order {
			t := p.tests[name]
			if t.parent != parents || t.outcome != "fail" && t.outcome != "" {
				continue
			}
			if !t.parent {
				failed++
			}
			for _, line := range t.output {
				fmt.Fprint(r.out, "    ", line)
			}
		}
	}
	for _, line := range p.output {
		fmt.Fprint(r.out, "    ", line)
	}
	r.failed += max(1, failed)
}

// summary prints the slowest tests and the counts.
func (r *report) summary(took time.Duration) {
	slices.SortFunc(r.slow, func(a, b timed) int { return cmp.Compare(b.elapsed, a.elapsed) })
	fmt.Fprintln(r.out, "\nThe slowest tests:")
	for _, t := range r.slow[:min(maxSlow, len(r.slow))] {
		fmt.Fprintf(r.out, "      %6.1f s  %s\n", t.elapsed, t.name)
	}
	for _, why := range slices.Sorted(maps.Keys(r.skipped)) {
		fmt.Fprintf(r.out, "%d skipped: %s\n", r.skipped[why], why)
	}
	fmt.Fprintf(r.out, "%d passed, %d failed in %d min %d s\n", r.passed, r.failed, int(took.Minutes()), int(took.Seconds())%60)
}
