package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/base/provider"
	"carillon/internal/store/work"
)

func breaking() []sentence {
	return []sentence{
		{"a breaker is kept while it is not closed, and shown to its company alone", keepingBreakers},
		{"a store that can be written to says so, again and again", writing},
	}
}

func keepingBreakers(t *testing.T, r *rig) {
	ctx := t.Context()
	open := work.Breaker{
		SenderUID: r.sender.UID, CompanyID: ours, State: work.BreakerOpen, Fault: provider.FaultAccount, Detail: "190 token expired",
		Since: r.now, Until: r.now.Add(time.Minute),
	}
	foreign := open
	foreign.SenderUID, foreign.CompanyID = r.foreign.UID, theirs
	halfOpen := open
	halfOpen.State, halfOpen.Fault = work.BreakerHalfOpen, provider.FaultUnknown
	for _, b := range []work.Breaker{open, foreign, halfOpen} {
		if err := r.Breakers.Keep(ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := r.Breakers.OfCompany(ctx, ours); err != nil || !cmp.Equal(got, []work.Breaker{halfOpen}) {
		t.Error(got, err)
	}
	if got, err := r.Breakers.All(ctx); err != nil || len(got) != 2 {
		t.Error(got, err)
	}
	halfOpen.State = work.BreakerClosed
	if err := r.Breakers.Keep(ctx, halfOpen); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Breakers.OfCompany(ctx, ours); err != nil || len(got) != 0 {
		t.Error(got, err)
	}
	if got, err := r.Breakers.OfCompany(ctx, theirs); err != nil || !cmp.Equal(got, []work.Breaker{foreign}) {
		t.Error(got, err)
	}
}

func writing(t *testing.T, r *rig) {
	for range 2 {
		if err := r.DB.Health.Probe(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if err := r.DB.Health.Writable(t.Context()); err != nil {
		t.Error(err)
	}
	for name, pool := range r.DB.Health.Pools() {
		if pool.MaxOpenConnections < 1 {
			t.Errorf("the pool %s has no bound", name)
		}
	}
	if n := r.DB.Commits.Waiting(); n != 0 {
		t.Errorf("%d writes wait", n)
	}
}
