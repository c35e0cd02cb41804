// Command answers measures the search behind the built-in agent on public sets of questions, in the form of SQuAD: each
// paragraph becomes an article, and each question is asked with its paragraph in the base and without it.
//
//	git clone --depth 1 https://github.com/google-deepmind/xquad
//	git clone --depth 1 https://github.com/liafacom/faquad
//	cd bench && go run ./answers en=../../xquad/xquad.en.json es=../../xquad/xquad.es.json pt=../../faquad/data/dataset.json
//
// The first table has the shares at the threshold of the program, and those of BM25 (SQLite's FTS5); the second one has the
// price of answering more: for each share answered right, the share of questions without their paragraph that are
// answered all the same.
//
// With an embeddings server (OpenAI's API) the same two tables follow for the search by meaning. Its key stands in an environment
// variable:
//
//	go run ./answers -embeddings http://localhost:8080/v1 -model multilingual-e5-small -key-env KEY \
//		-question-prefix 'query: ' -passage-prefix 'passage: ' en=../../xquad/xquad.en.json
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"os/signal"
	"slices"
	"text/tabwriter"
	"time"

	"carillon"
	"carillon/internal/agent/knowledge"
	"carillon/internal/agent/meaning"
	"carillon/internal/base/egress"
	"carillon/internal/base/share"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/resources"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "answers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	server, args, err := embeddings(args)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return errors.New("name one or more sets, as LANGUAGE=FILE: en=xquad.en.json")
	}
	var sets []*set
	for _, arg := range args {
		s, err := readSet(arg)
		if err != nil {
			return err
		}
		sets = append(sets, s)
	}
	dir, err := os.MkdirTemp("", "answers-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := store.Open(ctx, store.Options{Dir: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	m := measurement{store: s, search: knowledge.NewSearch(s.Resources, slog.New(slog.DiscardHandler))}
	for _, set := range sets {
		if err := m.measure(ctx, set); err != nil {
			return fmt.Errorf("%s: %w", set.name, err)
		}
	}
	if err := report(out, sets); err != nil || server == nil {
		return err
	}
	client := meaning.NewClient(egress.Options{AllowPrivate: []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0"), // the caller chooses the server
	}})
	defer client.Close()
	m.server, m.vectors = server, meaning.New(meaning.Options{
		Store: s.Vectors, Resources: s.Resources, Client: client, Shares: new(share.Set), Node: "bench", Limit: answerTime,
		Log: slog.New(slog.DiscardHandler),
	})
	m.search = m.search.With(m.vectors)
	for _, set := range sets {
		set.took = nil
		if err := m.measure(ctx, set); err != nil {
			return fmt.Errorf("%s by meaning: %w", set.name, err)
		}
	}
	fmt.Fprintf(out, "\nWith %s:\n\n", server.Model)
	return report(out, sets)
}

// answerTime is the time that the server has for a question: its vectors are measured, not its speed.
const answerTime = time.Minute

// embeddings reads the server in the flags; nil if they name none. It returns the other arguments.
func embeddings(args []string) (*knowledge.Embeddings, []string, error) {
	var e knowledge.Embeddings
	f := flag.NewFlagSet("answers", flag.ContinueOnError)
	f.StringVar(&e.BaseURL, "embeddings", "", "base `address` of an embeddings server with OpenAI's API, such as http://localhost:8080/v1")
	f.StringVar(&e.Model, "model", "", "its model")
	key := f.String("key-env", "", "`name` of the environment variable with its key")
	f.StringVar(&e.QuestionPrefix, "question-prefix", "", "text before each question")
	f.StringVar(&e.PassagePrefix, "passage-prefix", "", "text before each passage")
	if err := f.Parse(args); err != nil {
		return nil, nil, err
	}
	if e.BaseURL == "" {
		return nil, f.Args(), nil
	}
	if e.Model == "" {
		return nil, nil, errors.New("-embeddings needs -model")
	}
	if *key != "" {
		e.APIKey = os.Getenv(*key)
	}
	return &e, f.Args(), nil
}

