package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/provider"
	"carillon/internal/store"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"
	"carillon/internal/store/storetest"
)

// gone stands for a deleted template, conflict for a 409 that changes nothing.
const gone, conflict = carillon.TemplateStatus("gone"), carillon.TemplateStatus("conflict")

func TestRequestsMoveATemplateAsTheTransitionsSay(t *testing.T) {
	const draft, pending = carillon.TemplateDraft, carillon.TemplatePending
	want := map[string]map[carillon.TemplateStatus]carillon.TemplateStatus{
		"edit": {"draft": draft, "pending": draft, "approved": conflict, "rejected": draft, "paused": conflict, "disabled": conflict},
		"submit": {
			"draft": pending, "pending": conflict, "approved": conflict, "rejected": conflict, "paused": conflict, "disabled": conflict,
		},
		"delete": {"draft": gone, "pending": gone, "approved": gone, "rejected": gone, "paused": gone, "disabled": gone},
	}
	onEachEngine(t, func(t *testing.T, w *world) {
		for action, row := range want {
			for _, from := range statuses() {
				name := action + "_" + string(from)
				made := w.standing(name, from)
				var err error
				switch action {
				case "edit":
					_, err = w.Edit(t.Context(), "ours", made.ID, same)
				case "submit":
					_, err = w.Submit(t.Context(), "ours", made.ID)
				case "delete":
					err = w.Delete(t.Context(), "ours", made.ID)
				}
				w.check(name, made, from, row[from], err)
			}
		}
	})
}

func (w *world) check(name string, made *carillon.Template, from, want carillon.TemplateStatus, err error) {
	w.t.Helper()
	switch want {
	case conflict:
		if !carillon.IsCode(err, carillon.Conflict) || w.status(made.ID) != from {
			w.t.Errorf("%s: %v, now %s", name, err, w.status(made.ID))
		}
	case gone:
		if _, found := w.Find(w.t.Context(), "ours", made.ID); err != nil || !carillon.IsCode(found, carillon.NotFound) {
			w.t.Errorf("%s: %v, then %v", name, err, found)
		}
		if made.ProviderID != "" && w.desk.has(made.ProviderID) {
			w.t.Errorf("%s: still at the channel", name)
		}
	default:
		if err != nil || w.status(made.ID) != want {
			w.t.Errorf("%s: %v, now %s", name, err, w.status(made.ID))
		}
	}
}

func TestARejectedTemplateIsSubmittedAgainUnderItsID(t *testing.T) {
	w := newWorld(t, store.Options{Dir: storetest.Folder(t)})
	made := w.standing("greeting", carillon.TemplateRejected)
	edited, err := w.Edit(t.Context(), "ours", made.PublicID(), func(x carillon.Template) (carillon.Template, error) {
		x.Components = []carillon.Component{{Type: content.TypeBody, Text: "Buenos días, {{1}}."}}
		return x, nil
	})
	if err != nil || edited.Status != carillon.TemplateDraft || edited.PublicID() != made.PublicID() {
		t.Fatal(edited, err)
	}
	again, err := w.Submit(t.Context(), "ours", made.PublicID())
	if err != nil || again.Status != carillon.TemplatePending || again.PublicID() != made.PublicID() ||
		again.Components[0].Text != "Buenos días, {{1}}." {
		t.Fatal(again, err)
	}
}

func TestEditWithdrawsAPendingTemplateAtTheChannel(t *testing.T) {
	w := newWorld(t, store.Options{Dir: storetest.Folder(t)})
	made := w.submitted("greeting")
	if _, err := w.Edit(t.Context(), "ours", made.ID, same); err != nil || w.desk.has(made.ProviderID) {
		t.Error(err, "still at the channel:", w.desk.has(made.ProviderID))
	}
}

func TestNameAndLanguageAreFixedOnceTheChannelHadTheTemplate(t *testing.T) {
	w := newWorld(t, store.Options{Dir: storetest.Folder(t)})
	rename := func(x carillon.Template) (carillon.Template, error) {
		x.Name += "_2"
		return x, nil
	}
	if edited, err := w.Edit(t.Context(), "ours", w.create("fresh").ID, rename); err != nil || edited.Name != "fresh_2" {
		t.Error(edited, err)
	}
	translate := func(x carillon.Template) (carillon.Template, error) {
		x.Language = "pt_BR"
		return x, nil
	}
	known := w.standing("known", carillon.TemplateRejected)
	before := w.record(known.ID)
	for _, revise := range []func(carillon.Template) (carillon.Template, error){rename, translate} {
		_, err := w.Edit(t.Context(), "ours", known.ID, revise)
		if now := w.record(known.ID); !carillon.IsCode(err, carillon.Conflict) || now.Name != before.Name ||
			now.Language != before.Language {
			t.Errorf("%v, now %s in %s", err, now.Name, now.Language)
		}
	}
}

