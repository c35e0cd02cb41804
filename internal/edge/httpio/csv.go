package httpio

import "strings"

// Cell returns a text as a cell of a CSV file that no spreadsheet takes for a formula.
func Cell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}
