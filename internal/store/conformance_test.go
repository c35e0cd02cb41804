package store_test

import (
	"testing"

	"carillon"
	"carillon/internal/store"
)

// open opens a store until the end of the test.
func open(t testing.TB, o store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// conforms runs the suite on an engine, and explains the queries it ran.
func conforms(t *testing.T, open func(t testing.TB) *store.Store) {
	all := sentences()
	asked := make([]store.Queries, len(all)+1)
	t.Run("the store", func(t *testing.T) {
		for i, c := range all {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				s := open(t)
				asked[i].Watch(s)
				c.run(t, newRig(t, s))
			})
		}
		t.Run("what the other tests of this package test", func(t *testing.T) {
			t.Parallel()
			s := open(t)
			asked[len(all)].Watch(s)
			others(t, s)
		})
	})
	for i := range asked { // a query is explained with the arguments of the first test in the list that runs it
		asked[0].Add(&asked[i])
	}
	t.Run("every query uses its index", func(t *testing.T) { plans(t, open(t), &asked[0]) })
}

// others runs the queries of tests that need more than the store, so that they are explained too.
func others(t *testing.T, s *store.Store) {
	for range 2 {
		apply(t, s, example(t))
		apply(t, s, small)
		apply(t, s, "companies: [{name: Left, users: [{email: both@x.test}]}, {name: Right, users: [{email: both@x.test}]}]")
	}
	apply(t, s, `companies: [{name: Left, agents: [{id: 3e0f7a52-1d84-4b7c-8c39-5a2be6d41f77, name: Ann}], senders: [
		{id: taking, number: "15555550277", channel: voice, provider: sip, settings: {trunk: "sip:a.test",
			agent: 3e0f7a52-1d84-4b7c-8c39-5a2be6d41f77}}]}]`)
	id := companyNamed(t, s, "Small")
	senders, err := s.Senders.Senders(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Resources.Agent(t.Context(), id, "nobody"); !carillon.IsCode(err, carillon.AgentNotFound) {
		t.Error(err)
	}
	if known, err := s.Resources.FlowKnown(t.Context(), id, "nothing"); known || err != nil {
		t.Error(known, err)
	}
	refused := keyed(senders[0], "k", "h", 2, 1)
	if errs, err := s.Notifications.Apply(t.Context(), true, refused); err != nil || !carillon.IsCode(errs[0], carillon.QuotaExceeded) {
		t.Error(errs, err)
	}
}
