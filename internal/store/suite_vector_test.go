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
	now := time.Now().Add(time.Second)
	due, err := r.Vectors.Due(ctx, now, 10, []string{theirs, "another"})
	if diff := cmp.Diff([]resources.VectorKey{key}, due); diff != "" || err != nil {
		t.Fatal(diff, err)
	}
	claim := func(node string) (rev int64, ok bool) {
		rev, _, ok, err := r.Vectors.Claim(ctx, key, node, now, now.Add(time.Minute))
		must(t, "claim", err)
		return rev, ok
	}
	rev, ok := claim("a")
	if _, other := claim("b"); !ok || other {
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
	add := func(model string, hashes ...string) {
		for _, h := range hashes {
			must(t, "add", r.Vectors.Add(ctx, key, model, []resources.Vector{{Hash: h, Bytes: []byte{0, 255, 7}}}))
		}
	}
	add("one", "alpha", "beta", "beta", "old")
	add("zero", "alpha")
	must(t, "add", r.Vectors.Add(ctx, foreign, "one", []resources.Vector{{Hash: "alpha", Bytes: []byte{9}}}))
	kept, err := r.Vectors.Kept(ctx, key, "one")
	if diff := cmp.Diff([]string{"alpha", "beta", "old"}, kept); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if v, err := r.Vectors.Vector(ctx, key, "one", "alpha"); err != nil || !cmp.Equal(v, []byte{0, 255, 7}) {
		t.Error(v, err)
	}
	if v, err := r.Vectors.Vector(ctx, key, "two", "alpha"); err != nil || v != nil {
		t.Error(v, err)
	}
	must(t, "remove", r.Vectors.Remove(ctx, key, "one", []string{"old"}))
	if n, err := r.Vectors.RemoveOthers(ctx, key, "one"); n != 1 || err != nil {
		t.Error(n, err)
	}
	if ok, err := r.Vectors.Progress(ctx, key, "b", rev, 1, 2, 3, now); ok || err != nil {
		t.Error("a node goes on that has not claimed the base", err)
	}
	if ok, err := r.Vectors.Progress(ctx, key, "a", rev, 1, 2, 3, now.Add(time.Minute)); !ok || err != nil {
		t.Error(ok, err)
	}
	later := now.Add(time.Hour)
	must(t, "finish", r.Vectors.Finish(ctx, key, "a", rev, &resources.Outcome{Made: 2, Total: 2, Dimensions: 3, Changed: true}, now, later))
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

	// A change of the base during the work makes it due again; its result counts for nothing.
	must(t, "ask", r.Vectors.AskOnce(ctx, key, now))
	rev, _ = claim("a")
	r.putVectors(t, ours, "one", "alpha", "gamma")
	if ok, err := r.Vectors.Progress(ctx, key, "a", rev, 1, 2, 3, now.Add(time.Minute)); ok || err != nil {
		t.Error("a node goes on with a base that has changed", err)
	}
	must(t, "finish", r.Vectors.Finish(ctx, key, "a", rev, &resources.Outcome{Fault: "slow", Detail: "x"}, now, later))
	s, err = r.Vectors.State(ctx, key, now)
	if err != nil || !s.Making || s.Fault != "slow" || s.Detail != "x" || !s.FaultAt.Equal(now.Truncate(time.Millisecond)) {
		t.Errorf("%+v, %v", s, err)
	}
	if more, err := r.Vectors.Listed(ctx, ours); err != nil || more[0].Vectors == listed[0].Vectors {
		t.Error("the state of the vectors is the same after a change", err)
	}
	r.vectorsOf(t, key, "one", map[int]string{0: "alpha"})
	_, ok = claim("c")
	must(t, "release all", r.Vectors.ReleaseAll(ctx))
	if _, again := claim("d"); !ok || !again {
		t.Error("a base is not released")
	}
	must(t, "release", r.Vectors.Release(ctx, key, "d", later))
	must(t, "ask once", r.Vectors.AskOnce(ctx, key, now)) // the last attempt failed: nothing
	if _, ok := claim("e"); ok {
		t.Error("a base is asked for once more after a failure")
	}
	must(t, "ask", r.Vectors.Ask(ctx, key, now))
	if _, ok := claim("e"); !ok {
		t.Error("a base that is asked for is not due")
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
		now := time.Now().Add(time.Second)
		if e, err := r.Vectors.Find(ctx, key); e != nil || err != nil {
			t.Errorf("%s: %+v, %v", what, e, err)
		}
		if _, err := r.Vectors.State(ctx, key, now); !carillon.IsCode(err, carillon.NotFound) {
			t.Errorf("%s: %v", what, err)
		}
		if err := r.Vectors.Ask(ctx, key, now); !carillon.IsCode(err, carillon.NotFound) {
			t.Errorf("%s: %v", what, err)
		}
		if _, _, ok, err := r.Vectors.Claim(ctx, key, "a", now, now.Add(time.Minute)); !ok || err != nil {
			t.Errorf("%s: the removal is not due: %v", what, err)
		}
		if n, err := r.Vectors.RemoveOthers(ctx, key, ""); n != 1 || err != nil {
			t.Errorf("%s: %d, %v", what, n, err)
		}
		must(t, "forget", r.Vectors.Forget(ctx, key, "a"))
		if due, err := r.Vectors.Due(ctx, now, 10, nil); len(due) > 0 || err != nil {
			t.Errorf("%s: %v, %v", what, due, err)
		}
	}
}
