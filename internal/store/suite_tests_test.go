package store_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/resource/resourcetest"
	"carillon/internal/store/resources"
)

func testingAgents() []sentence {
	return []sentence{
		{"of an agent's runs of tests the newest twenty are kept", testRunsBounded},
		{"the runs of tests go with their agent", testRunsDeleted},
	}
}

func (r *rig) addTestRun(t *testing.T, company, agent string, passed int) *resources.TestRun {
	t.Helper()
	r.now = r.now.Add(time.Second)
	x := &resources.TestRun{
		AgentID: agent, BegunAt: r.now, Author: "Ana", Origin: "panel", Passed: passed, Failed: 2, Skipped: 1,
		Took: 1500 * time.Millisecond, Cases: json.RawMessage(`[{"name":"a"}]`), Doc: json.RawMessage(`{"n":` + fmt.Sprint(passed) + `}`),
	}
	if err := r.TestRuns.Add(t.Context(), company, x, r.now); err != nil {
		t.Fatal(err)
	}
	return x
}

func testRunsBounded(t *testing.T, r *rig) {
	kind := kindOf("agent")
	r.putResource(t, ours, kind, thing(kind, "a", "Ann"))
	r.putResource(t, ours, kind, thing(kind, "b", "Ben"))
	other := r.addTestRun(t, ours, "b", 0)
	var last *resources.TestRun
	for i := range 23 {
		last = r.addTestRun(t, ours, "a", i)
	}
	all, err := r.TestRuns.List(t.Context(), ours, "a")
	if err != nil || len(all) != resources.MaxTestRuns || all[0].Passed != 22 || all[19].Passed != 3 {
		t.Fatalf("%d runs, %v", len(all), err)
	}
	if x := all[0]; x.Took != last.Took || !x.BegunAt.Equal(last.BegunAt) || x.Author != "Ana" || x.Failed != 2 || x.Skipped != 1 ||
		string(x.Cases) != `[{"name":"a"}]` || x.Doc != nil {
		t.Errorf("%+v", x)
	}
	if x, err := r.TestRuns.Find(t.Context(), ours, "a", last.ID); err != nil || string(x.Doc) != `{"n":22}` {
		t.Errorf("%+v, %v", x, err)
	}
	if _, err := r.TestRuns.Find(t.Context(), theirs, "a", last.ID); !carillon.IsCode(err, carillon.NotFound) {
		t.Errorf("another company reads a run: %v", err)
	}
	if all, err := r.TestRuns.List(t.Context(), ours, "b"); err != nil || len(all) != 1 || all[0].ID != other.ID {
		t.Error(all, err)
	}
}

func testRunsDeleted(t *testing.T, r *rig) {
	kind := kindOf("agent")
	r.putResource(t, ours, kind, thing(kind, "a", "Ann"))
	r.addTestRun(t, ours, "a", 1)
	if err := r.Resources.DeleteResource(t.Context(), ours, resourcetest.Kinds(), kind, "a"); err != nil {
		t.Fatal(err)
	}
	if all, err := r.TestRuns.List(t.Context(), ours, "a"); err != nil || len(all) != 0 {
		t.Error(all, err)
	}
}
