package meaning_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/agent/knowledge"
	"carillon/internal/agent/meaning"
	"carillon/internal/agent/meaning/meaningtest"
	"carillon/internal/base/share"
	"carillon/internal/store"
	"carillon/internal/store/resources"
	"carillon/internal/store/storetest"
)

var faq = resources.VectorKey{CompanyID: "shop", ID: "faq"}

func (r *rig) state() *resources.EmbeddingState {
	r.Helper()
	s, err := r.store.Vectors.State(r.Context(), faq, time.Now())
	if err != nil {
		r.Fatal(err)
	}
	return s
}

// stored returns the digests of the stored vectors by the digest of the settings.
func (r *rig) stored(company string, b *knowledge.Base) []string {
	r.Helper()
	all, err := r.store.Vectors.Kept(r.Context(), resources.VectorKey{CompanyID: company, ID: "faq"}, b.EmbeddedBy().Settings)
	if err != nil {
		r.Fatal(err)
	}
	return all
}

func TestAnEditMakesOnlyWhatChanged(t *testing.T) {
	onEach(t, func(r *rig) {
		r.put("shop", r.base(clinic...))
		r.made("shop")
		if got := r.server.Inputs(); len(got) != len(clinic)+1 { // and one that is probed
			r.Errorf("%q", got)
		}
		changed := slices.Clone(clinic)
		changed[1] = "Parking: Leave your bicycle at the fence."
		changed = append(changed[:3], changed[4:]...)
		b := r.base(changed...)
		r.put("shop", b)
		if s := r.state(); !s.Making || s.Made != 4 || s.Total != 5 {
			r.Errorf("%+v", s)
		}
		r.made("shop")
		if got := r.server.Inputs(); len(got) != 2 || got[1] != "Parking\nLeave your bicycle at the fence." {
			r.Errorf("%q", got)
		}
		if s := r.state(); s.Making || s.Made != 5 || s.Total != 5 || s.Fault != "" || s.Dimensions != dimensions {
			r.Errorf("%+v", s)
		}
		if got := r.stored("shop", b); len(got) != 5 {
			r.Errorf("%q", got)
		}
		found, near := r.look("shop", "do you have a courtyard")
		if !near.Used || len(found) > 0 && found[0].Title == "Parking" && found[0].MayAnswer() {
			r.Errorf("%+v, %+v", found, near)
		}
	})
}

func TestAnotherModelMakesAllVectorsAnew(t *testing.T) {
	onEach(t, func(r *rig) {
		old := r.base(clinic...)
		r.put("shop", old)
		r.made("shop")
		r.server.Inputs()
		r.server.Set(func(s *meaningtest.Server) { s.Model, s.Dimensions, s.Seed = "words-2", 200, 2 })
		b := r.base(clinic...)
		b.Embeddings.Model = "words-2"
		r.put("shop", b)
		if _, near := r.look("shop", "do you have a courtyard"); near.Used || near.Fault != meaning.Making || near.Detail != "0 / 6" {
			r.Errorf("%+v", near)
		}
		r.made("shop")
		if got := r.server.Inputs(); len(got) != len(clinic)+1 {
			r.Errorf("%q", got)
		}
		if got := r.stored("shop", old); len(got) > 0 {
			r.Errorf("the vectors of the old model are kept: %q", got)
		}
		if found, near := r.look("shop", "do you have a courtyard"); !near.Used || len(found) == 0 || found[0].Title != "Parking" {
			r.Errorf("%+v, %+v", found, near)
		}
	})
}

