package content

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzPlaceholder(f *testing.F) {
	for _, s := range []string{
		"", "x", "{{name}}", "{{ name }}", "{{}}", "{{", "}}", "{{{a}}}", "a {{b}}", "{{a}}{{b}}", "{{a b}}", "{{a}", "{{é}} ",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		name, reason := parsePlaceholder(value)
		switch {
		case name != "" && reason != "":
			t.Error("both a name and a reason")
		case name == "" && reason == "" && strings.Contains(value, "{{"):
			t.Errorf("%q is taken for static text", value)
		case name != "":
			inner := strings.TrimSuffix(strings.TrimPrefix(value, "{{"), "}}")
			if strings.TrimSpace(inner) != name || strings.ContainsAny(name, "{}") || len(inner)+4 != len(value) {
				t.Errorf("%q gives %q", value, name)
			}
			if again, reason := parsePlaceholder("{{" + name + "}}"); again != name || reason != "" {
				t.Errorf("%q is not read again: %q, %s", name, again, reason)
			}
		}
		if !utf8.ValidString(value) {
			return
		}
		for _, format := range []string{"", Positional, Named} {
			m, reason := parseMarked(value, format)
			if reason == "" && m.static > utf8.RuneCountInString(value) || len(m.uses) != len(m.markers) {
				t.Errorf("%q: %+v", value, m)
			}
		}
	})
}