func TestAChannelThatIsDownLeavesEverythingAsItWas(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		w.ours.Limits.TemplatesPerDay = 3
		made, pending := w.create("made"), w.submitted("pending")
		w.desk.down = errDown
		calls := map[string]func() error{
			"submit": func() error { _, err := w.Submit(t.Context(), "ours", made.ID); return err },
			"edit":   func() error { _, err := w.Edit(t.Context(), "ours", pending.ID, same); return err },
			"delete": func() error { return w.Delete(t.Context(), "ours", pending.ID) },
			"create": func() error { _, err := w.Create(t.Context(), w.ours, w.main, draft("third"), true); return err },
		}
		for name, call := range calls {
			err := call()
			var e *carillon.Error
			if !errors.As(err, &e) || e.Code != carillon.UpstreamUnavailable || e.Details.Find("service") != "desk" ||
				e.Details.Find("estimated_recovery") == nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if w.status(made.ID) != carillon.TemplateDraft || w.status(pending.ID) != carillon.TemplatePending {
			t.Error(w.status(made.ID), w.status(pending.ID))
		}
		if w.record(pending.ID).PollAt.IsZero() {
			t.Error("nobody asks about the pending template any more")
		}
		w.desk.down = nil
		// The failed creation leaves no template, does not count, and no claim blocks others.
		if _, err := w.Create(t.Context(), w.ours, w.main, draft("third"), true); err != nil {
			t.Error(err)
		}
		if _, err := w.Submit(t.Context(), "ours", made.ID); err != nil {
			t.Error(err)
		}
		if _, err := w.Edit(t.Context(), "ours", pending.ID, same); err != nil {
			t.Error(err)
		}
	})
}

func TestWhatTheChannelRefusesIsToldInItsWords(t *testing.T) {
	w := newWorld(t, store.Options{Dir: storetest.Folder(t)})
	made := w.create("made")
	w.desk.down = carillon.Invalid("template", "Variables must not stand at the end")
	if _, err := w.Submit(t.Context(), "ours", made.ID); !carillon.IsCode(err, carillon.ValidationFailed) ||
		w.status(made.ID) != carillon.TemplateDraft {
		t.Error(err, w.status(made.ID))
	}
}

func TestNobodyElseTouchesATemplateThatIsAtTheChannel(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		made := w.create("made")
		w.desk.during = func() {
			w.desk.during = nil
			_, submit := w.Submit(t.Context(), "ours", made.ID)
			_, edit := w.Edit(t.Context(), "ours", made.ID, same)
			for _, err := range []error{submit, edit, w.Delete(t.Context(), "ours", made.ID)} {
				if !carillon.IsCode(err, carillon.Conflict) {
					t.Error(err)
				}
			}
		}
		if got, err := w.Submit(t.Context(), "ours", made.ID); err != nil || got.Status != carillon.TemplatePending {
			t.Error(got, err)
		}
	})
}

func TestAReportDuringTheSubmissionCounts(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		made := w.create("made")
		w.desk.during = func() {
			e := provider.TemplateEvent{
				SenderUID: w.main.UID, Name: "made", Language: "es_ES", ProviderID: "900000001", Status: carillon.TemplateApproved,
			}
			if err := w.Apply(t.Context(), []provider.TemplateEvent{e}); err != nil {
				t.Error(err)
			}
		}
		got, err := w.Submit(t.Context(), "ours", made.ID)
		if err != nil || got.Status != carillon.TemplateApproved || got.ProviderID != "900000001" || w.approvedCalls(made.ID) == 0 {
			t.Error(got, err, w.approvedCalls(made.ID))
		}
	})
}

