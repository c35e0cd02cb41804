package httpio

import "strings"

// Cell escapes a text for a CSV file so that no spreadsheet interprets it as a formula.
func Cell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}
