package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/resource"
	"carillon/internal/base/resource/resourcetest"
	"carillon/internal/store/db"
	"carillon/internal/store/resources"
	"carillon/internal/store/sites"
)

func siteSentences() []sentence {
	return []sentence{{"a site is due, read by one node, and keeps its latest looks", siteIsRead}}
}

// siteIsRead takes a site through its life.
func siteIsRead(t *testing.T, r *rig) {
	ctx, now := t.Context(), time.UnixMilli(1_800_000_000_000).UTC()
	k := resourcetest.Kinds()[1]
	k.Name, k.Plural = "site", "sites"
	x := thing(k, "", "Help")
	if _, err := r.Resources.PutResource(ctx, ours, k, x); err != nil {
		t.Fatal(err)
	}
	id, _ := x.Key()
	key := sites.Key{CompanyID: ours, ID: *id}
	is := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	is("ask", r.Sites.Ask(ctx, key, true, now))
	due, err := r.Sites.Due(ctx, now, 10, []string{"another"})
	if diff := cmp.Diff([]sites.Key{key}, due); diff != "" || err != nil {
		t.Fatal(diff, err)
	}
	claim := func(node string) bool {
		_, whole, ok, err := r.Sites.Claim(ctx, key, node, now, now.Add(time.Minute))
		is("claim", err)
		return ok && whole
	}
	if !claim("a") || claim("b") {
		t.Error("two nodes read a site")
	}
	is("release all", r.Sites.ReleaseAll(ctx))
	if !claim("b") {
		t.Error("a site is not released")
	}
	if ok, err := r.Sites.Progress(ctx, key, "a", 1, 2, now.Add(time.Minute)); ok || err != nil {
		t.Error("a node that lost the site goes on", err)
	}
	if ok, err := r.Sites.Progress(ctx, key, "b", 1, 2, now.Add(time.Minute)); !ok || err != nil {
		t.Error(err)
	}
	if s, err := r.Sites.Find(ctx, key, now); err != nil || !s.Reading || s.Done != 1 || s.Found != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	is("release", r.Sites.Release(ctx, key, "b", now))
	var ids []string
	for i := range 32 {
		at := now.Add(time.Duration(i) * time.Second)
		is("ask", r.Sites.Ask(ctx, key, true, now))
		if !claim("c") {
			t.Fatal("a site is not due")
		}
		l := &sites.Look{ID: carillon.NewID(at), At: at, Added: 1, Changes: `["x"]`}
		ids = append(ids, l.ID)
		is("finish", resources.Edit(ctx, r.Resources, ours, k, *id, func(resource.Resource) error { return nil },
			func(ctx context.Context, tx *db.Tx) error {
				return sites.Finish(ctx, tx, key, "c", l, `{}`, at.Add(time.Hour))
			}))
	}
	looks, err := r.Sites.Looks(ctx, key)
	if err != nil || len(looks) != 30 || looks[0].ID != ids[31] || looks[29].ID != ids[2] {
		t.Errorf("%d looks, %v", len(looks), err)
	}
	if text, err := r.Sites.Changes(ctx, key, ids[31]); text != `["x"]` || err != nil {
		t.Error(text, err)
	}
	if _, err := r.Sites.Changes(ctx, key, ids[0]); !carillon.IsCode(err, carillon.NotFound) {
		t.Error("an old look is kept", err)
	}
	is("delete", r.Resources.DeleteResource(ctx, ours, nil, k, *id))
	if _, err := r.Sites.Find(ctx, key, now); !carillon.IsCode(err, carillon.NotFound) {
		t.Error("the state of a removed site is kept", err)
	}
}
