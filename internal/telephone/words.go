package telephone

import "strings"

// words are what calls begin with, in one language. %s is the company.
type words struct{ automated, recorded, answered string }

var languages = map[string]words{ //nolint:gochecknoglobals // read only
	"en": {"This is an automated call from %s.", "This call is recorded.", "This is the automated assistant of %s."},
	"es": {"Esta es una llamada automática de %s.", "La llamada se graba.", "Le atiende el asistente automático de %s."},
	"pt": {"Esta é uma chamada automática de %s.", "A chamada é gravada.", "Fala com o assistente automático de %s."},
}

func wordsOf(language string) words {
	base, _, _ := strings.Cut(strings.ToLower(language), "-")
	if w, ok := languages[base]; ok {
		return w
	}
	return languages["en"]
}
