package whatsapp

import (
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"carillon/internal/base/content"
)

// mediaTypes are the types that the channel accepts, fewer than the contract's: no GIF, AVI or MOV. An address whose path has
// no extension is left to the channel.
var mediaTypes = map[string][]string{ //nolint:gochecknoglobals // one table, read only
	content.FormatImage: {".jpg", ".jpeg", ".png"},
	content.FormatVideo: {".mp4", ".3gp", ".3gpp"},
}

// acceptsMedia reports whether the channel accepts a file of this address in a header of this format.
func acceptsMedia(format, address string) bool {
	types, limited := mediaTypes[format]
	if !limited {
		return true
	}
	ext := strings.ToLower(path.Ext(lastSegment(address)))
	return ext == "" || slices.Contains(types, ext)
}

// fileName is the name that the recipient sees a document under: the last part of the address's path.
func fileName(address string) string {
	const longest = 240
	name := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) {
			return -1
		}
		return r
	}, lastSegment(address))
	for len(name) > longest {
		_, n := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-n]
	}
	return name
}

func lastSegment(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	p := u.Path
	return p[strings.LastIndexByte(p, '/')+1:]
}
