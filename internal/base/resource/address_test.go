package resource_test

import (
	"strings"
	"testing"

	"carillon/internal/base/resource"
)

func TestAnAddressIsRefusedForItsTrueReason(t *testing.T) {
	const rule = "Must be an http or https address"
	for address, want := range map[string]string{
		"https://hooks.example.com/in?x=ü": "", "http://127.0.0.1:8080": "",
		"https://ana:secret@hooks.example.com/in": "Must have no user and no password in it: addresses are shown and logged",
		"https://ana@hooks.example.com/in":        "Must have no user and no password in it: addresses are shown and logged",
		"ftp://ana:secret@hooks.example.com/in":   rule,
		"hooks.example.com":                       rule, "https:///in": rule, "": rule, "https://a b/": rule, "https://[::1/": rule,
		"https://hooks.example.com/" + strings.Repeat("a", 2000): "Must have at most 2000 bytes",
	} {
		if got := resource.AddressFault(address, rule, "https", "http"); got != want {
			t.Errorf("%.60q: %q, want %q", address, got, want)
		}
		var c resource.Check
		c.Address("url", address)
		if err := c.Err(); (err == nil) != (want == "") {
			t.Errorf("%.60q: %v", address, err)
		}
	}
}
