package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/provider"
	"carillon/internal/store"
	"carillon/internal/store/settings"
	"carillon/internal/store/storetest"
)

func TestReportsMoveATemplateAsTheTransitionsSay(t *testing.T) {
	const approved, rejected, paused, disabled = carillon.TemplateApproved, carillon.TemplateRejected, carillon.TemplatePaused,
		carillon.TemplateDisabled
	moves := map[carillon.TemplateStatus][]carillon.TemplateStatus{
		"pending": {approved, rejected, paused, disabled}, "approved": {paused, disabled, rejected},
		"paused": {approved, disabled, rejected}, "disabled": {approved}, "rejected": {approved},
	}
	onEachEngine(t, func(t *testing.T, w *world) {
		for _, from := range statuses() {
			for _, to := range statuses() {
				made := w.standing("from_"+string(from)+"_to_"+string(to), from)
				want := from
				if slices.Contains(moves[from], to) {
					want = to
				}
				e := provider.TemplateEvent{
					SenderUID: w.main.UID, ProviderID: made.ProviderID, Name: made.Name, Language: made.Language, Status: to,
					Reason: "because",
				}
				for range 2 { // repeats change nothing
					if err := w.Apply(t.Context(), []provider.TemplateEvent{e}); err != nil {
						t.Fatal(err)
					}
				}
				r := w.record(made.ID)
				if r.Status != want {
					t.Errorf("%s reported %s: now %s", from, to, r.Status)
				}
				waits := want == carillon.TemplatePending || want == paused || from == approved && want == rejected ||
					from == rejected && want == approved
				if r.PollAt.IsZero() == waits {
					t.Errorf("%s reported %s: next asked at %v", from, to, r.PollAt)
				}
				if called := w.approvedCalls(made.ID) > 0; called != (want == approved && to == approved) {
					t.Errorf("%s reported %s: OnApproved called %v", from, to, called)
				}
			}
		}
	})
}

func TestAReportIsOfThatVeryTemplateOfThatVerySender(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		known, declared := w.submitted("known"), w.create("other")
		w.declare(1)
		event := provider.TemplateEvent{ProviderID: known.ProviderID, Name: "known", Language: "es_ES", Status: carillon.TemplateApproved}
		elsewhere, unknown, otherID := event, event, event
		elsewhere.SenderUID, unknown.SenderUID, otherID.SenderUID = w.foreign.UID, w.second.UID, w.main.UID
		otherID.ProviderID = "900009999" // of an earlier template with this name
		if err := w.Apply(t.Context(), []provider.TemplateEvent{elsewhere, unknown, otherID}); err != nil {
			t.Fatal(err)
		}
		if w.status(known.ID) != carillon.TemplatePending || w.status(declared.ID) != carillon.TemplateDraft {
			t.Error(w.status(known.ID), w.status(declared.ID))
		}
		// A declared template is found by its name and gets its id from the report.
		learn := provider.TemplateEvent{
			SenderUID: w.main.UID, ProviderID: "900000777", Name: "declared_0", Language: "es_ES", Status: carillon.TemplatePaused,
		}
		if err := w.Apply(t.Context(), []provider.TemplateEvent{learn}); err != nil {
			t.Fatal(err)
		}
		if r := w.record("900000777"); r.Name != "declared_0" || r.Status != carillon.TemplatePaused {
			t.Error(r.Name, r.Status)
		}
		// The channel's report takes precedence over a new declaration.
		w.declare(1)
		if w.status("900000777") != carillon.TemplatePaused {
			t.Error(w.status("900000777"))
		}
	})
}

func TestTheChannelMayChangeTheCategory(t *testing.T) {
	w := newWorld(t, store.Options{Dir: storetest.Folder(t)})
	made := w.submitted("made")
	for _, tc := range []struct{ reported, want string }{{"MARKETING", "MARKETING"}, {"NONSENSE", "MARKETING"}} {
		e := provider.TemplateEvent{SenderUID: w.main.UID, ProviderID: made.ProviderID, Category: tc.reported}
		if err := w.Apply(t.Context(), []provider.TemplateEvent{e}); err != nil || w.record(made.ID).Category != tc.want {
			t.Error(err, w.record(made.ID).Category)
		}
	}
	if w.status(made.ID) != carillon.TemplatePending {
		t.Error(w.status(made.ID))
	}
}

