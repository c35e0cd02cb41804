package store_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"carillon/internal/store/configure"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/store/settings"
)

func templating() []sentence {
	return []sentence{
		{"the history of a template has who changed what, and goes with it", templateHistory},
		{"of a long history the newest is kept", longTemplateHistory},
		{"a set-up is in the history of what it changes", declaredHistory},
		{"the last comparison of a sender's templates is kept", keepingSyncs},
	}
}

// story is a template's history in short, the oldest first.
func (r *rig) story(t *testing.T, company, id string) (all []string) {
	t.Helper()
	history, err := r.Templates.History(t.Context(), company, id)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range slices.Backward(history) {

		line := fmt.Sprintf("%s by %s %s: %s", x.Action, x.By.Kind, x.By.ID, x.Status)
		if x.Reason != "" {
			line += " (" + x.Reason + ")"
		}
		if x.Former != nil {
			line += " from " + x.Former.Category + " " + x.Former.Components[0].Text
		}
		if x.Present != nil {
			line += " to " + x.Present.Category + " " + x.Present.Components[0].Text
		}
		all = append(all, line)
	}
	return all
}

func templateHistory(t *testing.T, r *rig) {
	x := r.template(r.sender, "1", "a", carillon.TemplateDraft)
	ana, channel := settings.TemplateAuthor{Kind: "account", ID: "ana"}, settings.TemplateAuthor{Kind: "channel"}
	if err := r.Templates.CreateTemplate(t.Context(), x, settings.TemplateLimits{},
		settings.TemplateChange{Action: settings.TemplateCreated, By: ana}); err != nil {
		t.Fatal(err)
	}
	swap := func(change settings.TemplateChange, revise func(next *settings.TemplateRecord)) {
		t.Helper()
		read, err := r.Templates.Template(t.Context(), ours, "1")
		if err != nil {
			t.Fatal(err)
		}
		next := *read
		revise(&next)
		if ok, err := r.Templates.SwapTemplate(t.Context(), read, &next, r.now, settings.TemplateLimits{}, change); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if ok, err := r.Templates.SwapTemplate(t.Context(), read, &next, r.now, settings.TemplateLimits{}, change); ok || err != nil {
			t.Fatal("a change that came too late:", ok, err)
		}
	}
	swap(settings.TemplateChange{Action: settings.TemplateEdited, By: ana},
		func(next *settings.TemplateRecord) {
			next.Components = []carillon.Component{{Type: "BODY", Text: "Adiós\x00 {{1}}"}}
		})
	swap(settings.TemplateChange{Action: settings.TemplateSubmitted, By: settings.TemplateAuthor{Kind: "key", ID: "k"}},
		func(next *settings.TemplateRecord) {
			next.Status = carillon.TemplatePending
		})
	swap(settings.TemplateChange{Action: settings.TemplateDecided, By: channel},
		func(next *settings.TemplateRecord) {
			next.Status, next.Reason = carillon.TemplateRejected, "INVALID_FORMAT"
		})
	swap(settings.TemplateChange{Action: settings.TemplateCategorized, By: channel},
		func(next *settings.TemplateRecord) { next.Category = "MARKETING" })
	want := []string{
		"created by account ana: draft to UTILITY Hola {{1}}",
		"edited by account ana: draft from UTILITY Hola {{1}} to UTILITY Adiós\x00 {{1}}",
		"submitted by key k: pending",
		"decided by channel : rejected (INVALID_FORMAT)",
		"categorized by channel : rejected from UTILITY Adiós\x00 {{1}} to MARKETING Adiós\x00 {{1}}",
	}
	if diff := cmp.Diff(want, r.story(t, ours, "1")); diff != "" {
		t.Error(diff)
	}
	if foreign := r.story(t, r.foreign.CompanyID, "1"); len(foreign) > 0 {
		t.Error("another company reads", foreign)
	}
	read, err := r.Templates.Template(t.Context(), ours, "1")
	if err != nil {
		t.Fatal(err)
	}
	if gone, err := r.Templates.DeleteTemplate(t.Context(), read); !gone || err != nil {
		t.Error(gone, err)
	}
	if left := r.story(t, ours, "1"); len(left) > 0 {
		t.Error("left of a deleted template:", left)
	}
}