// A server may serve another model under the same name: the vectors of one text tell.
func TestVectorsOfAModelThatHasChangedAreMadeAnew(t *testing.T) {
	for name, x := range map[string]struct {
		change  func(s *meaningtest.Server)
		noticed bool // by the first question
	}{
		"of the same dimensions": {func(s *meaningtest.Server) { s.Seed = 7 }, false},
		"of others":              {func(s *meaningtest.Server) { s.Dimensions = 100 }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, store.Options{Dir: storetest.Folder(t)})
			r.put("shop", r.base(clinic...))
			r.made("shop")
			r.server.Inputs()
			r.server.Set(x.change)
			r.node("b", func(o *meaning.Options) { o.Limit = time.Minute })
			if x.noticed {
				if _, near := r.look("shop", "do you have a courtyard"); near.Fault != meaning.Invalid {
					t.Errorf("%+v", near)
				}
				if s := r.state(); !s.Making {
					t.Errorf("%+v", s)
				}
			}
			during := ""
			r.failing(func(_ http.ResponseWriter, _ *http.Request, inputs []string) bool {
				if len(inputs) > 1 { // the passages, after the probe
					all, err := r.store.Vectors.Listed(r.Context(), "shop")
					during = fmt.Sprint(all[0].Made, err)
				}
				return false
			})
			r.made("shop")
			r.failing(nil)
			if during != "0 <nil>" {
				t.Errorf("searches use the old vectors: %s", during)
			}
			if got := r.server.Inputs(); len(got) < len(clinic)+1 {
				t.Errorf("%q", got)
			}
			r.node("c", func(o *meaning.Options) { o.Limit = time.Minute })
			if found, near := r.look("shop", "do you have a courtyard"); !near.Used || len(found) == 0 || found[0].Title != "Parking" {
				t.Errorf("%+v, %+v", found, near)
			}
		})
	}
}

// many is a base of n articles.
func (r *rig) many(n int) *knowledge.Base {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("Shelf %d: The box number%d stands there.", i, i))
	}
	return r.base(all...)
}

func TestANodeThatEndsLeavesTheRestToAnother(t *testing.T) {
	onEach(t, func(r *rig) {
		const n = 150 // three batches
		b := r.many(n)
		r.put("shop", b)
		ctx, cancel := context.WithCancel(r.Context())
		r.failing(func(_ http.ResponseWriter, _ *http.Request, inputs []string) bool {
			if len(inputs) > 1 && r.counts.count("made") > 0 {
				cancel() // in the second batch
				<-ctx.Done()
			}
			return false
		})
		if err := r.vectors.Make(ctx, faq); !errors.Is(err, context.Canceled) {
			r.Fatal(err)
		}
		made := r.counts.count("made")
		if made < 64 || made >= n {
			r.Fatalf("%d vectors", made)
		}
		r.failing(nil)
		r.server.Inputs()
		r.node("b", nil)
		if s := r.state(); !s.Making || s.Made < 64 {
			r.Errorf("%+v", s)
		}
		r.made("shop")
		if got := len(r.server.Inputs()); got != n-len64(made)+1 {
			r.Errorf("%d texts were sent", got)
		}
		if got := len(r.stored("shop", b)); got != n {
			r.Errorf("%d vectors", got)
		}
	})
}

func len64(n int) int { return n / 64 * 64 }

// The work of a node that was killed is taken over when its lease ends, or at the start of the only process.
func TestTheWorkOfAKilledNodeIsTakenOver(t *testing.T) {
	onEach(t, func(r *rig) {
		b := r.base(clinic...)
		r.put("shop", b)
		now := time.Now().Add(time.Second)
		if c, err := r.store.Vectors.Claim(r.Context(), faq, "killed", now, now.Add(2*time.Minute)); c == nil || err != nil {
			r.Fatal(err)
		}
		r.node("b", func(o *meaning.Options) { o.Now = func() time.Time { return now } })
		r.made("shop")
		if got := r.stored("shop", b); len(got) > 0 {
			r.Error("two nodes made the vectors")
		}
		now = now.Add(2 * time.Minute)
		r.made("shop")
		if got := r.stored("shop", b); len(got) != len(clinic) {
			r.Errorf("%q", got)
		}
	})
}

