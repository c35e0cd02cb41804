package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"carillon"
)

// contact is one recipient and where it was read.
type contact struct {
	line   int // of the file; 0: from --to
	fields map[string]string
	unread string // why its row cannot be read; "" when it can
}

// maxFile is the limit of a file of recipients.
const maxFile = 256 << 20

// readCSV reads recipients: a header row that names the columns, with number among them, then a recipient a row. fields
// renames columns: by field, the name in the file. Empty cells are left out; a row that cannot be read is a contact that
// says why. It also returns the text, which identifies a run.
func readCSV(name string, fields map[string]string) ([]contact, []byte, error) {
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
	rows := bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	r := csv.NewReader(bytes.NewReader(rows))
	r.Comma, r.FieldsPerRecord = separator(rows), -1
	columns, err := readHead(r, fields)
	if err != nil {
		return nil, nil, usage("%s: %w", name, err)
	}
	var all []contact
	for {
		c, err := readRow(r, columns)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, usage("%s: %w", name, err)
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, nil, usage("%s has no rows below its head", name)
	}
	return all, text, nil
}

// separator is what separates the columns of the header row: a comma, unless there are more semicolons or tabs.
func separator(text []byte) rune {
	head, _, _ := bytes.Cut(text, []byte("\n"))
	best := ','
	for _, c := range ";\t" {
		if bytes.Count(head, []byte(string(c))) > bytes.Count(head, []byte(string(best))) {
			best = c
		}
	}
	return best
}

// readRow reads a recipient. The error is the end of the file, or that of reading it.
func readRow(r *csv.Reader, columns []string) (contact, error) {
	row, err := r.Read()
	if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
		return contact{line: wrong.StartLine, unread: "the row cannot be read: " + wrong.Err.Error()}, nil
	}
	if err != nil {
		return contact{}, err
	}
	line, _ := r.FieldPos(0)
	c := contact{line: line, fields: map[string]string{}}
	if len(row) != len(columns) {
		c.unread = fmt.Sprintf("the row has %d cells, the header row %d", len(row), len(columns))
		return c, nil
	}
	for i, value := range row {
		if value = strings.TrimSpace(value); value != "" {
			c.fields[columns[i]] = value
		}
	}
	return c, nil
}

// readHead returns the name of each column, as fields renames them.
func readHead(r *csv.Reader, fields map[string]string) ([]string, error) {
	columns, err := r.Read()
	if err != nil {
		return nil, errors.New("the first row must name the columns, number among them")
	}
	for i := range columns {
		columns[i] = strings.TrimSpace(columns[i])
	}
	inFile := slices.Clone(columns)
	for field, name := range fields {
		i := slices.Index(inFile, name)
		if i < 0 {
			return nil, fmt.Errorf("no column has the name %s; the file has %s", name, strings.Join(inFile, ", "))
		}
		columns[i] = field
	}
	seen := map[string]bool{}
	for i, c := range columns {
		switch {
		case c == "":
			return nil, fmt.Errorf("column %d has no name", i+1)
		case seen[c]:
			return nil, fmt.Errorf("two columns have the name %s", c)
		}
		seen[c] = true
	}
	if !seen["number"] {
		return nil, fmt.Errorf("no column has the name number: say which holds it, as --column number=%q; the file has %s",
			inFile[0], strings.Join(inFile, ", "))
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
	if c.unread != "" {
		return c.unread
	}
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
