// Package contract reads the cases of testdata/contract and judges answers by them. A case is a sequence of requests
// with the answers they must get; it names the rows of the contract that it shows (rows.json). The form of the files is
// described in testdata/contract/README.md; docs/reference/contract.md, made by Page, lists the cases of each row. It sends
// nothing: the test in e2e does.
package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Row is one row of the contract's tables, restated.
type Row struct {
	ID      string `json:"id"`
	Section string `json:"section"` // the document and its table
	Cell    string `json:"cell"`    // the row's first cell
	Says    string `json:"says"`
}

// File is one file of cases.
type File struct {
	Name  string                     `json:"-"`
	About string                     `json:"about"`
	Bases map[string]json.RawMessage `json:"bases"` // requests that steps begin from
	Cases []Case                     `json:"cases"`
}

// Case is a sequence of steps against one program.
type Case struct {
	Name      string   `json:"name"`
	Rows      []string `json:"rows"`
	Provision string   `json:"provision"`   // file of the set-up; provision.yaml when empty
	Alone     bool     `json:"alone"`       // wants a program of its own
	Parallel  bool     `json:"parallel"`    // waits long: runs in parallel with the others
	InAMinute bool     `json:"in_a_minute"` // counts what a minute allows: alone on a program whose minute does not end
	Steps     []Step   `json:"steps"`
}

// Step is a request with its answer, or a statement for the database.
type Step struct {
	Request  json.RawMessage `json:"request"`
	Response *Response       `json:"response"`
	After    Duration        `json:"after"`  // let so long pass first
	Within   Duration        `json:"within"` // ask again until the answer is so, at most so long
	SQL      string          `json:"sql"`
}

// Response is what an answer must be.
type Response struct {
	Status   Statuses                   `json:"status"`
	Headers  map[string]json.RawMessage `json:"headers"` // null: absent
	Body     json.RawMessage            `json:"body"`    // matcher of the JSON
	Text     string                     `json:"text"`    // pattern of the whole body
	Contains []string                   `json:"contains"`
	Lacks    []string                   `json:"lacks"`
	Capture  map[string]string          `json:"capture"` // variable to path in the body
}

// Statuses is one status, or any of several.
type Statuses []int

// UnmarshalJSON reads a number or a list of them.
func (s *Statuses) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte("[")) {
		return json.Unmarshal(b, (*[]int)(s))
	}
	*s = make(Statuses, 1)
	return json.Unmarshal(b, &(*s)[0])
}

// Duration is written as time.ParseDuration reads it.
type Duration time.Duration

// UnmarshalText reads a duration.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = Duration(v)
	return err
}

const rowsFile = "rows.json"

// Load reads the rows and the files of cases of a folder, and reports everything that is wrong with them: unknown keys, two cases
// of one name, a row without a case, a case with an unknown row.
func Load(dir string) ([]Row, []File, error) {
	var rows []Row
	if err := read(filepath.Join(dir, rowsFile), &rows); err != nil {
		return nil, nil, err
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, nil, err
	}
	var files []File
	for _, name := range names {
		if filepath.Base(name) == rowsFile {
			continue
		}
		f := File{Name: filepath.Base(name)}
		if err := read(name, &f); err != nil {
			return nil, nil, err
		}
		files = append(files, f)
	}
	return rows, files, errors.Join(check(rows, files)...)
}

func read(name string, into any) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	return nil
}

func check(rows []Row, files []File) (faults []error) {
	shown := map[string]bool{}
	for _, r := range rows {
		if _, twice := shown[r.ID]; twice {
			faults = append(faults, fmt.Errorf("two rows have the id %s", r.ID))
		}
		shown[r.ID] = false
	}
	for _, f := range files {
		names := map[string]bool{}
		for _, c := range f.Cases {
			if names[c.Name] {
				faults = append(faults, fmt.Errorf("%s: two cases are called %q", f.Name, c.Name))
			}
			names[c.Name] = true
			for _, id := range c.Rows {
				if _, known := shown[id]; !known {
					faults = append(faults, fmt.Errorf("%s: %q names the unknown row %s", f.Name, c.Name, id))
				}
				shown[id] = true
			}
			faults = append(faults, c.check(f)...)
		}
	}
	for _, r := range rows {
		if !shown[r.ID] {
			faults = append(faults, fmt.Errorf("row %s has no case", r.ID))
		}
	}
	return faults
}

func (c *Case) check(f File) (faults []error) {
	if len(c.Rows) == 0 || len(c.Steps) == 0 {
		faults = append(faults, fmt.Errorf("%s: %q shows no row or has no step", f.Name, c.Name))
	}
	for i, s := range c.Steps {
		if (s.SQL == "") != (s.Request != nil && s.Response != nil) {
			faults = append(faults, fmt.Errorf("%s: step %d of %q is not a request with its response, or a statement", f.Name, i+1, c.Name))
			continue
		}
		if s.SQL != "" {
			if !c.Alone {
				faults = append(faults, fmt.Errorf("%s: %q has a statement and is not alone", f.Name, c.Name))
			}
			continue
		}
		if _, err := f.Build(s.Request, NewVars()); err != nil {
			faults = append(faults, fmt.Errorf("%s: step %d of %q: %w", f.Name, i+1, c.Name, err))
		}
	}
	return faults
}
