package identity

import (
	"strings"
)

// shortCodes are the calling codes of one and two digits; all others have three (ITU-T E.164, assigned codes).
const shortCodes = " 1 7 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82 84 86" +
	" 90 91 92 93 94 95 98 "

// CallingCode returns the calling code of a number in digits, such as "34"; "" if the number is too short. Countries
// that share a code, such as the United States and Canada, are not distinguished.
func CallingCode(number string) string {
	for n := 1; n <= 2; n++ {
		if len(number) > n && strings.Contains(shortCodes, " "+number[:n]+" ") {
			return number[:n]
		}
	}
	if len(number) <= 3 {
		return ""
	}
	return number[:3]
}
