package store_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"carillon"
	"carillon/internal/base/resource"
	"carillon/internal/base/resource/resourcetest"
	"carillon/internal/store/resources"
)

func keepingResources() []sentence {
	return []sentence{
		{"a resource is put, read, listed, replaced and deleted", resourceLife},
		{"names of resources are unique in a company, ids over all", resourceKeys},
		{"a secret that is left out is kept, or made once", resourceSecrets},
		{"a secret is kept for the use that it was given for", resourceBoundSecrets},
		{"what a resource refers to must exist in its company", resourceReferences},
		{"a resource that another refers to is not deleted", resourceReferred},
		{"adding a resource replaces none, replacing one adds none", resourceAddedOrReplaced},
	}
}

func kindOf(name string) resource.Kind {
	kinds := resourcetest.Kinds()
	return kinds[slices.IndexFunc(kinds, func(k resource.Kind) bool { return k.Name == name })]
}

// thing makes a resource of the kind by id and name.
func thing(k resource.Kind, id, name string) *resourcetest.Thing {
	x := k.New().(*resourcetest.Thing)
	toID, toName := x.Key()
	*toID, *toName = id, name
	return x
}

func (r *rig) putResource(t *testing.T, company string, k resource.Kind, x *resourcetest.Thing) {
	t.Helper()
	if _, err := r.Resources.PutResource(t.Context(), company, k, x); err != nil {
		t.Fatal(err)
	}
}

func resourceLife(t *testing.T, r *rig) {
	agents := kindOf("agent")
	a := thing(agents, "", "Ann")
	r.putResource(t, ours, agents, a)
	b := thing(agents, "zoe", "Zoe")
	r.putResource(t, ours, agents, b)
	if x, err := r.Resources.Agent(t.Context(), ours, a.ID); err != nil || x.Name != "Ann" {
		t.Error(x, err)
	}
	if x, owner, err := r.Resources.Find(t.Context(), agents, a.ID); err != nil || owner != ours || x.(*resourcetest.Thing).Name != "Ann" {
		t.Error(x, owner, err)
	}
	if x, _, err := r.Resources.Find(t.Context(), agents, "nobody"); err != nil || x != nil {
		t.Error(x, err)
	}
	again := thing(agents, "", "Ann") // found by its name
	again.Greeting = "Hello"
	r.putResource(t, ours, agents, again)
	if again.ID != a.ID {
		t.Errorf("ids %s and %s", a.ID, again.ID)
	}
	before := r.Config.Generation()
	r.putResource(t, ours, agents, again)
	if r.Config.Generation() != before {
		t.Error("what was stored already invalidated the caches")
	}
	for text, want := range map[string]int{strings.ToUpper(again.ID): 1, "%": 0} {
		if found, err := resources.Search(t.Context(), r.DB, ours, agents, text, 5); err != nil || len(found) != want {
			t.Errorf("%q: %+v %v", text, found, err)
		}
	}
	all, err := r.Resources.Resources(t.Context(), ours, agents, "", 10)
	if diff := cmp.Diff([]resource.Resource{again, b}, all, cmpopts.IgnoreUnexported(resourcetest.Thing{})); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if all, err := r.Resources.Resources(t.Context(), ours, agents, again.ID, 1); err != nil || len(all) != 1 {
		t.Error(all, err)
	}
	if _, err := r.Resources.Resource(t.Context(), theirs, agents, b.ID); !carillon.IsCode(err, carillon.NotFound) {
		t.Errorf("another company reads: %v", err)
	}
	if err := r.Resources.DeleteResource(t.Context(), theirs, resourcetest.Kinds(), agents, b.ID); !carillon.IsCode(err,
		carillon.NotFound) {
		t.Errorf("another company deletes: %v", err)
	}
	if all, err := r.Resources.Listed(t.Context(), ours, agents); err != nil || len(all) != 2 {
		t.Errorf("listed: %v, %v", all, err)
	}
	if err := r.Resources.DeleteResource(t.Context(), ours, resourcetest.Kinds(), agents, a.ID); err != nil {
		t.Fatal(err)
	}
	if all, err := r.Resources.Listed(t.Context(), ours, agents); err != nil || len(all) != 1 {
		t.Errorf("listed after one is deleted: %v, %v", all, err)
	}
	if _, err := r.Resources.Agent(t.Context(), ours, a.ID); !carillon.IsCode(err, carillon.AgentNotFound) {
		t.Errorf("a deleted agent: %v", err)
	}
}

func resourceKeys(t *testing.T, r *rig) {
	agents, knowledge := kindOf("agent"), kindOf("knowledge")
	r.putResource(t, ours, agents, thing(agents, "a", "Ann"))
	for company, x := range map[string]*resourcetest.Thing{ours: thing(agents, "b", "Ann"), theirs: thing(agents, "a", "Other")} {
		if _, err := r.Resources.PutResource(t.Context(), company, agents, x); !carillon.IsCode(err, carillon.Conflict) {
			t.Errorf("%s: %v", company, err)
		}
	}
	r.putResource(t, theirs, agents, thing(agents, "c", "Ann"))
	r.putResource(t, ours, knowledge, thing(knowledge, "faq", "faq"))
	r.putResource(t, theirs, knowledge, thing(knowledge, "faq", "faq"))
}