// measurement asks the questions of sets.
type measurement struct {
	store   *store.Store
	search  *knowledge.Search
	server  *knowledge.Embeddings // nil: by words alone
	vectors *meaning.Vectors
}

func (m *measurement) measure(ctx context.Context, s *set) error {
	if err := m.store.Config.Change(ctx, func(ctx context.Context, tx *configure.Tx) error {
		return accounts.PutCompany(ctx, tx, &carillon.Company{ID: s.name, Name: s.name}, time.Now())
	}); err != nil {
		return err
	}
	if err := m.put(ctx, s, s.articles); err != nil {
		return err
	}
	for i := range s.questions {
		q := &s.questions[i]
		found, took, err := m.ask(ctx, s, q.text)
		if err != nil {
			return err
		}
		s.took = append(s.took, took)
		q.at = slices.IndexFunc(found, func(h knowledge.Hit) bool { return h.URL == s.articles[q.article].URL })
		if len(found) > 0 {
			q.score = found[0].Score
		}
	}
	if m.server == nil {
		if err := m.rankByBM25(ctx, s); err != nil {
			return err
		}
	}
	for i := range s.questions {
		q := &s.questions[i]
		if i == 0 || q.article != s.questions[i-1].article {
			if err := m.put(ctx, s, slices.Delete(slices.Clone(s.articles), q.article, q.article+1)); err != nil {
				return err
			}
		}
		found, _, err := m.ask(ctx, s, q.text)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			q.without = found[0].Score
		}
	}
	return nil
}

// put stores the base of a set, and makes its vectors.
func (m *measurement) put(ctx context.Context, s *set, articles []knowledge.Article) error {
	b := &knowledge.Base{ID: s.name, Articles: articles, Embeddings: m.server}
	if err := b.Validate(); err != nil {
		return err
	}
	if _, err := m.store.Resources.PutResource(ctx, s.name, knowledge.Kind(), b); err != nil || m.server == nil {
		return err
	}
	return m.vectors.Make(ctx, resources.VectorKey{CompanyID: s.name, ID: s.name})
}

func (m *measurement) ask(ctx context.Context, s *set, question string) ([]knowledge.Hit, time.Duration, error) {
	begin := time.Now()
	found, near, err := m.search.Look(ctx, knowledge.Query{
		CompanyID: s.name, Knowledge: []string{s.name}, Text: question, Language: s.language, Limit: first5,
	})
	if err == nil && near.Fault != "" {
		err = fmt.Errorf("the embeddings server: %s %s", near.Fault, near.Detail)
	}
	return found, time.Since(begin), err
}

func report(out io.Writer, sets []*set) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "set\tquestions\tfirst\tin first 5\tBM25 first\tin first 5\tright\twrong\twithout paragraph\tp99\n")
	for _, s := range sets {
		at := s.at(knowledge.Threshold)
		fmt.Fprintf(t, "%s\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.1f ms\n", s.name, len(s.questions),
			s.share(func(q *question) bool { return q.at == 0 }), s.share(func(q *question) bool { return q.at >= 0 }),
			s.share(func(q *question) bool { return q.bm25 == 0 }), s.share(func(q *question) bool { return q.bm25 >= 0 }),
			at.right, at.wrong, at.without, s.p99())
	}
	fmt.Fprintf(t, "\nanswered right\t")
	for _, s := range sets {
		fmt.Fprintf(t, "%s: threshold\twrong\twithout paragraph\t", s.name)
	}
	for _, right := range []float64{0.55, 0.60, 0.65, 0.70, 0.75, 0.80, 0.85} {
		fmt.Fprintf(t, "\n%.2f\t", right)
		for _, s := range sets {
			threshold, ok := s.threshold(right)
			if !ok {
				fmt.Fprint(t, "not reached\t\t\t")
				continue
			}
			at := s.at(threshold)
			fmt.Fprintf(t, "%.3f\t%.3f\t%.3f\t", threshold, at.wrong, at.without)
		}
	}
	fmt.Fprintln(t)
	return t.Flush()
}
