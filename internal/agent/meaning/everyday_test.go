package meaning_test

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"carillon/internal/agent/knowledge"
	"carillon/internal/store"
	"carillon/internal/store/resources"
	"carillon/internal/store/storetest"
)

// everyday is a company's help pages in three languages, with questions of people in a chat.
type everyday struct {
	Articles     []struct{ Language, Subject, Title, Text string }
	Questions    []asked
	Unanswerable []asked
}

type asked struct{ Language, Text, Subject string }

// tally counts questions by outcome.
type tally struct{ first, answered, offered, missed, answeredWrongly, offeredWrongly int }

// The vectors of the stand-in know little more than the words: they must not make the search worse.
func TestMeaningDoesNotPutTheRightArticleBehindOthers(t *testing.T) {
	t.Parallel()
	r := newRig(t, store.Options{Dir: storetest.Folder(t)})
	byWords := knowledge.NewSearch(r.store.Resources, slog.New(r.log))
	var words, both tally
	names, err := filepath.Glob("../knowledge/testdata/everyday/*.json")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var e everyday
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(name, err)
		}
		b := r.base()
		b.ID = strings.TrimSuffix(filepath.Base(name), ".json")
		for _, a := range e.Articles {
			b.Articles = append(b.Articles, knowledge.Article{
				Title: a.Title, Text: a.Text, Language: a.Language, URL: "https://help.test/" + a.Language + "/" + a.Subject,
			})
		}
		r.put("shop", b)
		if err := r.vectors.Make(t.Context(), resources.VectorKey{CompanyID: "shop", ID: b.ID}); err != nil {
			t.Fatal(err)
		}
		for _, q := range append(e.Questions, e.Unanswerable...) {
			words.add(r, byWords, b.ID, q)
			both.add(r, r.search, b.ID, q)
		}
	}
	t.Logf("by words %+v, by meaning too %+v", words, both)
	if both.first*100 < words.first*99 {
		t.Errorf("the right article is first %d times, and %d times by words alone", both.first, words.first)
	}
	if n, m := both.answered+both.offered, words.answered+words.offered; n*100 < m*98 {
		t.Errorf("%d questions are answered or offered their article, and %d by words alone", n, m)
	}
	if right, wrong := both.answered-words.answered, both.answeredWrongly-words.answeredWrongly; right < wrong {
		t.Errorf("%d more answers are right, and %d more questions without an article are answered", right, wrong)
	}
}

func (s *tally) add(r *rig, search *knowledge.Search, base string, q asked) {
	r.Helper()
	all, near, err := search.Look(r.Context(), knowledge.Query{
		CompanyID: "shop", Knowledge: []string{base}, Text: q.Text, Language: q.Language, Limit: 4,
	})
	if err != nil || near.Fault != "" {
		r.Fatal(near, err)
	}
	place := -1
	for i, h := range all {
		if h.URL == "https://help.test/"+q.Language+"/"+q.Subject {
			place = i
		}
	}
	answers, offers := knowledge.Decide(all)
	if place == 0 {
		s.first++
	}
	switch {
	case q.Subject == "" && answers:
		s.answeredWrongly++
	case q.Subject == "" && len(offers) > 0:
		s.offeredWrongly++
	case q.Subject == "":
	case answers && place == 0:
		s.answered++
	case slices.Contains(offers, place):
		s.offered++
	default:
		s.missed++
	}
}