func TestOnApprovedIsRepeatedAfterAnError(t *testing.T) {
	w := newWorld(t, store.Options{Dir: storetest.Folder(t)})
	failed := errors.New("the database is busy")
	onApproved := func(context.Context, *carillon.Template) error { return failed }
	w.OnApproved(func(ctx context.Context, x *carillon.Template) error { return onApproved(ctx, x) })
	made := w.standing("made", carillon.TemplatePaused)
	e := []provider.TemplateEvent{{SenderUID: w.main.UID, ProviderID: made.ProviderID, Status: carillon.TemplateApproved}}
	if err := w.Apply(t.Context(), e); !errors.Is(err, failed) {
		t.Fatal(err)
	}
	called := false
	onApproved = func(context.Context, *carillon.Template) error { called = true; return nil }
	if err := w.Apply(t.Context(), e); err != nil || !called {
		t.Error(err, called)
	}
}

func TestPauseHoldsBackAnApprovedTemplateOnly(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		for _, from := range statuses() {
			made := w.standing("made_"+string(from), from)
			want := from
			if from == carillon.TemplateApproved {
				want = carillon.TemplatePaused
			}
			if err := w.Pause(t.Context(), made, "132015"); err != nil || w.status(made.ID) != want {
				t.Errorf("%s: %v, now %s", from, err, w.status(made.ID))
			}
		}
		if err := w.Pause(t.Context(), &carillon.Template{CompanyID: "ours", ID: "404"}, "gone"); err != nil {
			t.Error(err)
		}
	})
}

// run starts the polling inside a synctest bubble.
func (w *world) run() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	}
}

func TestPollingFindsWhatReportsLost(t *testing.T) {
	dir := storetest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, store.Options{Dir: dir})
		stop := w.run()
		made, paused := w.submitted("made"), w.standing("held", carillon.TemplatePaused)
		w.desk.mu.Lock()
		w.desk.known[made.ProviderID].Status = carillon.TemplateRejected
		w.desk.known[made.ProviderID].Reason = "PROMOTIONAL"
		w.desk.known[paused.ProviderID].Status = carillon.TemplateApproved
		w.desk.mu.Unlock()
		<-time.After(61 * time.Second)
		if r := w.record(made.ID); r.Status != carillon.TemplateRejected || r.Reason != "PROMOTIONAL" {
			t.Error(r.Status, r.Reason)
		}
		if w.status(paused.ID) != carillon.TemplateApproved || w.approvedCalls(paused.ID) != 1 {
			t.Error(w.status(paused.ID), w.approvedCalls(paused.ID))
		}
		stop()
	})
}

func TestAReportThatContradictsTheReviewIsCheckedWithTheChannel(t *testing.T) {
	dir := storetest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, store.Options{Dir: dir})
		stop := w.run()
		kept, revoked := w.standing("kept", carillon.TemplateApproved), w.standing("revoked", carillon.TemplateApproved)
		w.desk.mu.Lock()
		w.desk.known[kept.ProviderID].Status = carillon.TemplateApproved
		w.desk.known[revoked.ProviderID].Status = carillon.TemplateRejected
		w.desk.down = errDown
		w.desk.mu.Unlock()
		for _, x := range []*carillon.Template{kept, revoked} {
			e := provider.TemplateEvent{SenderUID: w.main.UID, ProviderID: x.ProviderID, Status: carillon.TemplateRejected}
			if err := w.Apply(t.Context(), []provider.TemplateEvent{e}); err != nil || w.status(x.ID) != carillon.TemplateRejected {
				t.Fatal(err, w.status(x.ID))
			}
		}
		<-time.After(90 * time.Second)
		w.desk.mu.Lock()
		w.desk.down = nil
		w.desk.mu.Unlock()
		<-time.After(time.Hour)
		stop()
		if w.status(kept.ID) != carillon.TemplateApproved || w.status(revoked.ID) != carillon.TemplateRejected {
			t.Errorf("a repeated rejection: %s; a true one: %s", w.status(kept.ID), w.status(revoked.ID))
		}
		for _, x := range []*carillon.Template{kept, revoked} {
			if at := w.record(x.ID).PollAt; !at.IsZero() {
				t.Errorf("%s, and the channel has confirmed it, but is asked again at %v", w.status(x.ID), at)
			}
		}
	})
}