// running runs a node until the test ends.
func (r *rig) running(change func(o *meaning.Options)) {
	r.node("running", change)
	ctx, cancel := context.WithCancel(r.Context())
	done := make(chan error)
	v := r.vectors
	go func() { done <- v.Run(ctx) }()
	r.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			r.Error(err)
		}
	})
}

// atMade is an observer that runs a function once vectors are stored.
type atMade struct {
	meaning.Observer
	then func()
}

func (x atMade) Made(int) { x.then() }

// Vectors that are stored by an attempt without an outcome are compared all the same.
func TestTheVectorsOfAnEndedAttemptAreFound(t *testing.T) {
	onEach(t, func(r *rig) {
		r.put("shop", r.base(clinic...))
		r.made("shop")
		r.put("shop", r.base(append(slices.Clone(clinic), "Bikes: A bicycle may stay outside.")...))
		r.look("shop", "can I put my bike there")
		ctx, cancel := context.WithCancel(r.Context())
		r.node("b", func(o *meaning.Options) { o.Observer, o.Limit = atMade{r.counts, cancel}, time.Minute })
		if err := r.vectors.Make(ctx, faq); !errors.Is(err, context.Canceled) {
			r.Fatal(err)
		}
		_, near := r.look("shop", "can I put my bike there")
		if !slices.ContainsFunc(near.Passages, func(n knowledge.Near) bool { return n.Passage == len(clinic) }) {
			r.Errorf("%+v", near)
		}
	})
}

// A base is no work before it is indexed.
func TestABaseThatIsNotIndexedIsNotDue(t *testing.T) {
	t.Parallel()
	r := newRig(t, store.Options{Dir: storetest.Folder(t)})
	r.put("shop", r.base(clinic...))
	if _, err := r.store.DB.Exec(t.Context(), "UPDATE knowledge_index SET version = 0"); err != nil {
		t.Fatal(err)
	}
	due, err := r.store.Vectors.Due(t.Context(), time.Now().Add(time.Minute), 10, nil)
	if len(due) > 0 || err != nil {
		t.Error(due, err)
	}
}

func TestVectorsAreMadeInTheBackground(t *testing.T) {
	onEach(t, func(r *rig) {
		r.put("shop", r.base(clinic...))
		if c, err := r.store.Vectors.Claim(r.Context(), faq, "killed", time.Now(), time.Now().Add(time.Hour)); c == nil || err != nil {
			r.Fatal(err)
		}
		r.running(func(o *meaning.Options) { o.Alone = true })
		<-r.counts.made
		b := r.base("Bikes: A bicycle may stay outside.")
		r.put("other", b)
		r.vectors.Wake()
		<-r.counts.made
		if got := r.stored("other", b); len(got) != 1 {
			r.Errorf("%q", got)
		}
	})
}

func TestABaseThatIsDeletedLosesItsVectors(t *testing.T) {
	onEach(t, func(r *rig) {
		b := r.base(clinic...)
		for _, end := range []func(){
			func() {
				if err := r.store.Resources.DeleteResource(r.Context(), "shop", nil, knowledge.Kind(), "faq"); err != nil {
					r.Fatal(err)
				}
			},
			func() {
				without := r.base(clinic...)
				without.Embeddings = nil
				r.put("shop", without)
			},
		} {
			r.put("shop", b)
			r.made("shop")
			r.put("other", r.base(clinic...))
			r.made("other")
			r.look("shop", "do you have a courtyard")
			end()
			if found, near := r.look("shop", "do you have a courtyard"); len(found) > 0 || near.Used || near.Fault != "" {
				r.Errorf("%+v, %+v", found, near)
			}
			if err := r.vectors.Work(r.Context(), faq); err != nil {
				r.Error(err)
			}
			if got := r.stored("shop", b); len(got) > 0 {
				r.Errorf("%q", got)
			}
			if got := r.stored("other", b); len(got) != len(clinic) {
				r.Errorf("of another company: %q", got)
			}
		}
	})
}

