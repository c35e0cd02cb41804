package app

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"testing"

	"carillon/internal/agent"
	"carillon/internal/agent/knowledge"
	"carillon/internal/agent/trial"
	"carillon/internal/base/config"
	"carillon/internal/store"
	"carillon/internal/store/storetest"
)

// demoTests is the demo in a store, and a runner of its agent's tests.
type demoTests struct {
	trial.Runner

	company string
	agent   *agent.Agent
	suites  []*trial.Suite
}

func newDemoTests(t *testing.T) *demoTests {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: storetest.Folder(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	p, facts, err := config.Demo(ProvisionOptions())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Apply(t.Context(), p, func(_ context.Context, _, password string) (string, error) { return password, nil }); err != nil {
		t.Fatal(err)
	}
	x := &demoTests{company: p.Companies[0].ID, Runner: trial.Runner{
		Tester: trial.Tester{Thinker: agent.NewBuiltin(knowledge.NewSearch(s.Resources, slog.New(slog.DiscardHandler)))}, Store: s,
	}}
	if x.agent, err = x.Agent(t.Context(), x.company, facts.AgentID); err != nil || x.agent == nil {
		t.Fatal(x.agent, err)
	}
	if x.suites, err = x.Suites(t.Context(), x.company, x.agent.ID); err != nil {
		t.Fatal(err)
	}
	return x
}

// failed runs the tests and returns the failed checks by case.
func (x *demoTests) failed(t *testing.T) map[string]string {
	all := map[string]string{}
	t.Helper()
	done, err := x.Run(t.Context(), trial.Order{
		CompanyID: x.company, Agent: x.agent, Suites: x.suites, Origin: "panel",
	}, func(r *trial.Result) error {
		for _, turn := range r.Turns {
			for _, c := range turn.Checks {
				if c.State != trial.Passed {
					all[r.Name] += turn.Say + ": " + c.Rule + ": want " + c.Want + ", got " + c.Got + "\n"
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := done.Passed + done.Failed; n != 71 || done.Skipped != 0 {
		t.Errorf("%d tests, %d skipped, want 71", n, done.Skipped)
	}
	return all
}

func TestTheTestsOfTheDemoPass(t *testing.T) {
	t.Parallel()
	if failed := newDemoTests(t).failed(t); len(failed) > 0 {
		t.Errorf("%d cases failed", len(failed))
		for _, name := range slices.Sorted(maps.Keys(failed)) {
			t.Error(name + ": " + failed[name])
		}
	}
}

// A wording of an article is always found: a test with the same words shows nothing.
func TestTheTestsOfTheDemoAskInOtherWordsThanItsArticles(t *testing.T) {
	t.Parallel()
	x := newDemoTests(t)
	said := map[string]string{} // case by question
	for _, s := range x.suites {
		for i := range s.Cases {
			for _, turn := range s.Cases[i].Turns {
				said[knowledge.Stems(turn.Say, cmp.Or(s.Cases[i].Language, x.agent.Language))] = s.Cases[i].Name
			}
		}
	}
	wordings := 0
	for _, id := range x.agent.Knowledge {
		found, err := x.Store.Resources.Resource(t.Context(), x.company, knowledge.Kind(), id)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range found.(*knowledge.Base).Articles {
			for _, q := range append(a.Questions, a.Title) {
				wordings++
				if name := said[knowledge.Stems(q, a.Language)]; name != "" {
					t.Errorf("%s asks in the words of the article %s: %s", name, a.Title, q)
				}
			}
		}
	}
	if wordings < 40 || len(said) < 60 {
		t.Errorf("%d wordings, %d questions", wordings, len(said))
	}
}

func TestTheTestsOfTheDemoMissEachArticle(t *testing.T) {
	t.Parallel()
	x := newDemoTests(t)
	usual := x.failed(t)
	for _, id := range x.agent.Knowledge {
		found, err := x.Store.Resources.Resource(t.Context(), x.company, knowledge.Kind(), id)
		if err != nil {
			t.Fatal(err)
		}
		base := found.(*knowledge.Base)
		all := slices.Clone(base.Articles)
		for i, a := range all {
			base.Articles = slices.Delete(slices.Clone(all), i, i+1)
			if _, err := x.Store.Resources.PutResource(t.Context(), x.company, knowledge.Kind(), base); err != nil {
				t.Fatal(err)
			}
			failed := x.failed(t)
			maps.DeleteFunc(failed, func(name, _ string) bool { return usual[name] != "" })
			if len(failed) == 0 {
				t.Errorf("no test misses the article %s of %s", a.Title, id)
			}
		}
		base.Articles = all
		if _, err := x.Store.Resources.PutResource(t.Context(), x.company, knowledge.Kind(), base); err != nil {
			t.Fatal(err)
		}
	}
}
