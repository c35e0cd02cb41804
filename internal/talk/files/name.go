package files

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

const maxName = 120 // characters

// safeName is a sender's name of a file as others see it and as their machines store it: on one line, without a path, without
// characters that turn the direction of a text around or hide its end, and with an extension of what the file is.
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
		case strings.ContainsRune(`<>:"|?*`, c): // which names of files cannot have everywhere
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
