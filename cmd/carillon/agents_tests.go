package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"carillon/internal/agent/trial"
)

type agentsTest struct {
	File  string `arg:"" optional:"" help:"File with the tests; else the tests that are stored with the agent."`
	Agent string `placeholder:"AGENT" help:"Id or name of the agent; else the agent that the file names."`
	JUnit string `name:"junit" placeholder:"FILE" help:"Also write the results to a file in JUnit's XML, for CI."`
	memberFlags
}

// testReport is the output of --json.
type testReport struct {
	trial.Done

	Agent   string          `json:"agent_id"`
	Results []*trial.Result `json:"results"`
}

// Run runs the tests on the running program. It returns errFailed if a test fails. Everything else that goes wrong is a
// usageError, so that a script can distinguish a broken set-up from a broken agent.
func (a *agentsTest) Run(ctx context.Context, env *environment) error {
	report, err := a.run(ctx, env)
	if err != nil {
		return usageError{err}
	}
	if a.JUnit != "" {
		if err := writeJUnit(a.JUnit, report); err != nil {
			return usageError{err}
		}
	}
	if a.JSON {
		err = writeJSON(env.Stdout, report)
	} else {
		err = report.print(env.Stdout)
	}
	if err == nil && report.Failed > 0 {
		err = errFailed
	}
	return err
}

func (a *agentsTest) run(ctx context.Context, env *environment) (*testReport, error) {
	body, name := map[string]any{"origin": "command"}, a.Agent
	if a.File != "" {
		text, err := readSuite(a.File)
		if err != nil {
			return nil, err
		}
		s, problems := trial.Read(a.File, text, a.Agent)
		if len(problems) > 0 {
			return nil, fmt.Errorf("the tests cannot be run:\n%w", problems)
		}
		body["source"], name = text, cmp.Or(a.Agent, s.Agent)
	}
	if name == "" {
		return nil, errors.New("no agent: give --agent, or a file that names one")
	}
	c, x, err := a.findAgent(ctx, env, name)
	if err != nil {
		return nil, err
	}
	progress := &testProgress{env: env}
	call := a.panel(http.MethodPost, "agents/"+url.PathEscape(x.ID)+"/tests/run")
	call.Body, call.Once, call.Into = body, true, &eventLines{each: progress.event}
	_, err = c.Do(ctx, call)
	progress.clear()
	switch {
	case err != nil:
		return nil, err
	case progress.failed != "":
		return nil, errors.New(progress.failed)
	case progress.done == nil:
		return nil, errors.New("the program ended the run before its end")
	}
	return &testReport{*progress.done, x.ID, progress.results}, nil
}

// readSuite reads a file, but not more than a suite may have.
func readSuite(name string) (string, error) {
	f, err := os.Open(name) //nolint:gosec // the user names the file
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, trial.MaxFile+1))
	return string(text), err
}

// testProgress collects the events of a run. On a terminal it shows how far the run is.
type testProgress struct {
	env     *environment
	cases   int
	results []*trial.Result
	done    *trial.Done
	failed  string
}

func (p *testProgress) event(name string, data []byte) error {
	switch name {
	case "begin":
		var x struct {
			Cases int `json:"cases"`
		}
		err := json.Unmarshal(data, &x)
		p.cases = x.Cases
		return err
	case "result":
		var r trial.Result
		if err := json.Unmarshal(data, &r); err != nil {
			return err
		}
		p.results = append(p.results, &r)
		if p.env.Terminal {
			_, _ = fmt.Fprintf(raw(p.env.Stderr), "\r%d of %d", len(p.results), p.cases)
		}
	case "done":
		return json.Unmarshal(data, &p.done)
	case "failed":
		var x struct {
			Message string `json:"message"`
		}
		err := json.Unmarshal(data, &x)
		p.failed = cmp.Or(x.Message, "the run failed")
		return err
	}
	return nil
}

func (p *testProgress) clear() {
	if p.env.Terminal && p.cases > 0 {
		_, _ = fmt.Fprint(raw(p.env.Stderr), "\r\x1b[K")
	}
}

// maxEventLine bounds a line of a stream of events, in bytes.
const maxEventLine = 8 << 20

