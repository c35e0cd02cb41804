package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/resource/resourcetest"
	"carillon/internal/store/resources"
)

func vectorSentences() []sentence {
	return []sentence{
		{"the vectors of a base are due, made by one node, and stored by model", vectorsAreMade},
		{"a base without a server, and one that is deleted, lose their vectors", vectorsAreRemoved},
	}
}

func must(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// putVectors stores a base that names a model; none if it is empty.
func (r *rig) putVectors(t *testing.T, company, model string, texts ...string) resources.VectorKey {
	t.Helper()
	k := resourcetest.Kinds()[0]
	x := thing(k, "", "faq")
	x.Model = model
	for i, text := range texts {
		x.Articles = append(x.Articles, resourcetest.Article{Title: fmt.Sprint(i), Text: text})
	}
	_, err := r.Resources.PutResource(t.Context(), company, k, x)
	must(t, "put", err)
	return resources.VectorKey{CompanyID: company, ID: "faq"}
}

func vectorsAreMade(t *testing.T, r *rig) {
	ctx := t.Context()
	key := r.putVectors(t, ours, "one", "alpha", "beta")
	foreign := r.putVectors(t, theirs, "one", "alpha")
	now := time.Now().Add(time.Hour) // after all that follows has made the base due, however long it takes
	due, err := r.Vectors.Due(ctx, now, 10, []string{theirs, "another"})
	if diff := cmp.Diff([]resources.VectorKey{key}, due); diff != "" || err != nil {
		t.Fatal(diff, err)
	}
	claim := func(node string) *resources.VectorClaim {
		c, err := r.Vectors.Claim(ctx, key, node, now, now.Add(time.Minute))
		must(t, "claim", err)
		return c
	}
	c := claim("a")
	if c == nil || claim("b") != nil {
		t.Error("two nodes make the vectors of a base")
	}
	if s, err := r.Vectors.State(ctx, key, now); err != nil || !s.Making || s.Made != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	e, err := r.Vectors.Find(ctx, key)
	if err != nil || e == nil || e.Server.Model != "one" || e.Server.BaseURL != "https://embeddings.test/v1" || e.APIKey != "" {
		t.Fatalf("%+v, %v", e, err)
	}
	hashes, err := r.Vectors.Hashes(ctx, key)
	if diff := cmp.Diff([]string{"alpha", "beta"}, hashes); diff != "" || err != nil {
		t.Fatal(diff, err)
	}
	vector := []byte{0, 255, 7, 9: 1, 11: 2}
	add := func(model string, hashes ...string) {
		for _, h := range hashes {
			must(t, "add", r.Vectors.Add(ctx, key, model, []resources.Vector{{Hash: h, Bytes: vector}}))
		}
	}
	add("one", "alpha", "beta", "beta", "old")
	add("zero", "alpha")
	must(t, "add", r.Vectors.Add(ctx, key, "one", []resources.Vector{{Hash: "damaged", Bytes: vector[:5]}}))
	must(t, "add", r.Vectors.Add(ctx, foreign, "one", []resources.Vector{{Hash: "alpha", Bytes: []byte{9}}}))
	kept, err := r.Vectors.Kept(ctx, key, "one")
	if diff := cmp.Diff([]string{"alpha", "beta", "old"}, kept); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if v, err := r.Vectors.Vector(ctx, key, "one", "alpha"); err != nil || !cmp.Equal(v, vector) {
		t.Error(v, err)
	}
	if v, err := r.Vectors.Vector(ctx, key, "two", "alpha"); err != nil || v != nil {
		t.Error(v, err)
	}
	must(t, "remove", r.Vectors.Remove(ctx, key, "one", []string{"old"}))
	if n, err := r.Vectors.RemoveOthers(ctx, key, "one"); n != 1 || err != nil {
		t.Error(n, err)
	}
	if ok, err := r.Vectors.Progress(ctx, &resources.VectorClaim{VectorKey: key, Node: "b", Rev: c.Rev}, 1, 2, 3, now); ok || err != nil {
		t.Error("a node goes on that has not claimed the base", err)
	}
	if ok, err := r.Vectors.Progress(ctx, c, 1, 2, 3, now.Add(time.Minute)); !ok || err != nil {
		t.Error(ok, err)
	}
	later := now.Add(time.Hour)
	must(t, "finish", r.Vectors.Finish(ctx, c, &resources.Outcome{Made: 2, Total: 2, Dimensions: 3, Changed: true}, now, later))
	s, err := r.Vectors.State(ctx, key, now)
	if err != nil || s.Making || s.Made != 2 || s.Dimensions != 3 || s.Fault != "" || !s.MadeAt.Equal(now.Truncate(time.Millisecond)) {
		t.Errorf("%+v, %v", s, err)
	}
	r.vectorsOf(t, key, "one", map[int]string{0: "alpha", 1: "beta"})
	r.vectorsOf(t, foreign, "one", map[int]string{0: "alpha"})
	listed, err := r.Vectors.Listed(ctx, ours)
	if err != nil || len(listed) != 1 || listed[0].Made != 2 || listed[0].Dimensions != 3 {
		t.Fatalf("%+v, %v", listed, err)
	}

	// A change of the base during the work makes it due again; its outcome counts for nothing.
	must(t, "ask", r.Vectors.AskOnce(ctx, key, now))
	c = claim("a")
	r.putVectors(t, ours, "one", "alpha", "gamma")
	if ok, err := r.Vectors.Progress(ctx, c, 1, 2, 3, now.Add(time.Minute)); ok || err != nil {
		t.Error("a node goes on with a base that has changed", err)
	}
	must(t, "finish", r.Vectors.Finish(ctx, c, &resources.Outcome{Fault: "slow", Detail: "x"}, now, later))
	s, err = r.Vectors.State(ctx, key, now)
	if err != nil || !s.Making || s.Fault != "" || s.Made != 1 || s.Total != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	more, err := r.Vectors.Listed(ctx, ours)
	if err != nil || more[0].Vectors == listed[0].Vectors || more[0].Made != 1 || more[0].Total != 2 {
		t.Errorf("after a change: %+v, %v", more, err)
	}
	r.vectorsOf(t, key, "one", map[int]string{0: "alpha"})
	c = claim("c")
	must(t, "release all", r.Vectors.ReleaseAll(ctx))
	d := claim("d") // c may have changed vectors: they are read again
	if c == nil || d == nil {
		t.Fatal("a base is not released")
	}
	must(t, "finish", r.Vectors.Finish(ctx, d, &resources.Outcome{Fault: "slow", Detail: "x"}, now, later))
	s, err = r.Vectors.State(ctx, key, now)
	if err != nil || s.Making || s.Fault != "slow" || s.Detail != "x" || !s.FaultAt.Equal(now.Truncate(time.Millisecond)) {
		t.Errorf("%+v, %v", s, err)
	}
	last, err := r.Vectors.Listed(ctx, ours)
	if err != nil || last[0].Vectors == more[0].Vectors || last[0].Fault != "slow" || last[0].Detail != "x" {
		t.Errorf("%+v, %v", last, err)
	}
	must(t, "ask once", r.Vectors.AskOnce(ctx, key, now)) // the last attempt failed: nothing
	if claim("e") != nil {
		t.Error("a base is asked for once more after a failure")
	}
	must(t, "ask", r.Vectors.Ask(ctx, key, now))
	e1 := claim("e")
	if e1 == nil {
		t.Fatal("a base that is asked for is not due")
	}
	must(t, "reset", r.Vectors.Reset(ctx, e1))
	if reset, err := r.Vectors.Listed(ctx, ours); err != nil || reset[0].Made != 0 || reset[0].Vectors == last[0].Vectors {
		t.Errorf("%+v, %v", reset, err)
	}
	must(t, "release", r.Vectors.Release(ctx, e1, resources.VectorRelease{Due: later, Failed: true, Changed: true}))
	must(t, "ask", r.Vectors.Ask(ctx, key, now))
	f := claim("f")
	r.putVectors(t, ours, "one", "alpha", "delta")
	must(t, "release", r.Vectors.Release(ctx, f, resources.VectorRelease{Due: later}))
	now = now.Add(time.Minute)
	if claim("g") == nil {
		t.Error("a change during an attempt is not due at once")
	}
}

// vectorsOf checks the passages that have vectors of a model.
func (r *rig) vectorsOf(t *testing.T, key resources.VectorKey, model string, want map[int]string) {
	t.Helper()
	got := map[int]string{}
	must(t, "each", r.Vectors.Each(t.Context(), key, model, func(passage int, hash string, _ []byte) error {
		got[passage] = hash
		return nil
	}))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func vectorsAreRemoved(t *testing.T, r *rig) {
	ctx := t.Context()
	for what, end := range map[string]func(){
		"without a server": func() { r.putVectors(t, ours, "", "alpha") },
		"deleted": func() {
			must(t, "delete", r.Resources.DeleteResource(ctx, ours, nil, resourcetest.Kinds()[0], "faq"))
		},
	} {
		key := r.putVectors(t, ours, "one", "alpha")
		must(t, "add", r.Vectors.Add(ctx, key, "one", []resources.Vector{{Hash: "alpha", Bytes: []byte{1}}}))
		end()
		now := time.Now().Add(time.Hour) // after all that follows has made the base due, however long it takes
		if e, err := r.Vectors.Find(ctx, key); e != nil || err != nil {
			t.Errorf("%s: %+v, %v", what, e, err)
		}
		if _, err := r.Vectors.State(ctx, key, now); !carillon.IsCode(err, carillon.NotFound) {
			t.Errorf("%s: %v", what, err)
		}
		if err := r.Vectors.Ask(ctx, key, now); !carillon.IsCode(err, carillon.NotFound) {
			t.Errorf("%s: %v", what, err)
		}
		c, err := r.Vectors.Claim(ctx, key, "a", now, now.Add(time.Minute))
		if c == nil || err != nil {
			t.Fatalf("%s: the removal is not due: %v", what, err)
		}
		if n, err := r.Vectors.RemoveOthers(ctx, key, ""); n != 1 || err != nil {
			t.Errorf("%s: %d, %v", what, n, err)
		}
		must(t, "forget", r.Vectors.Forget(ctx, c))
		if due, err := r.Vectors.Due(ctx, now, 10, nil); len(due) > 0 || err != nil {
			t.Errorf("%s: %v, %v", what, due, err)
		}
	}
}
