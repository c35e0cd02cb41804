package notify

import (
	"encoding/base64"
	"slices"
	"testing"
)

func TestAnIdOfWhatsAppNamesTheNumber(t *testing.T) {
	id := func(number string) string {
		return "wamid." + base64.StdEncoding.EncodeToString([]byte("\x1c\x18"+string(rune(len(number)))+number+"\x15\x02\x00\x11\x18\x12ABC"))
	}
	for given, want := range map[string][]string{
		id("34600111222"):   {"34600111222"},
		id("551188887777"):  {"551188887777", "5511988887777"},
		id("5511988887777"): {"5511988887777", "551188887777"},
		id("5215512345678"): {"5215512345678", "525512345678"},
		id("525512345678"):  {"525512345678", "5215512345678"},
		id("5491112345678"): {"5491112345678", "541112345678"},
		id("541112345678"):  {"541112345678", "5491112345678"},
		id("123456"):        nil,
		"wamid.":            nil,
		"wamid.!!":          nil,
		"34600111222":       nil,
	} {
		if got := numbersIn(given); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", given, got, want)
		}
	}
}
