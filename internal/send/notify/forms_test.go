package notify_test

import (
	"testing"
	"testing/synctest"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/send/notify"
	"carillon/internal/store"
	"carillon/internal/store/settings"
)

// forms are numbers in two forms: as dialed, and as the channel reports them.
var forms = [][2]string{{"525512345601", "5215512345601"}, {"541123456789", "5491123456789"}, {"5551998765432", "555198765432"}}

// A person who opted out under one form of the number receives nothing under the other, whether it is detected when a
// message is accepted or when it is due.
func TestASuppressionHoldsForEveryFormOfTheNumber(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		r := newRig(t, o, nil)
		defer r.start()()
		for _, pair := range forms {
			for i := range pair {
				asked, sent := pair[i], pair[1-i]
				if err := r.store.Suppressions.Suppress(t.Context(), r.company.ID, settings.SuppressAll, "asked in a message",
					time.Now(), asked); err != nil {
					t.Fatal(err)
				}
				for _, early := range []bool{true, false} {
					r.company.Suppresses = early
					id := r.accept(body("", sent))
					await(t, "it has ended", func() bool { return r.view(id).State == carillon.StateCompleted })
					if x := r.view(id).Recipients[0]; x.State != carillon.StateSkipped || x.Reason != carillon.ReasonSuppressed ||
						x.Number != sent {
						t.Errorf("%s after %s, accepted: %t: %+v", sent, asked, early, x)
					}
				}
				if _, err := r.store.Suppressions.Unsuppress(t.Context(), r.company.ID, identity.Number(sent)); err != nil {
					t.Fatal(err)
				}
			}
		}
		r.company.Suppresses = true
		if err := r.store.Suppressions.Suppress(t.Context(), r.company.ID, settings.SuppressAll, "asked in a message", time.Now(),
			"551132345678"); err != nil {
			t.Fatal(err)
		}
		id := r.accept(body("", "5511932345678"))
		await(t, "it is sent", func() bool { return r.view(id).Recipients[0].State == carillon.StateSent })
		if n := r.provider.count(); n != 1 {
			t.Errorf("the channel got %d messages", n)
		}
	})
}

// A reply comes from the channel's form of the number, and the notification may have been sent to the other form.
func TestAReplyBelongsToWhatWentToAnotherForm(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, store.Options{Dir: dir}, func(r *rig) {
			r.provider.decide = func(m *provider.Outgoing) provider.Outcome {
				return provider.Outcome{Verdict: provider.Sent, ProviderID: "wamid." + m.Ref.NotificationID}
			}
		})
		defer r.start()()
		for _, pair := range forms {
			for i := range pair {
				sent, from := pair[i], pair[1-i]
				id := r.accept(body(`,"name_event":"shipped"`, sent))
				await(t, "it has ended", func() bool { return r.view(id).State == carillon.StateCompleted })
				for _, replyTo := range []string{"", "wamid." + id} {
					all, err := notify.Bound(t.Context(), r.store, r.company.ID, r.sender.UID, identity.Numbers(from), replyTo, time.Now())
					if err != nil || len(all) == 0 || all[0].NotificationID != id || all[0].Values["number"] != sent {
						t.Errorf("a reply of %s to %q, sent to %s, is bound to %v, %v", from, replyTo, sent, all, err)
					}
				}
				if text, err := notify.SentAs(t.Context(), r.store, r.company.ID, r.sender.UID, identity.Numbers(from), "wamid."+id,
					time.Now()); text != "Hello Ana!" || err != nil {
					t.Errorf("%s answers %q, %v", from, text, err)
				}
				found, err := (notify.Sent{Store: r.store}).LookUp(t.Context(), r.company.ID, "+"+from)
				if err != nil || found.Kind != "number" {
					t.Errorf("%s is looked up as %+v, %v", from, found, err)
				}
			}
		}
		if all, err := notify.Bound(t.Context(), r.store, r.company.ID, r.sender.UID, nil, "", time.Now()); err != nil || len(all) > 0 {
			t.Errorf("a person without a line replies to %v, %v", all, err)
		}
	})
}

// The channel responds with a form of the number that no rule covers. Messages from that form still belong to the
// notification.
func TestTheChannelsFormOfANumberIsKept(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		r := newRig(t, o, func(r *rig) {
			r.provider.decide = func(m *provider.Outgoing) provider.Outcome {
				return provider.Outcome{
					Verdict: provider.Sent, ProviderID: "wamid.1", Number: map[string]string{"6281234567": "62081234567"}[m.Number],
				}
			}
		})
		defer r.start()()
		for _, number := range []string{"6281234567", "34600111222"} {
			id := r.accept(body("", number))
			await(t, "it has ended", func() bool { return r.view(id).State == carillon.StateCompleted })
		}
		for number, want := range map[string]bool{"62081234567": true, "34600111222": false} {
			lines, err := r.store.Contacts.LinesOf(t.Context(), r.company.ID,
				[]identity.Identity{{Kind: identity.Line, Key: identity.Number(number)}})
			if got := identity.Has(lines, "6281234567"); err != nil || got != want {
				t.Errorf("%s has the lines %v, %v", number, lines, err)
			}
		}
	})
}
