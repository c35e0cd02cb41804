package meaning_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/agent/knowledge"
	"carillon/internal/agent/meaning"
	"carillon/internal/agent/meaning/meaningtest"
	"carillon/internal/base/egress"
	"carillon/internal/base/share"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/resources"
	"carillon/internal/store/storetest"
)

// rig is a store with companies, a stand-in for the server, and a search.
type rig struct {
	*testing.T
	store   *store.Store
	server  *meaningtest.Server
	http    *httptest.Server
	vectors *meaning.Vectors
	search  *knowledge.Search
	log     *logged
	counts  *counts
}

func onEach(t *testing.T, test func(r *rig)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(newRig(t, store.Options{Dir: storetest.Folder(t)}))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(newRig(t, store.Options{DatabaseURL: storetest.PatientPostgres(t)}))
	})
}

func newRig(t *testing.T, o store.Options) *rig {
	t.Helper()
	s, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	r := &rig{T: t, store: s, server: meaningtest.New("words-1", 384), log: &logged{}, counts: newCounts()}
	r.http = httptest.NewServer(r.server)
	t.Cleanup(r.http.Close)
	r.node("a", nil)
	for _, id := range []string{"shop", "other"} {
		if err := s.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
			return accounts.PutCompany(ctx, tx, &carillon.Company{ID: id, Name: id}, time.Now())
		}); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// node makes the rig work as another process.
func (r *rig) node(name string, change func(o *meaning.Options)) {
	client := meaning.NewClient(egress.Options{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	r.Cleanup(client.Close)
	o := meaning.Options{
		Store: r.store.Vectors, Resources: r.store.Resources, Client: client, Shares: new(share.Set), Observer: r.counts, Node: name,
		Log: slog.New(r.log), Limit: time.Minute,
	}
	if change != nil {
		change(&o)
	}
	r.vectors = meaning.New(o)
	r.search = knowledge.NewSearch(r.store.Resources, slog.New(r.log)).With(r.vectors)
}

func (r *rig) base(articles ...string) *knowledge.Base {
	b := &knowledge.Base{ID: "faq", Embeddings: &knowledge.Embeddings{BaseURL: r.http.URL + "/v1", Model: "words-1"}}
	for _, a := range articles {
		title, text, _ := strings.Cut(a, ": ")
		b.Articles = append(b.Articles, knowledge.Article{Title: title, Text: text, Language: "en"})
	}
	return b
}

func (r *rig) put(company string, b *knowledge.Base) {
	r.Helper()
	if err := b.Validate(); err != nil {
		r.Fatal(err)
	}
	if _, err := r.store.Resources.PutResource(r.Context(), company, knowledge.Kind(), b); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) make(company string) error {
	return r.vectors.Make(r.Context(), resources.VectorKey{CompanyID: company, ID: "faq"})
}

func (r *rig) made(company string) {
	r.Helper()
	if err := r.make(company); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) look(company, question string) ([]knowledge.Hit, knowledge.Nearest) {
	r.Helper()
	found, near, err := r.search.Look(r.Context(), knowledge.Query{
		CompanyID: company, Knowledge: []string{"faq"}, Text: question, Language: "en",
	})
	if err != nil {
		r.Fatal(err)
	}
	return found, near
}

var clinic = []string{
	"Our doctors: A doctor sees you without an appointment from nine to noon.",
	"Parking: Leave your car in the yard behind the house.",
	"Invoices: You get an invoice by post in the following week.",
	"Pets: A dog waits outside, and there is water for it at the door.",
	"Opening hours: The house opens at eight and closes at six.",
	"Pharmacy: Medicine is sold in the shop across the street.",
}

func TestAQuestionWithOtherWordsFindsItsArticleByMeaning(t *testing.T) {
	onEach(t, func(r *rig) {
		r.put("shop", r.base(clinic...))
		const question = "do you have a courtyard"
		if found, near := r.look("shop", question); len(found) > 0 || near.Fault != meaning.Making || near.Used {
			r.Errorf("%v, %+v", found, near)
		}
		r.made("shop")
		found, near := r.look("shop", question)
		if len(found) == 0 || found[0].Title != "Parking" || !near.Used || near.Fault != "" {
			r.Fatalf("%+v, %+v", found, near)
		}
		if h := found[0]; !h.MayAnswer() || h.Similarity < 0.3 || h.Excerpt == "" || h.Answer(400) == "" {
			r.Errorf("%+v", h)
		}
	})
}
