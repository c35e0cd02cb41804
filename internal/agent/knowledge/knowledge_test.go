package knowledge

import (
	"errors"
	"strings"
	"testing"

	"carillon"
)

func TestFormsOfAWordHaveOneStem(t *testing.T) {
	for language, groups := range map[string][]string{
		"en": {
			"ship ships shipping shipped", "return returns returned returning", "deliver delivery deliveries delivered",
			"cancel cancelled cancellation",
			"reserve reservation reservations", "pay pays payment payments paying", "open opens opening opened", "store stores",
			"call calls calling",
		},
		"es": {
			"envio envios enviar enviado enviamos", "hora horas", "pago pagos pagar pagamos", "cancelar cancelacion cancelado",
			"reserva reservas reservar reservacion",
			"abrir abren", "tarjeta tarjetas", "cerrar cerrado cerrados", "opcion opciones",
		},
		"pt": {
			"envio envios enviar enviado", "reserva reservas reservar", "pagar pago pagamos", "cartao cartoes",
			"cancelar cancelado", "horario horarios",
		},
	} {
		for _, group := range groups {
			words := strings.Fields(group)
			for _, word := range words[1:] {
				if a, b := stem(words[0], language), stem(word, language); a != b {
					t.Errorf("%s: %s is %s, %s is %s", language, words[0], a, word, b)
				}
			}
		}
	}
}

func TestWordsAreFolded(t *testing.T) {
	if got := strings.Join(Words("¿Cuánto CUESTA el envío, a Málaga-Norte?  L'Été 24/7 ﬁn"),
		" "); got != "cuanto cuesta el envio a malaga norte l ete 24 7 fin" {
		t.Error(got)
	}
}

func TestTheLanguageOfATextIsFound(t *testing.T) {
	for text, want := range map[string]string{
		"What are your opening hours?": "en", "¿A qué hora abren los sábados?": "es", "A que horas vocês abrem no sábado?": "pt",
		"Equipaje": "fr", "": "fr",
	} {
		if got := languageOf(text, "fr-CA"); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}

func TestArticlesAreSplitAtHeadingsParagraphsAndSentences(t *testing.T) {
	long := strings.Repeat("A sentence that says the same again. ", 100)
	b := Base{Articles: []Article{
		{
			Title: "Returns", Text: "Within 30 days.\n\nUnworn.\n\n## Refunds ##\nAfter five\n  days.\n- By card.\n2) In cash.\n# " +
				"Returns\nLast.",
		},
		{Text: long},
		{Title: "One word", Text: strings.Repeat("x", 3*passageLength)},
		{Title: "Nothing", Text: "## Only a heading"},
	}}
	var got []string
	counts := map[int]int{}
	for _, p := range b.Passages() {
		counts[p.Article]++
		if length(p.Text) > passageLength || strings.TrimSpace(p.Text) != p.Text || p.Text == "" {
			t.Errorf("a passage of %d characters: %q", length(p.Text), p.Text)
		}
		if p.Article == 0 {
			got = append(got, p.Title+": "+p.Text)
		}
		if p.Article == 1 && (!strings.HasSuffix(p.Text, ".") || p.Title == "") {
			t.Errorf("cut inside a sentence: %s: %q", p.Title, p.Text)
		}
	}
	want := "Returns: Within 30 days.\n\nUnworn.|Returns – Refunds: After five days.\n- By card.\n2) In cash.|Returns: Last."
	if strings.Join(got, "|") != want {
		t.Errorf("%q", got)
	}
	if counts[1] != 4 || counts[2] != 3 || counts[3] != 0 {
		t.Error(counts)
	}
}

func TestSentencesEndAtMarks(t *testing.T) {
	got := sentences("Open at 9.30 a.m. approx. two. Really? \"Yes.\" And\nlast")
	if strings.Join(got, "|") != "Open at 9.30 a.m. approx. two. |Really? |\"Yes.\" |And\n|last" {
		t.Errorf("%q", got)
	}
}

func TestBasesAreBounded(t *testing.T) {
	for field, b := range map[string]Base{
		"articles":            {Articles: make([]Article, maxArticles+1)},
		"articles.0.language": {Articles: []Article{{Text: "x", Language: "no language"}}},
		"articles.0.text":     {Articles: []Article{{Title: "x"}}},
	} {
		found := false
		var walk func(err error)
		walk = func(err error) {
			if joined, ok := err.(interface{ Unwrap() []error }); ok {
				for _, err := range joined.Unwrap() {
					walk(err)
				}
			}
			var e *carillon.Error
			if errors.As(err, &e) && e.Details.Find("field") == field {
				found = true
			}
		}
		walk(b.Validate())
		if !found {
			t.Errorf("%s: %v", field, b.Validate())
		}
	}
	split := Base{Articles: make([]Article, 10)}
	for i := range split.Articles {
		split.Articles[i].Text = strings.Repeat("\n#", MaxText/2)
	}
	if err := split.Validate(); err == nil {
		t.Error("more than 50,000 headings were accepted")
	}
	big := Base{}
	for range maxBytes/(60<<10) + 1 {
		big.Articles = append(big.Articles, Article{Text: strings.Repeat("x", 60<<10)})
	}
	if err := big.Validate(); err == nil {
		t.Error("more than 16 MiB were accepted")
	}
}
