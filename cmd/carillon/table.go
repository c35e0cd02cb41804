package main

import (
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// writeTable writes rows in columns; the first row is the header.
func writeTable(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		row = slices.Clone(row)
		for i := range row {
			row[i] = cleanCell(row[i])
		}
		if _, err := io.WriteString(t, strings.Join(row, "\t")+"\n"); err != nil {
			return err
		}
	}
	return t.Flush()
}
