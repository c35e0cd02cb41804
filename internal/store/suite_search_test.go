package store_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/base/resource"
	"carillon/internal/base/resource/resourcetest"
	"carillon/internal/store/resources"
)

func searching() []sentence {
	return []sentence{
		{"the passages of a resource are written, replaced and deleted with it", passageLife},
		{"passages that are missing or of another version are made again", passagesRefreshed},
	}
}

func knowledgeOf(id string, texts ...string) *resourcetest.Thing {
	x := thing(kindOf("knowledge"), id, id)
	for _, text := range texts {
		x.Articles = append(x.Articles, resourcetest.Article{Title: "About ships", Text: text, URL: "https://a.test"})
	}
	return x
}

// occurrences are the passages of our knowledge with the terms.
func (r *rig) occurrences(t *testing.T, company string, knowledge []string, terms ...string) map[string][]resources.Occurrence {
	t.Helper()
	all, err := r.Resources.Occurrences(t.Context(), company, knowledge, terms)
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range all {
		slices.SortFunc(in, func(a, b resources.Occurrence) int { return a.Passage - b.Passage })
	}
	return all
}

func passageLife(t *testing.T, r *rig) {
	k := kindOf("knowledge")
	r.putResource(t, ours, k, knowledgeOf("faq", "big ships", "small boats", "old ships"))
	r.putResource(t, ours, k, knowledgeOf("other", "ships"))
	r.putResource(t, theirs, k, knowledgeOf("faq", "ships"))
	want := map[string][]resources.Occurrence{
		"ships": {{KnowledgeID: "faq", Passage: 0, Title: true}, {KnowledgeID: "faq", Passage: 2, Title: true}},
		"small": {{KnowledgeID: "faq", Passage: 1}},
	}
	if diff := cmp.Diff(want, r.occurrences(t, ours, []string{"faq"}, "ships", "small", "none")); diff != "" {
		t.Error(diff)
	}
	if n, _, err := r.Resources.PassageCount(t.Context(), ours, []string{"faq", "other", "none"}); n != 4 || err != nil {
		t.Error(n, err)
	}
	if ids, err := r.Resources.KnowledgeIDs(t.Context(), ours, 10); !slices.Equal(ids, []string{"faq", "other"}) || err != nil {
		t.Error(ids, err)
	}
	passages, err := r.Resources.Passages(t.Context(), ours, map[string][]int{"faq": {1, 2, 9}, "other": {0, 1, 2}, "none": {0}})
	if diff := cmp.Diff(map[string]map[int]resource.Passage{
		"faq": {
			1: {Article: 1, Title: "About ships", Text: "small boats", URL: "https://a.test", Hash: "small boats"},
			2: {Article: 2, Title: "About ships", Text: "old ships", URL: "https://a.test", Hash: "old ships"},
		},
		"other": {0: {Title: "About ships", Text: "ships", URL: "https://a.test", Hash: "ships"}},
		"none":  {},
	}, passages); diff != "" || err != nil {
		t.Error(diff, err)
	}
	passages, err = r.Resources.Passages(t.Context(), ours, map[string][]int{"faq": {2}, "other": {0}})
	if len(passages["faq"]) != 1 || err != nil {
		t.Error("another base's numbers:", passages, err)
	}
	r.putResource(t, ours, k, knowledgeOf("faq", "ships"))
	if all := r.occurrences(t, ours, []string{"faq"}, "ships", "small"); len(all["small"]) != 0 || len(all["ships"]) != 1 {
		t.Error("after it was replaced:", all)
	}
	if err := r.Resources.DeleteResource(t.Context(), ours, resourcetest.Kinds(), k, "faq"); err != nil {
		t.Fatal(err)
	}
	if all := r.occurrences(t, ours, []string{"faq"}, "ships"); len(all) != 0 {
		t.Error("after it was deleted:", all)
	}
	if all := r.occurrences(t, theirs, []string{"faq"}, "ships"); len(all) != 1 {
		t.Error("another company's:", all)
	}
}

func passagesRefreshed(t *testing.T, r *rig) {
	k := kindOf("knowledge")
	r.putResource(t, ours, k, knowledgeOf("faq", "ships"))
	old := k
	old.SearchVersion = 0 // a program that knows no search
	r.putResource(t, ours, old, knowledgeOf("late", "boats"))
	if all := r.occurrences(t, ours, []string{"faq", "late"}, "ships", "boats"); len(all) != 1 {
		t.Error("before:", slices.Collect(maps.Keys(all)))
	}
	for range 2 {
		if err := r.Resources.RefreshPassages(t.Context(), k); err != nil {
			t.Fatal(err)
		}
		if all := r.occurrences(t, ours, []string{"faq", "late"}, "ships", "boats"); len(all) != 2 {
			t.Error("after:", slices.Collect(maps.Keys(all)))
		}
	}
	before := r.Config.Generation()
	if err := r.Resources.RefreshPassages(t.Context(), k); err != nil || r.Config.Generation() != before {
		t.Error("what was fresh was written:", err)
	}
	k.SearchVersion = 2
	if err := r.Resources.RefreshPassages(t.Context(), k); err != nil || r.Config.Generation() == before {
		t.Error("another version was not written:", err)
	}
}
