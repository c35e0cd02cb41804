package language

import "testing"

func TestTheFirstLanguageThatHasTextsIsChosen(t *testing.T) {
	texts := map[string]string{"en": "hello", "es": "hola", "pt": "olá"}
	for _, x := range []struct {
		tags []string
		want string
	}{
		{nil, "hello"},
		{[]string{""}, "hello"},
		{[]string{"de"}, "hello"},
		{[]string{"es"}, "hola"},
		{[]string{"pt-BR"}, "olá"},
		{[]string{"ES-mx", "pt"}, "hola"},
		{[]string{"de-AT", "pt"}, "olá"},
		{[]string{"", "es"}, "hola"},
		{[]string{"spanish"}, "hello"},
	} {
		if got := Of(texts, x.tags...); got != x.want {
			t.Errorf("%q: %s, want %s", x.tags, got, x.want)
		}
	}
}