func TestOfEditsAtOnceEachIsWholeOrRefused(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		made := w.create("made")
		var won atomic.Int64
		var group sync.WaitGroup
		for range 16 {
			group.Go(func() {
				_, err := w.Edit(context.WithoutCancel(t.Context()), "ours", made.ID, func(x carillon.Template) (carillon.Template, error) {
					x.Components = []carillon.Component{{Type: content.TypeBody, Text: x.Components[0].Text + "+"}}
					return x, nil
				})
				switch {
				case err == nil:
					won.Add(1)
				case !carillon.IsCode(err, carillon.Conflict):
					t.Error(err)
				}
			})
		}
		group.Wait()
		plus := len(w.record(made.ID).Components[0].Text) - len("Hola {{1}}.")
		if int(won.Load()) != plus || plus == 0 {
			t.Errorf("%d edits were answered, %d are stored", won.Load(), plus)
		}
	})
}

func TestSubmitAndEditAtOnceNeverBothWin(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		for i := range 10 {
			made := w.create(fmt.Sprintf("made_%d", i))
			var submit, edit error
			var group sync.WaitGroup
			group.Go(func() { _, submit = w.Submit(context.WithoutCancel(t.Context()), "ours", made.ID) })
			group.Go(func() {
				_, edit = w.Edit(context.WithoutCancel(t.Context()), "ours", made.ID, func(x carillon.Template) (carillon.Template, error) {
					x.Category = "MARKETING"
					return x, nil
				})
			})
			group.Wait()
			r := w.record(made.ID)
			edited := r.Category == "MARKETING"
			if edited != (edit == nil) || edit != nil && submit != nil {
				t.Errorf("submit: %v; edit: %v; now %s %s", submit, edit, r.Status, r.Category)
			}
			if submit == nil && edit != nil && r.Status != carillon.TemplatePending {
				t.Errorf("submitted, now %s", r.Status)
			}
		}
	})
}

func TestCreationsNeverPassTheDay(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		w.ours.Limits.TemplatesPerDay = 10
		var made atomic.Int64
		var group sync.WaitGroup
		for i := range 24 {
			group.Go(func() {
				_, err := w.Create(context.WithoutCancel(t.Context()), w.ours, w.main, draft(fmt.Sprintf("made_%d", i)), i%2 == 0)
				switch {
				case err == nil:
					made.Add(1)
				case !errors.Is(err, ErrCreatedToday):
					t.Error(err)
				}
			})
		}
		group.Wait()
		if made.Load() != 10 {
			t.Errorf("%d were created", made.Load())
		}
		if _, err := w.Create(t.Context(), w.theirs, w.foreign, draft("theirs"), false); err != nil {
			t.Errorf("another company's day: %v", err)
		}
	})
}

func TestACompanyHasAtMostAHundredActiveTemplates(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		var drafts []string
		for i := range 8 {
			drafts = append(drafts, w.create(fmt.Sprintf("draft_%d", i)).ID)
		}
		w.declare(96)
		var submitted atomic.Int64
		var group sync.WaitGroup
		for _, id := range drafts {
			group.Go(func() {
				_, err := w.Submit(context.WithoutCancel(t.Context()), "ours", id)
				var e *carillon.Error
				switch {
				case err == nil:
					submitted.Add(1)
				case !errors.As(err, &e) || e.Code != carillon.LimitExceeded || e.Details.Find("limit") != 100 ||
					e.Details.Find("used") != 100:
					t.Error(err)
				}
			})
		}
		group.Wait()
		if submitted.Load() != 4 {
			t.Errorf("%d of 4 places were taken", submitted.Load())
		}
		if _, err := w.Create(t.Context(), w.ours, w.main, draft("submitted"), true); !carillon.IsCode(err, carillon.LimitExceeded) {
			t.Error(err)
		}
		if _, err := w.Create(t.Context(), w.ours, w.main, draft("one_more"), false); err != nil {
			t.Errorf("a draft is not active: %v", err)
		}
	})
}

