// Package number parses phone numbers as people and spreadsheets write them. API requests contain only digits
// (carillon.ValidNumber); this package is for lists, for the command line and for the panel's fields.
package number

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"carillon"
)

// Reasons why a text is not a valid number.
var (
	ErrMissing = errors.New("the number is missing")
	ErrInvalid = errors.New("not a phone number: 7 to 15 digits that begin with the country code")
	// ErrAmount means that a spreadsheet treated the number as an amount and may have changed its digits.
	ErrAmount = errors.New("a spreadsheet took the number for an amount: format the column as text")
)

// Numbers that a spreadsheet treated as amounts: whole matches numbers with trailing zeros, amounts those that lost
// digits or have a fraction.
var (
	whole   = regexp.MustCompile(`^(\+?\d+)[.,]0{1,2}$`)
	amounts = regexp.MustCompile(`^\+?(\d+([.,]\d+)?[eE]\+?\d+|\d{8,}[.,]\d+|\d{7,}[.,]\d{1,2})$`)
)

// trunkZero are the country codes whose national numbers are dialed with a leading 0 that an international number
// omits. Italy keeps its 0 and other countries have none: "+39 (0)6 …" is ambiguous.
//
//nolint:gochecknoglobals // a constant table
var trunkZero = strings.Fields("20 27 31 32 33 40 41 43 44 46 49 51 53 54 55 58 60 61 62 63 64 66 81 82 84 86 90 91 92 93 94 95 98" +
	" 212 213 233 234 254 255 256 263 353 355 358 359 373 380 381 382 383 385 386 387 389 421 423 591 593 595 598 855 880 886" +
	" 962 964 966 971 972 977 995")

// Clean returns the phone number in a text, in the form of API requests: without spaces, invisible characters,
// brackets, dots, dashes and the + or 00 of an international number. Digits of any script are accepted. A 0 in
// brackets after the country code is dropped for countries whose national numbers begin with it (+49 (0)30, +44
// (020)), and is ErrInvalid elsewhere. Errors: ErrMissing, ErrInvalid, ErrAmount.
func Clean(text string) (string, error) {
	plain := strings.TrimPrefix(strings.TrimSpace(strings.Map(unify, text)), "'")
	if plain == "" {
		return "", ErrMissing
	}
	if m := whole.FindStringSubmatch(plain); m != nil {
		plain = m[1]
	} else if amounts.MatchString(plain) {
		return "", ErrAmount // the original number is unknown
	}
	var digits strings.Builder
	for i, c := range plain {
		switch {
		case c == '0' && inBrackets(plain[:i]):
			code := strings.TrimPrefix(digits.String(), "00")
			if slices.Contains(trunkZero, code) {
				continue
			}
			if alone(plain[i+1:]) {
				return "", ErrInvalid
			}
			digits.WriteByte('0')
		case c >= '0' && c <= '9':
			digits.WriteRune(c)
		case c == '+' && digits.Len() == 0, strings.ContainsRune(" ().-", c):
		default:
			return "", ErrInvalid
		}
	}
	number := strings.TrimPrefix(digits.String(), "00")
	if !carillon.ValidNumber(number) || number[0] == '0' {
		return "", ErrInvalid
	}
	return number, nil
}

// Find returns the number to search for: a text of only digits unchanged, because numbers are stored that way, and any
// other text cleaned. It returns "" if the text is not a number.
func Find(text string) string {
	if text = strings.TrimSpace(text); carillon.ValidNumber(text) {
		return text
	}
	number, _ := Clean(text)
	return number
}

// inBrackets reports whether a text ends with an opening bracket.
func inBrackets(before string) bool { return strings.HasSuffix(strings.TrimRight(before, " "), "(") }

// alone reports whether no digit precedes the closing bracket.
func alone(after string) bool {
	inside, _, _ := strings.Cut(after, ")")
	return !strings.ContainsAny(inside, "0123456789")
}

// unify maps the variants of a character to one of them, and drops invisible characters.
func unify(c rune) rune {
	switch {
	case unicode.Is(unicode.Nd, c):
		return '0' + digit(c)
	case unicode.Is(unicode.Cf, c):
		return -1
	case unicode.IsSpace(c):
		return ' '
	case unicode.Is(unicode.Pd, c), c == '\u2212': // the minus sign
		return '-'
	case c == '\uff0b', c == '\ufe62':
		return '+'
	case c == '\uff08':
		return '('
	case c == '\uff09':
		return ')'
	case c == '\uff0e':
		return '.'
	}
	return c
}

// digit returns the value of a decimal digit. The digits of a script are ten consecutive characters, zero first
// (Unicode Standard, section 4.6).
func digit(c rune) rune {
	n := rune(0)
	for unicode.Is(unicode.Nd, c-n-1) {
		n++
	}
	return n % 10
}
