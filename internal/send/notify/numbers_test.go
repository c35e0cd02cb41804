package notify

import (
	"encoding/base64"
	"testing"
)

func TestAnIdOfWhatsAppNamesTheNumber(t *testing.T) {
	id := func(number string) string {
		return "wamid." + base64.StdEncoding.EncodeToString([]byte("\x1c\x18"+string(rune(len(number)))+number+
			"\x15\x02\x00\x11\x18\x12ABC"))
	}
	for given, want := range map[string]string{
		id("34600111222"):   "34600111222",
		id("5215512345678"): "5215512345678",
		id("123456"):        "",
		"wamid.":            "",
		"wamid.!!":          "",
		"34600111222":       "",
	} {
		if got := numberIn(given); got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
}
