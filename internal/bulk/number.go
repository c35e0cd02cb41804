package bulk

import (
	"strings"
	"unicode"

	"carillon"
)

// cleanNumber is a phone number as requests have one, of a text as people and spreadsheets write it: without spaces, brackets, dots,
// dashes and the sign of an international number. It reports whether that changed anything, and otherwise why the text is no number.
func cleanNumber(text string) (number string, cleaned bool, fault string) {
	trimmed := strings.TrimPrefix(strings.TrimSpace(text), "'")
	if trimmed == "" {
		return "", false, NumberMissing
	}
	if whole, zero, one := strings.Cut(trimmed, "."); one && (zero == "0" || zero == "00") {
		trimmed = whole // a number that a program took for an amount
	}
	var digits strings.Builder
	for _, c := range trimmed {
		switch {
		case c >= '0' && c <= '9':
			digits.WriteRune(c)
		case c == '+' && digits.Len() == 0, unicode.IsSpace(c), strings.ContainsRune("()-.\u2010\u2011\u2012\u2013\u2014\u202a\u202c\u200e\u2060\ufeff", c):
		default:
			return "", false, NumberInvalid
		}
	}
	number = strings.TrimPrefix(digits.String(), "00")
	if !carillon.ValidNumber(number) || number[0] == '0' {
		return "", false, NumberInvalid
	}
	return number, number != text, ""
}
