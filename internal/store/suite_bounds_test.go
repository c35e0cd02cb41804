package store_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/resource"
	"carillon/internal/base/resource/resourcetest"
	"carillon/internal/store/chats"
)

func keepingBounds() []sentence {
	return []sentence{
		{"lists of resources are made of their heads, whatever wrote them", resourceHeads},
		{"resources of a kind have at most so many bytes, one and all; what was stored before stays", resourceBytes},
		{"drafts of flows have at most so many bytes, one and all", draftBytes},
		{"old versions of flows go once all are too large, but for those that are needed", oldVersions},
		{"a company has at most so many resources of a kind", resourceCount},
		{"a secret that must be given is", resourceRequired},
		{"what is referred to may be refused", resourceChecked},
		{"when a secret was used is known by the minute", secretUses},
	}
}

// bulky is a flow of so many bytes more than it needs.
func bulky(id string, bytes int) *resourcetest.Thing {
	x := thing(kindOf("flow"), id, id)
	x.Trigger.Event, x.Greeting = "event-"+id, strings.Repeat("x", bytes)
	return x
}

func (r *rig) heads(t *testing.T, company string) map[string]string {
	t.Helper()
	all, err := r.Resources.Heads(t.Context(), company, kindOf("flow"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, h := range all {
		got[h.ID+"/"+h.Name] = h.Value.(*resourcetest.Head).Trigger.Event
	}
	return got
}

func resourceHeads(t *testing.T, r *rig) {
	k := kindOf("flow")
	r.putResource(t, ours, k, bulky("a", 10))
	r.putResource(t, ours, k, bulky("b", 10))
	r.putResource(t, theirs, k, bulky("c", 10))
	if diff := cmp.Diff(map[string]string{"a/a": "event-a", "b/b": "event-b"}, r.heads(t, ours)); diff != "" {
		t.Error(diff)
	}
	for event, want := range map[string]bool{"event-a": true, "event-c": false, "event-x": false} {
		if got, err := r.Resources.FlowKnown(t.Context(), ours, event); got != want || err != nil {
			t.Error(event, got, err)
		}
	}
	// A program of another version writes documents without heads.
	old := k
	old.NewHead = nil
	changed := bulky("a", 10)
	changed.Trigger.Event = "another"
	r.putResource(t, ours, old, changed)
	r.putResource(t, ours, old, bulky("d", 10))
	want := map[string]string{"a/a": "another", "b/b": "event-b", "d/d": "event-d"}
	if diff := cmp.Diff(want, r.heads(t, ours)); diff != "" {
		t.Error(diff)
	}
	if got, err := r.Resources.FlowKnown(t.Context(), ours, "another"); !got || err != nil {
		t.Error(got, err)
	}
	for range 2 {
		if err := r.Resources.RefreshHeads(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, r.heads(t, ours)); diff != "" {
		t.Error(diff)
	}
	if err := r.Resources.DeleteResource(t.Context(), ours, resourcetest.Kinds(), k, "a"); err != nil {
		t.Fatal(err)
	}
	if got := r.heads(t, ours); len(got) != 2 {
		t.Error("after one is deleted:", got)
	}
	if got := r.heads(t, theirs); len(got) != 1 {
		t.Error("another company's:", got)
	}
}

func limitExceeded(t *testing.T, err error, limit int) {
	t.Helper()
	if e, ok := errors.AsType[*carillon.Error](err); !ok || e.Code != carillon.LimitExceeded || e.Details.Find("limit") != limit {
		t.Errorf("%+v, not a limit of %d", err, limit)
	}
}

func resourceBytes(t *testing.T, r *rig) {
	k := kindOf("flow")
	k.MaxBytes, k.MaxAll = 2000, 5000
	put := func(company string, x *resourcetest.Thing) error {
		_, err := r.Resources.PutResource(t.Context(), company, k, x)
		return err
	}
	if err := put(ours, bulky("a", 2000)); !carillon.IsCode(err, carillon.ValidationFailed) {
		t.Error("one that is too large:", err)
	}
	for _, id := range []string{"a", "b"} {
		if err := put(ours, bulky(id, 1800)); err != nil {
			t.Fatal(err)
		}
	}
	limitExceeded(t, put(ours, bulky("c", 1800)), 5000)
	if err := put(theirs, bulky("theirs", 1800)); err != nil {
		t.Error("another company's count:", err)
	}
	if err := put(ours, bulky("a", 1000)); err != nil {
		t.Error("a smaller one:", err)
	}
	if err := put(ours, bulky("c", 1700)); err != nil {
		t.Error("in the room of it:", err)
	}
	// Documents older than the bounds are kept, and may shrink.
	free := kindOf("flow")
	r.putResource(t, ours, free, bulky("d", 9000))
	for _, bytes := range []int{9000, 8000} {
		if err := put(ours, bulky("d", bytes)); err != nil {
			t.Error(bytes, err)
		}
	}
	if err := put(ours, bulky("d", 8001)); !carillon.IsCode(err, carillon.ValidationFailed) {
		t.Error("it grows again:", err)
	}
}

func draftBytes(t *testing.T, r *rig) {
	s := r.Runs
	save := func(company, flow string, bytes int, seen time.Time) (time.Time, error) {
		x := &chats.FlowDraft{FlowID: flow, Name: flow, Definition: strings.Repeat("x", bytes), SavedAt: r.now}
		err := s.SaveDraft(t.Context(), company, x, seen)
		return x.SavedAt, err
	}
	if _, err := save(ours, "f", chats.MaxFlowDraftBytes+1, time.Time{}); !carillon.IsCode(err, carillon.ValidationFailed) {
		t.Error("one that is too large:", err)
	}
	for i := range chats.MaxFlowDraftsBytes / chats.MaxFlowDraftBytes {
		if _, err := save(ours, fmt.Sprint("f", i), chats.MaxFlowDraftBytes, time.Time{}); err != nil {
			t.Fatal(i, err)
		}
	}
	_, err := save(ours, "more", 1, time.Time{})
	limitExceeded(t, err, chats.MaxFlowDraftsBytes)
	if _, err := save(theirs, "f", chats.MaxFlowDraftBytes, time.Time{}); err != nil {
		t.Error("another company's count:", err)
	}
	if _, err := save(ours, "f1", chats.MaxFlowDraftBytes, r.now); err != nil {
		t.Error("the same again:", err)
	}
}

func resourceCount(t *testing.T, r *rig) {
	k := kindOf("agent")
	k.Most = 2
	for _, id := range []string{"a", "b"} {
		r.putResource(t, ours, k, thing(k, id, id))
	}
	_, err := r.Resources.PutResource(t.Context(), ours, k, thing(k, "c", "c"))
	limitExceeded(t, err, 2)
	r.putResource(t, theirs, k, thing(k, "c", "c"))
}

// demanding is a resource whose secret must be given.
type demanding struct{ *resourcetest.Thing }

func (d *demanding) Secrets() []resource.Secret {
	all := d.Thing.Secrets()
	all[0].Required = "secret"
	return all
}

func resourceRequired(t *testing.T, r *rig) {
	k := kindOf("agent")
	inner := k.New
	k.New = func() resource.Resource { return &demanding{inner().(*resourcetest.Thing)} }
	put := func(use, value string) error {
		x := thing(kindOf("agent"), "a", "Ann")
		x.Greeting, x.SecretText = use, value
		_, err := r.Resources.PutResource(t.Context(), ours, k, &demanding{x})
		return err
	}
	for _, c := range []struct {
		use, value string
		refused    bool
	}{{"one", "", true}, {"one", "value", false}, {"one", "", false}, {"two", "", true}, {"two", "value", false}} {
		err := put(c.use, c.value)
		if c.refused != carillon.IsCode(err, carillon.ValidationFailed) || !c.refused && err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// picky is a resource that refers to some agents alone.
type picky struct{ *resourcetest.Thing }

func (p *picky) References() []resource.Reference {
	all := p.Thing.References()
	for i := range all {
		all[i].Check = func(doc []byte) string {
			if strings.Contains(string(doc), "Ann") {
				return ""
			}
			return "Must be Ann"
		}
	}
	return all
}

func resourceChecked(t *testing.T, r *rig) {
	agents, widgets := kindOf("agent"), kindOf("widget")
	r.putResource(t, ours, agents, thing(agents, "a", "Ann"))
	r.putResource(t, ours, agents, thing(agents, "b", "Bob"))
	for agent, admitted := range map[string]bool{"a": true, "Ann": true, "b": false, "Bob": false, "nobody": false} {
		w := thing(widgets, "w", "Web")
		w.Agent = agent
		_, err := r.Resources.PutResource(t.Context(), ours, widgets, &picky{w})
		if admitted && (err != nil || w.Agent != "a") || !admitted && !carillon.IsCode(err, carillon.ValidationFailed) {
			t.Error(agent, err)
		}
	}
}

func secretUses(t *testing.T, r *rig) {
	k := kindOf("secret")
	r.putResource(t, ours, k, thing(k, "key", "key"))
	for _, c := range []struct{ after, want time.Duration }{
		{0, 0}, {59 * time.Second, 0}, {time.Minute, time.Minute}, {30 * time.Second, time.Minute},
	} {
		if err := r.Resources.SecretUsed(t.Context(), ours, "key", r.now.Add(c.after)); err != nil {
			t.Fatal(err)
		}
		uses, err := r.Resources.SecretUses(t.Context(), ours)
		if err != nil || len(uses) != 1 || !uses["key"].Equal(r.now.Add(c.want)) {
			t.Error(c, uses, err)
		}
	}
	if uses, err := r.Resources.SecretUses(t.Context(), theirs); len(uses) > 0 || err != nil {
		t.Error("another company's:", uses, err)
	}
	if err := r.Resources.DeleteResource(t.Context(), ours, resourcetest.Kinds(), k, "key"); err != nil {
		t.Fatal(err)
	}
	if uses, err := r.Resources.SecretUses(t.Context(), ours); len(uses) > 0 || err != nil {
		t.Error("of one that is deleted:", uses, err)
	}
}

func oldVersions(t *testing.T, r *rig) {
	s := r.Runs
	r.putResource(t, ours, kindOf("flow"), bulky("live", 1))
	x := r.newRun(r.talk(t, ours))
	keep := func(company, flow string) int {
		r.now = r.now.Add(time.Second)
		n, err := s.Keep(t.Context(), company, flow, carillon.NewID(r.now), strings.Repeat("d", chats.MaxFlowVersionBytes/4), r.now)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	x.FlowID, x.Version = "gone", keep(ours, "gone")
	if _, err := r.writeRun(t, &chats.RunWrite{Run: x}, nil); err != nil {
		t.Fatal(err)
	}
	keep(ours, "gone")
	keep(theirs, "live")
	first, last := keep(ours, "live"), 0
	for range 3 {
		last = keep(ours, "live")
	}
	exists := func(company, flow string, version int) bool {
		text, err := s.Definition(t.Context(), company, flow, version)
		if err != nil {
			t.Fatal(err)
		}
		return text != ""
	}
	if !exists(ours, "gone", 1) || exists(ours, "gone", 2) || exists(ours, "live", first) || !exists(ours, "live", last) ||
		!exists(theirs, "live", 1) {
		t.Errorf("a run's %t, a removed flow's %t, the first %t, the last %t, another company's %t",
			exists(ours, "gone", 1), exists(ours, "gone", 2), exists(ours, "live", first), exists(ours, "live", last),
			exists(theirs, "live", 1))
	}
}

// onEach runs a test on both engines.
func onEach(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Run("sqlite", func(t *testing.T) { test(t, newRig(t, openSQLite(t))) })
	t.Run("postgres", func(t *testing.T) { test(t, newRig(t, openPostgres(t))) })
}

func TestListsOfFlowsReadNoDocuments(t *testing.T) {
	onEach(t, func(t *testing.T, r *rig) {
		for i := range 20 {
			r.putResource(t, ours, kindOf("flow"), bulky(fmt.Sprint("f", i), 200<<10))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if got := r.heads(t, ours); len(got) != 20 {
			t.Fatal(len(got))
		}
		runtime.ReadMemStats(&after)
		if read := after.TotalAlloc - before.TotalAlloc; read > 200<<10 {
			t.Errorf("a list of 20 flows of 200 KiB takes %d bytes", read)
		}
	})
}
