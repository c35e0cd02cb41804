package voice

import (
	"strings"
	"testing"
)

func TestTranscriptsAreOneLineOfPlainText(t *testing.T) {
	for text, want := range map[string]string{
		" When do\n you\topen? ":          "When do you open?",
		"a\x00b\x1b[31m":                  "a b [31m",
		"caf\xff\u00e9":                   "café",
		"":                                "",
		strings.Repeat("é ", 3000)[:6000]: strings.TrimSpace(strings.Repeat("é ", 1000)),
	} {
		if got := Plain(text); got != want {
			t.Errorf("%q is %q", text, got)
		}
	}
}