// declare creates approved templates in the way of the declarative set-up.
func (w *world) declare(n int) {
	w.t.Helper()
	err := w.store.Config.Change(w.t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		for i := range n {
			x := draft(fmt.Sprintf("declared_%d", i))
			x.ID, x.CompanyID, x.SenderUID, x.Status = fmt.Sprint(i+1), "ours", w.main.UID, carillon.TemplateApproved
			if err := errors.Join(content.Compile(&x), settings.PutTemplate(ctx, tx, &x, time.Now())); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestASenderHasANameAndLanguageOnce(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		w.create("made")
		if _, err := w.Create(t.Context(), w.ours, w.main, draft("made"), false); !carillon.IsCode(err, carillon.Conflict) {
			t.Error(err)
		}
		if _, err := w.Create(t.Context(), w.ours, w.second, draft("made"), false); err != nil {
			t.Errorf("of another sender: %v", err)
		}
	})
}

func TestAnotherCompanysTemplateIsNotThere(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		made := w.submitted("made")
		for _, id := range []string{made.ID, made.ProviderID} {
			_, find := w.Find(t.Context(), "theirs", id)
			_, named := w.FindNamed(t.Context(), "theirs", id, "")
			_, edit := w.Edit(t.Context(), "theirs", id, same)
			_, submit := w.Submit(t.Context(), "theirs", id)
			for _, err := range []error{find, named, edit, submit, w.Delete(t.Context(), "theirs", id)} {
				if !carillon.IsCode(err, carillon.NotFound) {
					t.Errorf("%s: %v", id, err)
				}
			}
		}
		if w.status(made.ID) != carillon.TemplatePending {
			t.Error(w.status(made.ID))
		}
	})
}

func TestFindNamedPrefersWhatCanBeSent(t *testing.T) {
	w := newWorld(t, store.Options{Dir: storetest.Folder(t)})
	w.create("made")
	x := draft("made")
	x.Language = "pt_PT"
	if _, err := w.Create(t.Context(), w.ours, w.main, x, true); err != nil {
		t.Fatal(err)
	}
	e := provider.TemplateEvent{SenderUID: w.main.UID, Name: "made", Language: "pt_PT", Status: carillon.TemplateApproved}
	if err := w.Apply(t.Context(), []provider.TemplateEvent{e}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, language := range []string{"", "es_ES", "pt_PT"} {
		found, err := w.FindNamed(t.Context(), "ours", "made", language)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, found.Language)
	}
	if diff := cmp.Diff([]string{"pt_PT", "es_ES", "pt_PT"}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := w.FindNamed(t.Context(), "ours", "made", "fr_FR"); !carillon.IsCode(err, carillon.NotFound) {
		t.Error(err)
	}
}

// Recipients could not open a counted link without an https address; the phones of the sandbox can.
func TestClicksAreCountedOnlyAtAnHTTPSAddress(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		counted := func(name, prefix string) carillon.Template {
			x := draft(name)
			x.Components = append(slices.Clone(x.Components), carillon.Component{Type: content.TypeButtons, Buttons: []carillon.Button{
				{Type: content.ButtonURL, Text: "Track", URL: prefix + "{{1}}"},
			}})
			return x
		}
		const plain, secure = "http://127.0.0.1:8080/l/", "https://ops.test/l/"
		w.store.Templates.CountClicks(plain)
		_, err := w.Create(t.Context(), w.ours, w.main, counted("made", plain), false)
		if !carillon.IsCode(err, carillon.ValidationFailed) || !strings.Contains(fmt.Sprint(reasonOf(err)), "--base-url") {
			t.Error(err)
		}
		made, err := w.Create(t.Context(), w.ours, w.main, counted("made", "http://acme.test/l/"), false) // of another host
		if err != nil {
			t.Fatal(err)
		}
		edit := func(carillon.Template) (carillon.Template, error) { return counted("made", plain), nil }
		if _, err := w.Edit(t.Context(), "ours", made.ID, edit); !carillon.IsCode(err, carillon.ValidationFailed) {
			t.Error(err)
		}
		mobile := *w.main
		mobile.Provider = "sandbox"
		if _, err := w.Create(t.Context(), w.ours, &mobile, counted("of_the_sandbox", plain), false); err != nil {
			t.Error(err)
		}
		w.store.Templates.CountClicks(secure)
		if made, err = w.Create(t.Context(), w.ours, w.main, counted("secure", secure), false); err != nil {
			t.Fatal(err)
		}
		if found, err := w.Find(t.Context(), "ours", made.ID); err != nil || !content.Counted(found.Shape) {
			t.Error(found, err)
		}
		if found, err := w.FindNamed(t.Context(), "ours", "secure", ""); err != nil || !content.Counted(found.Shape) {
			t.Error(found, err)
		}
	})
}

func reasonOf(err error) any {
	if e, ok := errors.AsType[*carillon.Error](err); ok {
		return e.Details.Find("reason")
	}
	return nil
}
