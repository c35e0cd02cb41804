package store_test

import (
	"context"
	"slices"
	"strconv"
	"testing"

	"carillon"
	"carillon/internal/store/audit"
	"carillon/internal/store/messages"
	"carillon/internal/store/rank"
	"carillon/internal/store/work"
)

func recipients() []sentence {
	return []sentence{
		{"a page of notifications is read with its first recipients, and a company's alone", openings},
		{"the messages of several notifications come together, each in order", messagesTogether},
		{"a message is found by the provider's id, among the company's newest", byProviderID},
		{"a note is added once", notes},
	}
}

func openings(t *testing.T, r *rig) {
	a, b := r.accepted(t, 2), r.accepted(t, 1)
	foreign := r.accepted(t, 1, func(a *messages.Accept) { a.Notification.CompanyID = theirs })
	if first, err := r.Messages.Openings(t.Context()); len(first) > 0 || err != nil {
		t.Error(first, err)
	}
	first, err := r.Messages.Openings(t.Context(), a.Notification.Seq(), b.Notification.Seq())
	if err != nil || len(first) != 2 || first[a.Notification.Seq()].Number != "34600000000" {
		t.Error(first, err)
	}
	if none, err := r.Notifications.Of(t.Context(), ours, nil); len(none) > 0 || err != nil {
		t.Error(none, err)
	}
	stray := carillon.NewID(r.now)
	found, err := r.Notifications.Of(t.Context(), ours, []string{a.Notification.ID, foreign.Notification.ID, stray, b.Notification.ID})
	var ids []string
	for _, n := range found {
		ids = append(ids, n.ID)
	}
	slices.Sort(ids)
	if err != nil || !slices.Equal(ids, []string{a.Notification.ID, b.Notification.ID}) {
		t.Errorf("%v, %v", ids, err)
	}
}

func messagesTogether(t *testing.T, r *rig) {
	a, b := r.accepted(t, 100), r.accepted(t, 3)
	if none, err := r.Messages.ListAll(t.Context(), nil); len(none) > 0 || err != nil {
		t.Error(none, err)
	}
	all, err := r.Messages.ListAll(t.Context(), []carillon.Seq{b.Notification.Seq(), a.Notification.Seq()})
	if err != nil || len(all) != 2 || len(all[b.Notification.Seq()]) != 3 {
		t.Fatal(len(all), err)
	}
	for i, m := range all[a.Notification.Seq()] {
		if m.N != i || m.Number != strconv.Itoa(34600000000+i) {
			t.Errorf("message %d is %d to %s", i, m.N, m.Number)
		}
	}
}

func byProviderID(t *testing.T, r *rig) {
	f := r.fence(t)
	old := r.accepted(t, 1)
	a := r.accepted(t, 3)
	for _, x := range []struct {
		a  *messages.Accept
		n  int
		id string
	}{{a, 2, "wamid.x"}, {old, 0, "wamid.old"}} {
		r.start(t, f, x.a, x.n)
		r.result(t, work.Result{
			Key: work.Key(x.a.Notification.Seq().Message(x.n)), Attempt: 1, At: r.now,
			Outcome: messages.Outcome{Rank: rank.Sent, ProviderID: x.id},
		})
	}
	find := func(company, id string, want carillon.MessageKey) {
		t.Helper()
		key, ok, err := r.Messages.ByProviderID(t.Context(), company, id)
		if err != nil || ok != (want != 0) || ok && key != want {
			t.Errorf("%s: %d, %v, %v", id, key, ok, err)
		}
	}
	find(ours, "wamid.x", a.Notification.Seq().Message(2))
	find(ours, "wamid.y", 0)
	find(theirs, "wamid.x", 0)
	find(ours, "wamid.old", old.Notification.Seq().Message(0))
	many := make([]*messages.Accept, 1000)
	for i := range many {
		many[i] = r.request("34600000001")
	}
	for _, err := range r.Notifications.Together(context.Background(), false, many...) {
		if err != nil {
			t.Fatal(err)
		}
	}
	find(ours, "wamid.old", 0)
}

func notes(t *testing.T, r *rig) {
	a := r.accepted(t, 1)
	for _, note := range []string{"first", "second", "first", "sec"} {
		for _, company := range []string{ours, theirs} {
			if err := r.Notifications.AddNote(t.Context(), company, a.Notification.ID, note, audit.Resent); err != nil {
				t.Fatal(err)
			}
		}
	}
	n, err := r.Notifications.Find(t.Context(), ours, a.Notification.ID)
	if err != nil || n.Notes != "first second sec" {
		t.Errorf("%q, %v", n.Notes, err)
	}
	for company, note := range map[string]string{theirs: "sec", ours: "second"} {
		if err := r.Notifications.DropNote(t.Context(), company, a.Notification.ID, note); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := r.Notifications.Find(t.Context(), ours, a.Notification.ID); err != nil || n.Notes != "first sec" {
		t.Errorf("%q, %v", n.Notes, err)
	}
}