// eventLines reads server-sent events that are written to it.
type eventLines struct {
	each func(name string, data []byte) error
	rest []byte
	name string
}

// Write implements io.Writer.
func (e *eventLines) Write(b []byte) (int, error) {
	e.rest = append(e.rest, b...)
	for {
		line, after, found := bytes.Cut(e.rest, []byte("\n"))
		if !found {
			break
		}
		field, value, _ := bytes.Cut(line, []byte(": "))
		switch string(field) {
		case "event":
			e.name = string(value)
		case "data":
			if err := e.each(e.name, value); err != nil {
				return 0, fmt.Errorf("read the results: %w", err)
			}
		}
		e.rest = after
	}
	if len(e.rest) > maxEventLine {
		return 0, errors.New("read the results: a line is too long")
	}
	return len(b), nil
}

// print writes the failed and skipped cases, each with its conversation, and a summary.
func (x *testReport) print(w io.Writer) error {
	var b bytes.Buffer
	for _, r := range x.Results {
		if r.State == trial.Passed {
			continue
		}
		word := map[trial.State]string{trial.Failed: "FAIL", trial.Skipped: "SKIP"}[r.State]
		fmt.Fprintf(&b, "%s  %s / %s (%s)\n", word, r.Suite, r.Name, r.Language)
		for _, t := range r.Turns {
			fmt.Fprintf(&b, "      > %s\n", oneLine(t.Say, 200))
			if t.Text != "" {
				fmt.Fprintf(&b, "      < %s\n", oneLine(t.Text, 200))
			}
			for _, c := range t.Checks {
				switch c.State {
				case trial.Failed:
					fmt.Fprintf(&b, "        %s: expected %s, got %s\n", c.Rule, oneLine(c.Want, 200), oneLine(c.Got, 200))
				case trial.Skipped:
					fmt.Fprintf(&b, "        %s: skipped: %s\n", c.Rule, oneLine(c.Got, 200))
				case trial.Passed:
				}
			}
		}
	}
	fmt.Fprintf(&b, "%d passed, %d failed", x.Passed, x.Failed)
	if x.Skipped > 0 {
		fmt.Fprintf(&b, ", %d skipped", x.Skipped)
	}
	fmt.Fprintf(&b, " in %s\n", (time.Duration(x.MS) * time.Millisecond).Round(10*time.Millisecond))
	_, err := w.Write(b.Bytes())
	return err
}

type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitMessage `xml:"failure,omitempty"`
		Skipped *junitMessage `xml:"skipped,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit writes the results in the XML format that CI servers read.
func writeJUnit(name string, x *testReport) error {
	var all junitSuites
	for _, r := range x.Results {
		if n := len(all.Suites); n == 0 || all.Suites[n-1].Name != r.Suite {
			all.Suites = append(all.Suites, junitSuite{Name: r.Suite})
		}
		s := &all.Suites[len(all.Suites)-1]
		c := junitCase{Class: r.Suite, Name: r.Name, Time: seconds(r.MS)}
		first, text := "", ""
		for _, t := range r.Turns {
			text += "> " + t.Say + "\n< " + t.Text + "\n"
			for _, check := range t.Checks {
				if check.State == r.State && r.State != trial.Passed {
					line := check.Rule + ": expected " + check.Want + ", got " + check.Got
					first = cmp.Or(first, line)
					text += line + "\n"
				}
			}
		}
		s.Tests++
		switch r.State {
		case trial.Failed:
			s.Failures++
			c.Failure = &junitMessage{first, text}
		case trial.Skipped:
			s.Skipped++
			c.Skipped = &junitMessage{Message: first}
		case trial.Passed:
		}
		s.Cases = append(s.Cases, c)
	}
	for i := range all.Suites {
		ms := int64(0)
		for _, r := range x.Results {
			if r.Suite == all.Suites[i].Name {
				ms += r.MS
			}
		}
		all.Suites[i].Time = seconds(ms)
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return os.WriteFile(filepath.Clean(name), append([]byte(xml.Header), append(text, '\n')...), 0o644) //nolint:gosec // a report
}

func seconds(ms int64) string { return fmt.Sprintf("%.3f", float64(ms)/1000) }
