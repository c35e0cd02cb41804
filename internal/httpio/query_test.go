package httpio_test

import (
	"net/url"
	"strings"
	"testing"

	"carillon/internal/httpio"
)

// FuzzQueryValue holds the reading of one value to net/url's reading of all.
func FuzzQueryValue(f *testing.F) {
	for _, query := range []string{
		"", "a=1", "a", "a=", "b=2&a=1", "a=1&a=2", "%61=1", "a=%zz&a=2", "%zz=1&a=3", "a;b=1&a=4", "a=1;2", "a=1+2%203", "=1", "&&a=5&",
		"aa=1", "a=b=c", "A=1", "%61%61=1", "a%3D=1", "+a=1", "a=%C3%A9", "access_key=ck%2F1&unflatten=true",
	} {
		f.Add(query, "a")
		f.Add(query, "access_key")
	}
	f.Fuzz(func(t *testing.T, query, name string) {
		if strings.Count(query, "&") > 5000 {
			return // net/url reads none of so many
		}
		all, _ := url.ParseQuery(query) // what it cannot read it leaves out, as URL.Query does
		value, present := httpio.QueryValue(query, name)
		if present != all.Has(name) || value != all.Get(name) {
			t.Errorf("%q of %q is %q, %v; net/url says %q, %v", name, query, value, present, all.Get(name), all.Has(name))
		}
	})
}
