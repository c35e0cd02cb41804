// Package destination knows which telephone numbers are never called: those that begin with prefixes that the operator named, such as
// those of premium-rate services and satellites, which swindlers have others call.
package destination

import (
	"errors"
	"slices"
	"strings"
)

// Denied are the prefixes of numbers that are never called: digits, in international format.
type Denied []string

// None is the value of a setting that allows every destination.
const None = "none"

const maxPrefix = 15

// Parse reads prefixes, of which each value may have several, separated by commas; None alone is none. A + in front makes no difference.
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

// Has reports whether a number is never called. One that has a prefix by which networks dial abroad is judged without it, for a trunk
// may read it so.
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
	for _, rest := range []string{"11", "10"} { // of 011, 0011 and 010
		if after, ok := strings.CutPrefix(abroad, rest); ok && d.begins(strings.TrimLeft(after, "0")) {
			return true
		}
	}
	return false
}

func (d Denied) begins(number string) bool {
	return slices.ContainsFunc(d, func(prefix string) bool { return strings.HasPrefix(number, prefix) })
}
