package knowledge

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/need"
	"carillon/internal/base/resource"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/storetest"
)

// shop returns the knowledge of a shop in two languages.
func shop() *Base {
	return &Base{ID: "faq", Articles: []Article{
		{
			Title: "Opening hours", Text: "We are open Monday to Friday from 9:00 to 19:00 and on Saturdays from 10:00 to 14:00. On " +
				"Sundays we are closed.", URL: "https://shop.test/en/hours",
		},
		{
			Title: "Shipping", Text: "We deliver within two to three working days. Shipping costs 4.90; orders above 50 are " +
				"free.\n\n## Other countries\n\nWe ship to every country of the European Union.", URL: "https://shop.test/en/shipping",
		},
		{
			Title: "Returns", Text: "You may send everything back within 30 days. The refund arrives within five days.",
			URL: "https://shop.test/en/returns",
		},
		{Title: "Payment", Text: "Pay by card, bank transfer or PayPal.", URL: "https://shop.test/en/payment"},
		{Title: "Luggage", Text: "One bag that fits under a seat may come aboard.", URL: "https://shop.test/en/luggage"},
		{
			Title: "Horario", Text: "Abrimos de lunes a viernes de 9:00 a 19:00 y los sábados de 10:00 a 14:00. Los domingos está " +
				"cerrado. ¿A qué hora abrimos?", URL: "https://shop.test/es/horario",
		},
		{
			Title: "Envíos",
			Text:  "Entregamos en dos o tres días laborables. El envío cuesta 4,90; los pedidos de más de 50 son gratis.",
			URL:   "https://shop.test/es/envios",
		},
		{
			Title: "Devoluciones", Text: "Puede devolver todo en 30 días. El reembolso tarda cinco días.",
			URL: "https://shop.test/es/devoluciones",
		},
		{Title: "Pago", Text: "Puede pagar con tarjeta, transferencia o PayPal.", URL: "https://shop.test/es/pago"},
	}}
}

// databases runs a test on both database engines.
func databases(t *testing.T, run func(t *testing.T, s *store.Store)) {
	for name, o := range map[string]func(t *testing.T) store.Options{
		"SQLite":     func(t *testing.T) store.Options { return store.Options{Dir: storetest.Folder(t)} },
		"PostgreSQL": func(t *testing.T) store.Options { return store.Options{DatabaseURL: storetest.PatientPostgres(t)} },
	} {
		t.Run(name, func(t *testing.T) {
			s, err := store.Open(t.Context(), o(t))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			run(t, s)
		})
	}
}

func company(t testing.TB, s *store.Store, id string, bases ...*Base) {
	t.Helper()
	if err := s.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.PutCompany(ctx, tx, &carillon.Company{ID: id, Name: id}, time.Now())
	}); err != nil {
		t.Fatal(err)
	}
	for _, b := range bases {
		if err := b.Validate(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Resources.PutResource(t.Context(), id, Kind(), b); err != nil {
			t.Fatal(err)
		}
	}
}

func searchIn(s *store.Store) *Search { return NewSearch(s.Resources, slog.New(slog.DiscardHandler)) }

func TestQuestionsFindTheirArticle(t *testing.T) {
	databases(t, func(t *testing.T, s *store.Store) {
		company(t, s, "shop", shop())
		search := searchIn(s)
		for question, want := range map[string]string{
			"What are your opening hours?":                         "en/hours",
			"hi! when are you open on saturday":                    "en/hours",
			"How much does shipping cost?":                         "en/shipping",
			"Do you ship to Germany?":                              "en/shipping",
			"How do I return something?":                           "en/returns",
			"Can I pay by card?":                                   "en/payment",
			"which payments do you accept":                         "en/payment",
			"¿Cuál es el horario?":                                 "es/horario",
			"¿A qué hora abren los sábados?":                       "es/horario",
			"Cuanto cuesta el envio":                               "es/envios",
			"¿Puedo pagar con tarjeta?":                            "es/pago",
			"Quiero devolver un pedido":                            "es/devoluciones",
			"I want to return the order":                           "offer en/returns",
			"quisiera hacer una devolución":                        "es/devoluciones",
			"¿Hay vida en la luna de queso xyzzy?":                 "",
			"What is the airspeed velocity of an unladen swallow?": "",
			"What will the weather in Tokyo be tomorrow?":          "",
			"Can I bring my dog?":                                  "",
			"¿Quién ganó el mundial de fútbol?":                    "",
			"?":                                                    "",
			"' OR 1=1; -- \" * NEAR( \x00":                         "",
			strings.Repeat("word ", 2000):                          "",
		} {
			for _, language := range []string{"en", "es-ES", "de"} {
				found, err := search.Find(t.Context(), Query{
					CompanyID: "shop", Knowledge: []string{"faq"}, Text: question, Language: language,
				})
				if err != nil {
					t.Fatal(err)
				}
				got := ""
				if len(found) > 0 {
					got = strings.TrimPrefix(found[0].URL, "https://shop.test/")
					if !found[0].Answers() {
						got = "offer " + got
					}
				}
				if got != want && (want != "" || !strings.HasPrefix(got, "offer ")) {
					t.Errorf("%s: %q: %q, want %q\n%+v", language, question, got, want, found)
				}
			}
		}
	})
}

