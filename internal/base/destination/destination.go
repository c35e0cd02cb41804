// Package destination decides which telephone numbers are never called: numbers with prefixes that the operator
// denies, such as those of premium-rate services and satellite phones, which are abused for toll fraud.
package destination

import (
	"errors"
	"slices"
	"strings"
)

// Denied holds the prefixes of numbers that are never called, as digits in international format.
type Denied []string

// None is the value of a setting that allows every destination.
const None = "none"

const maxPrefix = 15

// Parse reads prefixes. Each value may contain several, separated by commas; None must be the only value and denies
// nothing. A leading + is ignored.
func Parse(values []string) (d Denied, err error) {
	for _, value := range values {
		for prefix := range strings.SplitSeq(value, ",") {
			if prefix = strings.TrimPrefix(strings.TrimSpace(prefix), "+"); prefix == "" {
				continue
			}
			if prefix == None {
				if len(values) > 1 || strings.Contains(value, ",") {
					return nil, errors.New("none stands alone")
				}
				return nil, nil
			}
			if len(prefix) > maxPrefix || strings.ContainsFunc(prefix, func(r rune) bool { return r < '0' || r > '9' }) ||
				prefix[0] == '0' {
				return nil, errors.New("must be beginnings of numbers with their country, as 979 or 1900, or none")
			}
			d = append(d, prefix)
		}
	}
	slices.Sort(d)
	return slices.Compact(d), nil
}

// Has reports whether a number is never called. A number that begins with an international call prefix, such as 00, is
// also checked without it, because a trunk may interpret it that way.
func (d Denied) Has(number string) bool {
	if len(d) == 0 {
		return false
	}
	abroad := strings.TrimLeft(number, "0")
	if d.begins(abroad) {
		return true
	}
	if abroad == number {
		return false
	}
	for _, rest := range []string{"11", "10"} { // the rest of 011, 0011 and 010
		if after, ok := strings.CutPrefix(abroad, rest); ok && d.begins(strings.TrimLeft(after, "0")) {
			return true
		}
	}
	return false
}

func (d Denied) begins(number string) bool {
	return slices.ContainsFunc(d, func(prefix string) bool { return strings.HasPrefix(number, prefix) })
}