func longTemplateHistory(t *testing.T, r *rig) {
	x := r.template(r.sender, "1", "a", carillon.TemplateDraft)
	changes := make([]settings.TemplateChange, 130)
	for i := range changes {
		changes[i] = settings.TemplateChange{Action: settings.TemplateRefused, Reason: strconv.Itoa(i)}
	}
	if err := r.Templates.CreateTemplate(t.Context(), x, settings.TemplateLimits{}, changes...); err != nil {
		t.Fatal(err)
	}
	history, err := r.Templates.History(t.Context(), ours, "1")
	if err != nil || len(history) != 100 || history[0].Reason != "129" || history[99].Reason != "30" {
		t.Error(len(history), err)
	}
}

func declaredHistory(t *testing.T, r *rig) {
	put := func(text string, status carillon.TemplateStatus, at time.Time) {
		t.Helper()
		x := r.template(r.sender, "1", "a", status).Template
		x.Components[0].Text = text
		if err := r.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
			return settings.PutTemplate(ctx, tx, &x, at)
		}); err != nil {
			t.Fatal(err)
		}
	}
	put("Hola {{1}}", carillon.TemplateApproved, r.now)
	put("Hola {{1}}", carillon.TemplateApproved, r.now)
	put("Adiós {{1}}", carillon.TemplateApproved, r.now.Add(time.Hour))
	put("Adiós {{1}}", carillon.TemplatePaused, r.now.Add(2*time.Hour))
	want := []string{
		"created by setup : approved to UTILITY Hola {{1}}",
		"edited by setup : approved from UTILITY Hola {{1}} to UTILITY Adiós {{1}}",
		"decided by setup : paused",
	}
	if diff := cmp.Diff(want, r.story(t, ours, "1")); diff != "" {
		t.Error(diff)
	}
}

func keepingSyncs(t *testing.T, r *rig) {
	for _, x := range []settings.TemplateSync{
		{SenderUID: r.sender.UID, At: r.now, Error: "The messaging channel is not available"},
		{SenderUID: r.foreign.UID, At: r.now, Found: 1},
		{SenderUID: r.sender.UID, At: r.now.Add(time.Hour), Found: 7, Changed: 2, Missing: 3},
	} {
		if err := r.Templates.PutSync(t.Context(), x); err != nil {
			t.Fatal(err)
		}
	}
	got, err := r.Templates.Syncs(t.Context(), ours)
	if err != nil || len(got) != 1 || !got[0].At.Equal(r.now.Add(time.Hour)) {
		t.Fatal(got, err)
	}
	got[0].At = time.Time{}
	if want := (settings.TemplateSync{SenderUID: r.sender.UID, Found: 7, Changed: 2, Missing: 3}); got[0] != want {
		t.Error(got[0])
	}
	syncsAreDue(t, r)
}

// syncsAreDue requests comparisons, the second too soon after the first, and has two nodes move one.
func syncsAreDue(t *testing.T, r *rig) {
	s, last, rest := r.Templates, r.now.Add(time.Hour), 5*time.Minute
	for range 2 {
		if err := s.RequestSync(t.Context(), r.sender.UID, last.Add(time.Minute), rest); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.RequestSync(t.Context(), r.foreign.UID, last.Add(2*rest), rest); err != nil {
		t.Fatal(err)
	}
	find := func() *settings.TemplateSync {
		due, next, err := s.DueSyncs(t.Context(), last.Add(rest), 10)
		if err != nil || next.IsZero() {
			t.Fatal(due, next, err)
		}
		if i := slices.IndexFunc(due, func(x settings.TemplateSync) bool { return x.SenderUID == r.sender.UID }); i >= 0 {
			return &due[i]
		}
		return nil
	}
	due := find()
	if due == nil || !due.DueAt.Equal(last.Add(rest)) {
		t.Fatal(due)
	}
	for _, want := range []bool{true, false} {
		if mine, err := s.PostponeSync(t.Context(), *due, last.Add(24*time.Hour)); mine != want || err != nil {
			t.Error(mine, err)
		}
	}
	if due := find(); due != nil {
		t.Error(due)
	}
}
