package catalog

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/provider"
	"carillon/internal/send/whatsapp"
	"carillon/internal/send/whatsapp/graphtest"
	"carillon/internal/store"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"
	"carillon/internal/store/storetest"
)

// graph adds a sender of ours with its own account at the Cloud API. The returned function disables the account.
func (w *world) graph(id, number string, there ...carillon.Template) (*graphtest.Server, *carillon.Sender, func()) {
	w.t.Helper()
	graph, err := graphtest.New(graphtest.Options{Templates: there})
	if err != nil {
		w.t.Fatal(err)
	}
	off := sync.OnceValue(graph.Close)
	w.t.Cleanup(func() { _ = off() })
	if w.reviewers["whatsapp"] == nil {
		client := whatsapp.New(whatsapp.Options{})
		w.t.Cleanup(client.CloseIdleConnections)
		w.reviewers["whatsapp"] = client
	}
	line := sender("ours", id, number)
	line.Provider, line.Settings = "whatsapp", graph.Settings()
	if err := w.store.Config.Change(w.t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return settings.PutSender(ctx, tx, line, time.Now())
	}); err != nil {
		w.t.Fatal(err)
	}
	return graph, line, func() { _ = off() }
}

func TestASyncTakesOverWhatTheChannelsSay(t *testing.T) {
	w := newWorld(t, store.Options{Dir: storetest.Folder(t)})
	var there []carillon.Template // more templates than the channel lists on one page
	for i := range 230 {
		x := draft(fmt.Sprintf("there_%d", i))
		x.ParameterFormat = content.Positional
		there = append(there, x)
	}
	graph, line, _ := w.graph("graph", "15555550103", there...)
	_, other, switchOff := w.graph("down", "15555550104")
	made, err := w.By(Account("ana")).Create(t.Context(), w.ours, line, draft("greeting"), true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Create(t.Context(), w.ours, line, draft("a_draft"), false); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Create(t.Context(), w.ours, other, draft("elsewhere"), true); err != nil {
		t.Fatal(err)
	}
	graph.SetTemplate("greeting", "es_ES", "REJECTED", "TAG_CONTENT_MISMATCH")
	switchOff()
	foreign, err := w.Create(t.Context(), w.theirs, w.foreign, draft("foreign"), true)
	if err != nil {
		t.Fatal(err)
	}
	w.desk.known[foreign.ProviderID].Status = carillon.TemplateApproved

	for round, changed := range []int{1, 0} {
		all, err := w.Sync(t.Context(), "ours")
		if err != nil || len(all) != 4 {
			t.Fatal(all, err)
		}
		kept, err := w.store.Templates.Syncs(t.Context(), "ours")
		if err != nil || len(kept) != 4 {
			t.Fatal(kept, err)
		}
		for _, s := range kept {
			switch s.SenderUID {
			case line.UID:
				if s.Found != 231 || s.Changed != changed || s.Imported != 230*changed || s.Missing != 0 || s.Error != "" || s.At.IsZero() {
					t.Errorf("round %d: %+v", round, s)
				}
			case other.UID:
				if s.Error != "The messaging channel is not available" || s.Changed != 0 {
					t.Errorf("round %d: %+v", round, s)
				}
			default:
				if s.Error != "" || s.Found != 0 {
					t.Errorf("round %d: %+v", round, s)
				}
			}
		}
	}
	if r := w.record(made.ID); r.Status != carillon.TemplateRejected || r.Reason != "TAG_CONTENT_MISMATCH" {
		t.Error(r.Status, r.Reason)
	}
	if x, err := w.Find(t.Context(), "theirs", foreign.ID); err != nil || x.Status != carillon.TemplatePending {
		t.Error("another company's template changed:", x, err)
	}
	if all, err := w.store.Templates.Syncs(t.Context(), "theirs"); err != nil || len(all) != 0 {
		t.Error(all, err)
	}
	want := []string{"created account ana pending", "submitted account ana pending", "decided channel  rejected TAG_CONTENT_MISMATCH"}
	if diff := cmp.Diff(want, w.story(made.ID)); diff != "" {
		t.Error(diff)
	}
}

// story returns a short history of a template of ours, oldest change first.
func (w *world) story(id string) (all []string) {
	w.t.Helper()
	history, err := w.store.Templates.History(w.t.Context(), "ours", id)
	if err != nil {
		w.t.Fatal(err)
	}
	slices.Reverse(history)
	for _, x := range history {
		line := fmt.Sprintf("%s %s %s %s", x.Action, x.By.Kind, x.By.ID, x.Status)
		if x.Reason != "" {
			line += " " + x.Reason
		}
		all = append(all, line)
	}
	return all
}

func TestASyncAsksForWhatTheListLacks(t *testing.T) {
	w := newWorld(t, store.Options{Dir: storetest.Folder(t)})
	made := w.submitted("greeting")
	w.desk.known[made.ProviderID].SenderUID = w.second.UID // removes it from the sender's list
	w.desk.known[made.ProviderID].Status = carillon.TemplateApproved
	all, err := w.Sync(t.Context(), "ours")
	if err != nil || w.status(made.ID) != carillon.TemplateApproved {
		t.Fatal(all, err, w.status(made.ID))
	}
	if n := all[slices.IndexFunc(all, func(x settings.TemplateSync) bool { return x.SenderUID == w.main.UID })].Changed; n != 1 {
		t.Error(n, "changed")
	}
	w.desk.down = errDown
	if all, err = w.Sync(t.Context(), "ours"); err != nil || all[0].Error != "The channel could not be asked" {
		t.Error(all, err)
	}
}

func TestTwoSyncsOfACompanyDoNotRunTogether(t *testing.T) {
	w := newWorld(t, store.Options{Dir: storetest.Folder(t)})
	w.syncing.Store("ours", true)
	if _, err := w.Sync(t.Context(), "ours"); !carillon.IsCode(err, carillon.Conflict) {
		t.Error(err)
	}
	if _, err := w.Sync(t.Context(), "theirs"); err != nil {
		t.Error("of another company:", err)
	}
	w.syncing.Delete("ours")
	for range 2 {
		if _, err := w.Sync(t.Context(), "ours"); err != nil {
			t.Error(err)
		}
	}
}

func TestTheHistorySaysWhoDidWhat(t *testing.T) {
	w := newWorld(t, store.Options{Dir: storetest.Folder(t)})
	ana, app := w.By(Account("ana")), w.By(Key("app"))
	made, err := ana.Create(t.Context(), w.ours, w.main, draft("greeting"), false)
	if err != nil {
		t.Fatal(err)
	}
	w.desk.down = &carillon.Error{
		Code: carillon.ValidationFailed, Message: "Invalid parameter", Details: carillon.Details{{Key: "reason", Value: "It floats"}},
	}
	if _, err := app.Submit(t.Context(), "ours", made.ID); err == nil {
		t.Fatal("it was submitted")
	}
	w.desk.down = nil
	steps := []func() error{
		func() error { _, err := app.Submit(t.Context(), "ours", made.ID); return err },
		func() error { return w.decide(made.ID, carillon.TemplateRejected, "INVALID_FORMAT") },
		func() error { _, err := ana.Edit(t.Context(), "ours", made.ID, same); return err },
		func() error { _, err := ana.Submit(t.Context(), "ours", made.ID); return err },
		func() error { _, err := ana.Edit(t.Context(), "ours", made.ID, same); return err }, // withdraws the template
		func() error { _, err := ana.Submit(t.Context(), "ours", made.ID); return err },
		func() error { return w.decide(made.ID, carillon.TemplateApproved, "") },
		func() error { return w.decide(made.ID, carillon.TemplateApproved, "") },
		func() error { return w.Pause(t.Context(), &w.record(made.ID).Template, "Low quality") },
	}
	for i, step := range steps {
		if err := step(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
	want := []string{
		"created account ana draft", "submitted key app pending", "refused channel  draft Invalid parameter: It floats",
		"submitted key app pending", "decided channel  rejected INVALID_FORMAT", "edited account ana draft",
		"submitted account ana pending",
		"edited account ana draft", "submitted account ana pending", "decided channel  approved", "decided channel  paused Low quality",
	}
	if diff := cmp.Diff(want, w.story(made.ID)); diff != "" {
		t.Error(diff)
	}
}

// decide reports the channel's decision on a template of ours.
func (w *world) decide(id string, status carillon.TemplateStatus, reason string) error {
	r := w.record(id)
	e := provider.TemplateEvent{
		SenderUID: r.SenderUID, ProviderID: r.ProviderID, Name: r.Name, Language: r.Language, Status: status, Reason: reason,
	}
	return w.Apply(w.t.Context(), []provider.TemplateEvent{e})
}
