package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"carillon"
)

// contact is one recipient and where it was read.
type contact struct {
	line   int // of the file; 0: from --to
	fields map[string]string
}

// maxFile is the limit of a file of recipients.
const maxFile = 256 << 20

// readCSV reads recipients: a header row that names the columns, with number among them, then a recipient a row. Empty
// cells are left out. It also returns the text, which identifies a run.
func readCSV(name string) ([]contact, []byte, error) {
	f, err := os.Open(name) //nolint:gosec // the user names the file
	if err != nil {
		return nil, nil, usageError{err}
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(text) > maxFile {
		return nil, nil, usage("%s is larger than %d MiB: split it", name, maxFile>>20)
	}
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))))
	columns, err := readHead(r)
	if err != nil {
		return nil, nil, usage("%s: %w", name, err)
	}
	var all []contact
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, usage("%s: %w", name, err)
		}
		line, _ := r.FieldPos(0)
		c := contact{line: line, fields: map[string]string{}}
		for i, value := range row {
			if value = strings.TrimSpace(value); value != "" {
				c.fields[columns[i]] = value
			}
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, nil, usage("%s has no rows below its head", name)
	}
	return all, text, nil
}

func readHead(r *csv.Reader) ([]string, error) {
	columns, err := r.Read()
	if err != nil {
		return nil, errors.New("the first row must name the columns, number among them")
	}
	seen := map[string]bool{}
	for i, c := range columns {
		columns[i] = strings.TrimSpace(c)
		switch {
		case columns[i] == "":
			return nil, fmt.Errorf("column %d has no name", i+1)
		case seen[columns[i]]:
			return nil, fmt.Errorf("two columns have the name %s", columns[i])
		}
		seen[columns[i]] = true
	}
	if !seen["number"] {
		return nil, errors.New("no column has the name number")
	}
	return columns, nil
}

// rootNames are the request's own fields that a placeholder may name.
//
//nolint:gochecknoglobals // read only
var rootNames = []string{
	"language_template", "name_template", "recipient_id", "notification_type", "campaign_name", "name_event",
	"datetime_sending", "timezone",
}

// fault returns why the interface would refuse a recipient's batch, "" when it would not.
func (c *contact) fault(placeholders []string) string {
	number := c.fields["number"]
	if number == "" {
		return "number: missing"
	}
	if !carillon.ValidNumber(number) {
		return "number: " + oneLine(number, 20) + " is not 7 to 15 digits without + or spaces"
	}
	for _, p := range placeholders {
		if c.fields[p] == "" {
			return "no value for {{" + p + "}}"
		}
	}
	return ""
}

func (c *contact) where() string {
	if c.line == 0 {
		return c.fields["number"]
	}
	return fmt.Sprintf("line %d", c.line)
}
