package telephone

import "strings"

// words are what every call begins with, in one language. %s is the company.
type words struct{ automated, recorded string }

var languages = map[string]words{ //nolint:gochecknoglobals // read only
	"en": {"This is an automated call from %s.", "This call is recorded."},
	"es": {"Esta es una llamada automática de %s.", "La llamada se graba."},
	"pt": {"Esta é uma chamada automática de %s.", "A chamada é gravada."},
}

func wordsOf(language string) words {
	base, _, _ := strings.Cut(strings.ToLower(language), "-")
	if w, ok := languages[base]; ok {
		return w
	}
	return languages["en"]
}