func TestPollingBacksOffToAnHour(t *testing.T) {
	dir := storetest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, store.Options{Dir: dir})
		stop := w.run()
		begin := time.Now()
		w.submitted("made")
		w.desk.mu.Lock()
		w.desk.down = errDown // polling also backs off while the channel is down
		w.desk.mu.Unlock()
		<-time.After(5*time.Hour + time.Minute)
		stop()
		var got []time.Duration
		for _, at := range w.desk.asked {
			got = append(got, at.Sub(begin).Round(time.Minute))
		}
		m := time.Minute
		want := []time.Duration{m, 2 * m, 4 * m, 8 * m, 16 * m, 32 * m, 64 * m, 124 * m, 184 * m, 244 * m}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestASubmissionThatBrokeOffIsCleanedUp(t *testing.T) {
	dir := storetest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, store.Options{Dir: dir})
		arrived, lost := w.broken("arrived"), w.broken("lost")
		w.desk.known["900000042"] = &provider.TemplateEvent{
			ProviderID: "900000042", Name: "arrived", Language: "es_ES", Status: carillon.TemplateApproved,
		}
		if _, err := w.Edit(t.Context(), "ours", lost, same); !carillon.IsCode(err, carillon.Conflict) {
			t.Errorf("the claim holds: %v", err)
		}
		stop := w.run()
		<-time.After(2 * time.Minute)
		if r := w.record(arrived); r.Status != carillon.TemplateApproved || r.ProviderID != "900000042" {
			t.Error(r.Status, r.ProviderID)
		}
		if w.status(lost) != carillon.TemplateDraft {
			t.Error(w.status(lost))
		}
		if _, err := w.Submit(t.Context(), "ours", lost); err != nil {
			t.Error(err)
		}
		stop()
	})
}

// broken leaves a template in the state of a node that stopped during a submission.
func (w *world) broken(name string) (id string) {
	w.t.Helper()
	r := w.record(w.create(name).ID)
	claimed := *r
	claim(&claimed, carillon.TemplatePending, time.Now())
	if ok, err := w.store.Templates.SwapTemplate(w.t.Context(), r, &claimed, time.Now(), settings.TemplateLimits{}); !ok || err != nil {
		w.t.Fatal(ok, err)
	}
	return r.ID
}

func TestAbsenceAtTheChannelChangesNothingThatWasDeclared(t *testing.T) {
	dir := storetest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, store.Options{Dir: dir})
		made := w.submitted("made")
		delete(w.desk.known, made.ProviderID)
		stop := w.run()
		<-time.After(10 * time.Minute)
		stop()
		if w.status(made.ID) != carillon.TemplatePending || len(w.desk.asked) < 3 {
			t.Error(w.status(made.ID), len(w.desk.asked))
		}
	})
}

func TestTheListHasTheContractsKeysAndOrder(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		list := func(uid int64) string {
			records, err := w.Approved(t.Context(), uid)
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			enc := json.NewEncoder(&text)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(records); err != nil {
				t.Fatal(err)
			}
			return strings.TrimSpace(text.String())
		}
		if got := list(w.main.UID); got != "[]" {
			t.Error(got)
		}
		w.submitted("b_waiting")
		for _, name := range []string{"b", "a"} {
			x := draft(name)
			x.Components = append([]carillon.Component{{
				Type: content.TypeHeader, Format: content.FormatImage,
				Example: &carillon.ComponentExample{HeaderHandle: []string{"https://cdn.example.org/a.jpg?x=1&y=2"}},
			}}, x.Components...)
			x.Components = append(x.Components, carillon.Component{
				Type: content.TypeButtons, Buttons: []carillon.Button{{Type: content.ButtonQuickReply, Text: "Sí"}},
			})
			made, err := w.Create(t.Context(), w.ours, w.main, x, true)
			if err != nil {
				t.Fatal(err)
			}
			e := provider.TemplateEvent{SenderUID: w.main.UID, ProviderID: made.ProviderID, Status: carillon.TemplateApproved}
			if err := w.Apply(t.Context(), []provider.TemplateEvent{e}); err != nil {
				t.Fatal(err)
			}
		}
		record := func(id, name string) string {
			return `{"id":"` + id + `","name":"` + name + `","status":"APPROVED","category":"UTILITY","language":"es_ES","components":[` +
				`{"type":"HEADER","format":"IMAGE","example":{"header_handle":["https://cdn.example.org/a.jpg?x=1&y=2"]}},` +
				`{"text":"Hola {{1}}.","type":"BODY"},{"type":"BUTTONS","buttons":[{"type":"QUICK_REPLY","text":"Sí"}]}],` +
				`"parameter_format":"POSITIONAL"}`
		}
		want := "[" + record("900000003", "a") + "," + record("900000002", "b") + "]"
		if diff := cmp.Diff(want, list(w.main.UID)); diff != "" {
			t.Error(diff)
		}
		if err := w.Pause(t.Context(), &w.record("900000003").Template, "132015"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff("["+record("900000002", "b")+"]", list(w.main.UID)); diff != "" {
			t.Error(diff)
		}
		if !json.Valid([]byte(list(w.second.UID))) || list(w.second.UID) != "[]" {
			t.Error(list(w.second.UID))
		}
	})
}
