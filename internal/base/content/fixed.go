package content

import (
	"strconv"
	"strings"
)

// The channel's own texts, in the languages of the panel, for previews. A real phone shows those of the channel.
var (
	codeTexts = map[string][3]string{ //nolint:gochecknoglobals // a single read-only table
		"en": {"*{{1}}* is your verification code.", " For your security, do not share this code.", "This code expires in # minutes."},
		"es": {"*{{1}}* es tu código de verificación.", " Por tu seguridad, no lo compartas.", "Este código caduca en # minutos."},
		"pt": {"*{{1}}* é o seu código de verificação.", " Para sua segurança, não o compartilhe.", "Este código expira em # minutos."},
	}
	labels = map[string]map[string]string{ //nolint:gochecknoglobals // a single read-only table
		ButtonCode:    {"en": "Copy code", "es": "Copiar código", "pt": "Copiar código"},
		ButtonCoupon:  {"en": "Copy offer code", "es": "Copiar código de oferta", "pt": "Copiar código da oferta"},
		ButtonContact: {"en": "Share phone number", "es": "Compartir número", "pt": "Compartilhar número"},
	}
)

// textLanguage returns the language of the table that fits a template's language.
func textLanguage(language string) string {
	bare, _, _ := strings.Cut(strings.ReplaceAll(language, "-", "_"), "_")
	if _, known := codeTexts[bare]; known {
		return bare
	}
	return "en"
}

func codeBody(language string, recommendation bool) string {
	texts := codeTexts[textLanguage(language)]
	if recommendation {
		return texts[0] + texts[1]
	}
	return texts[0]
}

func codeFooter(language string, minutes int) string {
	return strings.Replace(codeTexts[textLanguage(language)][2], "#", strconv.Itoa(minutes), 1)
}

// fixedLabel returns the label of a button whose text the channel writes, or "".
func fixedLabel(language, kind string) string { return labels[kind][textLanguage(language)] }
