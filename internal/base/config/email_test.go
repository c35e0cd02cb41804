package config

import "testing"

func TestFoldEmailKeepsLettersOfOtherAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"Ana@Example.ORG": "ana@example.org", "\u00c9LO\u00cfSE@x.test": "\u00e9lo\u00efse@x.test",
		// Kelvin, I with a dot, Angstrom
		"\u212Aim@x.test": "\u212Aim@x.test", "\u0130@x.test": "\u0130@x.test", "\u212B@x.test": "\u212B@x.test",
	} {
		if got := FoldEmail(address); got != want {
			t.Errorf("%q becomes %q, want %q", address, got, want)
		}
		if got := FoldEmail(want); got != want {
			t.Errorf("%q becomes %q when it is folded again", want, got)
		}
	}
}
