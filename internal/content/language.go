package content

import "strings"

// ValidLanguage reports whether s has the form of a template's language: two or three letters, then parts of two to eight
// letters or digits separated by `_` or `-`, as in `es`, `es_ES` or `zh_Hant_TW`.
func ValidLanguage(s string) bool {
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == '_' || r == '-' })
	if len(s) > 16 || len(parts) == 0 || len(parts) != 1+strings.Count(s, "_")+strings.Count(s, "-") {
		return false
	}
	for i, part := range parts {
		if len(part) < 2 || len(part) > 8 || i == 0 && len(part) > 3 {
			return false
		}
		for _, c := range []byte(part) {
			letter := 'a' <= c|0x20 && c|0x20 <= 'z'
			if !letter && (i == 0 || c < '0' || c > '9') {
				return false
			}
		}
	}
	return true
}
