package identity_test

import (
	"testing"

	"carillon/internal/base/identity"
)

func TestCallingCode(t *testing.T) {
	for number, want := range map[string]string{
		"34600111222": "34", "15555550100": "1", "79001234567": "7", "573001234567": "57", "5491122334455": "54", "351912345678": "351",
		"99412345678": "994", "": "", "3": "", "35": "", "351": "",
	} {
		if got := identity.CallingCode(number); got != want {
			t.Errorf("%s: %q, not %q", number, got, want)
		}
	}
}