func TestCompaniesNeverSeeTheVectorsOfOthers(t *testing.T) {
	onEach(t, func(r *rig) {
		r.put("shop", r.base(clinic...))
		other := r.base("Cellar: Nobody enters the cellar.", "Roof: The roof is red.", "Door: Ring twice.", "Walls: They are thick.",
			"Stairs: Mind the step.")
		r.put("other", other)
		r.made("shop")
		r.made("other")
		for range 2 { // from the server, and from memory
			found, near := r.look("other", "do you have a courtyard")
			if !near.Used || slices.ContainsFunc(found, func(h knowledge.Hit) bool { return h.Title == "Parking" }) {
				r.Errorf("%+v, %+v", found, near)
			}
			for _, p := range near.Passages {
				if p.Passage >= len(other.Articles) {
					r.Errorf("%+v", near.Passages)
				}
			}
			if found, _ := r.look("shop", "do you have a courtyard"); len(found) == 0 || found[0].Title != "Parking" {
				r.Errorf("%+v", found)
			}
		}
		// A question is cached for its company: another one asks itself.
		if n := count(r.server.Inputs(), "do you have a courtyard"); n != 2 {
			r.Errorf("the question was sent %d times", n)
		}
		if near := r.vectors.Nearest(r.Context(), "none", []string{"faq"}, "do you have a courtyard"); near.Used || len(near.Passages) > 0 {
			r.Errorf("%+v", near)
		}
		near := r.vectors.Nearest(r.Context(), "shop", []string{"another"}, "do you have a courtyard")
		if near.Used || len(near.Passages) > 0 {
			r.Errorf("a base that is not searched: %+v", near)
		}
	})
}

func count(all []string, text string) (n int) {
	for _, s := range all {
		if s == text {
			n++
		}
	}
	return n
}

func TestAServerThatFailsWhileVectorsAreMadeIsTriedAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, store.Options{Dir: storetest.Folder(t)})
	now := time.Now()
	r.node("b", func(o *meaning.Options) { o.Now = func() time.Time { return now } })
	r.put("shop", r.base(clinic...))
	now = time.Now()
	r.failing(status(503))
	for range 2 {
		var f *meaning.Fault
		if err := r.make("shop"); !errors.As(err, &f) || f.Code != meaning.Status {
			t.Fatal(err)
		}
	}
	s := r.state()
	if s.Fault != meaning.Status || s.Detail != "503" || s.Made != 0 || s.DueAt.Sub(now) < 4*time.Second {
		t.Errorf("%+v", s)
	}
	r.failing(status(429, "Retry-After", "900"))
	if err := r.make("shop"); err == nil {
		t.Fatal("no error")
	}
	if s := r.state(); s.Fault != meaning.Limited || s.DueAt.Sub(now) < 899*time.Second {
		t.Errorf("%+v", s)
	}
	r.failing(nil)
	r.made("shop")
	if s := r.state(); s.Fault != "" || s.Made != len(clinic) || s.MadeAt.IsZero() {
		t.Errorf("%+v", s)
	}
}

func TestAServerThatTakesFewTextsGetsFew(t *testing.T) {
	t.Parallel()
	r := newRig(t, store.Options{Dir: storetest.Folder(t)})
	r.server.Set(func(s *meaningtest.Server) { s.MaxInputs = 10 })
	b := r.many(70)
	r.put("shop", b)
	r.made("shop")
	if got := len(r.stored("shop", b)); got != 70 {
		t.Errorf("%d vectors", got)
	}
}

