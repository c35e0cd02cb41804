package destination

import (
	"strings"
	"testing"
)

func TestNumbersWithADeniedPrefixAreNeverCalled(t *testing.T) {
	t.Parallel()
	d, err := Parse([]string{"1900, +979,881", "449"})
	if err != nil {
		t.Fatal(err)
	}
	for number, want := range map[string]bool{
		"19005550100": true, "97912345678": true, "8816123456": true, "4490912345": true, "449": true,
		"19015550100": false, "34600110018": false, "441900123456": false, "4420123456": false, "1881234567": false,
		"0019005550100": true, "00881612345": true, "011881612345": true, "0011979123456": true, "010881612345": true, "000881612345": true,
		"0034600110018": false, "0119015550100": false, "01134600110018": false, "900123456": false,
	} {
		if got := d.Has(number); got != want {
			t.Errorf("%s: %v", number, got)
		}
	}
	if Denied(nil).Has("97912345678") {
		t.Error("without a list a number is denied")
	}
}

func TestPrefixesAreRead(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]string{"": "", "none": "", "979;979,881": "881 979", " +1900 ,": "1900"} {
		if d, err := Parse(strings.Split(values, ";")); err != nil || strings.Join(d, " ") != want {
			t.Errorf("%q: %q, %v", values, d, err)
		}
	}
	for _, values := range []string{"none,979", "979;none", "19x", "0900", "1234567890123456", "٣٤"} {
		if d, err := Parse(strings.Split(values, ";")); err == nil {
			t.Errorf("%q is read as %q", values, d)
		}
	}
}
