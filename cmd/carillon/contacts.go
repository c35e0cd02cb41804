package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"carillon"
	"carillon/internal/base/number"
	"carillon/internal/base/sheet"
)

// typedNumber is a phone number from a flag or an argument, in any common notation.
type typedNumber string

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *typedNumber) UnmarshalText(text []byte) error {
	found := number.Find(string(text))
	if found == "" {
		return fmt.Errorf("%s: %w", oneLine(string(text), 20), number.ErrInvalid)
	}
	*n = typedNumber(found)
	return nil
}

// contact is one recipient and its position in the input.
type contact struct {
	line   int // line in the file; 0 for --to
	fields map[string]string
	unread string // reason why the number cannot be parsed; empty if it can
}

// maxFile limits the size of a recipient file.
const maxFile = 256 << 20

// readCSV reads recipients: a header row with the column names, one of them number, then one recipient per row. fields
// maps request fields to column names in the file. Empty cells are omitted. A row whose number cannot be parsed
// becomes a contact with the reason in unread. The raw text is returned too, because it identifies a run.
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
	all, err := readTable(bytes.NewReader(text), fields)
	if err != nil {
		return nil, nil, usage("%s: %w", name, err)
	}
	if len(all) == 0 {
		return nil, nil, usage("%s has no rows below its head", name)
	}
	return all, text, nil
}

func readTable(text io.Reader, fields map[string]string) ([]contact, error) {
	table, err := sheet.Open(text)
	if err != nil {
		return nil, reasonOf(err)
	}
	columns, err := columnsOf(table.Names, fields)
	if err != nil {
		return nil, err
	}
	var all []contact
	for {
		row, err := table.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, reasonOf(err)
		}
		all = append(all, recipientOf(row, columns))
	}
}

// reasonOf strips an API error down to its reason, because its field names mean nothing to a command-line user.
func reasonOf(err error) error {
	if e, ok := errors.AsType[*carillon.Error](err); ok {
		if reason, ok := e.Details.Find("reason").(string); ok {
			return errors.New(reason)
		}
	}
	return err
}

func recipientOf(row sheet.Row, columns []string) contact {
	c := contact{line: row.Line, fields: map[string]string{}}
	for i, value := range row.Cells {
		if value != "" {
			c.fields[columns[i]] = value
		}
	}
	written := c.fields["number"]
	digits, err := number.Clean(written)
	switch {
	case err == nil:
		c.fields["number"] = digits
	case errors.Is(err, number.ErrMissing):
		c.unread = "number: missing"
	default:
		c.unread = fmt.Sprintf("number: %s: %v", oneLine(written, 20), err)
	}
	return c
}

// columnsOf returns the request field of each column, after the renames in fields.
func columnsOf(names []string, fields map[string]string) ([]string, error) {
	columns := slices.Clone(names)
	for field, name := range fields {
		i := slices.Index(names, strings.Join(strings.Fields(name), " "))
		if i < 0 {
			return nil, fmt.Errorf("no column has the name %s; the file has %s", name, strings.Join(names, ", "))
		}
		columns[i] = field
	}
	seen := map[string]bool{}
	for _, c := range columns {
		if seen[c] {
			return nil, fmt.Errorf("two columns have the name %s", c)
		}
		seen[c] = true
	}
	if !seen["number"] {
		return nil, fmt.Errorf("no column has the name number: say which holds it, as --column number=%q; the file has %s",
			names[0], strings.Join(names, ", "))
	}
	return columns, nil
}

// rootNames are the request's top-level fields that a placeholder may use.
//
//nolint:gochecknoglobals // read only
var rootNames = []string{
	"language_template", "name_template", "recipient_id", "notification_type", "campaign_name", "name_event",
	"datetime_sending", "timezone",
}

// fault returns the reason why the API would refuse a recipient's batch, or "" if it would not.
func (c *contact) fault(placeholders []string) string {
	if c.unread != "" {
		return c.unread
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