func TestVectorsThatAreTooLargeForMemoryAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, store.Options{Dir: storetest.Folder(t)})
	r.server.Set(func(s *meaningtest.Server) { s.Dimensions = 4096 })
	b := r.base()
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "# Part %d\n\nBox %d.\n\n", i, i)
	}
	b.Articles = []knowledge.Article{
		{Title: "One", Text: text.String()[:60_000], Language: "en"}, {Title: "Two", Text: text.String()[60_000:120_000], Language: "en"},
	}
	for i := range 9000 {
		b.Articles = append(b.Articles, knowledge.Article{Title: fmt.Sprint("Shelf ", i), Text: fmt.Sprint("Box ", i), Language: "en"})
	}
	b.Articles = append(b.Articles, b.Articles[0], b.Articles[1], b.Articles[0], b.Articles[1])
	r.put("shop", b)
	var f *meaning.Fault
	if err := r.make("shop"); !errors.As(err, &f) || f.Code != meaning.TooLarge {
		t.Fatal(err)
	}
	if r.server.Requests() != 1 {
		t.Errorf("%d requests", r.server.Requests())
	}
	if _, near := r.look("shop", "where is the box"); near.Used || near.Fault != meaning.TooLarge {
		t.Errorf("the reason is not named: %q", near.Fault)
	}
}

// The bases of a company share its memory: the one that exceeds it is refused.
func TestBasesThatAreTooLargeTogetherAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, store.Options{Dir: storetest.Folder(t)})
	r.server.Set(func(s *meaningtest.Server) { s.Dimensions = 4096 })
	r.put("shop", r.base(clinic...))
	r.made("shop")
	if _, err := r.store.DB.Exec(t.Context(), "UPDATE embedding SET made = 16000, total = 16000"); err != nil {
		t.Fatal(err)
	}
	second := r.many(200)
	second.ID = "second"
	r.put("shop", second)
	var f *meaning.Fault
	err := r.vectors.Make(t.Context(), resources.VectorKey{CompanyID: "shop", ID: "second"})
	if !errors.As(err, &f) || f.Code != meaning.TooLarge {
		t.Fatal(err)
	}
}

// Beyond its share of questions at servers a company searches by words alone, and another company goes on.
func TestACompanyHasAShareOfTheQuestions(t *testing.T) {
	t.Parallel()
	r := newRig(t, store.Options{Dir: storetest.Folder(t)})
	r.put("shop", r.base(clinic...))
	r.put("other", r.base(clinic...))
	r.made("shop")
	r.made("other")
	shares := new(share.Set)
	r.node("b", func(o *meaning.Options) { o.Limit, o.Shares = time.Minute, shares })
	places := shares.Of(share.QuestionVectors)
	for range share.QuestionVectors.Company {
		place, ok := places.Try(share.Holder{Company: "shop"})
		if !ok {
			t.Fatal("no place")
		}
		defer place.Release()
	}
	if found, near := r.look("shop", "where is the doctor"); near.Used || near.Fault != meaning.Busy || len(found) == 0 {
		t.Errorf("%+v, %+v", found, near)
	}
	if _, near := r.look("other", "where is the doctor"); !near.Used {
		t.Errorf("%+v", near)
	}
	if f, _, err := r.vectors.Failing(t.Context(), "shop", "faq"); f != nil || err != nil {
		t.Error("the server is blamed", f, err)
	}
}

func TestPrefixesPrecedeQuestionsAndPassages(t *testing.T) {
	t.Parallel()
	r := newRig(t, store.Options{Dir: storetest.Folder(t)})
	b := r.base(clinic[0])
	b.Embeddings.QuestionPrefix, b.Embeddings.PassagePrefix = "query: ", "passage: "
	b.Articles[0].Questions = []string{"Who sees me?"}
	r.put("shop", b)
	r.made("shop")
	r.node("b", func(o *meaning.Options) { o.Limit = time.Minute })
	r.look("shop", "  where  is\tthe doctor ")
	want := "passage: Our doctors\nA doctor sees you without an appointment from nine to noon.\nWho sees me?"
	if diff := cmp.Diff([]string{want, want, "query: where is the doctor"}, r.server.Inputs()); diff != "" {
		t.Error(diff)
	}
}
