package carillon

import (
	"regexp"
	"testing"
)

func FuzzNumber(f *testing.F) {
	for _, s := range []string{
		"", "34600111222", "+34600111222", "123456", "1234567", "123456789012345", "1234567890123456", "٣٤٦٠٠١١١", "34 600",
	} {
		f.Add(s)
	}
	form := regexp.MustCompile(`\A[0-9]{7,15}\z`)
	f.Fuzz(func(t *testing.T, s string) {
		if ValidNumber(s) != form.MatchString(s) {
			t.Errorf("%q: %v", s, ValidNumber(s))
		}
	})
}
