package bulk

import (
	"regexp"
	"strings"
	"unicode"

	"carillon"
)

// Numbers that a spreadsheet took for amounts: whole ones, with zeros behind them, and those that lost digits or have a fraction.
var (
	whole   = regexp.MustCompile(`^(\+?\d+)[.,]0{1,2}$`)
	amounts = regexp.MustCompile(`^\+?(\d+([.,]\d+)?[eE]\+?\d+|\d{8,}[.,]\d+|\d{7,}[.,]\d{1,2})$`)
)

// cleanNumber is a phone number as requests have one, of a text as people and spreadsheets write it: without spaces, brackets, dots,
// dashes and the sign of an international number. It reports whether that changed anything, and otherwise why the text is no number.
func cleanNumber(text string) (number string, cleaned bool, fault string) {
	trimmed := strings.TrimPrefix(strings.TrimSpace(text), "'")
	if trimmed == "" {
		return "", false, NumberMissing
	}
	if m := whole.FindStringSubmatch(trimmed); m != nil {
		trimmed = m[1]
	} else if amounts.MatchString(trimmed) {
		return "", false, NumberAmount // which number it was is not known
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