func TestAnotherCompanysKnowledgeIsNotFound(t *testing.T) {
	databases(t, func(t *testing.T, s *store.Store) {
		company(t, s, "shop", shop())
		company(t, s, "other", &Base{ID: "faq", Articles: []Article{{Title: "Secret", Text: "The password is swordfish."}}},
			&Base{ID: "more", Articles: []Article{{Text: "swordfish"}}})
		for _, c := range []struct {
			company   string
			knowledge []string
			want      int
		}{
			{"shop", []string{"faq", "more"}, 0},
			{"other", []string{"faq", "more"}, 2},
			{"other", []string{"more"}, 1},
			{"other", nil, 0},
			{"nobody", []string{"faq"}, 0},
		} {
			found, err := searchIn(s).Find(t.Context(), Query{CompanyID: c.company, Knowledge: c.knowledge, Text: "swordfish"})
			if err != nil || len(found) != c.want {
				t.Errorf("%+v: %v, %v", c, found, err)
			}
		}
	})
}

// Both engines must return the same results in the same order, because they share one threshold.
func TestResultsAreTheSameOnBothDatabases(t *testing.T) {
	results := map[string][]string{}
	databases(t, func(t *testing.T, s *store.Store) {
		var bases []*Base
		for i := range 4 {
			b := &Base{ID: fmt.Sprintf("base%d", i)}
			for j := range 50 {
				b.Articles = append(b.Articles, Article{
					Title: fmt.Sprintf("Tour %d", j%7), Text: fmt.Sprintf("Boat %d leaves pier %d at %d. Ñandú, café.", j%5, j%11, j%3),
				})
			}
			bases = append(bases, b)
		}
		company(t, s, "shop", bases...)
		for _, question := range []string{"boat 3 pier 7", "tour 5 café", "cafe nandu tour", "leaving boats"} {
			found, err := searchIn(s).Find(t.Context(), Query{
				CompanyID: "shop", Knowledge: []string{"base0", "base1", "base2", "base3"}, Text: question, Limit: 20,
			})
			if err != nil || len(found) == 0 {
				t.Fatal(question, found, err)
			}
			for _, h := range found {
				results[t.Name()] = append(results[t.Name()], fmt.Sprint(question, h))
			}
		}
	})
	need.Postgres(t)
	need.That(t, len(results) == 2, "there is no PostgreSQL")
	a, b := results[t.Name()+"/SQLite"], results[t.Name()+"/PostgreSQL"]
	if !slices.Equal(a, b) {
		t.Errorf("SQLite:\n%s\nPostgreSQL:\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
	}
}

func TestAnExcerptIsWholeSentencesThatFit(t *testing.T) {
	filler := strings.Repeat("This says nothing that anybody wants. ", 14)
	text := filler + "The refund arrives after five days. It comes by card. " + filler
	excerpt := func(text, question string) string {
		q := parse(question, "en", "")
		m := compare(q, weigh(q, make([]int, len(q.words)), 1), ranked{hit: resource.Passage{Text: text, Language: "en"}})
		return m.excerpt()
	}
	got := excerpt(text, "When does my refund arrive on the card?")
	if length(got) > maxExcerpt || !strings.Contains(got, "The refund arrives after five days. It comes by card.") ||
		!strings.HasSuffix(got, ".") {
		t.Errorf("%d: %q", length(got), got)
	}
	if got := excerpt(strings.Repeat("word ", 400), ""); length(got) > maxExcerpt+1 || !strings.HasSuffix(got, "…") {
		t.Errorf("%q", got)
	}
}
