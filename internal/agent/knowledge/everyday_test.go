package knowledge

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"carillon/internal/store"
	"carillon/internal/store/storetest"
)

// everyday is a company's help pages in three languages, with questions of people in a chat.
type everyday struct {
	Name         string
	Articles     []struct{ Language, Subject, Title, Text string }
	Questions    []asked // each answered by one article
	Unanswerable []asked
	Followups    []struct{ Language, First, Second, Subject string }
}

type asked struct{ Language, Text, Subject string }

func everydaySets(t *testing.T) map[string]everyday {
	t.Helper()
	names, err := filepath.Glob("testdata/everyday/*.json")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	all := map[string]everyday{}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var e everyday
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(name, err)
		}
		all[strings.TrimSuffix(filepath.Base(name), ".json")] = e
	}
	return all
}

func (e *everyday) base(id string) *Base {
	b := &Base{ID: id}
	for _, a := range e.Articles {
		b.Articles = append(b.Articles, Article{
			Title: a.Title, Text: a.Text, Language: a.Language, URL: "https://help.test/" + a.Language + "/" + a.Subject,
		})
	}
	return b
}

const offered = 3 // articles that the agent offers

// tally is the outcome of a set of questions.
type tally struct{ right, offered, missed, foreign, refused, wrong int }

func (s *tally) add(found []Hit, err error, language, subject string, t *testing.T) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	found = slices.DeleteFunc(found, func(h Hit) bool { return !h.MayAnswer() })
	at := slices.IndexFunc(found[:min(len(found), offered)], func(h Hit) bool {
		return h.URL == "https://help.test/"+language+"/"+subject
	})
	answered := len(found) > 0 && found[0].Answers()
	if answered && found[0].Foreign {
		s.foreign++
	}
	switch {
	case subject == "" && answered:
		s.wrong++
	case subject == "":
		s.refused++
	case answered && at == 0:
		s.right++
	case !answered && at >= 0:
		s.offered++
	default:
		s.missed++
	}
}

// At least 86 % of the questions are answered by their article or offer it, none in another language; of those that no
// article answers, at most one in 15 is answered all the same. The sets internet, library and rental measure the search
// with new companies: it must not be tuned to them.
func TestEverydayQuestionsFindTheirArticles(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), store.Options{Dir: storetest.Folder(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	search := searchIn(s)
	var total, follow tally
	for id, e := range everydaySets(t) {
		company(t, s, id, e.base(id))
		find := func(language, text string, topic *Hit) ([]Hit, error) {
			return search.Find(t.Context(), Query{
				CompanyID: id, Knowledge: []string{id}, Text: text, Language: language, Limit: offered + 1, Topic: topic,
			})
		}
		var here tally
		for _, q := range append(slices.Clone(e.Questions), e.Unanswerable...) {
			found, err := find(q.Language, q.Text, nil)
			here.add(found, err, q.Language, q.Subject, t)
			total.add(found, err, q.Language, q.Subject, t)
		}
		for _, f := range e.Followups {
			first, err := find(f.Language, f.First, nil)
			if err != nil {
				t.Fatal(err)
			}
			var topic *Hit
			if len(first) > 0 && first[0].Certain() {
				topic = &first[0]
			}
			found, err := find(f.Language, f.Second, topic)
			follow.add(found, err, f.Language, f.Subject, t)
		}
		t.Logf("%s: %+v", id, here)
	}
	t.Logf("all: %+v, follow-ups: %+v", total, follow)
	if n := total.right + total.offered; n*100 < 86*(n+total.missed) {
		t.Errorf("%d of %d questions are answered by their article or offer it", n, n+total.missed)
	}
	if n := follow.right + follow.offered; n*100 < 84*(n+follow.missed) {
		t.Errorf("%d of %d follow-ups are answered by their article or offer it", n, n+follow.missed)
	}
	if total.wrong*15 > total.wrong+total.refused || total.foreign > 0 {
		t.Errorf("%+v", total)
	}
}
