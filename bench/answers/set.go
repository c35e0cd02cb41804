package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"carillon/internal/agent/knowledge"
)

const first5 = 5 // results of a search

// set is a set of questions with the articles that answer them.
type set struct {
	name, language string
	articles       []knowledge.Article
	questions      []question
	took           []time.Duration // of the searches
}

// question is a question of a set, with its results.
type question struct {
	text    string
	article int     // that answers it
	at      int     // position of the article among the results; -1 if it is not among them
	bm25    int     // the same by BM25
	score   float64 // of the first result; 0 without one
	without float64 // the same in the base without the article
}

// readSet reads a set from LANGUAGE=FILE.
func readSet(arg string) (*set, error) {
	language, path, ok := strings.Cut(arg, "=")
	if !ok {
		return nil, fmt.Errorf("%q is not of the form LANGUAGE=FILE", arg)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file struct {
		Data []struct {
			Paragraphs []struct {
				Context string
				QAs     []struct{ Question string }
			}
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	s := &set{name: strings.ReplaceAll(name, ".", "-"), language: language}
	for _, subject := range file.Data {
		for _, p := range subject.Paragraphs {
			for _, q := range p.QAs {
				s.questions = append(s.questions, question{text: q.Question, article: len(s.articles)})
			}
			s.articles = append(s.articles, knowledge.Article{Text: p.Context, URL: fmt.Sprintf("https://help.test/%d", len(s.articles))})
		}
	}
	if len(s.questions) == 0 {
		return nil, errors.New(path + " has no questions")
	}
	return s, nil
}

// share returns the share of questions for which a condition holds.
func (s *set) share(holds func(q *question) bool) float64 {
	n := 0
	for i := range s.questions {
		if holds(&s.questions[i]) {
			n++
		}
	}
	return float64(n) / float64(len(s.questions))
}

// shares are the shares of questions answered at a threshold.
type shares struct{ right, wrong, without float64 }

func (s *set) at(threshold float64) shares {
	return shares{
		right:   s.share(func(q *question) bool { return q.at == 0 && q.score >= threshold }),
		wrong:   s.share(func(q *question) bool { return q.at != 0 && q.score >= threshold }),
		without: s.share(func(q *question) bool { return q.without >= threshold }),
	}
}

// threshold returns the highest threshold at which a share of the questions is answered right.
func (s *set) threshold(right float64) (float64, bool) {
	var scores []float64
	for _, q := range s.questions {
		if q.at == 0 {
			scores = append(scores, q.score)
		}
	}
	slices.SortFunc(scores, func(a, b float64) int { return cmp.Compare(b, a) })
	n := int(right * float64(len(s.questions)))
	if n >= len(scores) {
		return 0, false
	}
	return scores[n], true
}

// p99 returns the 99th percentile of the time of a search in milliseconds.
func (s *set) p99() float64 {
	sorted := slices.Sorted(slices.Values(s.took))
	return float64(sorted[len(sorted)*99/100].Microseconds()) / 1000
}
