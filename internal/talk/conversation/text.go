package conversation

import "strings"

// Clean removes control characters except line breaks and tabs, and surrounding white space.
func Clean(s string) string {
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' && c != '\t' || c == 0x7f || 0x80 <= c && c <= 0x9f {
			return -1
		}
		return c
	}, s))
}
