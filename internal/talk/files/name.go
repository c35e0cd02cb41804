package files

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

const maxName = 120 // characters

// safeName returns a sender's file name in a form that is safe to show and to store: a single line, without a path,
// without characters that reverse the text direction or hide the end of the name, and with an extension that matches
// the kind.
func safeName(given string, k *kind) string {
	name := strings.ToValidUTF8(given, "")
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	name = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsControl(c), unicode.Is(unicode.Cf, c), unicode.Is(unicode.Zl, c), unicode.Is(unicode.Zp, c),
			unicode.Is(unicode.Co, c):
			return -1
		case strings.ContainsRune(`<>:"|?*`, c): // characters that some systems forbid in file names
			return '_'
		case unicode.IsSpace(c):
			return ' '
		}
		return c
	}, name)
	name = strings.Trim(name, " .")
	extension := path.Ext(name)
	stem := []rune(strings.TrimRight(strings.TrimSuffix(name, extension), " ."))
	if !slices.Contains(k.extensions, strings.ToLower(extension)) {
		stem, extension = []rune(name), k.extensions[0]
	}
	if len(stem) == 0 {
		stem = []rune("file")
	}
	if most := maxName - len([]rune(extension)); len(stem) > most {
		stem = []rune(strings.TrimRight(string(stem[:most]), " ."))
	}
	return string(stem) + extension
}
