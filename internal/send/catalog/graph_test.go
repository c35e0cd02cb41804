package catalog

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/send/whatsapp"
	"carillon/internal/send/whatsapp/graphtest"
	"carillon/internal/store"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"
	"carillon/internal/store/storetest"
)

func TestATemplatesLifeAtTheCloudAPI(t *testing.T) {
	graph, err := graphtest.New(graphtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	closeGraph := sync.OnceValue(graph.Close)
	t.Cleanup(func() { _ = closeGraph() })
	w := newWorld(t, store.Options{Dir: storetest.Folder(t)})
	client := whatsapp.New(whatsapp.Options{})
	t.Cleanup(client.CloseIdleConnections)
	w.reviewers["whatsapp"] = client
	line := sender("ours", "graph", "15555550103")
	line.Provider, line.Settings = "whatsapp", graph.Settings()
	if err := w.store.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return settings.PutSender(ctx, tx, line, time.Now())
	}); err != nil {
		t.Fatal(err)
	}

	made, err := w.Create(t.Context(), w.ours, line, draft("visit_reminder"), true)
	if err != nil || made.Status != carillon.TemplatePending || made.PublicID() != graph.TemplateID("visit_reminder", "es_ES") {
		t.Fatal(made, err)
	}
	w.callback(graph, line, "REJECTED", "INVALID_FORMAT")
	if r := w.record(made.PublicID()); r.Status != carillon.TemplateRejected || r.Reason != "INVALID_FORMAT" {
		t.Fatal(r.Status, r.Reason)
	}
	graph.SetTemplate("visit_reminder", "es_ES", "REJECTED", "INVALID_FORMAT")
	if _, err := w.Edit(t.Context(), "ours", made.PublicID(), same); err != nil {
		t.Fatal(err)
	}
	if again, err := w.Submit(t.Context(), "ours", made.PublicID()); err != nil || again.Status != carillon.TemplatePending {
		t.Fatal(again, err)
	}
	for _, step := range []struct {
		event string
		want  carillon.TemplateStatus
	}{
		{"APPROVED", carillon.TemplateApproved},
		{"PAUSED", carillon.TemplatePaused},
		{"DISABLED", carillon.TemplateDisabled},
		{"REINSTATED", carillon.TemplateApproved},
	} {
		w.callback(graph, line, step.event, "NONE")
		if got := w.status(made.ID); got != step.want {
			t.Errorf("%s: now %s", step.event, got)
		}
	}
	if got, has, err := w.Statistics(t.Context(), "ours", made.PublicID(), time.Now()); !has || got.Counts || err != nil {
		t.Error(got, has, err)
	}
	if _, _, err := w.Statistics(t.Context(), "theirs", made.PublicID(), time.Now()); !carillon.IsCode(err, carillon.NotFound) {
		t.Error(err)
	}
	if err := w.CountByTemplate(t.Context(), "theirs", made.PublicID()); !carillon.IsCode(err, carillon.NotFound) {
		t.Error(err)
	}
	if err := w.CountByTemplate(t.Context(), "ours", made.PublicID()); err != nil || !graph.Account().Counts {
		t.Error(err, "not counting")
	}
	if err := w.Delete(t.Context(), "ours", made.PublicID()); err != nil || graph.TemplateID("visit_reminder", "es_ES") != "" {
		t.Error(err, "still at the channel:", graph.TemplateID("visit_reminder", "es_ES"))
	}
	if err := closeGraph(); err != nil {
		t.Fatal(err)
	}
	_, err = w.Create(t.Context(), w.ours, line, draft("visit_reminder"), true)
	var e *carillon.Error
	if !errors.As(err, &e) || e.Code != carillon.UpstreamUnavailable || e.Details.Find("service") != "whatsapp" {
		t.Error(err)
	}
	if _, err := w.FindNamed(t.Context(), "ours", "visit_reminder", ""); !carillon.IsCode(err, carillon.NotFound) {
		t.Error("half a template was left:", err)
	}
}

// callback applies a report of the channel on the template.
func (w *world) callback(graph *graphtest.Server, line *carillon.Sender, event, reason string) {
	w.t.Helper()
	cb, err := whatsapp.ParseCallback(graph.TemplateBody("visit_reminder", "es_ES", event, reason), line.UID)
	if err != nil || len(cb.Templates) != 1 {
		w.t.Fatal(cb, err)
	}
	if err := w.Apply(w.t.Context(), cb.Templates); err != nil {
		w.t.Fatal(err)
	}
}
