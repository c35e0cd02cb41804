package knowledge

import (
	"slices"
	"testing"

	"carillon/internal/store"
	"carillon/internal/store/storetest"
)

// A passage with other words of the question's subject is offered, and never answers by them alone.
func TestWordsOfASubjectAreOffered(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), store.Options{Dir: storetest.Folder(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	company(t, s, "shop", &Base{ID: "faq", Articles: []Article{
		{Title: "Rubbish", Language: "en", Text: "The brown container takes food and garden waste, and is emptied on Mondays."},
		{Title: "Swimming", Language: "en", Text: "Caps are compulsory in all lanes."},
		{Title: "Basura", Language: "es", Text: "El contenedor marrón es para restos de comida y de jardín."},
		{Title: "Piscina", Language: "es", Text: "El gorro es obligatorio en todas las calles."},
		{Title: "Lixo", Language: "pt", Text: "A lixeira marrom recebe restos de comida e de jardim."},
		{Title: "Piscina", Language: "pt", Text: "A touca é obrigatória em todas as raias."},
	}})
	for question, want := range map[string]string{
		"where do i throw potato peel and bones": "Rubbish", "dónde se echan las cáscaras y los huesos": "Basura",
		"onde jogo as cascas e os ossos": "Lixo",
	} {
		found, err := searchIn(s).Find(t.Context(), Query{CompanyID: "shop", Knowledge: []string{"faq"}, Text: question, Language: "en"})
		if err != nil {
			t.Fatal(err)
		}
		answers, offers := Decide(found)
		if answers || !slices.ContainsFunc(offers, func(i int) bool { return found[i].Title == want }) || found[0].Title != want {
			t.Errorf("%q: answered %v, offered %v of %+v", question, answers, offers, found)
		}
	}
}

// The pronouns at the end of a Spanish infinitive are no part of its stem.
func TestSpanishPronounsAtTheEnd(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"limpiarlas", "limpiarlo", "limpiarse", "limpia", "limpian"} {
		if got := stem(word, "es"); got != stem("limpiar", "es") {
			t.Errorf("%s: %s", word, got)
		}
	}
	for _, word := range []string{"parte", "carne", "suerte", "tarde", "puerta"} {
		if got := stem(word, "es"); len(got) < len(word)-1 {
			t.Errorf("%s: %s", word, got)
		}
	}
}

// Each subject has several words in each language, and no word has many subjects.
func TestSubjectsAreReadable(t *testing.T) {
	t.Parallel()
	for _, language := range languages {
		l := lexiconOf(language)
		if len(l.members) < 80 {
			t.Errorf("%s: %d subjects", language, len(l.members))
		}
		for i, all := range l.members {
			if len(all) < 3 || len(all) > 50 {
				t.Errorf("%s: subject %d has %d words: %v", language, i+1, len(all), all)
			}
		}
		for stem, in := range l.subjects {
			if len(in) > 12 {
				t.Errorf("%s: %q has %d subjects", language, stem, len(in))
			}
		}
	}
}
