package store

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// Dump is all of the configuration as stored, a row a line, the generation included.
func Dump(t *testing.T, s *Store) string {
	t.Helper()
	var lines []string
	for _, table := range []string{
		"company", "account", "membership", "access_key", "sender", "template", "resource", "suppression", "meta",
	} {
		lines = append(lines, dumpTable(t, s, table)...)
	}
	slices.Sort(lines)
	return "\n" + strings.Join(lines, "\n")
}

func dumpTable(t *testing.T, s *Store, table string) (lines []string) {
	t.Helper()
	rows, err := s.DB.Pool().QueryContext(t.Context(), "SELECT * FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values, dest := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			dest[i] = &values[i]
		}
		if err := rows.Scan(dest...); err != nil {
			t.Fatal(err)
		}
		row := map[string]any{}
		for i, c := range columns {
			row[c] = values[i]
		}
		text, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, table+" "+string(text))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}
