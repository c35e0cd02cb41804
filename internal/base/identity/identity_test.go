package identity

import (
	"slices"
	"testing"

	"carillon"
)

func TestFormsOfOneLineHaveOneKey(t *testing.T) {
	for _, tc := range []struct{ name, dialed, other string }{
		{"Mexico City", "525512345601", "5215512345601"},
		{"Mexico, an area of three digits", "526641234567", "5216641234567"},
		{"Buenos Aires", "541123456789", "5491123456789"},
		{"Argentina, an area of four digits", "542901456789", "5492901456789"},
		{"São Paulo", "5511987654321", "551187654321"},
		{"Porto Alegre", "5551998765432", "555198765432"},
		{"Brazil, from six on", "5585961234567", "558561234567"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if Number(tc.dialed) != Number(tc.other) {
				t.Errorf("%s and %s are two lines", tc.dialed, tc.other)
			}
			if got := Number(tc.other).String(); got != tc.dialed {
				t.Errorf("the key of %s is %s", tc.other, got)
			}
			for _, number := range []string{tc.dialed, tc.other} {
				if got, want := Number(number).Forms(), []string{tc.dialed, tc.other}; !slices.Equal(got, want) {
					t.Errorf("the forms of %s are %v", number, got)
				}
				if !Number(tc.dialed).Is(number) || !Number(tc.other).Is(number) {
					t.Errorf("%s is not of its own line", number)
				}
			}
		})
	}
}

func TestOtherNumbersHaveOneForm(t *testing.T) {
	for name, number := range map[string]string{
		"Spain": "34600111222", "United States": "16505550100", "a landline of São Paulo": "551132345678",
		"a landline of Brazil, from five on": "558552345678", "a landline with a nine before it": "5511932345678",
		"Mexico, too short": "52551234560", "Mexico, too long": "52155123456012", "Mexico, 1 begins no number": "521551234560",
		"Argentina, 9 begins no area": "549123456789", "Argentina, 4 begins no area": "544123456789",
		"Brazil, no area with 0": "5501987654321",
		"Colombia":               "573001234567", "Indonesia": "6281234567890", "Chad looks like nothing": "23563123456",
	} {
		k := Number(number)
		if got := k.Forms(); !slices.Equal(got, []string{number}) || k.Other() != "" || k.String() != number {
			t.Errorf("%s: %s has the forms %v", name, number, got)
		}
	}
}

// Every form of a line yields the same forms, and there is no third form.
func TestFormsAreClosed(t *testing.T) {
	for _, number := range []string{"525512345601", "5491123456789", "551187654321", "34600111222"} {
		for _, form := range Number(number).Forms() {
			if !carillon.ValidNumber(form) {
				t.Errorf("%s is no number", form)
			}
			if !slices.Equal(Number(form).Forms(), Number(number).Forms()) {
				t.Errorf("%s has the forms %v, %s has %v", number, Number(number).Forms(), form, Number(form).Forms())
			}
			if Stored(Number(form).String()) != Number(number) {
				t.Errorf("the stored key of %s is another one", form)
			}
		}
	}
}

func TestIDsOfPeopleAreNoNumbers(t *testing.T) {
	for _, id := range []string{"US.13491208655302741918", "ES.a", "US.ENT.11815799212886844830"} {
		if !ValidUser(id) || User(id).IsLine() || Of(id) != User(id) || User(id).Other() != "" {
			t.Errorf("%s is not taken for an id", id)
		}
	}
	for _, id := range []string{"", "us.1", "US.", "US.1 2", "US.ENT.", "13491208655302741918", "US.1.2", "US.1\n", "USA.1"} {
		if ValidUser(id) {
			t.Errorf("%q is taken for an id", id)
		}
	}
}

func TestTheZeroKeyIsNobodys(t *testing.T) {
	var k Key
	if !k.IsZero() || k.Is("") || len(k.Forms()) != 0 || Has(nil, "34600111222") {
		t.Error("the zero key matches somebody")
	}
}

func FuzzForms(f *testing.F) {
	f.Add("525512345601")
	f.Add("551187654321")
	f.Fuzz(func(t *testing.T, number string) {
		if !carillon.ValidNumber(number) {
			return
		}
		for _, form := range Number(number).Forms() {
			if Number(form) != Number(number) || !carillon.ValidNumber(form) {
				t.Errorf("%s has the form %s of another line", number, form)
			}
		}
	})
}
