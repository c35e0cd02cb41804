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
	for _, table := range []string{"company", "account", "membership", "access_key", "sender", "template", "declared", "suppression", "meta"} {
		rows, err := s.read.QueryContext(t.Context(), "SELECT * FROM "+table)
		if err != nil {
			t.Fatal(err)
		}
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
		if err := rows.Close(); err != nil || rows.Err() != nil {
			t.Fatal(err, rows.Err())
		}
	}
	slices.Sort(lines)
	return "\n" + strings.Join(lines, "\n")
}