func resourceSecrets(t *testing.T, r *rig) {
	hooks := kindOf("webhook")
	x := thing(hooks, "", "https://a.test")
	made, err := r.Resources.PutResource(t.Context(), ours, hooks, x)
	if err != nil || !made || x.SecretText != "made" {
		t.Fatal(made, err, x.SecretText)
	}
	for _, given := range []string{"", "given", ""} {
		again := thing(hooks, x.ID, "https://a.test")
		again.SecretText = given
		if made, err := r.Resources.PutResource(t.Context(), ours, hooks, again); made || err != nil {
			t.Error(made, err)
		}
		stored, err := r.Resources.Resource(t.Context(), ours, hooks, x.ID)
		if err != nil || stored.(*resourcetest.Thing).SecretText != again.SecretText || given != "" && again.SecretText != given {
			t.Errorf("%q: %v, %v", given, stored, err)
		}
	}
}

func resourceBoundSecrets(t *testing.T, r *rig) {
	agents := kindOf("agent")
	for _, c := range []struct{ use, given, want string }{
		{"one", "secret", "secret"},
		{"one", "", "secret"},
		{"two", "", ""},
		{"one", "", ""},
		{"one", "other", "other"},
		{"two", "new", "new"},
	} {
		x := thing(agents, "a", "Ann")
		x.Greeting, x.SecretText = c.use, c.given
		r.putResource(t, ours, agents, x)
		stored, err := r.Resources.Resource(t.Context(), ours, agents, "a")
		if err != nil || stored.(*resourcetest.Thing).SecretText != c.want {
			t.Errorf("%+v: %v, %v", c, stored, err)
		}
	}
}

func resourceReferences(t *testing.T, r *rig) {
	agents, widgets := kindOf("agent"), kindOf("widget")
	r.putResource(t, theirs, agents, thing(agents, "a", "Ann"))
	w := thing(widgets, "w", "Web")
	w.Agent = "Ann"
	if _, err := r.Resources.PutResource(t.Context(), ours, widgets, w); !carillon.IsCode(err, carillon.ValidationFailed) {
		t.Errorf("another company's agent: %v", err)
	}
	r.putResource(t, ours, agents, thing(agents, "b", "Ann"))
	r.putResource(t, ours, widgets, w)
	if w.Agent != "b" {
		t.Errorf("the widget's agent is %s", w.Agent)
	}
}

func resourceReferred(t *testing.T, r *rig) {
	agents, widgets := kindOf("agent"), kindOf("widget")
	r.putResource(t, ours, agents, thing(agents, "a", "Ann"))
	w := thing(widgets, "w", "Web")
	w.Agent = "a"
	r.putResource(t, ours, widgets, w)
	if err := r.Resources.DeleteResource(t.Context(), ours, resourcetest.Kinds(), agents, "a"); !carillon.IsCode(err, carillon.Conflict) {
		t.Errorf("an agent in use: %v", err)
	}
	if x, err := r.Resources.Agent(t.Context(), ours, "a"); err != nil || x.Name != "Ann" {
		t.Error(x, err)
	}
	w.Agent, w.Welcome = "", "a" // the id in another place is no reference
	r.putResource(t, ours, widgets, w)
	if err := r.Resources.DeleteResource(t.Context(), ours, resourcetest.Kinds(), agents, "a"); err != nil {
		t.Error(err)
	}
	knowledge := kindOf("knowledge")
	for _, company := range []string{ours, theirs} {
		r.putResource(t, company, knowledge, thing(knowledge, "faq", "faq"))
	}
	reader := thing(agents, "c", "Cleo")
	reader.Knowledge = []string{"faq"}
	r.putResource(t, theirs, agents, reader)
	if err := r.Resources.DeleteResource(t.Context(), ours, resourcetest.Kinds(), knowledge, "faq"); err != nil {
		t.Errorf("what another company refers to under the same id: %v", err)
	}
	if err := r.Resources.DeleteResource(t.Context(), theirs, resourcetest.Kinds(), knowledge, "faq"); !carillon.IsCode(err,
		carillon.Conflict) {
		t.Errorf("the other company's own: %v", err)
	}
}

func resourceAddedOrReplaced(t *testing.T, r *rig) {
	agents := kindOf("agent")
	if _, err := r.Resources.ReplaceResource(t.Context(), ours, agents, thing(agents, "a", "Ann")); !carillon.IsCode(err,
		carillon.NotFound) {
		t.Errorf("replaced what is not there: %v", err)
	}
	if _, err := r.Resources.AddResource(t.Context(), ours, agents, thing(agents, "a", "Ann")); err != nil {
		t.Fatal(err)
	}
	for _, x := range []*resourcetest.Thing{thing(agents, "a", "Bea"), thing(agents, "", "Ann")} {
		if _, err := r.Resources.AddResource(t.Context(), ours, agents, x); !carillon.IsCode(err, carillon.Conflict) {
			t.Errorf("added %s %s twice: %v", x.ID, x.Name, err)
		}
	}
	if _, err := r.Resources.ReplaceResource(t.Context(), theirs, agents, thing(agents, "a", "Ann")); !carillon.IsCode(err,
		carillon.NotFound) {
		t.Errorf("replaced another company's: %v", err)
	}
	if _, err := r.Resources.ReplaceResource(t.Context(), ours, agents, thing(agents, "a", "Bea")); err != nil {
		t.Fatal(err)
	}
	if x, err := r.Resources.Agent(t.Context(), ours, "a"); err != nil || x.Name != "Bea" {
		t.Error(x, err)
	}
}
